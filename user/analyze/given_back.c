// SPDX-License-Identifier: GPL-2.0-only
/*
 * Marks the pages that faults touched, and takes the marks away when a call gives the pages back.
 * Calls come from analysis.c after their row was found, and the sums stand in the rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analyze/pages/page_chunks.h"
#include "analyze/shaping_calls.h"
#include "util/array.h"
#include "util/hash.h"

#define CHUNK_PAGES 8192U /* a chunk covers 32 MiB of addresses */
/* The largest range of a call, in pages: 16 TiB. Larger ones, in a damaged recording, take long. */
#define RANGE_MAX (1ULL << 32)
/*
 * A page's mark: 0, TOUCHED, or MOVED plus the row of the mremap(MREMAP_DONTUNMAP) that moved the
 * page away.
 */
#define TOUCHED 1U
#define MOVED	2U
/* Pages of more calls than this are forgotten, oldest first. Neighbours with one row are one. */
#define DEBTS_MAX 1024U

struct debt {
	size_t row; /* in struct shaping_calls, or SHAPING_NO_ROW */
	uint64_t pages;
};

/* A process. */
struct giver {
	uint32_t pid;
	uint64_t brk; /* end of the heap, 0: not known */
	struct debt *debts;
	size_t nr_debts, debts_capacity;
};

struct given_back {
	uint64_t page_bytes;
	struct page_chunks touched; /* struct page_marks, by process and address */
	struct hash givers;	    /* struct giver by pid */
};

static void drop_marks(void *owner, void *kept)
{
	struct given_back *given_back = owner;
	struct page_marks *marks = kept;

	page_chunks_resized(&given_back->touched, kept, -(ptrdiff_t)page_marks_bytes(marks));
	page_marks_exit(marks);
}

static void giver_free(void *value)
{
	struct giver *giver = value;

	if (!giver)
		return;
	free(giver->debts);
	free(giver);
}

static int ignore_chunk(void *owner, void *kept, uint32_t dev, uint64_t inode, uint64_t pgoff)
{
	(void)owner;
	(void)kept;
	(void)dev;
	(void)inode;
	(void)pgoff;
	return 0;
}

struct given_back *given_back_new(uint64_t page_bytes, size_t memory)
{
	struct given_back *given_back = calloc(1, sizeof(*given_back));

	if (!given_back)
		return NULL;
	given_back->page_bytes = page_bytes;
	given_back->touched = (struct page_chunks){
		.pages = CHUNK_PAGES,
		.bytes = sizeof(struct page_marks),
		.max_memory = memory,
		.drop = drop_marks,
		.owner = given_back,
	};
	return given_back;
}

void given_back_free(struct given_back *given_back)
{
	if (!given_back)
		return;
	page_chunks_exit(&given_back->touched);
	hash_exit(&given_back->givers, giver_free);
	free(given_back);
}

/* NULL: no memory. */
static struct giver *giver_of(struct given_back *given_back, uint32_t pid)
{
	struct giver *giver = hash_find(&given_back->givers, pid);

	if (giver)
		return giver;
	giver = calloc(1, sizeof(*giver));
	if (!giver || hash_add(&given_back->givers, pid, giver)) {
		free(giver);
		return NULL;
	}
	giver->pid = pid;
	return giver;
}

/* Returns 0 or -ENOMEM. */
static int giver_owe(struct giver *giver, size_t row, uint64_t pages)
{
	struct debt *last = giver->nr_debts ? &giver->debts[giver->nr_debts - 1] : NULL;

	if (last && last->row == row) {
		last->pages += pages;
		return 0;
	}
	if (giver->nr_debts == DEBTS_MAX) {
		giver->nr_debts = DEBTS_MAX / 2;
		memmove(giver->debts, &giver->debts[DEBTS_MAX - giver->nr_debts],
			giver->nr_debts * sizeof(*giver->debts));
	}
	if (array_reserve((void **)&giver->debts, giver->nr_debts, &giver->debts_capacity,
			  sizeof(*giver->debts)))
		return -ENOMEM;
	giver->debts[giver->nr_debts++] = (struct debt){ row, pages };
	return 0;
}

/* Pays up to so many pages of the latest debt. Returns how many, and the debt's row. */
static uint64_t giver_pay(struct giver *giver, uint64_t pages, size_t *row)
{
	struct debt *debt = &giver->debts[giver->nr_debts - 1];
	const uint64_t paid = pages < debt->pages ? pages : debt->pages;

	*row = debt->row;
	debt->pages -= paid;
	giver->nr_debts -= !debt->pages;
	return paid;
}

/* All pages are in the chunk. Returns 0 or -ENOMEM. */
static int set_range(struct given_back *given_back, struct page_marks *marks, uint64_t page,
		     uint64_t pages, uint16_t mark)
{
	const size_t before = page_marks_bytes(marks);
	const int err = page_marks_set(marks, page % CHUNK_PAGES, pages, CHUNK_PAGES, mark);

	page_chunks_resized(&given_back->touched, marks,
			    (ptrdiff_t)page_marks_bytes(marks) - (ptrdiff_t)before);
	return err;
}

static uint64_t touched_count(const struct page_marks *marks, uint64_t page, uint64_t pages)
{
	uint32_t at = page % CHUNK_PAGES, run;
	uint64_t count = 0;
	uint16_t mark;

	for (; pages && marks->nr; at += run, pages -= run) {
		run = page_marks_run(marks, at, pages, &mark);
		count += mark == TOUCHED ? run : 0;
	}
	return count;
}

/* Removes the marks of a range. *count: the pages that had one. Returns 0 or -ENOMEM. */
static int take_range(struct given_back *given_back, uint32_t pid, uint64_t start, uint64_t end,
		      uint64_t *count)
{
	uint64_t page = start / given_back->page_bytes, left, nr;
	struct page_marks *marks;
	int err = 0;

	*count = 0;
	left = end > start ? end / given_back->page_bytes - page : 0;
	for (; left && left <= RANGE_MAX && !err; left -= nr, page += nr) {
		nr = page_chunks_within(&given_back->touched, page, left);
		marks = page_chunks_find(&given_back->touched, 0, pid, page);
		if (!marks || !marks->nr)
			continue;
		*count += touched_count(marks, page, nr);
		err = set_range(given_back, marks, page, nr, 0);
	}
	return err;
}

static int mark_range(struct given_back *given_back, uint32_t pid, uint64_t page, uint64_t pages)
{
	uint64_t nr;
	void *marks;
	int err = 0;

	for (; pages && !err; pages -= nr, page += nr) {
		nr = page_chunks_within(&given_back->touched, page, pages);
		err = page_chunks_get(&given_back->touched, 0, pid, page, &marks);
		if (!err)
			err = set_range(given_back, marks, page, nr, TOUCHED);
	}
	return err;
}

/* Sizes in a call need not be whole pages. */
static uint64_t round_up(const struct given_back *given_back, uint64_t bytes)
{
	return (bytes + given_back->page_bytes - 1) / given_back->page_bytes *
	       given_back->page_bytes;
}

/* brk() returns the new end of the heap, or the old one if it failed. */
static uint64_t heap_shrinks(struct given_back *given_back, struct giver *giver,
			     const struct pfstat_call *call, uint64_t *start)
{
	const uint64_t before = giver->brk;

	giver->brk = round_up(given_back, call->result);
	*start = giver->brk;
	return before;
}

/* The range that a successful call gives back. Returns its end, 0 if it gives back none. */
static uint64_t range_of(struct given_back *given_back, struct giver *giver,
			 const struct pfstat_call *call, uint64_t *start)
{
	*start = call->args[0];
	switch (call->kind) {
	case PFSTAT_CALL_MUNMAP:
		return *start + round_up(given_back, call->args[1]);
	case PFSTAT_CALL_MADVISE:
		return (int)call->args[2] == MADV_DONTNEED ?
			       *start + round_up(given_back, call->args[1]) :
			       0;
	case PFSTAT_CALL_MMAP:
		*start = call->result;
		return call->args[3] & MAP_FIXED ? *start + round_up(given_back, call->args[1]) : 0;
	case PFSTAT_CALL_BRK:
		return heap_shrinks(given_back, giver, call, start);
	default:
		return 0;
	}
}

/* All pages are in the chunk. */
static int mark_moved(struct given_back *given_back, struct page_marks *marks, uint64_t page,
		      uint64_t pages, uint16_t moved)
{
	uint64_t run;
	uint16_t mark;
	int err = 0;

	for (; pages && marks->nr && !err; page += run, pages -= run) {
		run = page_marks_run(marks, page % CHUNK_PAGES, pages, &mark);
		if (mark == TOUCHED)
			err = set_range(given_back, marks, page, run, moved);
	}
	return err;
}

/*
 * MREMAP_DONTUNMAP leaves an empty mapping. The pages may still be in use elsewhere, so that only a
 * fault in this mapping needs them again.
 */
static int move_away(struct given_back *given_back, const struct pfstat_call *call,
		     struct shaping_calls *calls)
{
	uint64_t page = call->args[0] / given_back->page_bytes, nr;
	uint64_t left = round_up(given_back, call->args[1]) / given_back->page_bytes;
	struct page_marks *marks;
	int err = 0;

	for (; left && left <= RANGE_MAX && !err; left -= nr, page += nr) {
		nr = page_chunks_within(&given_back->touched, page, left);
		marks = page_chunks_find(&given_back->touched, 0, call->event.pid, page);
		if (!marks || !marks->nr)
			continue;
		calls->rows[calls->added].given_pages += touched_count(marks, page, nr);
		err = mark_moved(given_back, marks, page, nr, MOVED + calls->added);
	}
	return err;
}

/* The pages move along. Those behind the new size, and at the new place, are given back. */
static int add_mremap(struct given_back *given_back, const struct pfstat_call *call,
		      uint64_t *count)
{
	const uint64_t old = call->args[0], new = call->result;
	const uint64_t old_bytes = round_up(given_back, call->args[1]);
	const uint64_t new_bytes = round_up(given_back, call->args[2]);
	uint64_t moved = 0, replaced;
	int err = 0;

	*count = 0;
	if (new_bytes < old_bytes)
		err = take_range(given_back, call->event.pid, old + new_bytes, old + old_bytes,
				 count);
	if (err || new == old)
		return err;
	err = take_range(given_back, call->event.pid, old, old + old_bytes, &moved) ?:
		      take_range(given_back, call->event.pid, new, new + new_bytes, &replaced);
	if (err)
		return err;
	*count += replaced;
	return mark_range(given_back, call->event.pid, new / given_back->page_bytes, moved);
}

int given_back_add_call(struct given_back *given_back, const struct pfstat_call *call,
			struct shaping_calls *calls)
{
	struct giver *giver;
	uint64_t start, end, count;
	int err;

	if (call->result < 0)
		return 0;
	if (call->kind == PFSTAT_CALL_MREMAP && call->args[3] & MREMAP_DONTUNMAP &&
	    calls->added != SHAPING_NO_ROW)
		return move_away(given_back, call, calls);
	giver = giver_of(given_back, call->event.pid);
	if (!giver)
		return -ENOMEM;
	if (call->kind == PFSTAT_CALL_MREMAP) {
		err = add_mremap(given_back, call, &count);
	} else {
		end = range_of(given_back, giver, call, &start);
		err = take_range(given_back, call->event.pid, start, end, &count);
	}
	if (err || !count)
		return err;
	if (calls->added != SHAPING_NO_ROW)
		calls->rows[calls->added].given_pages += count;
	return giver_owe(giver, calls->added, count);
}

/* Pages of a fault whose memory was moved away, and by which row's calls. */
static uint64_t count_moved(struct given_back *given_back, uint32_t pid, uint64_t page,
			    uint64_t pages, size_t *row)
{
	struct page_marks *marks = page_chunks_find(&given_back->touched, 0, pid, page);
	uint64_t left = page_chunks_within(&given_back->touched, page, pages), run, moved = 0;
	uint16_t mark;

	for (; left && marks && marks->nr; left -= run, page += run) {
		run = page_marks_run(marks, page % CHUNK_PAGES, left, &mark);
		if (mark < MOVED)
			continue;
		moved += run;
		*row = mark - MOVED;
	}
	return moved;
}

/* NULL: the call has no row. */
static struct shaping_call *add_again(struct shaping_calls *calls, size_t number, uint64_t pages)
{
	if (number == SHAPING_NO_ROW)
		return NULL;
	calls->rows[number].again_pages += pages;
	return &calls->rows[number];
}

int given_back_add_fault(struct given_back *given_back, const struct explained *fault,
			 struct shaping_calls *calls)
{
	const uint64_t pages = 1ULL << fault->huge_order;
	const uint64_t page = fault->address / given_back->page_bytes & ~(pages - 1);
	struct giver *giver = hash_find(&given_back->givers, fault->pid);
	struct shaping_call *row, *first = NULL;
	uint64_t left = pages, paid;
	size_t number;

	if (fault->class != FAULT_ANON || !fault->solved || fault->flags & PFSTAT_FLAG_REMOTE)
		return 0;
	paid = count_moved(given_back, fault->pid, page, pages, &number);
	if (paid)
		first = add_again(calls, number, paid);
	for (left -= paid; giver && giver->nr_debts && left; left -= paid) {
		paid = giver_pay(giver, left, &number);
		row = add_again(calls, number, paid);
		first = first ?: row;
	}
	if (first) {
		first->again_faults++;
		first->again_ns += fault->end_ns - fault->start_ns;
	}
	return mark_range(given_back, fault->pid, page, pages);
}

int given_back_add_task(struct given_back *given_back, const struct pfstat_task *task)
{
	const bool ends = task->event.flags & PFSTAT_TASK_EXIT &&
			  task->event.pid == task->event.tid;

	if (!ends && !(task->event.flags & PFSTAT_TASK_EXEC))
		return 0;
	giver_free(hash_take(&given_back->givers, task->event.pid));
	return page_chunks_end_file(&given_back->touched, 0, task->event.pid, ignore_chunk);
}
