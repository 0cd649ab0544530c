// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collects faults and requests while a recording is read, and joins them at the end: only then is
 * it known which requests a fault submitted. All joins are sorts and binary searches in flat
 * arrays, so hostile recordings cost no more than honest ones of the same length.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/block_pages.h"
#include "prefetch/prefetch_sources.h"
#include "util/array.h"

/* No kernel maps more pages in one file fault (a 2 MiB huge page), */
#define WINDOW_MAX 512
/* and no request is longer (16 MiB). */
#define REQUEST_MAX 4096

/* A file page, the sort key for arrays. */
struct page_id {
	uint64_t inode, pgoff;
	uint32_t dev;
};

struct fault_seen {
	struct page_id page;
	uint64_t start_ns, end_ns;
	struct page_id request; /* the first page of the request this fault waited for */
	uint64_t request_pages; /* 0: none is known */
	uint64_t around_first;
	uint32_t tid;
	uint32_t around_pages;
	bool solved, waited;
};

struct read_seen {
	struct page_id first;
	uint64_t pages, submitted_ns, completed_ns;
	uint32_t tid;
};

struct page_read {
	struct page_id page;
	uint64_t ns;
};

struct page_use {
	struct page_id page;
	uint64_t ns, read_ns;
	bool cached, around;
};

struct needed_pile {
	void *entries;
	size_t nr, room;
};

struct needed_pages {
	uint64_t page_bytes;
	struct needed_pile faults, requests, reads, uses, pages;
	uint64_t pages_read, pages_mapped; /* upper limits */
	uint64_t start_ns;
};

struct needed_pages *needed_pages_new(uint64_t page_bytes)
{
	struct needed_pages *needed = calloc(1, sizeof(*needed));

	if (needed)
		needed->page_bytes = page_bytes;
	return needed;
}

void needed_pages_free(struct needed_pages *needed)
{
	if (!needed)
		return;
	free(needed->faults.entries);
	free(needed->requests.entries);
	free(needed->reads.entries);
	free(needed->uses.entries);
	free(needed->pages.entries);
	free(needed);
}

void needed_pages_start(struct needed_pages *needed, uint64_t ns)
{
	needed->start_ns = ns;
}

/* Returns the new entry, or NULL and *err. */
static void *needed_add(struct needed_pile *pile, size_t size, int *err)
{
	*err = pile->nr == NEEDED_PAGES_MAX ?
		       -E2BIG :
		       array_reserve(&pile->entries, pile->nr, &pile->room, size);
	return *err ? NULL : (char *)pile->entries + size * pile->nr++;
}

static int compare_ids(const struct page_id *a, const struct page_id *b)
{
	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	return a->pgoff < b->pgoff ? -1 : a->pgoff > b->pgoff;
}

static int compare_ns(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_faults(const void *a, const void *b)
{
	const struct fault_seen *left = a, *right = b;

	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return compare_ns(left->start_ns, right->start_ns) ?:
							     compare_ids(&left->page, &right->page);
}

static int compare_reads(const void *a, const void *b)
{
	const struct page_read *left = a, *right = b;

	return compare_ids(&left->page, &right->page) ?: compare_ns(left->ns, right->ns);
}

static int compare_uses(const void *a, const void *b)
{
	const struct page_use *left = a, *right = b;

	return compare_ids(&left->page, &right->page) ?: compare_ns(left->ns, right->ns);
}

static struct page_id id_of(const struct needed_page *page)
{
	return (struct page_id){ page->inode, page->pgoff, page->dev };
}

static int compare_needed(const void *a, const void *b)
{
	const struct page_id left = id_of(a), right = id_of(b);

	return compare_ids(&left, &right);
}

static int compare_first_use(const void *a, const void *b)
{
	const struct needed_page *left = a, *right = b;

	return compare_ns(left->first_ns, right->first_ns) ?: compare_needed(a, b);
}

static void needed_sort(const struct needed_pile *pile, size_t size,
			int (*compare)(const void *, const void *))
{
	if (pile->nr)
		qsort(pile->entries, pile->nr, size, compare);
}

int needed_pages_add_block(struct needed_pages *needed, const struct pfstat_block *block)
{
	const uint64_t pages = block_pages_read(block, needed->page_bytes);
	struct read_seen *read;
	int err;

	if (!pages)
		return 0;
	needed->pages_read += pages;
	if (needed->pages_read > NEEDED_PAGES_MAX)
		return -E2BIG;
	read = needed_add(&needed->requests, sizeof(*read), &err);
	if (read)
		*read = (struct read_seen){
			.first = { block->inode, block->pgoff, block->fs_dev },
			.pages = pages,
			.submitted_ns = block->insert_ns,
			.completed_ns = block->event.ns,
			.tid = block->event.tid,
		};
	return err;
}

static bool waited_for_disk(const struct explained *fault)
{
	return fault->major || fault->class == FAULT_DISK || fault->class == FAULT_WAIT ||
	       fault->class == FAULT_READAHEAD;
}

static void set_window(struct fault_seen *seen, const struct explained *fault)
{
	const uint64_t order_pages = fault->order < 10 ? 1ULL << fault->order : 1;

	seen->around_first = fault->pgoff;
	seen->around_pages = 1;
	if (fault->around_pages && fault->around_pages <= WINDOW_MAX &&
	    fault->around_before <= fault->pgoff) {
		seen->around_first = fault->pgoff - fault->around_before;
		seen->around_pages = fault->around_pages;
	} else if (order_pages <= WINDOW_MAX) {
		seen->around_first = fault->pgoff & ~(order_pages - 1);
		seen->around_pages = order_pages;
	}
}

int needed_pages_add_fault(struct needed_pages *needed, const struct explained *fault)
{
	const struct pfstat_block *request = &fault->request;
	struct fault_seen *seen;
	int err;

	if (!fault->inode)
		return 0;
	seen = needed_add(&needed->faults, sizeof(*seen), &err);
	if (!seen)
		return err;
	*seen = (struct fault_seen){
		.page = { fault->inode, fault->pgoff, fault->dev },
		.start_ns = fault->start_ns,
		.end_ns = fault->end_ns,
		.tid = fault->tid,
		.solved = fault->solved,
		.waited = waited_for_disk(fault),
	};
	if (request->event.size && seen->waited) {
		seen->request = (struct page_id){ request->inode, request->pgoff, request->fs_dev };
		seen->request_pages = block_pages_read(request, needed->page_bytes);
	}
	set_window(seen, fault);
	needed->pages_mapped += seen->around_pages;
	return needed->pages_mapped > NEEDED_PAGES_MAX ? -E2BIG : 0;
}

/* True if a fault was in progress in the thread. The faults are sorted. */
static bool in_a_fault(const struct needed_pages *needed, uint32_t tid, uint64_t ns)
{
	const struct fault_seen *faults = needed->faults.entries;
	size_t low = 0, high = needed->faults.nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (faults[middle].tid < tid ||
		    (faults[middle].tid == tid && faults[middle].start_ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low && faults[low - 1].tid == tid && ns <= faults[low - 1].end_ns;
}

static int add_use(struct needed_pages *needed, struct page_id page, uint64_t ns, uint64_t read_ns,
		   bool cached, bool around)
{
	struct page_use *use;
	int err;

	use = needed_add(&needed->uses, sizeof(*use), &err);
	if (use)
		*use = (struct page_use){ page, ns, read_ns, cached, around };
	return err;
}

static int add_read_pages(struct needed_pages *needed, const struct read_seen *read)
{
	const bool by_fault = in_a_fault(needed, read->tid, read->submitted_ns);
	const uint64_t total_ns = item_elapsed(read->submitted_ns, read->completed_ns);
	struct page_id page = read->first;
	struct page_read *entry;
	uint64_t i;
	int err = 0;

	for (i = 0; i < read->pages && !err; i++, page.pgoff++) {
		entry = needed_add(&needed->reads, sizeof(*entry), &err);
		if (!entry)
			return err;
		*entry = (struct page_read){ page, read->completed_ns };
		if (!by_fault)
			err = add_use(needed, page, read->submitted_ns,
				      total_ns / read->pages + (i < total_ns % read->pages), false,
				      false);
	}
	return err;
}

/* True if a request had read the page by then. The reads are sorted. */
static bool page_was_read(const struct needed_pages *needed, const struct page_id *page,
			  uint64_t ns)
{
	const struct page_read *reads = needed->reads.entries;
	size_t low = 0, high = needed->reads.nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_ids(&reads[middle].page, page) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < needed->reads.nr && !compare_ids(&reads[low].page, page) &&
	       reads[low].ns <= ns;
}

static int add_fault_pages(struct needed_pages *needed, const struct fault_seen *fault, bool exact)
{
	const bool cached = !fault->waited && !page_was_read(needed, &fault->page, fault->end_ns);
	struct page_id page = fault->page;
	uint32_t i;
	int err;

	if (!fault->solved || fault->start_ns < needed->start_ns)
		return 0;
	err = add_use(needed, fault->page, fault->start_ns, 0, cached, false);
	for (i = 0; i < fault->around_pages && !exact && !err; i++) {
		page.pgoff = fault->around_first + i;
		if (page.pgoff != fault->page.pgoff &&
		    (cached || page_was_read(needed, &page, fault->end_ns)))
			err = add_use(needed, page, fault->start_ns, 0, false, true);
	}
	return err;
}

static int find_uses(struct needed_pages *needed, bool exact)
{
	const struct read_seen *requests = needed->requests.entries;
	const struct fault_seen *faults = needed->faults.entries;
	size_t i;
	int err = 0;

	needed_sort(&needed->faults, sizeof(struct fault_seen), compare_faults);
	for (i = 0; i < needed->requests.nr && !err; i++)
		err = add_read_pages(needed, &requests[i]);
	needed_sort(&needed->reads, sizeof(struct page_read), compare_reads);
	for (i = 0; i < needed->faults.nr && !err; i++)
		err = add_fault_pages(needed, &faults[i], exact);
	needed_sort(&needed->uses, sizeof(struct page_use), compare_uses);
	return err;
}

/* Merges all uses of a page, which follow each other, into one page. */
static int merge_uses(struct needed_pages *needed, struct needed_pages_figures *figures)
{
	const struct page_use *use = needed->uses.entries, *end = use + needed->uses.nr;
	struct needed_page *page = NULL;
	bool counted = false, around = false;
	int err;

	for (; use < end; use++) {
		if (!page || use->page.pgoff != page->pgoff || use->page.inode != page->inode ||
		    use->page.dev != page->dev) {
			page = needed_add(&needed->pages, sizeof(*page), &err);
			if (!page)
				return err;
			*page = (struct needed_page){
				use->page.inode, use->page.pgoff, use->page.dev, use->ns, 0, 0
			};
			counted = false;
			around = true;
			figures->around++;
		}
		if (around && !use->around) {
			around = false;
			figures->around--;
		}
		page->read_ns += use->read_ns;
		figures->read_ns += use->read_ns;
		if (use->cached && !counted) {
			figures->cached++;
			counted = true;
		}
	}
	return 0;
}

/* Index of the first needed page not before this one. */
static size_t lower_bound(const struct needed_pages *needed, const struct page_id *page)
{
	const struct needed_page *pages = needed->pages.entries;
	size_t low = 0, high = needed->pages.nr, middle;
	struct page_id id;

	while (low < high) {
		middle = low + (high - low) / 2;
		id = id_of(&pages[middle]);
		if (compare_ids(&id, page) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Number of needed pages among `pages`, from this one on. *first is the index of the first one. */
static size_t needed_within(const struct needed_pages *needed, struct page_id page, uint64_t pages,
			    size_t *first)
{
	*first = lower_bound(needed, &page);
	if (__builtin_add_overflow(page.pgoff, pages, &page.pgoff))
		page.pgoff = UINT64_MAX;
	return lower_bound(needed, &page) - *first;
}

static void share_fault(struct needed_pages *needed, const struct fault_seen *fault,
			struct needed_pages_figures *figures)
{
	const uint64_t total_ns = item_elapsed(fault->start_ns, fault->end_ns);
	struct needed_page *pages = needed->pages.entries;
	size_t first, nr, i;

	if (!fault->waited || !fault->solved || fault->start_ns < needed->start_ns)
		return;
	nr = needed_within(needed, fault->request, fault->request_pages, &first);
	if (!nr || nr > REQUEST_MAX)
		nr = needed_within(needed, fault->page, 1, &first);
	for (i = 0; i < nr; i++)
		pages[first + i].fault_ns += total_ns / nr + (i < total_ns % nr);
	figures->fault_ns += nr ? total_ns : 0;
}

int needed_pages_finish(struct needed_pages *needed, bool exact, const struct needed_page **pages,
			size_t *nr, struct needed_pages_figures *figures)
{
	const struct fault_seen *faults = needed->faults.entries;
	size_t i;
	int err;

	*figures = (struct needed_pages_figures){ 0 };
	err = find_uses(needed, exact) ?: merge_uses(needed, figures);
	if (err)
		return err;
	for (i = 0; i < needed->faults.nr; i++)
		share_fault(needed, &faults[i], figures);
	needed_sort(&needed->pages, sizeof(struct needed_page), compare_first_use);
	*pages = needed->pages.entries;
	*nr = needed->pages.nr;
	return 0;
}
