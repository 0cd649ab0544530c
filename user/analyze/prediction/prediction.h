/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predicts the faults of recorded accesses under other settings: a pure model of the page cache, of
 * the kernel's read-ahead rule and of what a fault on a file mapping does. The accesses start with
 * an empty page cache, and nothing is evicted. A read ends before the next fault starts, unless a
 * read_cost is given. Memory grows with the pages accessed and read, and with nothing else.
 *
 *	access -> already mapped?  no fault
 *		  fault-around maps it: minor fault
 *		  the read-ahead rule: in the cache (minor fault), or read (major fault)
 */
#ifndef PFSTAT_USER_PREDICTION_H
#define PFSTAT_USER_PREDICTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/fault_class.h"
#include "model/mapping_state.h"
#include "util/hash.h"

/* A file's pages in the page cache, with their folios. */

/* Log2 of the pages in the largest folio. A chunk of the cache has as many pages. */
#define CACHED_FILE_ORDER 9

struct cached_file {
	uint64_t pages;	    /* file size */
	struct hash chunks; /* a byte for each page */
	uint64_t recent;    /* number of the chunk looked up last */
	uint8_t *recent_pages;
	uint64_t nr_read;     /* pages read from the device */
	uint64_t nr_accessed; /* pages passed to cached_file_access() */
	int err;	      /* -ENOMEM: the counts are not valid */
};

/* A folio's first page and the number of pages, both in pages. */
struct cached_folio {
	uint64_t first, pages;
};

/* The file is empty: @pages is its size. */
void cached_file_open(struct cached_file *file, uint64_t pages);
void cached_file_close(struct cached_file *file);
bool cached_file_has(struct cached_file *file, uint64_t page);
/* The folio of a cached page. */
struct cached_folio cached_file_folio(struct cached_file *file, uint64_t page);
/* Reads a folio of 1 << order pages from the device. No page of it is cached. */
void cached_file_read(struct cached_file *file, uint64_t first, unsigned int order);
/* The read-ahead mark, which a folio has on its first page. */
void cached_file_mark(struct cached_file *file, uint64_t first);
bool cached_file_has_mark(struct cached_file *file, uint64_t page);
void cached_file_clear_mark(struct cached_file *file, uint64_t page);
/* Returns true if this is the first access to the page. The page need not be cached. */
bool cached_file_access(struct cached_file *file, uint64_t page);

/* How the rule differs between kernels. */
struct readahead_kernel {
	const char *since; /* the first release */
	/* A mark right behind the last window belongs to the window, and another detail. */
	bool linux_6_1;
	/*
	 * A fault meeting a mark counts as two hits. The fault first takes the lock of the mapping,
	 * which a read-ahead drops. The kernel then restarts the fault without FAULT_FLAG_TRIED, so
	 * the fault finds the page once more.
	 */
	bool retry_is_hit;
	/* Windows behind a mark end at a multiple of the folio size. ext4 has large folios. */
	bool aligned;
	/* A miss in code reads from the page on, up to the end of the mapping. */
	bool code_forward;
	/* A fault maps all pages of a folio. */
	bool whole_folios;
	/*
	 * Fault-around counts as one hit, however many pages it maps, if it maps the faulting page
	 * and is not the retry of a major fault. Misses and hits in code and with MADV_SEQUENTIAL
	 * do not count.
	 */
	bool counts_evenly;
};

/* The row for a kernel release (uname -r). */
const struct readahead_kernel *readahead_kernel_find(const char *release);

struct readahead_rule {
	const struct readahead_kernel *kernel;
	uint64_t window;   /* the device's read-ahead in pages */
	bool large_folios; /* the file system has them */
	bool hits_ignored; /* unlike the kernel, hits do not reduce the excess misses */
};

/* The read-ahead state of an open file. All zero: nothing was read. */
struct readahead_state {
	uint64_t start, size, ahead; /* the last window, with the mark at start + size - ahead */
	uint64_t next;		     /* 1 + the page that read(2) read last, or 0 */
	unsigned int order;	     /* of the last window's folios */
	unsigned int excess;	     /* misses not followed by a hit */
};

struct readahead_access {
	uint64_t page;
	uint64_t end;		    /* the first page behind the mapping */
	enum mapping_advice advice; /* of the mapping */
	bool code;		    /* the mapping may be executed */
};

/*
 * A fault on the page. FAULT_DISK: the fault waits for the device. FAULT_READAHEAD: the fault met a
 * window's mark, submits the next window and is retried. FAULT_LONG: the page was in the cache.
 */
enum fault_class readahead_rule_fault(const struct readahead_rule *rule, struct cached_file *file,
				      struct readahead_state *state,
				      const struct readahead_access *access);
/* The retry of a fault that met a mark, if the fault reaches the file system again. */
void readahead_rule_retry(const struct readahead_rule *rule, struct readahead_state *state,
			  const struct readahead_access *access);
/*
 * Fault-around mapped so many pages. @found: the accessed one is among them, and the fault is not
 * the retry of a major one.
 */
void readahead_rule_around(const struct readahead_rule *rule, struct readahead_state *state,
			   const struct readahead_access *access, uint64_t pages, bool found);
/* read(2) of pages. */
void readahead_rule_read(const struct readahead_rule *rule, struct cached_file *file,
			 struct readahead_state *state, uint64_t page, uint64_t pages);

/*
 * The time of faults, from the times of recorded ones. A clock has the recorded program's own time
 * between faults, so that a fault waits for a page that is still in flight.
 */

/* As recorded. */
struct access_time {
	uint64_t start_ns, ns;
	uint64_t cpu_ns; /* on the CPU, or ACCESS_NS_UNKNOWN */
	bool major;
};

#define ACCESS_NS_UNKNOWN UINT64_MAX

/* What a fault does, by the model. FAULT_LONG: neither reads nor submits. */
struct fault_work {
	enum fault_class class;
	const struct cached_file *file;
	uint64_t page;
	uint64_t first, window; /* submitted behind a mark */
	uint64_t read_pages;	/* of these and others, not cached before */
	uint64_t mapped_pages;
};

/* Sums for a least-squares line of a fault's time over the pages it reads. All zero: empty. */
struct cost_line {
	double nr, mean_pages, mean_ns;
	double xx, xy, yy; /* squares and products of the distances from the means */
};

void cost_line_add(struct cost_line *line, double pages, double ns);
/* Two standard errors of the time of so many faults that read so many pages together. */
double cost_line_error(const struct cost_line *line, double faults, double pages);

struct read_cost {
	struct cost_line major, submit;
	double minor_ns; /* mean, of a fault that maps one page */
	double minor_sum_ns, minor_weight;
	double overhead_ns; /* the least time between two faults */
	uint64_t nr_gaps;   /* times between faults */
	double total_ns;    /* of the recorded faults */
	uint64_t expected_major, learned_major;
};

/* The recorded reads do not tell the time of other sizes, so that this is a range. */
bool read_cost_is_range(const struct read_cost *cost);
/* A major fault that reads so many pages. @slow: the upper end of the range. */
double read_cost_major(const struct read_cost *cost, double pages, bool slow);

struct read_flight {
	const struct cached_file *file;
	uint64_t first, pages;
	double ready_ns;
};

struct read_clock {
	double now_ns, total_ns;
	uint64_t last_end_ns; /* of the recorded fault before */
	struct read_flight flights[16];
	size_t nr_flights;
	bool slow; /* the upper end of a range */
	double majors, major_pages;
	double submits, submit_pages;
};

/* The program's own time since the last recorded fault passes. */
void read_clock_pass(struct read_clock *clock, const struct read_cost *cost,
		     const struct access_time *time);
/* The time until a page is read, 0 if it is not in flight. */
double read_clock_rest(const struct read_clock *clock, const struct cached_file *file,
		       uint64_t page);
/* A predicted fault. */
void read_clock_take(struct read_clock *clock, const struct read_cost *cost,
		     const struct fault_work *work);
/* Two standard errors of total_ns. */
double read_clock_error(const struct read_clock *clock, const struct read_cost *cost);

/* A recorded fault. The clock knows the reads in flight. */
void read_cost_learn(struct read_cost *cost, struct read_clock *clock,
		     const struct fault_work *work, const struct access_time *time);

/* The faults of a list of accesses. */

/* A file opened by a process: the process's mappings of the file share its read-ahead state. */
struct access_stream {
	uint32_t file;
	bool executed; /* the kernel or the dynamic linker first read(2) its header */
};

struct access_mapping {
	uint32_t stream;
	uint64_t first, end;	    /* file pages */
	uint64_t address_page;	    /* address / page size, of the first page */
	enum mapping_advice advice; /* as recorded */
	bool code;		    /* it may be executed */
	bool data;		    /* the program may advise it: its file is not executed */
};

struct access {
	uint64_t page; /* file page, in the mapping */
	uint32_t mapping;
	bool write;
};

/* All files are on one file system type. */
struct access_list {
	const struct readahead_kernel *kernel;
	bool large_folios;
	const uint64_t *file_pages, *file_windows; /* size; read-ahead as recorded, in pages */
	size_t nr_files;
	const struct access_stream *streams;
	size_t nr_streams;
	const struct access_mapping *mappings;
	size_t nr_mappings;
	const struct access *accesses;	 /* in time order */
	const struct access_time *times; /* of the accesses, or NULL */
	size_t nr_accesses;
};

#define PREDICTION_RECORDED UINT64_MAX

struct prediction_settings {
	uint64_t window;	    /* read-ahead in pages, PREDICTION_RECORDED: as recorded */
	uint64_t around;	    /* fault-around in pages, a power of two */
	enum mapping_advice advice; /* of all data mappings, MAPPING_MIXED: as recorded */
	bool single;		    /* each fault maps one page: userfaultfd watches the mappings */
	const struct read_cost *cost; /* NULL: no time. Otherwise the list has times */
};

struct fault_prediction {
	uint64_t major, minor;
	uint64_t read_pages;
	uint64_t unused_pages;	   /* read, and not accessed */
	double total_ns, error_ns; /* only with a cost */
};

/* Returns 0 or -ENOMEM. */
int fault_prediction_make(struct fault_prediction *prediction, const struct access_list *list,
			  const struct prediction_settings *settings);
/* The cost, from the recorded times. @settings: those of the recording. Returns 0 or -ENOMEM. */
int fault_prediction_learn(struct read_cost *cost, const struct access_list *list,
			   const struct prediction_settings *settings);

#endif
