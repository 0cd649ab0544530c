// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remembers which process evicted each file page and each swapped-out page. Counts the returning
 * pages and the faults waiting for them, for each evictor, victim and reason. Items come from
 * analysis.c, and the reports read the pairs. Memory is bounded. Marks that do not fit count as overflow. Evictors and
 * pairs with the fewest pages are folded into "(others)".
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pages/evictions.h"
#include "analyze/pages/page_chunks.h"
#include "fields/tables.h"
#include "model/block_pages.h"
#include "util/hash.h"

#define CHUNK_PAGES 2048U /* a chunk covers 8 MiB in a file */

/* A page's mark: 0 if it was not evicted, else the evictor's number plus one, and flags. */
#define READ_AGAIN   0x8000U
#define REASON_SHIFT 13
#define REASON_MASK  0x3U
#define EVICTOR_MASK 0x1fffU
#define OTHERS	     EVICTIONS_MAX_EVICTORS
/* Swapped-out pages: the inode is the process. No file's device has this number. */
#define DEV_SWAP 0

static const struct field evictions_sum_rows[] = {
	FIELD(COUNT, evictions_sum, pages, NULL),
	FIELD(COUNT, evictions_sum, faults, NULL),
	FIELD(COUNT, evictions_sum, total_ns, NULL),
};

const struct fields evictions_sum_fields =
	FIELDS("evicted_again", "Pages that were evicted for one reason and came back.",
	       evictions_sum, evictions_sum_rows);

/* The limit on the marks allows one page of the curve for so many bytes. It takes less than half. */
#define CURVE_PAGE_BYTES 512U
/*
 * The largest folio of the page cache, and more than a device reads at once. More pages, in a
 * damaged recording, would take minutes.
 */
#define CURVE_FOLIO 2048U
#define CURVE_READ  16384U

struct chunk_marks {
	struct page_marks pages;
	uint32_t open; /* pages evicted and not read again since */
	bool anon;
};

struct evictor {
	uint32_t pid, doing; /* see struct evictions_pair */
	char name[16];
	uint64_t pages, floor, number; /* see folding_choose() */
};

struct pair {
	struct evictions_pair sum; /* no evictor and name, unless the evictor was folded */
	uint16_t evictor;
	bool closed;		/* the evictor was folded */
	uint64_t floor, number; /* see folding_choose() */
};

struct evictions {
	uint64_t page_bytes;
	struct page_chunks chunks;			     /* struct chunk_marks */
	struct hash evictor_of;				     /* struct evictor by evictor_key() */
	struct evictor evictors[EVICTIONS_MAX_EVICTORS + 1]; /* the last one: all others */
	size_t nr_evictors;
	uint64_t evictor_floor, admitted;
	struct hash pair_of; /* struct pair by pair_key() */
	struct pair pairs[EVICTIONS_MAX_PAIRS];
	size_t nr_pairs;
	uint64_t pair_floor;
	/* Sums of folded ones: those of files, then those of swap. */
	struct evictions_pair other_pairs[2 * EVICTIONS_NR_REASONS];
	struct evictions_figures figures;
	struct memory_curve *curve; /* for reclaimed pages */
	struct swap_outs *swaps;
};

/* Pages that are still open lose their evictor, so their fate is not known. */
static void evictions_drop(void *owner, void *kept)
{
	struct evictions *evictions = owner;
	struct chunk_marks *marks = kept;

	if (!marks->anon)
		evictions->figures.overflow += marks->open;
	page_chunks_resized(&evictions->chunks, kept, -(ptrdiff_t)page_marks_bytes(&marks->pages));
	page_marks_exit(&marks->pages);
}

struct evictions *evictions_new(uint64_t page_bytes, size_t memory)
{
	struct evictions *evictions = calloc(1, sizeof(*evictions));
	struct evictions_pair *others;

	if (!evictions)
		return NULL;
	evictions->page_bytes = page_bytes;
	evictions->curve = memory_curve_new(memory / CURVE_PAGE_BYTES);
	if (evictions->curve)
		evictions->swaps = swap_outs_new(evictions->curve, page_bytes);
	if (!evictions->swaps) {
		evictions_free(evictions);
		return NULL;
	}
	evictions->chunks = (struct page_chunks){
		.pages = CHUNK_PAGES,
		.bytes = sizeof(struct chunk_marks),
		.max_memory = memory,
		.drop = evictions_drop,
		.owner = evictions,
	};
	strcpy(evictions->evictors[OTHERS].name, EVICTIONS_OTHERS);
	for (others = evictions->other_pairs;
	     others < evictions->other_pairs + ARRAY_SIZE(evictions->other_pairs); others++) {
		strcpy(others->evictor_name, EVICTIONS_OTHERS);
		others->anon = others - evictions->other_pairs >= EVICTIONS_NR_REASONS;
		others->reason = (others - evictions->other_pairs) % EVICTIONS_NR_REASONS;
	}
	return evictions;
}

void evictions_free(struct evictions *evictions)
{
	if (!evictions)
		return;
	page_chunks_exit(&evictions->chunks);
	hash_exit(&evictions->evictor_of, NULL);
	hash_exit(&evictions->pair_of, NULL);
	swap_outs_free(evictions->swaps);
	memory_curve_free(evictions->curve);
	free(evictions);
}

static bool is_open(uint16_t mark)
{
	return mark && !(mark & READ_AGAIN);
}

static uint32_t count_open(const struct chunk_marks *marks, uint32_t at, uint32_t pages)
{
	uint32_t open = 0, run;
	uint16_t mark;

	for (; pages && marks->open; at += run, pages -= run) {
		run = page_marks_run(&marks->pages, at, pages, &mark);
		open += is_open(mark) ? run : 0;
	}
	return open;
}

/* All pages are in the chunk. Returns 0 or -ENOMEM. */
static int set_marks(struct evictions *evictions, struct chunk_marks *marks, uint64_t pgoff,
		     uint64_t pages, uint16_t mark)
{
	const uint32_t at = pgoff % CHUNK_PAGES;
	const size_t before = page_marks_bytes(&marks->pages);

	marks->open -= count_open(marks, at, pages);
	if (page_marks_set(&marks->pages, at, pages, CHUNK_PAGES, mark))
		return -ENOMEM;
	marks->open += is_open(mark) ? pages : 0;
	page_chunks_settle(&evictions->chunks, marks, !marks->open);
	page_chunks_resized(&evictions->chunks, marks, page_marks_bytes(&marks->pages) - before);
	return 0;
}

static uint16_t renumber(const void *context, uint16_t mark)
{
	const uint16_t *numbers = context;

	return mark ? (numbers[(mark & EVICTOR_MASK) - 1] + 1) | (mark & ~EVICTOR_MASK) : 0;
}

static void renumber_chunk(void *owner, void *kept, const void *numbers)
{
	struct chunk_marks *marks = kept;

	(void)owner;
	page_marks_change(&marks->pages, renumber, numbers);
}

/* A folded evictor's pairs keep the pid and name. */
static void renumber_pairs(struct evictions *evictions, const uint16_t *numbers)
{
	const struct evictor *evictor;
	struct pair *pair;

	for (pair = evictions->pairs; pair < &evictions->pairs[evictions->nr_pairs]; pair++) {
		evictor = &evictions->evictors[pair->evictor];
		if (pair->closed || pair->evictor == OTHERS)
			continue;
		pair->closed = numbers[pair->evictor] == OTHERS;
		if (pair->closed) {
			pair->sum.evictor = evictor->pid;
			pair->sum.doing = evictor->doing;
			memcpy(pair->sum.evictor_name, evictor->name, sizeof(evictor->name));
		}
		pair->evictor = numbers[pair->evictor];
	}
}

static uint64_t pair_key(const struct pair *pair)
{
	return (uint64_t)pair->sum.anon << 50 | (uint64_t)pair->sum.reason << 48 |
	       (uint64_t)pair->evictor << 32 | pair->sum.victim;
}

static uint64_t evictor_key(const struct evictor *evictor)
{
	return (uint64_t)evictor->doing << 32 | evictor->pid;
}

/* Finds pairs by their present numbers. Returns 0 or -ENOMEM. */
static int index_pairs(struct evictions *evictions)
{
	struct pair *pair;
	int err = 0;

	hash_exit(&evictions->pair_of, NULL);
	for (pair = evictions->pairs; pair < &evictions->pairs[evictions->nr_pairs] && !err; pair++)
		err = pair->closed ? 0 : hash_add(&evictions->pair_of, pair_key(pair), pair);
	return err;
}

static int fold_evictors(struct evictions *evictions)
{
	struct folding_entry entries[EVICTIONS_MAX_EVICTORS];
	uint16_t numbers[EVICTIONS_MAX_EVICTORS + 1] = { [OTHERS] = OTHERS };
	struct evictor *evictor;
	size_t i, nr, kept = 0;
	int err;

	for (i = 0; i < EVICTIONS_MAX_EVICTORS; i++) {
		evictor = &evictions->evictors[i];
		entries[i] = (struct folding_entry){ .weight = evictor->floor + evictor->pages,
						     .number = evictor->number,
						     .value = evictor };
	}
	nr = folding_choose(entries, EVICTIONS_MAX_EVICTORS, &evictions->evictor_floor);
	for (i = 0; i < nr; i++)
		numbers[(struct evictor *)entries[i].value - evictions->evictors] = OTHERS;
	for (i = 0; i < EVICTIONS_MAX_EVICTORS; i++)
		if (numbers[i] != OTHERS)
			numbers[i] = kept++;
	renumber_pairs(evictions, numbers);
	page_chunks_visit(&evictions->chunks, renumber_chunk, numbers);
	hash_exit(&evictions->evictor_of, NULL);
	evictions->nr_evictors = kept;
	for (i = 0, err = 0; i < EVICTIONS_MAX_EVICTORS && !err; i++) {
		if (numbers[i] == OTHERS)
			continue;
		evictor = &evictions->evictors[numbers[i]];
		*evictor = evictions->evictors[i];
		err = hash_add(&evictions->evictor_of, evictor_key(evictor), evictor);
	}
	return err ?: index_pairs(evictions);
}

static enum evictions_reason evictions_reason_of(const struct pfstat_page *page)
{
	if (page->event.flags & PFSTAT_PAGE_RECLAIMED)
		return EVICTIONS_RECLAIMED;
	if (page->event.flags & PFSTAT_PAGE_PROACTIVE)
		return EVICTIONS_PROACTIVE;
	return page->event.flags & PFSTAT_PAGE_DROPPED ? EVICTIONS_DROPPED : EVICTIONS_UNKNOWN;
}

/* A thread that reclaims because memory is short may be in any call: the call is no reason. */
static uint32_t doing_of(const struct pfstat_page *page)
{
	return page->event.flags & PFSTAT_PAGE_RECLAIMED ?
		       PFSTAT_WAKER_UNKNOWN :
		       page->event.flags >> PFSTAT_PAGE_DOING_SHIFT;
}

static int evictor_of(struct evictions *evictions, const struct pfstat_page *page, uint16_t *number)
{
	const struct evictor made = { .pid = page->event.pid, .doing = doing_of(page) };
	struct evictor *evictor = hash_find(&evictions->evictor_of, evictor_key(&made));
	int err = 0;

	if (!evictor && evictions->nr_evictors == EVICTIONS_MAX_EVICTORS)
		err = fold_evictors(evictions);
	if (!evictor && !err) {
		evictor = &evictions->evictors[evictions->nr_evictors];
		err = hash_add(&evictions->evictor_of, evictor_key(&made), evictor);
		if (err)
			return err;
		evictions->nr_evictors++;
		*evictor = made;
		evictor->floor = evictions->evictor_floor;
		evictor->number = ++evictions->admitted;
	}
	if (err)
		return err;
	evictor->pages += page->pages;
	/* Takes the latest name, because the process may have executed another program. */
	snprintf(evictor->name, sizeof(evictor->name), "%s", page->comm);
	*number = evictor - evictions->evictors;
	return 0;
}

/* Returns 0 or -ENOMEM. */
static int mark_pages(struct evictions *evictions, const struct pfstat_page *page, uint16_t mark)
{
	const bool anon = page->event.flags & PFSTAT_PAGE_ANON;
	uint64_t pgoff = page->pgoff, left, nr;
	struct chunk_marks *marks;
	void *kept;
	int err = 0;

	for (left = page->pages; left && !err; left -= nr, pgoff += nr) {
		nr = page_chunks_within(&evictions->chunks, pgoff, left);
		err = page_chunks_get(&evictions->chunks, anon ? DEV_SWAP : page->dev, page->inode,
				      pgoff, &kept);
		if (err)
			break;
		marks = kept;
		marks->anon = anon;
		err = set_marks(evictions, marks, pgoff, nr, mark);
	}
	return err;
}

int evictions_remove(struct evictions *evictions, const struct pfstat_page *page)
{
	const struct memory_curve_page first = { page->dev, page->inode, page->pgoff };
	uint16_t evictor;
	int err;

	err = evictor_of(evictions, page, &evictor);
	if (!err)
		err = mark_pages(evictions, page,
				 (evictor + 1) | evictions_reason_of(page) << REASON_SHIFT);
	if (err)
		return err;
	if (page->event.flags & PFSTAT_PAGE_ANON)
		return swap_outs_add(evictions->swaps, page);
	evictions->figures.evicted += page->pages;
	if (evictions_reason_of(page) == EVICTIONS_RECLAIMED && page->pages <= CURVE_FOLIO)
		err = memory_curve_evict_range(evictions->curve, &first, page->pages);
	return err;
}

static int fold_pairs(struct evictions *evictions)
{
	struct folding_entry *entries = calloc(EVICTIONS_MAX_PAIRS, sizeof(*entries));
	struct evictions_pair *others;
	struct pair *pair;
	size_t i, nr, kept = 0;

	if (!entries)
		return -ENOMEM;
	for (i = 0; i < EVICTIONS_MAX_PAIRS; i++) {
		pair = &evictions->pairs[i];
		entries[i] = (struct folding_entry){
			.weight = pair->floor + pair->sum.pages + pair->sum.faults,
			.number = pair->number,
			.closed = pair->closed,
			.value = pair,
		};
	}
	nr = folding_choose(entries, EVICTIONS_MAX_PAIRS, &evictions->pair_floor);
	for (i = 0; i < nr; i++) {
		pair = entries[i].value;
		others = &evictions->other_pairs[pair->sum.anon * EVICTIONS_NR_REASONS +
						 pair->sum.reason];
		others->pages += pair->sum.pages;
		others->faults += pair->sum.faults;
		others->total_ns += pair->sum.total_ns;
		pair->number = 0;
	}
	free(entries);
	for (i = 0; i < EVICTIONS_MAX_PAIRS; i++)
		if (evictions->pairs[i].number)
			evictions->pairs[kept++] = evictions->pairs[i];
	evictions->nr_pairs = kept;
	return index_pairs(evictions);
}

/* NULL: no memory. @mark: not 0 */
static struct evictions_pair *evictions_find_pair(struct evictions *evictions, bool anon,
						  uint16_t mark, uint32_t victim)
{
	const struct pair made = {
		.sum.anon = anon,
		.sum.victim = victim,
		.sum.reason = mark >> REASON_SHIFT & REASON_MASK,
		.evictor = (mark & EVICTOR_MASK) - 1,
	};
	struct pair *pair = hash_find(&evictions->pair_of, pair_key(&made));

	if (pair)
		return &pair->sum;
	if (evictions->nr_pairs == EVICTIONS_MAX_PAIRS && fold_pairs(evictions))
		return NULL;
	pair = &evictions->pairs[evictions->nr_pairs];
	if (hash_add(&evictions->pair_of, pair_key(&made), pair))
		return NULL;
	*pair = made;
	pair->floor = evictions->pair_floor;
	pair->number = ++evictions->admitted;
	evictions->nr_pairs++;
	return &pair->sum;
}

/* Counts pages with the same mark as read again. */
static int read_run(struct evictions *evictions, uint16_t mark, uint32_t victim, uint64_t pages)
{
	struct evictions_pair *pair = evictions_find_pair(evictions, false, mark, victim);

	if (!pair)
		return -ENOMEM;
	pair->pages += pages;
	return 0;
}

static int read_marks(struct evictions *evictions, struct chunk_marks *marks, uint32_t victim,
		      uint64_t pgoff, uint64_t pages)
{
	uint32_t at = pgoff % CHUNK_PAGES, run;
	uint16_t mark;
	int err = 0;

	for (; pages && marks->open && !err; at += run, pages -= run) {
		run = page_marks_run(&marks->pages, at, pages, &mark);
		if (!is_open(mark))
			continue;
		err = read_run(evictions, mark, victim, run);
		if (!err)
			err = set_marks(evictions, marks, at, run, mark | READ_AGAIN);
	}
	return err;
}

int evictions_add_read(struct evictions *evictions, const struct pfstat_block *block)
{
	const uint64_t pages = block_pages_read(block, evictions->page_bytes);
	struct memory_curve_page returned = { block->fs_dev, block->inode, block->pgoff };
	uint64_t pgoff = block->pgoff, left, nr;
	struct chunk_marks *marks;
	int err = 0;

	for (; returned.index < pgoff + pages && pages <= CURVE_READ; returned.index++)
		memory_curve_return(evictions->curve, &returned);
	for (left = pages; left && !err; left -= nr, pgoff += nr) {
		nr = page_chunks_within(&evictions->chunks, pgoff, left);
		marks = page_chunks_find(&evictions->chunks, block->fs_dev, block->inode, pgoff);
		if (marks)
			err = read_marks(evictions, marks, block->event.pid, pgoff, nr);
	}
	return err;
}

static int evictions_end_chunk(void *owner, void *kept, uint32_t dev, uint64_t inode,
			       uint64_t pgoff)
{
	struct chunk_marks *marks = kept;

	(void)owner;
	(void)dev;
	(void)inode;
	(void)pgoff;
	marks->open = 0;
	return 0;
}

int evictions_end_file(struct evictions *evictions, uint32_t dev, uint64_t inode)
{
	memory_curve_end_file(evictions->curve, dev, inode);
	return page_chunks_end_file(&evictions->chunks, dev, inode, evictions_end_chunk);
}

static bool waited(const struct explained *fault)
{
	/* The kernel also counts a fault as major if it retried for a lock. */
	if (fault->class == FAULT_LOCK)
		return false;
	return fault->major || fault->class == FAULT_DISK || fault->class == FAULT_WAIT;
}

struct swap_outs *evictions_swaps(struct evictions *evictions)
{
	return evictions->swaps;
}

/* A minor fault found its page in the swap cache: another fault's read-ahead had read it. */
static int add_swap_in(struct evictions *evictions, const struct explained *fault)
{
	const uint64_t pgoff = fault->address / evictions->page_bytes;
	struct chunk_marks *marks =
		page_chunks_find(&evictions->chunks, DEV_SWAP, fault->pid, pgoff);
	struct evictions_pair *pair;
	uint16_t mark = 0;

	if (marks)
		page_marks_run(&marks->pages, pgoff % CHUNK_PAGES, 1, &mark);
	if (!mark || (mark >> REASON_SHIFT & REASON_MASK) == EVICTIONS_RECLAIMED)
		swap_outs_add_fault(evictions->swaps, fault);
	if (!mark || !fault->solved)
		return 0;
	pair = evictions_find_pair(evictions, true, mark, fault->pid);
	if (!pair)
		return -ENOMEM;
	pair->pages++;
	pair->faults += fault->major;
	pair->total_ns += fault->major ? fault->end_ns - fault->start_ns : 0;
	return set_marks(evictions, marks, pgoff, 1, 0);
}

int evictions_add_fault(struct evictions *evictions, const struct explained *fault)
{
	const struct memory_curve_page page = { fault->dev, fault->inode, fault->pgoff };
	struct chunk_marks *marks = fault->inode && fault->solved ?
					    page_chunks_find(&evictions->chunks, fault->dev,
							     fault->inode, fault->pgoff) :
					    NULL;
	struct evictions_pair *pair;
	uint16_t mark;

	if (fault->class == FAULT_SWAP)
		return add_swap_in(evictions, fault);
	if (page.inode && fault->solved && waited(fault))
		memory_curve_fault(evictions->curve, &page, fault->end_ns - fault->start_ns);
	if (!marks)
		return 0;
	page_marks_run(&marks->pages, fault->pgoff % CHUNK_PAGES, 1, &mark);
	if (!mark)
		return 0;
	if (waited(fault) || fault->class == FAULT_READAHEAD) {
		/* Class readahead submitted reads of the pages behind its own, which came back. */
		pair = evictions_find_pair(evictions, false, mark, fault->pid);
		if (!pair)
			return -ENOMEM;
		pair->faults++;
		pair->total_ns += fault->end_ns - fault->start_ns;
	}
	/* The page is mapped again. */
	return set_marks(evictions, marks, fault->pgoff, 1, 0);
}

int evictions_add_task(struct evictions *evictions, const struct pfstat_task *task)
{
	const bool ends = task->event.flags & PFSTAT_TASK_EXIT &&
			  task->event.pid == task->event.tid;

	if (!ends && !(task->event.flags & PFSTAT_TASK_EXEC))
		return 0;
	swap_outs_end(evictions->swaps, task->event.pid);
	return page_chunks_end_file(&evictions->chunks, DEV_SWAP, task->event.pid,
				    evictions_end_chunk);
}

static void evictions_add_pair(struct evictions_figures *figures, const struct evictions_pair *pair)
{
	struct evictions_sum *sum = &figures->again[pair->reason];

	if (pair->anon)
		return;
	sum->pages += pair->pages;
	sum->faults += pair->faults;
	sum->total_ns += pair->total_ns;
}

static void fill_curve(const struct evictions *evictions, struct evictions_curve *curve)
{
	uint64_t most;
	size_t i;

	memory_curve_figures(evictions->curve, &curve->figures);
	most = curve->figures.most_out;
	if (curve->figures.faults)
		curve->nr_points = most < EVICTIONS_POINTS ? most : EVICTIONS_POINTS;
	for (i = 0; i < curve->nr_points; i++)
		curve->points[i].pages = most * (i + 1) / curve->nr_points;
	memory_curve_points(evictions->curve, curve->points, curve->nr_points);
}

static bool evictions_is_victim(const void *context, uint32_t pid)
{
	const struct evictions *evictions = context;
	size_t i;

	for (i = 0; i < evictions->nr_pairs; i++)
		if (!evictions->pairs[i].sum.anon && evictions->pairs[i].sum.victim == pid)
			return true;
	return false;
}

void evictions_figures(const struct evictions *evictions, struct evictions_figures *figures)
{
	size_t i;

	*figures = evictions->figures;
	fill_curve(evictions, &figures->curve);
	swap_outs_figures(evictions->swaps, evictions_is_victim, evictions, &figures->swaps);
	for (i = 0; i < evictions->nr_pairs; i++)
		evictions_add_pair(figures, &evictions->pairs[i].sum);
	for (i = 0; i < ARRAY_SIZE(evictions->other_pairs); i++)
		evictions_add_pair(figures, &evictions->other_pairs[i]);
}

static int most_pages_first(const void *a, const void *b)
{
	const struct evictions_pair *left = a, *right = b;

	if (left->pages != right->pages)
		return left->pages < right->pages ? 1 : -1;
	if (left->faults != right->faults)
		return left->faults < right->faults ? 1 : -1;
	if (left->evictor != right->evictor)
		return left->evictor < right->evictor ? -1 : 1;
	if (left->reason != right->reason)
		return left->reason < right->reason ? -1 : 1;
	return left->anon != right->anon ? left->anon - right->anon : left->doing - right->doing;
}

static int by_evictor_victim_and_reason(const void *a, const void *b)
{
	const struct evictions_pair *left = a, *right = b;

	if (left->evictor != right->evictor)
		return left->evictor < right->evictor ? -1 : 1;
	if (left->victim != right->victim)
		return left->victim < right->victim ? -1 : 1;
	if (left->reason != right->reason)
		return left->reason < right->reason ? -1 : 1;
	if (left->anon != right->anon)
		return left->anon - right->anon;
	return left->doing - right->doing ?: strcmp(left->evictor_name, right->evictor_name);
}

/* An evictor that was folded and came back has two pairs with a victim. Returns their number. */
static size_t join_pairs(struct evictions_pair *pairs, size_t nr)
{
	size_t i, kept = 0;

	qsort(pairs, nr, sizeof(*pairs), by_evictor_victim_and_reason);
	for (i = 0; i < nr; i++) {
		if (!kept || by_evictor_victim_and_reason(&pairs[kept - 1], &pairs[i])) {
			pairs[kept++] = pairs[i];
			continue;
		}
		pairs[kept - 1].pages += pairs[i].pages;
		pairs[kept - 1].faults += pairs[i].faults;
		pairs[kept - 1].total_ns += pairs[i].total_ns;
	}
	return kept;
}

int evictions_pairs(const struct evictions *evictions, struct evictions_pair **pairs, size_t *nr)
{
	const struct evictions_pair *others = evictions->other_pairs;
	const struct evictor *evictor;
	const struct pair *pair;
	size_t i;

	*nr = evictions->nr_pairs;
	*pairs = malloc((*nr + ARRAY_SIZE(evictions->other_pairs)) * sizeof(**pairs));
	if (!*pairs)
		return -ENOMEM;
	for (i = 0; i < *nr; i++) {
		pair = &evictions->pairs[i];
		(*pairs)[i] = pair->sum;
		if (pair->closed)
			continue;
		evictor = &evictions->evictors[pair->evictor];
		(*pairs)[i].evictor = evictor->pid;
		(*pairs)[i].doing = evictor->doing;
		(*pairs)[i].evictor_swaps = swap_outs_has(evictions->swaps, evictor->pid);
		memcpy((*pairs)[i].evictor_name, evictor->name, sizeof(evictor->name));
	}
	for (i = 0; i < ARRAY_SIZE(evictions->other_pairs); i++)
		if (others[i].pages || others[i].faults)
			(*pairs)[(*nr)++] = others[i];
	*nr = join_pairs(*pairs, *nr);
	qsort(*pairs, *nr, sizeof(**pairs), most_pages_first);
	return 0;
}
