// SPDX-License-Identifier: GPL-2.0-only
/*
 * The overlap of spans that arrive at their ends or later: see the picture in the header. Each
 * chunk's bounds hold at any time, whatever the span order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault_overlap.h"

#define BLOCK_CHUNKS  32U
#define JOINED_CHUNKS (BLOCK_CHUNKS / 4 * 3)
#define BLOCKS_FIRST  4U
/* Each chunk of a block becomes at most two, and there are up to three more. */
#define LISTED_CHUNKS (2 * BLOCK_CHUNKS + 4)

struct overlap_span {
	uint64_t from_ns, to_ns;
	bool runs; /* else a fault */
};

/* Chunks in time order and apart from each other. The time up to the next block belongs to it. */
struct overlap_block {
	uint64_t from_ns;	      /* its first chunk's */
	struct overlap_chunk *chunks; /* BLOCK_CHUNKS */
	uint32_t nr;
	uint32_t covers; /* faults in progress for all of its time, which the chunks lack */
};

/* As in a block. */
struct chunk_list {
	struct overlap_chunk chunks[LISTED_CHUNKS];
	size_t nr;
	uint32_t depth; /* the most faults that certainly overlap in one */
};

void fault_overlap_exit(struct fault_overlap *overlap)
{
	size_t i;

	for (i = 0; i < overlap->nr_blocks; i++)
		free(overlap->blocks[i].chunks);
	free(overlap->blocks);
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

/* The faults cover the chunk: they add to those that were there, wherever they were. */
static void chunk_add_faults(struct overlap_chunk *chunk, uint32_t faults)
{
	if (chunk->runs.min_ns == chunk_width(chunk))
		return;
	chunk->several = chunk->faults;
	chunk->faults.min_ns = chunk_width(chunk) - chunk->runs.max_ns;
	chunk->faults.max_ns = chunk_width(chunk) - chunk->runs.min_ns;
	if (faults > 1)
		chunk->several = chunk->faults;
	chunk->depth += faults;
	chunk->depth_max += faults;
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
		chunk_add_faults(&chunk, 1);
	else
		chunk_add_fault_inside(&chunk, to_ns - from_ns);
	chunks_emit(list, &chunk);
}

/* The chunks of a block, with the faults that cover it. */
static void chunks_list(const struct fault_overlap *overlap, const struct overlap_block *block,
			struct chunk_list *list)
{
	const struct overlap_block *next = block + 1;
	uint64_t until_ns = block->from_ns;
	struct overlap_chunk chunk;
	size_t i;

	list->nr = 0;
	for (i = 0; i < block->nr; i++) {
		chunk = block->chunks[i];
		if (block->covers) {
			chunks_emit_uniform(list, until_ns, chunk.from_ns, block->covers);
			chunk_add_faults(&chunk, block->covers);
		}
		until_ns = chunk.to_ns;
		chunks_emit(list, &chunk);
	}
	if (block->covers && next < overlap->blocks + overlap->nr_blocks)
		chunks_emit_uniform(list, until_ns, next->from_ns, block->covers);
}

/* An empty block in front of the one @at. */
static int blocks_add(struct fault_overlap *overlap, size_t at)
{
	const size_t size = sizeof(*overlap->blocks);
	struct overlap_chunk *chunks;
	struct overlap_block *grown;

	if (overlap->nr_blocks == overlap->capacity) {
		grown = reallocarray(overlap->blocks, overlap->capacity * 2 ?: BLOCKS_FIRST, size);
		if (!grown)
			return -ENOMEM;
		overlap->blocks = grown;
		overlap->capacity = overlap->capacity * 2 ?: BLOCKS_FIRST;
	}
	chunks = calloc(BLOCK_CHUNKS, sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	memmove(overlap->blocks + at + 1, overlap->blocks + at, (overlap->nr_blocks++ - at) * size);
	overlap->blocks[at] = (struct overlap_block){ .chunks = chunks };
	return 0;
}

static void blocks_drop(struct fault_overlap *overlap, size_t first, size_t end)
{
	size_t i;

	for (i = first; i < end; i++) {
		overlap->nr -= overlap->blocks[i].nr;
		free(overlap->blocks[i].chunks);
	}
	memmove(overlap->blocks + first, overlap->blocks + end,
		(overlap->nr_blocks - end) * sizeof(*overlap->blocks));
	overlap->nr_blocks -= end - first;
}

static void block_fill(struct fault_overlap *overlap, size_t at, const struct overlap_chunk *chunks,
		       size_t nr)
{
	struct overlap_block *block = &overlap->blocks[at];

	memcpy(block->chunks, chunks, nr * sizeof(*chunks));
	overlap->nr += nr - block->nr;
	block->nr = nr;
	block->covers = 0;
	block->from_ns = chunks->from_ns;
}

/* Without room, the chunks go into several blocks, none of which is full. */
static int block_set(struct fault_overlap *overlap, size_t at, const struct chunk_list *list)
{
	const size_t parts = list->nr > BLOCK_CHUNKS ? list->nr / BLOCK_CHUNKS + 1 : 1;
	size_t from, to, i;

	overlap->depth = overlap_most(overlap->depth, list->depth);
	for (i = 0; i < parts; i++) {
		from = list->nr * i / parts;
		to = list->nr * (i + 1) / parts;
		if (i && blocks_add(overlap, at + i))
			return -ENOMEM;
		block_fill(overlap, at + i, list->chunks + from, to - from);
	}
	return 0;
}

static int block_settle(struct fault_overlap *overlap, size_t at)
{
	struct chunk_list list = { .nr = 0 };

	if (!overlap->blocks[at].covers)
		return 0;
	chunks_list(overlap, &overlap->blocks[at], &list);
	return block_set(overlap, at, &list);
}

/* Packs the chunks into as few blocks as possible. No block is covered. */
static void chunks_merge(struct fault_overlap *overlap)
{
	struct overlap_chunk *last = NULL, *to;
	const struct overlap_chunk *chunk;
	size_t nr = 0, i, j;

	for (i = 0; i < overlap->nr_blocks; i++) {
		for (j = 0; j < overlap->blocks[i].nr; j++) {
			chunk = &overlap->blocks[i].chunks[j];
			if (last && chunks_may_merge(overlap, last, chunk)) {
				chunk_merge(last, chunk);
				continue;
			}
			to = &overlap->blocks[nr / BLOCK_CHUNKS].chunks[nr % BLOCK_CHUNKS];
			*to = *chunk;
			last = to;
			nr++;
		}
	}
	blocks_drop(overlap, (nr + BLOCK_CHUNKS - 1) / BLOCK_CHUNKS, overlap->nr_blocks);
	for (i = 0; i < overlap->nr_blocks; i++) {
		overlap->blocks[i].from_ns = overlap->blocks[i].chunks[0].from_ns;
		overlap->blocks[i].nr = overlap_least(nr - i * BLOCK_CHUNKS, BLOCK_CHUNKS);
	}
	overlap->nr = nr;
}

static size_t chunks_max_of(const struct fault_overlap *overlap)
{
	return overlap->chunks_max ?: FAULT_OVERLAP_CHUNKS;
}

/* With a quarter free, a merge is needed only once for many spans. */
static int chunks_limit(struct fault_overlap *overlap)
{
	const size_t max = chunks_max_of(overlap);
	size_t i;
	int err = 0;

	if (overlap->nr <= max)
		return 0;
	for (i = overlap->nr_blocks; i-- > 0 && !err;)
		err = block_settle(overlap, i);
	if (err)
		return err;
	chunks_merge(overlap);
	while (overlap->nr > max - max / 4 && FAULT_OVERLAP_FINENESS >> overlap->coarsened > 1) {
		overlap->coarsened++;
		chunks_merge(overlap);
	}
	return 0;
}

/* The span follows all others. */
static int overlap_append(struct fault_overlap *overlap, const struct overlap_span *span)
{
	const struct overlap_chunk chunk = chunk_uniform(span->from_ns, span->to_ns, !span->runs);
	struct overlap_block *block = NULL;

	overlap->latest_ns = span->to_ns;
	overlap->depth = overlap_most(overlap->depth, chunk.depth);
	if (overlap->nr_blocks)
		block = &overlap->blocks[overlap->nr_blocks - 1];
	if (block && chunks_continue(&block->chunks[block->nr - 1], &chunk)) {
		chunk_merge(&block->chunks[block->nr - 1], &chunk);
		return 0;
	}
	if (!block || block->nr == BLOCK_CHUNKS) {
		if (blocks_add(overlap, overlap->nr_blocks))
			return -ENOMEM;
		block = &overlap->blocks[overlap->nr_blocks - 1];
		block->from_ns = chunk.from_ns;
	}
	block->chunks[block->nr++] = chunk;
	overlap->nr++;
	return chunks_limit(overlap);
}

/* The last block that starts at ns or before, or the first one. */
static size_t blocks_find(const struct fault_overlap *overlap, uint64_t ns)
{
	size_t low = 0, high = overlap->nr_blocks, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (overlap->blocks[middle].from_ns > ns)
			high = middle;
		else
			low = middle;
	}
	return low;
}

/* Replaces the chunks from `first` to `end` by those of the list. */
static int block_replace(struct fault_overlap *overlap, size_t at, size_t first, size_t end,
			 const struct chunk_list *list)
{
	struct overlap_block *block = &overlap->blocks[at];
	struct overlap_chunk *to = block->chunks + first, *behind = block->chunks + end;
	const size_t size = sizeof(*to), kept = block->nr - end;
	struct chunk_list all;

	if (first + list->nr + kept > BLOCK_CHUNKS) {
		memcpy(all.chunks, block->chunks, first * size);
		memcpy(all.chunks + first, list->chunks, list->nr * size);
		memcpy(all.chunks + first + list->nr, behind, kept * size);
		all.nr = first + list->nr + kept;
		all.depth = list->depth;
		return block_set(overlap, at, &all);
	}
	if (to + list->nr != behind)
		memmove(to + list->nr, behind, kept * size);
	memcpy(to, list->chunks, list->nr * size);
	overlap->nr += list->nr - (end - first);
	overlap->depth = overlap_most(overlap->depth, list->depth);
	block->nr = first + list->nr + kept;
	block->from_ns = block->chunks[0].from_ns;
	return 0;
}

/*
 * Each chunk that the span overlaps becomes at most two: itself, and the gap before it; and there
 * are up to three more, at the ends of the span. The chunk before them may be continued. Most spans
 * change a chunk or two without a new one, so that the chunks behind stay where they are.
 */
static int block_add(struct fault_overlap *overlap, size_t at, const struct overlap_span *span)
{
	const struct overlap_block *block = &overlap->blocks[at];
	size_t first = block->nr, end, before, i;
	uint64_t until_ns = span->from_ns;
	const struct overlap_chunk *chunk;
	struct chunk_list list;

	while (first && block->chunks[first - 1].to_ns > span->from_ns)
		first--;
	for (end = first; end < block->nr && block->chunks[end].from_ns < span->to_ns;)
		end++;
	before = first ? first - 1 : 0;
	list.nr = 0;
	list.depth = 0;
	if (first)
		list.chunks[list.nr++] = block->chunks[before];
	for (i = first; i < end; i++) {
		chunk = &block->chunks[i];
		if (chunk->from_ns > until_ns)
			chunks_emit_uniform(&list, until_ns, chunk->from_ns, !span->runs);
		until_ns = chunk->to_ns;
		chunks_emit_covered(&list, *chunk, span);
	}
	if (until_ns < span->to_ns)
		chunks_emit_uniform(&list, until_ns, span->to_ns, !span->runs);
	return block_replace(overlap, at, before, end, &list);
}

/* A running thread covers the blocks. The depth that they had still counts. */
static void blocks_add_run(struct fault_overlap *overlap, size_t first, size_t end)
{
	struct chunk_list list = { .depth = overlap->depth };
	size_t i;

	for (i = first; i < end; i++)
		chunks_list(overlap, &overlap->blocks[i], &list);
	overlap->depth = list.depth;
	blocks_drop(overlap, first, end);
}

/* The block and the one behind it become one, if they have few chunks. */
static void blocks_join(struct fault_overlap *overlap, size_t at)
{
	struct overlap_block *block = &overlap->blocks[at];
	const struct overlap_block *next = block + 1;
	const size_t size = sizeof(*next->chunks);
	size_t continued;

	if (at + 1 >= overlap->nr_blocks || block->covers != next->covers ||
	    block->nr + next->nr > JOINED_CHUNKS)
		return;
	continued = chunks_continue(&block->chunks[block->nr - 1], next->chunks);
	if (continued)
		chunk_merge(&block->chunks[block->nr - 1], next->chunks);
	memcpy(block->chunks + block->nr, next->chunks + continued, (next->nr - continued) * size);
	block->nr += next->nr - continued;
	overlap->nr += next->nr - continued;
	blocks_drop(overlap, at + 1, at + 2);
}

/* A run leaves few chunks in the blocks at its ends. */
static void blocks_join_around(struct fault_overlap *overlap, size_t at)
{
	blocks_join(overlap, at + 1);
	blocks_join(overlap, at);
	if (at)
		blocks_join(overlap, at - 1);
}

/* The span starts in one block, ends in another, and covers those between. */
static int blocks_add_span(struct fault_overlap *overlap, struct overlap_span span)
{
	const size_t first = blocks_find(overlap, span.from_ns);
	const size_t last = blocks_find(overlap, span.to_ns - 1);
	struct overlap_span part = span;
	size_t i;
	int err;

	if (first == last)
		return block_add(overlap, first, &span);
	part.from_ns = overlap->blocks[last].from_ns;
	err = block_add(overlap, last, &part);
	if (err)
		return err;
	for (i = first + 1; i < last && !span.runs; i++)
		overlap->blocks[i].covers++;
	if (span.runs)
		blocks_add_run(overlap, first + 1, last);
	span.to_ns = overlap->blocks[first + 1].from_ns;
	return block_add(overlap, first, &span);
}

/* The blocks at both ends get the faults that cover them first, which may divide a block. */
static int overlap_insert(struct fault_overlap *overlap, const struct overlap_span *span)
{
	int err = block_settle(overlap, blocks_find(overlap, span->from_ns))	       ?:
			  block_settle(overlap, blocks_find(overlap, span->to_ns - 1)) ?:
			  blocks_add_span(overlap, *span);

	overlap->latest_ns = overlap_most(overlap->latest_ns, span->to_ns);
	if (!err && span->runs)
		blocks_join_around(overlap, blocks_find(overlap, span->from_ns));
	return err ?: chunks_limit(overlap);
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

static void figures_add(struct overlap_figures *figures, const struct overlap_chunk *chunk,
			uint64_t from_ns, uint64_t to_ns)
{
	const uint64_t outside_ns =
		overlap_less(overlap_least(from_ns, chunk->to_ns), chunk->from_ns) +
		overlap_less(chunk->to_ns, overlap_most(to_ns, chunk->from_ns));

	figures->faults.min_ns += overlap_less(chunk->faults.min_ns, outside_ns);
	figures->faults.max_ns += chunk->faults.max_ns;
	figures->several.min_ns += overlap_less(chunk->several.min_ns, outside_ns);
	figures->several.max_ns += chunk->several.max_ns;
	figures->depth_max = overlap_most(figures->depth_max, chunk->depth_max);
}

void fault_overlap_figures(const struct fault_overlap *overlap, uint64_t from_ns, uint64_t to_ns,
			   struct overlap_figures *figures)
{
	struct chunk_list list = { .depth = overlap->depth };
	size_t i, j;

	*figures = (struct overlap_figures){ 0 };
	for (i = 0; i < overlap->nr_blocks; i++) {
		chunks_list(overlap, &overlap->blocks[i], &list);
		for (j = 0; j < list.nr; j++)
			figures_add(figures, &list.chunks[j], from_ns, to_ns);
	}
	figures->depth = list.depth;
	figures->depth_max = overlap_most(figures->depth_max, list.depth);
}
