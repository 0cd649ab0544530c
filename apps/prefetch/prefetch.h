/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive prefetch: makes lists of the pages that a program's start needs, and reads them ahead. */
#ifndef PFSTAT_APPS_PREFETCH_H
#define PFSTAT_APPS_PREFETCH_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/subcommand.h"
#include "util/why.h"

/*
 * The text format for prefetch lists: files with their identity, and the file extents that a start
 * needs, in order of first use. Documentation/formats/prefetch.rst describes it.
 */

#define PREFETCH_LIST_HEAD	"pfstat-prefetch 1"
#define PREFETCH_LIST_BYTES_MAX (64U << 20)
#define PREFETCH_LIST_FILES_MAX 65536U
#define PREFETCH_LIST_PATH_MAX	4096U /* with the final 0 */

struct prefetch_file {
	char *path; /* absolute */
	uint64_t inode, bytes;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t dev_major, dev_minor;
};

struct prefetch_read {
	uint64_t offset, bytes; /* bytes > 0; ends within the file */
	uint32_t file;		/* index in files */
};

struct prefetch_list {
	struct prefetch_file *files;
	size_t nr_files;
	struct prefetch_read *reads; /* in order of first use */
	size_t nr_reads;
};

/* All zero is an empty list. */
void prefetch_list_exit(struct prefetch_list *list);
/* Both copy the entry. Return 0, -ENOMEM, or -E2BIG: too many files. */
int prefetch_list_add_file(struct prefetch_list *list, const struct prefetch_file *file);
int prefetch_list_add_read(struct prefetch_list *list, const struct prefetch_read *read);
/* Errors remain in the stream. */
void prefetch_list_write(FILE *out, const struct prefetch_list *list);
/*
 * Parses and validates a whole list. @text is a string with @size bytes and a final 0. On -EINVAL
 * stores the line number and the reason, one clause. The list is then empty, as it is for -ENOMEM.
 */
int prefetch_list_parse(struct prefetch_list *list, const char *text, size_t size, size_t *line,
			struct why *why);

/*
 * Makes the extents for a prefetch list from the pages that several recordings needed: which pages
 * are in enough recordings, in which order, and the time each extent avoids for its size.
 */

#define PREFETCH_RUNS_MAX 64U

/* A page one recording needed. */
struct prefetch_use {
	uint64_t pgoff;
	uint64_t fault_ns, read_ns; /* see needed_page */
	uint32_t file;		    /* any number; extents with the same rank are sorted by it */
	uint32_t run;
	uint32_t rank; /* by first use in this recording */
};

struct prefetch_extent {
	uint64_t pgoff, pages;
	uint64_t rank;		    /* of the first page: twice the median over the recordings */
	uint64_t fault_ns, read_ns; /* means over all recordings */
	uint32_t file;
	bool kept; /* false: --max-size cut it */
};

struct prefetch_plan {
	struct prefetch_use *uses;
	size_t nr_uses, room;
	struct prefetch_extent *extents; /* in order of first use */
	size_t nr_extents;
	uint64_t pages_seen; /* in any recording */
};

/* Part of a plan. */
struct prefetch_sum {
	uint64_t extents, pages, fault_ns, read_ns;
};

/* All zero is an empty plan. */
void prefetch_plan_exit(struct prefetch_plan *plan);
/* Returns 0, -ENOMEM, or -E2BIG beyond PREFETCH_USES_MAX. */
int prefetch_plan_add(struct prefetch_plan *plan, const struct prefetch_use *use);
/*
 * Makes the extents, from the pages needed in at least min_runs recordings. Returns 0 or -ENOMEM.
 */
int prefetch_plan_make(struct prefetch_plan *plan, unsigned int nr_runs, unsigned int min_runs);
/* Keeps the extents that avoid most time for their size, up to this many pages. 0 or -ENOMEM. */
int prefetch_plan_cut(struct prefetch_plan *plan, uint64_t max_pages);
/* Adds up the kept extents, or the others. */
struct prefetch_sum prefetch_plan_sum(const struct prefetch_plan *plan, bool kept);
/*
 * The size-benefit curve, over all extents: the fewest pages that avoid this share of the time, in
 * the order in which prefetch_plan_cut() keeps extents. Returns 0 or -ENOMEM.
 */
int prefetch_plan_curve(const struct prefetch_plan *plan, const unsigned int *percents, size_t nr,
			struct prefetch_sum *sums);

/* Makes a prefetch list and its size-benefit curve from recordings of the same start. */

/* The rows in the size-benefit curve: time shares, in per cent. */
#define PREFETCH_CURVE	  { 50, 80, 90, 95, 99, 100 }
#define PREFETCH_CURVE_NR 6

struct prefetch_made {
	struct prefetch_list list;
	unsigned int runs, min_runs;
	uint64_t pages_seen;	       /* needed by any recording */
	struct prefetch_sum all, kept; /* for pages in min_runs recordings, after the cut */
	struct prefetch_sum curve[PREFETCH_CURVE_NR];
	uint64_t cached;		       /* pages, over all recordings, see needed_page */
	uint64_t unnamed_files, unnamed_pages; /* read, but their path is not known */
	uint64_t changed_files;	       /* gone or changed since a recording; a message names each */
	unsigned int without_requests; /* recordings without eBPF's block requests */
	uint64_t around;	       /* pages, over all recordings, see needed_page */
	unsigned int exact;	       /* recordings with a fault for each first touch */
	unsigned int of_perf;	       /* perf recordings that are not exact */
};

struct prefetch_wish {
	char *const *recordings;
	unsigned int runs;
	unsigned int min_runs; /* 0: more than half */
	uint64_t max_bytes;    /* UINT64_MAX: all */
};

/* STATUS_OK, or the exit status after a message or a signal. */
int prefetch_make(struct prefetch_made *made, const struct prefetch_wish *wish);
void prefetch_made_exit(struct prefetch_made *made);

/*
 * Reads the extents in a prefetch list into the page cache, from several threads. A file is skipped
 * if it is not the listed one, or has changed.
 */

#define PREFETCH_THREADS_MAX	 64U
#define PREFETCH_THREADS_DEFAULT 8U

struct prefetch_result {
	uint64_t bytes;	   /* in the page cache now */
	uint64_t files;	   /* from which all extents were read */
	uint64_t left_out; /* files not read, or not completely; a message says why */
	uint64_t elapsed_ns;
};

/* Opens and parses a list. STATUS_OK, or STATUS_FAILED after a message. */
int prefetch_read_list(struct prefetch_list *list, const char *path);
/*
 * Reads everything, and returns when it is in the page cache. Returns STATUS_OK, also if files were
 * skipped, STATUS_FAILED after a message, or 128 + the signal.
 */
int prefetch_read(const struct prefetch_list *list, unsigned int threads,
		  struct prefetch_result *result);

/*
 * The list for Nydus, in order of first use. @root: the image's root, an absolute path without a
 * final slash, or "/". Counts the files that are not below it, or whose paths JSON cannot hold.
 * NULL: no memory.
 */
json_t *prefetch_export_nydus(const struct prefetch_list *list, const char *root,
			      uint64_t *left_out);

/* Prints the results of pfdrive prefetch. */

/* @path: the list's path. Returns 0 or a negative errno. */
int prefetch_report_made(FILE *out, const struct prefetch_made *made, const char *path);

extern const struct subcommand prefetch_command;

#endif
