// SPDX-License-Identifier: GPL-2.0-only
/*
 * The union of spans that arrive at their ends: see the picture in the header. The bounds of each
 * chunk hold at any time, whatever the order of the spans.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span_union.h"

#define CHUNKS_FIRST 64U

void span_union_exit(struct span_union *spans)
{
	free(spans->chunks);
	*spans = (struct span_union){ 0 };
}

static bool chunk_is_exact(const struct span_chunk *chunk)
{
	return chunk->covered_ns == chunk->to_ns - chunk->from_ns;
}

/* The wider two neighbours are, the older they must be to become one chunk. */
static bool chunks_may_merge(const struct span_union *spans, const struct span_chunk *older,
			     const struct span_chunk *newer)
{
	const uint64_t age_ns = spans->latest_ns - newer->to_ns;

	return newer->to_ns - older->from_ns <= age_ns / (SPAN_UNION_FINENESS >> spans->coarsened);
}

static void chunks_merge(struct span_union *spans)
{
	struct span_chunk *last = spans->chunks;
	size_t i;

	for (i = 1; i < spans->nr; i++) {
		const struct span_chunk *chunk = &spans->chunks[i];

		if (chunks_may_merge(spans, last, chunk)) {
			last->to_ns = chunk->to_ns;
			last->covered_ns += chunk->covered_ns;
			last->covered_max_ns += chunk->covered_max_ns;
		} else {
			*++last = *chunk;
		}
	}
	spans->nr = last - spans->chunks + 1;
}

/* With a quarter free, a merge is needed only once for many spans. */
static int chunks_make_room(struct span_union *spans)
{
	const size_t room = spans->room ? 2 * spans->room : CHUNKS_FIRST;
	struct span_chunk *grown;

	if (spans->nr < spans->room)
		return 0;
	if (spans->nr)
		chunks_merge(spans);
	if (spans->room && spans->nr <= spans->room - spans->room / 4)
		return 0;
	if (room <= SPAN_UNION_CHUNKS_MAX) {
		grown = reallocarray(spans->chunks, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		spans->chunks = grown;
		spans->room = room;
		return 0;
	}
	while (spans->nr > spans->room - spans->room / 4 &&
	       SPAN_UNION_FINENESS >> spans->coarsened > 1) {
		spans->coarsened++;
		chunks_merge(spans);
	}
	return 0;
}

static uint64_t ns_at_most(uint64_t ns, uint64_t most_ns)
{
	return ns < most_ns ? ns : most_ns;
}

/* The span is within the chunk, but where the chunk is covered is not known. */
static void chunk_add_inside(struct span_chunk *chunk, uint64_t span_ns)
{
	const uint64_t width_ns = chunk->to_ns - chunk->from_ns;

	if (chunk->covered_ns < span_ns)
		chunk->covered_ns = span_ns;
	chunk->covered_max_ns = ns_at_most(chunk->covered_max_ns + span_ns, width_ns);
}

/* A span covers all of the chunk but width_ns at one end. */
static void chunk_cut(struct span_chunk *chunk, uint64_t from_ns, uint64_t to_ns)
{
	const uint64_t width_ns = to_ns - from_ns;
	const uint64_t cut_ns = chunk->to_ns - chunk->from_ns - width_ns;

	chunk->from_ns = from_ns;
	chunk->to_ns = to_ns;
	chunk->covered_ns = chunk->covered_ns > cut_ns ? chunk->covered_ns - cut_ns : 0;
	chunk->covered_max_ns = ns_at_most(chunk->covered_max_ns, width_ns);
}

/* Replaces the chunks from first to end by the span. */
static void chunks_replace(struct span_union *spans, size_t first, size_t end, uint64_t from_ns,
			   uint64_t to_ns)
{
	memmove(spans->chunks + first + 1, spans->chunks + end,
		(spans->nr - end) * sizeof(*spans->chunks));
	spans->chunks[first] =
		(struct span_chunk){ from_ns, to_ns, to_ns - from_ns, to_ns - from_ns };
	spans->nr = spans->nr - end + first + 1;
}

int span_union_add(struct span_union *spans, uint64_t from_ns, uint64_t to_ns)
{
	struct span_chunk *chunk;
	size_t first, end;
	int err;

	if (from_ns >= to_ns)
		return 0;
	err = chunks_make_room(spans);
	if (err)
		return err;
	if (to_ns > spans->latest_ns)
		spans->latest_ns = to_ns;
	for (end = spans->nr; end && spans->chunks[end - 1].from_ns > to_ns; end--)
		;
	for (first = end; first && spans->chunks[first - 1].to_ns >= from_ns; first--) {
		chunk = &spans->chunks[first - 1];
		if (!chunk_is_exact(chunk) && chunk->from_ns < from_ns && chunk->to_ns > to_ns) {
			chunk_add_inside(chunk, to_ns - from_ns);
			return 0;
		}
		if (chunk_is_exact(chunk)) {
			from_ns = ns_at_most(from_ns, chunk->from_ns);
			to_ns = to_ns > chunk->to_ns ? to_ns : chunk->to_ns;
		} else if (chunk->to_ns > to_ns) {
			chunk_cut(chunk, to_ns, chunk->to_ns);
			end = first - 1;
		} else if (chunk->from_ns < from_ns) {
			chunk_cut(chunk, chunk->from_ns, from_ns);
			break;
		}
	}
	chunks_replace(spans, first, end, from_ns, to_ns);
	return 0;
}

void span_union_covered(const struct span_union *spans, uint64_t *min_ns, uint64_t *max_ns)
{
	size_t i;

	*min_ns = 0;
	*max_ns = 0;
	for (i = 0; i < spans->nr; i++) {
		*min_ns += spans->chunks[i].covered_ns;
		*max_ns += spans->chunks[i].covered_max_ns;
	}
}
