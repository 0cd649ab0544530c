/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One record, event or mapping on the way from the collector through a recording to the analysis.
 * Items are ordered by `ns`, their end time. At equal times events come before records.
 */
#ifndef PFSTAT_USER_ITEM_H
#define PFSTAT_USER_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>
#include <pfstat/record.h>

enum item_type {
	ITEM_RECORD, /* from the module */
	ITEM_EVENT,  /* from eBPF */
	ITEM_MAP,    /* a new mapping */
	ITEM_NR_TYPES
};

/*
 * Flags in item_map: the advice (madvise(2)) that applied when the recording started. NO_ADVICE: it
 * is not known. A mapping without these flags had no advice, or was made later.
 */
#define ITEM_MAP_NO_ADVICE  0x20000000U
#define ITEM_MAP_RANDOM	    0x40000000U
#define ITEM_MAP_SEQUENTIAL 0x80000000U

#define ITEM_MAP_GENERATION_BITS 29

/*
 * A process mapping, as reported by perf's PERF_RECORD_MMAP2 or by /proc/PID/maps. bytes 0: the
 * process executed a program, and the earlier mappings are gone.
 */
struct item_map {
	uint64_t ns; /* 0: it existed before the recording */
	uint64_t address;
	uint64_t bytes;
	uint64_t pgoff; /* page in the file */
	uint64_t inode; /* 0: no file */
	uint32_t dev;	/* major << 20 | minor, may differ from a record's (btrfs) */
	uint32_t pid;
	uint32_t tid;
	uint32_t prot : 3; /* PROT_* */
	/*
	 * From item_generation(), 0 if not known. If the same inode has another one, it is another
	 * file.
	 */
	uint32_t generation : ITEM_MAP_GENERATION_BITS;
	uint32_t flags;	     /* MAP_*, ITEM_MAP_* */
	uint32_t path_bytes; /* with the final 0 */
	char path[];	     /* "" or "//anon" and the like: no file */
};

struct item {
	enum item_type type;
	uint64_t ns;
	union {
		const struct pfstat_record *record;
		const struct pfstat_event *event;
		const struct item_map *map;
	};
};

/*
 * Reduces an inode's generation, as set by the file system, to the bits in item_map. File systems
 * without generations have 0.
 */
static inline uint32_t item_generation(uint64_t generation)
{
	const uint32_t values = (1U << ITEM_MAP_GENERATION_BITS) - 1;

	return generation ? 1 + generation % values : 0;
}

/* Returns 0 if the end precedes the start: clocks of CPUs differ, and recordings may be corrupt. */
static inline uint64_t item_elapsed(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* The handle_mm_fault() around the call. False: the record does not describe it. */
static inline bool item_record_span(const struct pfstat_record *record, uint64_t *from_ns,
				    uint64_t *to_ns)
{
	const uint64_t call_ns = record->start_ns + record->duration_ns;

	if (!record->fault_ns || record->before_ns > record->start_ns)
		return false;
	*from_ns = record->start_ns - record->before_ns;
	*to_ns = *from_ns + record->fault_ns;
	if (*to_ns < *from_ns)
		return false;
	if (*to_ns < call_ns)
		*to_ns = call_ns;
	return true;
}

/* When the record's handle_mm_fault() ended, or else the call: when it was stored. */
static inline uint64_t item_record_end_ns(const struct pfstat_record *record)
{
	uint64_t from_ns, to_ns;

	return item_record_span(record, &from_ns, &to_ns) ? to_ns :
							    record->start_ns + record->duration_ns;
}

/* Consumes one item, which is valid only during the call. Returns 0 or a negative errno. */
typedef int (*item_sink)(void *context, const struct item *item);

#endif
