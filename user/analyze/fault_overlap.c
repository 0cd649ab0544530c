// SPDX-License-Identifier: GPL-2.0-only
/*
 * The overlap of spans that arrive at their ends or later: see the picture in the header. Each
 * chunk's bounds hold at any time, whatever the span order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault_overlap.h"

#define CHUNKS_FIRST 64U

struct overlap_span {
	uint64_t from_ns, to_ns;
	bool runs; /* else a fault */
};

void fault_overlap_exit(struct fault_overlap *overlap)
{
	free(overlap->chunks);
	*overlap = (struct fault_overlap){ 0 };
}

static uint64_t overlap_less(uint64_t ns, uint64_t by_ns)
{
	return ns > by_ns ? ns - by_ns : 0;
}

static uint64_t overlap_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t overlap_most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t chunk_width(const struct overlap_chunk *chunk)
{
	return chunk->to_ns - chunk->from_ns;
}

static struct overlap_time overlap_exactly(uint64_t ns)
{
	return (struct overlap_time){ ns, ns };
}

/* @depth: faults in progress, or 0 if a thread runs */
static struct overlap_chunk chunk_uniform(uint64_t from_ns, uint64_t to_ns, uint32_t depth)
{
	const uint64_t width_ns = to_ns - from_ns;

	return (struct overlap_chunk){
		.from_ns = from_ns,
		.to_ns = to_ns,
		.runs = overlap_exactly(depth ? 0 : width_ns),
		.faults = overlap_exactly(depth ? width_ns : 0),
		.several = overlap_exactly(depth > 1 ? width_ns : 0),
		.depth = depth,
		.depth_max = depth,
		.uniform = true,
	};
}

static bool chunks_continue(const struct overlap_chunk *older, const struct overlap_chunk *newer)
{
	return older->uniform && newer->uniform && older->depth == newer->depth &&
	       older->to_ns == newer->from_ns;
}

static void time_add(struct overlap_time *sum, struct overlap_time more)
{
	sum->min_ns += more.min_ns;
	sum->max_ns += more.max_ns;
}

static void chunk_merge(struct overlap_chunk *older, const struct overlap_chunk *newer)
{
	older->uniform = chunks_continue(older, newer);
	older->to_ns = newer->to_ns;
	time_add(&older->runs, newer->runs);
	time_add(&older->faults, newer->faults);
	time_add(&older->several, newer->several);
	older->depth = overlap_most(older->depth, newer->depth);
	older->depth_max = overlap_most(older->depth_max, newer->depth_max);
}

/* The wider two neighbours are, the older they must be to become one chunk. */
static bool chunks_may_merge(const struct fault_overlap *overlap, const struct overlap_chunk *older,
			     const struct overlap_chunk *newer)
{
	const uint64_t age_ns = overlap->latest_ns - newer->to_ns;

	return chunks_continue(older, newer) ||
	       newer->to_ns - older->from_ns <=
		       age_ns / (FAULT_OVERLAP_FINENESS >> overlap->coarsened);
}

static void chunks_merge(struct fault_overlap *overlap)
{
	struct overlap_chunk *last = overlap->chunks;
	size_t i;

	for (i = 1; i < overlap->nr; i++) {
		if (chunks_may_merge(overlap, last, &overlap->chunks[i]))
			chunk_merge(last, &overlap->chunks[i]);
		else
			*++last = overlap->chunks[i];
	}
	overlap->nr = last - overlap->chunks + 1;
}

static size_t chunks_max_of(const struct fault_overlap *overlap)
{
	return overlap->chunks_max ?: FAULT_OVERLAP_CHUNKS;
}

/* With a quarter free, a merge is needed only once for many spans. */
static void chunks_limit(struct fault_overlap *overlap)
{
	const size_t max = chunks_max_of(overlap);

	if (overlap->nr <= max)
		return;
	chunks_merge(overlap);
	while (overlap->nr > max - max / 4 && FAULT_OVERLAP_FINENESS >> overlap->coarsened > 1) {
		overlap->coarsened++;
		chunks_merge(overlap);
	}
}

static int chunks_reserve(struct fault_overlap *overlap, size_t more)
{
	size_t capacity = overlap->capacity ?: CHUNKS_FIRST;
	struct overlap_chunk *grown;

	while (capacity < overlap->nr + more)
		capacity += capacity < chunks_max_of(overlap) ? capacity : capacity / 4;
	if (capacity == overlap->capacity)
		return 0;
	grown = reallocarray(overlap->chunks, capacity, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	overlap->chunks = grown;
	overlap->capacity = capacity;
	return 0;
}

/* A fault covers the chunk: it adds to the faults that were there, wherever they were. */
static void chunk_add_fault(struct overlap_chunk *chunk)
{
	if (chunk->runs.min_ns == chunk_width(chunk))
		return;
	chunk->several = chunk->faults;
	chunk->faults.min_ns = chunk_width(chunk) - chunk->runs.max_ns;
	chunk->faults.max_ns = chunk_width(chunk) - chunk->runs.min_ns;
	chunk->depth++;
	chunk->depth_max++;
}

/* The fault is within the chunk, but where the chunk has others is not known. */
static void chunk_add_fault_inside(struct overlap_chunk *chunk, uint64_t span_ns)
{
	const uint64_t width_ns = chunk_width(chunk), faults_max_ns = chunk->faults.max_ns;

	chunk->several.min_ns =
		overlap_most(chunk->several.min_ns,
			     overlap_less(span_ns + chunk->faults.min_ns, width_ns));
	chunk->several.max_ns = overlap_least(chunk->several.max_ns + span_ns, faults_max_ns);
	chunk->faults.min_ns =
		overlap_most(chunk->faults.min_ns, overlap_less(span_ns, chunk->runs.max_ns));
	chunk->faults.max_ns =
		overlap_least(faults_max_ns + span_ns, width_ns - chunk->runs.min_ns);
	chunk->depth = chunk->depth ?: chunk->faults.min_ns != 0;
	chunk->depth_max++;
}

static void chunk_add_run_inside(struct overlap_chunk *chunk, uint64_t span_ns)
{
	const uint64_t width_ns = chunk_width(chunk);

	chunk->runs.min_ns = overlap_most(chunk->runs.min_ns, span_ns);
	chunk->runs.max_ns = overlap_least(chunk->runs.max_ns + span_ns, width_ns);
	chunk->faults.min_ns = overlap_less(chunk->faults.min_ns, span_ns);
	chunk->faults.max_ns = overlap_least(chunk->faults.max_ns, width_ns - chunk->runs.min_ns);
	chunk->several.min_ns = overlap_less(chunk->several.min_ns, span_ns);
	chunk->several.max_ns = overlap_least(chunk->several.max_ns, chunk->faults.max_ns);
	chunk->depth = chunk->faults.min_ns != 0;
}

/* Chunks in time order and apart from each other. */
struct chunk_list {
	struct overlap_chunk *chunks;
	size_t nr;
	uint32_t depth; /* the most faults that certainly overlap in one */
};

/* The list has room for one more. */
static void chunks_emit(struct chunk_list *list, const struct overlap_chunk *chunk)
{
	if (chunk->from_ns == chunk->to_ns)
		return;
	list->depth = overlap_most(list->depth, chunk->depth);
	if (list->nr && chunks_continue(&list->chunks[list->nr - 1], chunk))
		chunk_merge(&list->chunks[list->nr - 1], chunk);
	else
		list->chunks[list->nr++] = *chunk;
}

static void chunks_emit_uniform(struct chunk_list *list, uint64_t from_ns, uint64_t to_ns,
				uint32_t depth)
{
	const struct overlap_chunk chunk = chunk_uniform(from_ns, to_ns, depth);

	chunks_emit(list, &chunk);
}

/* Emits a chunk overlapped by the span, with the span. */
static void chunks_emit_covered(struct chunk_list *list, struct overlap_chunk chunk,
				const struct overlap_span *span)
{
	const uint64_t from_ns = overlap_most(chunk.from_ns, span->from_ns);
	const uint64_t to_ns = overlap_least(chunk.to_ns, span->to_ns);
	const bool whole = to_ns - from_ns == chunk_width(&chunk);

	if (span->runs && (whole || chunk.uniform)) {
		chunks_emit_uniform(list, chunk.from_ns, from_ns, chunk.depth);
		chunks_emit_uniform(list, from_ns, to_ns, 0);
		chunks_emit_uniform(list, to_ns, chunk.to_ns, chunk.depth);
		return;
	}
	if (chunk.uniform && !whole) {
		chunks_emit_uniform(list, chunk.from_ns, from_ns, chunk.depth);
		chunks_emit_uniform(list, from_ns, to_ns, chunk.depth ? chunk.depth + 1 : 0);
		chunks_emit_uniform(list, to_ns, chunk.to_ns, chunk.depth);
		return;
	}
	if (span->runs)
		chunk_add_run_inside(&chunk, to_ns - from_ns);
	else if (whole)
		chunk_add_fault(&chunk);
	else
		chunk_add_fault_inside(&chunk, to_ns - from_ns);
	chunks_emit(list, &chunk);
}

/* The first chunk ending after ns. */
static size_t chunks_find(const struct fault_overlap *overlap, uint64_t ns)
{
	size_t low = 0, high = overlap->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (overlap->chunks[middle].to_ns > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The span follows all others. */
static int overlap_append(struct fault_overlap *overlap, const struct overlap_span *span)
{
	struct chunk_list all;

	if (chunks_reserve(overlap, 1))
		return -ENOMEM;
	all = (struct chunk_list){ overlap->chunks, overlap->nr, overlap->depth };
	overlap->latest_ns = span->to_ns;
	chunks_emit_uniform(&all, span->from_ns, span->to_ns, !span->runs);
	overlap->nr = all.nr;
	overlap->depth = all.depth;
	chunks_limit(overlap);
	return 0;
}

/* Replaces the chunks from `first` to `end` by those of the list. */
static int chunks_replace(struct fault_overlap *overlap, size_t first, size_t end,
			  const struct chunk_list *list)
{
	const size_t size = sizeof(*list->chunks), kept = overlap->nr - end;

	if (chunks_reserve(overlap, list->nr))
		return -ENOMEM;
	if (first + list->nr != end)
		memmove(overlap->chunks + first + list->nr, overlap->chunks + end, kept * size);
	memcpy(overlap->chunks + first, list->chunks, list->nr * size);
	overlap->nr = first + list->nr + kept;
	overlap->depth = list->depth;
	return 0;
}

/* Most spans overlap few chunks. */
#define REWRITTEN_FEW 16

/*
 * Each chunk that the span overlaps becomes at most two: itself, and the gap before it; and there
 * are up to three more, at the ends of the span. The chunk before them may be continued. Most spans
 * change a chunk or two without a new one, so that the chunks behind stay where they are.
 */
static int overlap_insert(struct fault_overlap *overlap, const struct overlap_span *span)
{
	const size_t first = chunks_find(overlap, span->from_ns), before = first ? first - 1 : 0;
	struct overlap_chunk few[2 * REWRITTEN_FEW + 4];
	struct chunk_list list = { .chunks = few, .depth = overlap->depth };
	uint64_t until_ns = span->from_ns;
	const struct overlap_chunk *chunk;
	size_t end = first, i;
	int err;

	while (end < overlap->nr && overlap->chunks[end].from_ns < span->to_ns)
		end++;
	if (end - first > REWRITTEN_FEW)
		list.chunks = calloc(2 * (end - first) + 4, sizeof(*list.chunks));
	if (!list.chunks)
		return -ENOMEM;
	if (first)
		list.chunks[list.nr++] = overlap->chunks[before];
	for (i = first; i < end; i++) {
		chunk = &overlap->chunks[i];
		if (chunk->from_ns > until_ns)
			chunks_emit_uniform(&list, until_ns, chunk->from_ns, !span->runs);
		until_ns = chunk->to_ns;
		chunks_emit_covered(&list, *chunk, span);
	}
	if (until_ns < span->to_ns)
		chunks_emit_uniform(&list, until_ns, span->to_ns, !span->runs);
	err = chunks_replace(overlap, before, end, &list);
	if (list.chunks != few)
		free(list.chunks);
	overlap->latest_ns = overlap_most(overlap->latest_ns, span->to_ns);
	if (!err)
		chunks_limit(overlap);
	return err;
}

static int overlap_add(struct fault_overlap *overlap, const struct overlap_span *span)
{
	if (span->from_ns >= span->to_ns)
		return 0;
	if (span->from_ns >= overlap->latest_ns)
		return overlap_append(overlap, span);
	return overlap_insert(overlap, span);
}

int fault_overlap_add(struct fault_overlap *overlap, uint64_t from_ns, uint64_t to_ns)
{
	return overlap_add(overlap, &(struct overlap_span){ from_ns, to_ns, false });
}

int fault_overlap_add_run(struct fault_overlap *overlap, uint64_t from_ns, uint64_t to_ns)
{
	return overlap_add(overlap, &(struct overlap_span){ from_ns, to_ns, true });
}

void fault_overlap_figures(const struct fault_overlap *overlap, uint64_t from_ns, uint64_t to_ns,
			   struct overlap_figures *figures)
{
	const struct overlap_chunk *chunk;
	uint64_t outside_ns;
	size_t i;

	*figures = (struct overlap_figures){ .depth = overlap->depth, .depth_max = overlap->depth };
	for (i = 0; i < overlap->nr; i++) {
		chunk = &overlap->chunks[i];
		outside_ns = overlap_less(overlap_least(from_ns, chunk->to_ns), chunk->from_ns) +
			     overlap_less(chunk->to_ns, overlap_most(to_ns, chunk->from_ns));
		figures->faults.min_ns += overlap_less(chunk->faults.min_ns, outside_ns);
		figures->faults.max_ns += chunk->faults.max_ns;
		figures->several.min_ns += overlap_less(chunk->several.min_ns, outside_ns);
		figures->several.max_ns += chunk->several.max_ns;
		figures->depth_max = overlap_most(figures->depth_max, chunk->depth_max);
	}
}
