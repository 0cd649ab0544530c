/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time that at least one of many spans covers. A span arrives at its end, and may have begun
 * long before: before many others that arrived earlier. So the union keeps the past as chunks of
 * time, in time order and apart from each other:
 *
 *	chunk:  from ns to ns, of which between covered_ns and covered_max_ns are covered
 *
 *	past  |  ######.####.##  |     |####.##| |##.#|  |##|#| |#|  now
 *	        old and wide                           new and exact
 *
 * A new chunk is one span, and exact. Without room, neighbours are merged into chunks that are at
 * most 1/64 as wide as they are old. A late span replaces all chunks that it spans; only in the
 * chunk in which it begins the overlap is not known, and that chunk is at most 1/64 as wide as the
 * span is long. If spans arrive in the order of their ends, the bounds therefore differ by at most
 * 1/64 of the union. (1/32, 1/16 and so on if the chunks do not suffice for this; they suffice for
 * weeks.) In any other order the bounds are still right, but may be further apart.
 *
 * Pure. Memory grows with the number of chunks, up to 128 KiB.
 */
#ifndef PFSTAT_USER_SPAN_UNION_H
#define PFSTAT_USER_SPAN_UNION_H

#include <stddef.h>
#include <stdint.h>

#define SPAN_UNION_CHUNKS_MAX 4096U
/* The age of a merged chunk, divided by its width, is at least this at first. */
#define SPAN_UNION_FINENESS 64U

struct span_chunk {
	uint64_t from_ns, to_ns;
	uint64_t covered_ns, covered_max_ns; /* bounds */
};

/* All zero is empty. */
struct span_union {
	struct span_chunk *chunks;
	size_t nr, room;
	uint64_t latest_ns;	/* the latest end */
	unsigned int coarsened; /* how often the fineness was halved */
};

void span_union_exit(struct span_union *spans);
/* An empty span is ignored. Returns 0 or -ENOMEM. */
int span_union_add(struct span_union *spans, uint64_t from_ns, uint64_t to_ns);
/* The covered time is at least *min_ns and at most *max_ns. */
void span_union_covered(const struct span_union *spans, uint64_t *min_ns, uint64_t *max_ns);

#endif
