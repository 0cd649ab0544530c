// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots hold the pages that are out, in eviction order. A Fenwick tree counts the used slots, so a
 * rank takes O(log n). A returning page leaves an empty slot. If no slot is left, the pages move
 * together. Each sampled page also has the times in and out of memory, for the second model. These
 * times are counted in evictions, so pauses do not count.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pages/memory_curve.h"
#include "util/hash.h"

/*
 * Buckets per power of two. Distances below 2 * BUCKETS are exact. The last bucket has all
 * distances beyond.
 */
#define BUCKETS_LOG  5
#define BUCKETS	     (1U << BUCKETS_LOG)
#define DISTANCE_LOG 40
#define NR_BUCKETS   ((DISTANCE_LOG - BUCKETS_LOG) * BUCKETS + BUCKETS)

/* Each of so many FIFOs keeps pages LONGER times as much longer as the one before. */
#define NR_FIFOS 96U
#define LONGER	 1.125

/* Maximum curve->shift: no recording has more than 2^32 times the sampled pages. */
#define SHIFT_MAX 32U

/*
 * Returns at regular intervals: the variance in a page's time out, relative to the mean squared. It
 * is about 1 if the times of use are independent. Between the two limits the pages may be those of
 * a loop that is disturbed, as by another process.
 */
#define REGULAR	  0.1
#define IRREGULAR 0.5
#define TWICE	  0.1 /* of the returning pages */

/*
 * The kernel may do worse than both models, or better. On 6.12, with both LRUs, five programs had
 * shares between these multiples of the models' shares.
 */
#define LEAST 0.7
#define MOST  1.2

struct page_cycles {
	uint64_t key, file;
	struct page_cycles *next_of_file;
	uint64_t since;	       /* the last eviction or return */
	uint32_t slot, bucket; /* plus one; 0: the page is not out, or no fault may wait for it */
	uint32_t evictions, returns, periods;
	uint32_t faults;
	uint64_t total_ns;
	double out, out_square, in; /* times, in evictions */
};

struct memory_curve {
	struct hash pages;	    /* struct page_cycles by key */
	struct hash files;	    /* each file's newest page */
	struct page_cycles **slots; /* NULL: empty */
	uint32_t *tree;		    /* Fenwick tree over the used slots, numbered from 1 */
	size_t nr_slots, next_slot, max_pages;
	uint64_t nr_out;
	unsigned int shift; /* one in 1 << shift pages is in the sample */
	struct memory_curve_figures figures;
	struct memory_curve_sums all, sums[NR_BUCKETS]; /* by distance */
};

struct memory_curve *memory_curve_new(size_t max_pages)
{
	struct memory_curve *curve = calloc(1, sizeof(*curve));

	if (!curve)
		return NULL;
	curve->max_pages = max_pages;
	curve->nr_slots = 2 * max_pages;
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
	hash_exit(&curve->files, NULL);
	hash_exit(&curve->pages, free);
	free(curve->slots);
	free(curve->tree);
	free(curve);
}

/* The splitmix64 finalizer: the top bits in the result choose the sample. */
static uint64_t memory_curve_mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/*
 * Two of n files share a key with a probability of about n^2 / 2^65. The same holds for two of n
 * pages.
 */
static uint64_t curve_file_key(uint64_t dev, uint64_t inode)
{
	return memory_curve_mix(memory_curve_mix(dev + 0x9e3779b97f4a7c15) + inode +
				0x9e3779b97f4a7c15);
}

static uint64_t page_key(const struct memory_curve_page *page)
{
	return memory_curve_mix(curve_file_key(page->dev, page->inode) + page->index +
				0x9e3779b97f4a7c15);
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

static void slot_take(struct memory_curve *curve, struct page_cycles *page)
{
	curve->slots[curve->next_slot] = page;
	tree_add(curve, curve->next_slot, 1);
	page->slot = ++curve->next_slot;
	curve->nr_out++;
}

static void slot_clear(struct memory_curve *curve, struct page_cycles *page)
{
	if (!page->slot)
		return;
	curve->slots[page->slot - 1] = NULL;
	tree_add(curve, page->slot - 1, -1);
	page->slot = 0;
	curve->nr_out--;
}

/* Moves the evicted pages together, in their order. */
static void slots_compact(struct memory_curve *curve)
{
	const size_t nr = curve->next_slot;
	struct page_cycles *page;
	size_t i;

	memset(curve->tree, 0, (curve->nr_slots + 1) * sizeof(*curve->tree));
	curve->next_slot = 0;
	curve->nr_out = 0;
	for (i = 0; i < nr; i++) {
		page = curve->slots[i];
		curve->slots[i] = NULL;
		if (page)
			slot_take(curve, page);
	}
}

/* Returns 0 or -ENOMEM. */
static int add_to_file(struct memory_curve *curve, struct page_cycles *page)
{
	page->next_of_file = hash_take(&curve->files, page->file);
	return hash_add(&curve->files, page->file, page);
}

static bool keep_sampled(void *context, void *value)
{
	struct memory_curve *curve = context;
	struct page_cycles *page = value;

	if (is_sampled(curve, page->key))
		return true;
	slot_clear(curve, page);
	free(page);
	return false;
}

static int add_each_to_file(void *context, void *page)
{
	return add_to_file(context, page);
}

/* Removes half the pages. Returns 0 or -ENOMEM. */
static int sample_less(struct memory_curve *curve)
{
	int err;

	curve->shift++;
	hash_exit(&curve->files, NULL);
	err = hash_filter(&curve->pages, keep_sampled, curve);
	return err ?: hash_visit(&curve->pages, add_each_to_file, curve);
}

/* NULL with *err = 0: the page is not in the sample. */
static struct page_cycles *page_get(struct memory_curve *curve,
				    const struct memory_curve_page *page, int *err)
{
	const uint64_t key = page_key(page);
	struct page_cycles *cycles = hash_find(&curve->pages, key);

	*err = 0;
	if (cycles)
		return cycles;
	while (!*err && is_sampled(curve, key) && curve->pages.count >= curve->max_pages &&
	       curve->shift < SHIFT_MAX)
		*err = sample_less(curve);
	if (*err || !is_sampled(curve, key) || curve->pages.count >= curve->max_pages)
		return NULL;
	cycles = calloc(1, sizeof(*cycles));
	*err = cycles ? hash_add(&curve->pages, key, cycles) : -ENOMEM;
	if (*err) {
		free(cycles);
		return NULL;
	}
	cycles->key = key;
	cycles->file = curve_file_key(page->dev, page->inode);
	*err = add_to_file(curve, cycles);
	return *err ? NULL : cycles;
}

int memory_curve_evict(struct memory_curve *curve, const struct memory_curve_page *page)
{
	struct page_cycles *cycles;
	int err;

	curve->figures.evicted++;
	cycles = page_get(curve, page, &err);
	if (!cycles)
		return err;
	if (cycles->returns && !cycles->slot) {
		cycles->periods++;
		cycles->in += curve->figures.evicted - cycles->since;
	}
	/* If the page is out, the return was not seen. */
	slot_clear(curve, cycles);
	cycles->since = curve->figures.evicted;
	cycles->evictions++;
	cycles->bucket = 0;
	if (curve->next_slot == curve->nr_slots)
		slots_compact(curve);
	slot_take(curve, cycles);
	if (curve->nr_out << curve->shift > curve->figures.most_out)
		curve->figures.most_out = curve->nr_out << curve->shift;
	return 0;
}

int memory_curve_evict_range(struct memory_curve *curve, const struct memory_curve_page *first,
			     uint64_t pages)
{
	struct memory_curve_page page = *first;
	int err = 0;

	for (; page.index - first->index < pages && !err; page.index++)
		err = memory_curve_evict(curve, &page);
	return err;
}

static unsigned int bucket_of(uint64_t distance)
{
	const unsigned int bits = 64 - __builtin_clzll(distance | 1);
	const unsigned int shift = bits > BUCKETS_LOG + 1 ? bits - BUCKETS_LOG - 1 : 0;

	const unsigned int bucket = shift * BUCKETS + (distance >> shift);

	return bucket < NR_BUCKETS ? bucket : NR_BUCKETS - 1;
}

/* A bucket's largest distance. */
static uint64_t bucket_end(unsigned int bucket)
{
	const unsigned int shift = bucket < 2 * BUCKETS ? 0 : bucket / BUCKETS - 1;

	return ((uint64_t)(bucket - shift * BUCKETS + 1) << shift) - 1;
}

void memory_curve_return(struct memory_curve *curve, const struct memory_curve_page *page)
{
	struct page_cycles *cycles = hash_find(&curve->pages, page_key(page));
	uint64_t newer;
	double out;

	if (!cycles || !cycles->slot)
		return;
	newer = curve->nr_out - tree_count(curve, cycles->slot - 1);
	/* Each newer sampled page stands for 1 << shift pages. */
	cycles->bucket = bucket_of((newer << curve->shift) + 1) + 1;
	slot_clear(curve, cycles);
	out = curve->figures.evicted - cycles->since;
	cycles->since = curve->figures.evicted;
	cycles->returns++;
	cycles->out += out;
	cycles->out_square += out * out;
	curve->figures.returned += 1ULL << curve->shift;
}

int64_t memory_curve_fault(struct memory_curve *curve, const struct memory_curve_page *page,
			   uint64_t total_ns)
{
	const uint64_t key = page_key(page);
	struct page_cycles *cycles = hash_find(&curve->pages, key);
	struct memory_curve_sums *sum;

	if (!is_sampled(curve, key))
		return 0;
	if (!cycles || !cycles->bucket)
		return -1;
	sum = &curve->sums[cycles->bucket - 1];
	cycles->faults++;
	cycles->total_ns += total_ns;
	sum->faults += 1ULL << curve->shift;
	sum->total_ns += (double)(total_ns << curve->shift);
	curve->all.faults += 1ULL << curve->shift;
	curve->all.total_ns += (double)(total_ns << curve->shift);
	return 1LL << curve->shift;
}

bool memory_curve_has_file(const struct memory_curve *curve, uint64_t dev, uint64_t inode)
{
	return hash_find(&curve->files, curve_file_key(dev, inode));
}

void memory_curve_end_file(struct memory_curve *curve, uint64_t dev, uint64_t inode)
{
	struct page_cycles *page = hash_find(&curve->files, curve_file_key(dev, inode));

	for (; page; page = page->next_of_file) {
		slot_clear(curve, page);
		page->bucket = 0;
	}
}

/* Variances are unbiased: divided by the number of values less one. */
struct out_times {
	double within, means_square; /* sums over the pages returning twice or more */
	double returned, returned_twice;
	double sum, square, count; /* for all times */
};

static int add_out_times(void *context, void *value)
{
	const struct page_cycles *page = value;
	struct out_times *times = context;
	double mean;

	if (!page->returns)
		return 0;
	times->returned++;
	times->sum += page->out;
	times->square += page->out_square;
	times->count += page->returns;
	if (page->returns < 2)
		return 0;
	mean = page->out / page->returns;
	times->returned_twice++;
	times->within += (page->out_square - page->out * mean) / (page->returns - 1);
	times->means_square += mean * mean;
	return 0;
}

/*
 * The variance in a page's time out, relative to the mean squared. If few pages returned twice,
 * their intervals prove little. Then the times of all pages count. Infinite if the times show
 * nothing.
 */
static double out_spread(const struct memory_curve *curve)
{
	struct out_times times = { 0 };
	double mean;

	hash_visit(&curve->pages, add_out_times, &times);
	if (times.returned_twice > TWICE * times.returned)
		return times.means_square ? times.within / times.means_square : INFINITY;
	if (times.count < 2)
		return INFINITY;
	mean = times.sum / times.count;
	if (!mean)
		return INFINITY;
	return (times.square - times.sum * mean) / (times.count - 1) / (mean * mean);
}

void memory_curve_figures(const struct memory_curve *curve, struct memory_curve_figures *figures)
{
	*figures = curve->figures;
	figures->faults = (uint64_t)curve->all.faults;
	figures->total_ns = (uint64_t)curve->all.total_ns;
	figures->sampled = curve->pages.count;
	figures->one_of = 1ULL << curve->shift;
	figures->is_regular = out_spread(curve) < REGULAR;
}

/* The FIFO keeping pages longer by @longer. */
struct fifo {
	double longer, mean_period;
	uint64_t end;
	double pages; /* extra memory, on average, in the sample */
	struct memory_curve_sums all, avoided;
};

/*
 * A page's first period in memory may have started before the recording. The mean over all pages
 * replaces it. A page still out at the end counts with the time until then.
 */
static int add_to_fifo(void *context, void *value)
{
	const struct page_cycles *page = value;
	struct fifo *fifo = context;
	double out = page->out, mean_out, period, share;

	if (page->slot)
		out += fifo->end - page->since;
	if (!page->returns) {
		fifo->pages += fmin(fifo->longer * page->evictions, out);
		return 0;
	}
	mean_out = out / page->returns;
	period = (page->in + fifo->mean_period) / (page->periods + 1);
	share = fifo->longer / (period + fifo->longer + mean_out);
	/* It is out for @mean_out each time it still returns. */
	fifo->pages += out * share;
	fifo->all.faults += page->faults;
	fifo->all.total_ns += page->total_ns;
	fifo->avoided.faults += page->faults * share;
	fifo->avoided.total_ns += page->total_ns * share;
	return 0;
}

static int add_periods(void *context, void *value)
{
	const struct page_cycles *page = value;
	double *sums = context;

	sums[0] += page->in;
	sums[1] += page->periods;
	return 0;
}

/* Fills @fifos, starting with those keeping pages for a short time. */
static void fifos_fill(const struct memory_curve *curve, struct fifo fifos[NR_FIFOS])
{
	const double span = curve->figures.evicted;
	double periods[2] = { 0 };
	struct fifo *fifo;
	unsigned int i;

	hash_visit(&curve->pages, add_periods, periods);
	for (i = 0; i < NR_FIFOS; i++) {
		fifo = &fifos[i];
		*fifo = (struct fifo){
			.longer = span * pow(LONGER, (double)i + 1 - NR_FIFOS),
			.mean_period = periods[1] ? periods[0] / periods[1] : 0,
			.end = curve->figures.evicted,
		};
		hash_visit(&curve->pages, add_to_fifo, fifo);
		fifo->pages *= span ? (double)(1ULL << curve->shift) / span : 0;
	}
}

static double between(double from, double to, double weight)
{
	return from + (to - from) * weight;
}

/*
 * Interpolates between two FIFOs. With more pages than the last one, returns the last one's shares.
 */
static struct memory_curve_sums fifo_shares(const struct fifo fifos[NR_FIFOS], uint64_t pages)
{
	static const struct fifo none;
	const struct fifo *from = &none, *to = fifos;
	const struct fifo *last = &fifos[NR_FIFOS - 1];
	double weight;

	for (; to < last && to->pages < pages; to++)
		from = to;
	weight = to->pages > from->pages ? (pages - from->pages) / (to->pages - from->pages) : 1;
	weight = fmin(weight, 1);
	return (struct memory_curve_sums){
		.faults = last->all.faults ?
				  between(from->avoided.faults, to->avoided.faults, weight) /
					  last->all.faults :
				  0,
		.total_ns = last->all.total_ns ?
				    between(from->avoided.total_ns, to->avoided.total_ns, weight) /
					    last->all.total_ns :
				    0,
	};
}

static struct memory_curve_sums lru_shares(const struct memory_curve *curve, uint64_t pages)
{
	struct memory_curve_sums sums = { 0 };
	unsigned int i;

	for (i = 0; i < NR_BUCKETS && bucket_end(i) <= pages; i++) {
		sums.faults += curve->sums[i].faults;
		sums.total_ns += curve->sums[i].total_ns;
	}
	if (curve->all.faults)
		sums.faults /= curve->all.faults;
	if (curve->all.total_ns)
		sums.total_ns /= curve->all.total_ns;
	return sums;
}

/* The largest distance, as its bucket has it: a loop does not need the pages that stay out. */
static uint64_t farthest(const struct memory_curve *curve)
{
	unsigned int i = NR_BUCKETS;

	while (i && !curve->sums[i - 1].faults)
		i--;
	return i ? bucket_end(i - 1) : 0;
}

/* A fault share and a time share. */
static struct memory_curve_sums chosen(double (*choose)(double, double), double factor,
				       struct memory_curve_sums a, struct memory_curve_sums b)
{
	return (struct memory_curve_sums){
		.faults = fmin(1, factor * choose(a.faults, b.faults)),
		.total_ns = fmin(1, factor * choose(a.total_ns, b.total_ns)),
	};
}

/*
 * Pages that return at regular intervals: the kernel acts as the LRU, which avoids nothing until
 * all fit. With more than half of the missing memory it may do better: at best it keeps as many of
 * the pages as fit.
 */
static struct memory_curve_sums regular_most(const struct memory_curve *curve, uint64_t pages,
					     struct memory_curve_sums lru)
{
	const double kept = pages / fmin(curve->figures.most_out, farthest(curve));

	return kept > 0.5 ? chosen(fmax, 1, lru, (struct memory_curve_sums){ kept, kept }) : lru;
}

/*
 * With a page less than it needs, an LRU avoids no fault of a loop, and the kernel may keep pages
 * that are not used again instead of those of the loop. So nothing is certain until all fit.
 */
void memory_curve_points(const struct memory_curve *curve, struct memory_curve_point *points,
			 size_t nr)
{
	static const struct memory_curve_sums none, all = { 1, 1 };
	struct fifo fifos[NR_FIFOS] = { 0 };
	struct memory_curve_sums lru, fifo;
	const double spread = nr ? out_spread(curve) : 0;
	size_t i;

	if (spread >= REGULAR)
		fifos_fill(curve, fifos);
	for (i = 0; i < nr; i++) {
		lru = lru_shares(curve, points[i].pages);
		points[i].least = none;
		points[i].most = none;
		if (spread >= REGULAR) {
			fifo = fifo_shares(fifos, points[i].pages);
			points[i].most = chosen(fmax, MOST, lru, fifo);
			if (spread >= IRREGULAR)
				points[i].least = chosen(fmin, LEAST, lru, fifo);
		}
		if (spread < IRREGULAR)
			points[i].most = chosen(fmax, 1, points[i].most,
						regular_most(curve, points[i].pages, lru));
		/* With as many more pages none had left. */
		if (curve->all.faults && points[i].pages >= curve->figures.most_out) {
			points[i].least = all;
			points[i].most = all;
		}
	}
}
