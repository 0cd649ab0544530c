/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the faults of a run, or of one process, overlap in time: the time with a fault in progress,
 * with two or more, and the most at once. Threads that run outside of faults may be added, too:
 * then these times lack the moments in which one of them runs.
 *
 * A span arrives at its end or later, and may have begun long before: before many others that
 * arrived earlier. So the past is kept as chunks of time, in time order and apart from each other:
 *
 *	past  |  ######.####.##  |     |####.##| |##.#|  |##|#| |#|  now
 *	        old and wide                           new and uniform
 *
 * A new chunk is uniform: the same number of faults in progress for all of it, or a thread that
 * runs. Without room, neighbours are merged into chunks that are at most 1/64 as wide as they are
 * old. A span that covers a chunk changes it as a whole, which is exact. Only in a chunk in which
 * the span begins or ends the overlap is not known, and that chunk is at most 1/64 as wide as the
 * span is long. If faults arrive in the order of their ends, the bounds of the time with a fault
 * therefore differ by at most 1/64. (1/32, 1/16 and so on if the chunks do not suffice for this.)
 * In any other order the bounds are still right, but may be further apart.
 *
 * Pure. Memory grows with the number of chunks, up to twice chunks_max.
 */
#ifndef PFSTAT_USER_FAULT_OVERLAP_H
#define PFSTAT_USER_FAULT_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_OVERLAP_CHUNKS 4096U
/* The age of a merged chunk, divided by its width, is at least this at first. */
#define FAULT_OVERLAP_FINENESS 64U

/* A time between min_ns and max_ns. */
struct overlap_time {
	uint64_t min_ns, max_ns;
};

struct overlap_chunk {
	uint64_t from_ns, to_ns;
	struct overlap_time runs;    /* a thread runs outside of faults */
	struct overlap_time faults;  /* none does, and a fault is in progress */
	struct overlap_time several; /* of these, two or more faults */
	uint32_t depth, depth_max;   /* bounds of the most faults at once, without runs */
	bool uniform;
};

/* All zero is empty. */
struct fault_overlap {
	struct overlap_chunk *chunks;
	size_t nr, capacity;
	size_t chunks_max;	/* 0: FAULT_OVERLAP_CHUNKS */
	uint64_t latest_ns;	/* the latest end */
	uint32_t depth;		/* this many faults certainly overlapped */
	unsigned int coarsened; /* how often the fineness was halved */
};

struct overlap_figures {
	struct overlap_time faults, several; /* see struct overlap_chunk */
	uint32_t depth, depth_max;	     /* bounds of the most faults at once, without runs */
};

void fault_overlap_exit(struct fault_overlap *overlap);
/* An empty span is ignored. These return 0 or -ENOMEM. */
int fault_overlap_add(struct fault_overlap *overlap, uint64_t from_ns, uint64_t to_ns);
int fault_overlap_add_run(struct fault_overlap *overlap, uint64_t from_ns, uint64_t to_ns);
/* @from_ns, @to_ns: outside of these, threads of which nothing is known may have run */
void fault_overlap_figures(const struct fault_overlap *overlap, uint64_t from_ns, uint64_t to_ns,
			   struct overlap_figures *figures);

#endif
