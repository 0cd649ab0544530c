/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How faults in a run, or in one process, overlap in time: the time with a fault in progress, with
 * two or more, and the most at once. Threads running outside faults may be added, too. Then these
 * times lack the moments in which one of them runs.
 *
 * A span arrives when it ends or later, and may have started long before: before many others that
 * arrived earlier. So the past is kept as separate chunks of time, in time order:
 *
 *	past  |  ######.####.##  |     |####.##| |##.#|  |##|#| |#|  now
 *	        old and wide                           new and uniform
 *
 * A new chunk is uniform: the same number of faults in progress throughout, or a running thread.
 * Without room, neighbours are merged into chunks at most 1/64 as wide as they are old. A span
 * covering a chunk changes it as a whole, which is exact. The overlap is unknown only in a chunk in
 * which the span starts or ends, and such a chunk is at most 1/64 as wide as the span is long. If
 * faults arrive in end order, the bounds for the time with a fault therefore differ by at most
 * 1/64. (1/32, 1/16 and so on if the chunks do not suffice for this.) In any other order the bounds
 * are still right, but may be further apart.
 *
 * The chunks are in blocks of 32. A fault that covers a whole block is only counted there, so a span
 * rewrites two blocks at most, however many faults are in progress.
 *
 * Pure. Memory grows with the number of chunks, up to twice chunks_max.
 */
#ifndef PFSTAT_USER_FAULT_OVERLAP_H
#define PFSTAT_USER_FAULT_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_OVERLAP_CHUNKS 4096U
/* A merged chunk's age, divided by the chunk's width, is at least this at first. */
#define FAULT_OVERLAP_FINENESS 64U

/* A time between min_ns and max_ns. */
struct overlap_time {
	uint64_t min_ns, max_ns;
};

struct overlap_chunk {
	uint64_t from_ns, to_ns;
	struct overlap_time runs;    /* a thread runs outside faults */
	struct overlap_time faults;  /* none does, and a fault is in progress */
	struct overlap_time several; /* in these, two or more faults */
	uint32_t depth, depth_max;   /* bounds for the most faults at once, without runs */
	bool uniform;
};

struct overlap_block;

/* All zero is empty. */
struct fault_overlap {
	struct overlap_block *blocks; /* in time order */
	size_t nr_blocks, capacity;
	size_t nr;		/* chunks */
	size_t chunks_max;	/* 0: FAULT_OVERLAP_CHUNKS */
	uint64_t latest_ns;	/* the latest end */
	uint32_t depth;		/* this many faults certainly overlapped */
	unsigned int coarsened; /* how often the fineness was halved */
};

struct overlap_figures {
	struct overlap_time faults, several; /* see struct overlap_chunk */
	uint32_t depth, depth_max;	     /* bounds for the most faults at once, without runs */
};

void fault_overlap_exit(struct fault_overlap *overlap);
/* An empty span is ignored. These return 0 or -ENOMEM. */
int fault_overlap_add(struct fault_overlap *overlap, uint64_t from_ns, uint64_t to_ns);
int fault_overlap_add_run(struct fault_overlap *overlap, uint64_t from_ns, uint64_t to_ns);
/* @from_ns, @to_ns: outside these, unknown threads may have run */
void fault_overlap_figures(const struct fault_overlap *overlap, uint64_t from_ns, uint64_t to_ns,
			   struct overlap_figures *figures);

#endif
