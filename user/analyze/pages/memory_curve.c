// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots hold the pages that are out, in the order of their evictions. A Fenwick tree counts the
 * used slots, so a rank takes O(log n). A returning page leaves its slot empty. If no slot is
 * left, the pages move together; if too many pages are out, half of them are sampled away.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pages/memory_curve.h"
#include "util/hash.h"

/* Buckets per power of two; distances below 2 * BUCKETS are exact. */
#define BUCKETS_LOG 6
#define BUCKETS	    (1U << BUCKETS_LOG)
#define NR_BUCKETS  ((64 - BUCKETS_LOG) * BUCKETS + BUCKETS)

struct out_page {
	uint64_t key;
	bool used;
};

struct memory_curve {
	struct out_page *slots;
	uint32_t *tree; /* Fenwick tree of the used slots, numbered from 1 */
	size_t nr_slots, next_slot, max_out;
	struct hash slot_of; /* struct out_page by key */
	unsigned int shift;  /* one of 1 << shift pages is in the sample */
	uint64_t observed;
	struct memory_curve_sum all, sums[NR_BUCKETS]; /* by distance */
};

struct memory_curve *memory_curve_new(size_t max_out)
{
	struct memory_curve *curve = calloc(1, sizeof(*curve));

	if (!curve)
		return NULL;
	curve->max_out = max_out;
	curve->nr_slots = 2 * max_out;
	curve->slots = calloc(curve->nr_slots, sizeof(*curve->slots));
	curve->tree = calloc(curve->nr_slots + 1, sizeof(*curve->tree));
	if (curve->slots && curve->tree)
		return curve;
	memory_curve_free(curve);
	return NULL;
}

void memory_curve_free(struct memory_curve *curve)
{
	if (!curve)
		return;
	hash_exit(&curve->slot_of, NULL);
	free(curve->slots);
	free(curve->tree);
	free(curve);
}

/* The finalizer of splitmix64: the top bits of the result choose the sample. */
static uint64_t memory_curve_mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Two of n pages share a key with a probability of about n^2 / 2^65. */
static uint64_t page_key(const struct memory_curve_page *page)
{
	uint64_t key = memory_curve_mix(page->space + 0x9e3779b97f4a7c15);

	key = memory_curve_mix(key + page->inode + 0x9e3779b97f4a7c15);
	return memory_curve_mix(key + page->index + 0x9e3779b97f4a7c15);
}

static bool is_sampled(const struct memory_curve *curve, uint64_t key)
{
	return !curve->shift || !(key >> (64 - curve->shift));
}

static void tree_add(struct memory_curve *curve, size_t slot, uint32_t change)
{
	size_t i;

	for (i = slot + 1; i <= curve->nr_slots; i += i & -i)
		curve->tree[i] += change;
}

/* Counts the used slots up to @slot. */
static uint64_t tree_count(const struct memory_curve *curve, size_t slot)
{
	uint64_t count = 0;
	size_t i;

	for (i = slot + 1; i; i -= i & -i)
		count += curve->tree[i];
	return count;
}

static int slot_take(struct memory_curve *curve, uint64_t key)
{
	const size_t slot = curve->next_slot;
	int err = hash_add(&curve->slot_of, key, &curve->slots[slot]);

	if (err)
		return err;
	curve->next_slot++;
	curve->slots[slot] = (struct out_page){ .key = key, .used = true };
	tree_add(curve, slot, 1);
	return 0;
}

static void slot_clear(struct memory_curve *curve, struct out_page *out)
{
	hash_take(&curve->slot_of, out->key);
	out->used = false;
	tree_add(curve, out - curve->slots, -1);
}

/* Moves the pages of the sample together, in their order. Returns 0 or -ENOMEM. */
static int slots_compact(struct memory_curve *curve)
{
	const size_t nr = curve->next_slot;
	struct out_page out;
	size_t i;
	int err = 0;

	hash_exit(&curve->slot_of, NULL);
	memset(curve->tree, 0, (curve->nr_slots + 1) * sizeof(*curve->tree));
	curve->next_slot = 0;
	for (i = 0; i < nr && !err; i++) {
		out = curve->slots[i];
		curve->slots[i].used = false;
		if (out.used && is_sampled(curve, out.key))
			err = slot_take(curve, out.key);
	}
	return err;
}

int memory_curve_evict(struct memory_curve *curve, const struct memory_curve_page *page)
{
	const uint64_t key = page_key(page);
	struct out_page *out = hash_find(&curve->slot_of, key);
	int err = 0;

	/* Its return was not seen. */
	if (out)
		slot_clear(curve, out);
	while (!err && is_sampled(curve, key) && curve->slot_of.count == curve->max_out) {
		curve->shift++;
		err = slots_compact(curve);
	}
	if (err || !is_sampled(curve, key))
		return err;
	if (curve->next_slot == curve->nr_slots)
		err = slots_compact(curve);
	return err ?: slot_take(curve, key);
}

static unsigned int bucket_of(uint64_t distance)
{
	const unsigned int bits = 64 - __builtin_clzll(distance | 1);
	const unsigned int shift = bits > BUCKETS_LOG + 1 ? bits - BUCKETS_LOG - 1 : 0;

	return shift * BUCKETS + (distance >> shift);
}

/* The largest distance of a bucket. */
static uint64_t bucket_end(unsigned int bucket)
{
	const unsigned int shift = bucket < 2 * BUCKETS ? 0 : bucket / BUCKETS - 1;

	return ((uint64_t)(bucket - shift * BUCKETS + 1) << shift) - 1;
}

void memory_curve_return(struct memory_curve *curve, const struct memory_curve_page *page,
			 uint64_t ns)
{
	struct out_page *out = hash_find(&curve->slot_of, page_key(page));
	struct memory_curve_sum *sum;
	uint64_t newer;

	if (!out)
		return;
	newer = curve->slot_of.count - tree_count(curve, out - curve->slots);
	/* Each newer page of the sample stands for 1 << shift pages. */
	sum = &curve->sums[bucket_of((newer << curve->shift) + 1)];
	sum->returns += 1ULL << curve->shift;
	sum->total_ns += ns << curve->shift;
	curve->all.returns += 1ULL << curve->shift;
	curve->all.total_ns += ns << curve->shift;
	curve->observed++;
	slot_clear(curve, out);
}

void memory_curve_forget(struct memory_curve *curve, const struct memory_curve_page *page)
{
	struct out_page *out = hash_find(&curve->slot_of, page_key(page));

	if (out)
		slot_clear(curve, out);
}

void memory_curve_figures(const struct memory_curve *curve, struct memory_curve_figures *figures)
{
	*figures = (struct memory_curve_figures){
		.all = curve->all,
		.observed = curve->observed,
		.one_of = 1ULL << curve->shift,
		.out = curve->slot_of.count,
	};
}

struct memory_curve_sum memory_curve_avoided(const struct memory_curve *curve, uint64_t pages)
{
	struct memory_curve_sum sum = { 0 };
	unsigned int i;

	for (i = 0; i < NR_BUCKETS && bucket_end(i) <= pages; i++) {
		sum.returns += curve->sums[i].returns;
		sum.total_ns += curve->sums[i].total_ns;
	}
	return sum;
}

uint64_t memory_curve_pages(const struct memory_curve *curve, unsigned int percent)
{
	uint64_t returns = 0;
	unsigned int i;

	for (i = 0; i < NR_BUCKETS && curve->all.returns; i++) {
		returns += curve->sums[i].returns;
		if ((double)returns * 100 >= (double)curve->all.returns * percent)
			return bucket_end(i);
	}
	return 0;
}
