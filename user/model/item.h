/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One thing that happened, on its way from who saw it to who explains it: out of
 * the collector, through a recording, into the analysis. In time order of `ns`,
 * its end; at equal times events come before records.
 */
#ifndef PFSTAT_USER_ITEM_H
#define PFSTAT_USER_ITEM_H

#include <stdint.h>

#include <pfstat/event.h>
#include <pfstat/record.h>

enum item_type {
	ITEM_RECORD, /* the module's */
	ITEM_EVENT,  /* eBPF's */
	ITEM_MAP,    /* a mapping came to be */
	ITEM_NR_TYPES
};

/* Of item_map.flags: what had been advised when the recording began (madvise(2)). */
#define ITEM_MAP_RANDOM	    0x40000000U
#define ITEM_MAP_SEQUENTIAL 0x80000000U

/*
 * A mapping of a process, as perf's PERF_RECORD_MMAP2 or /proc/PID/maps tell.
 * bytes 0: the process executes a program, its mappings so far are gone.
 */
struct item_map {
	uint64_t ns; /* 0: it was there before */
	uint64_t address;
	uint64_t bytes;
	uint64_t pgoff; /* page of the file */
	uint64_t inode; /* 0: no file */
	uint32_t dev;	/* major << 20 | minor; may differ from a record's (btrfs) */
	uint32_t pid;
	uint32_t tid;
	uint32_t prot;	     /* PROT_* */
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

/* The clocks of two CPUs, or a recording, may have the end before the begin. */
static inline uint64_t item_elapsed(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Takes one item, which is only there during the call. 0 or a negative errno. */
typedef int (*item_sink)(void *context, const struct item *item);

#endif
