// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rule has these parts, in the kernel's mm/filemap.c and mm/readahead.c.
 *
 * Read-around: a miss reads a window around the page, half of it before the page. The last quarter
 * of the window is ahead, and starts with a marked page. If misses exceed hits by a hundred, a miss
 * reads only the page itself. Since 6.17 a miss in code reads a window from the page on, without a
 * mark, up to the end of the mapping.
 *
 *	|-------- size -----------|
 *	|         miss      mark  |
 *	start                |ahead|
 *
 * Mark: a hit on the mark submits a whole window behind this one, and marks the new window's first
 * page. If the mark does not belong to the last window, the new window starts at the next page
 * missing from the cache.
 *
 * MADV_SEQUENTIAL: a miss reads a window from the page on, as read(2) does. MADV_RANDOM: a miss
 * reads the page, and marks are ignored; code is read ahead all the same since 6.17.
 *
 * Folios: each window behind a mark has larger folios than the one before. Folios are aligned, so a
 * window starts and ends with smaller ones.
 *
 * Cached pages stay as they are: they are not read again and take no mark.
 */
#include <string.h>

#include "analyze/prediction/prediction.h"
#include "util/array.h"
#include "util/kernel_release.h"

#define MANY_MISSES 100
#define MOST_MISSES (10 * MANY_MISSES)
#define NODE_SLOTS  64 /* of the xarray that holds a file's pages */

/* Ascending. A release between two rows has the rule of the first. */
static const struct readahead_kernel kernels[] = {
	{ .since = "5.15", .linux_6_1 = true },
	{ .since = "6.2" },
	{ .since = "6.4", .retry_is_hit = true },
	{ .since = "6.16", .retry_is_hit = true, .aligned = true },
	{ .since = "6.17", .retry_is_hit = true, .aligned = true, .code_forward = true },
	{ .since = "6.18",
	  .retry_is_hit = true,
	  .aligned = true,
	  .code_forward = true,
	  .whole_folios = true },
	/* The releases since 6.18 were not compared. */
	{ .since = "7.3",
	  .retry_is_hit = true,
	  .aligned = true,
	  .code_forward = true,
	  .whole_folios = true,
	  .counts_evenly = true },
};

const struct readahead_kernel *readahead_kernel_find(const char *release)
{
	const unsigned int number = kernel_release_number(release);
	size_t i = ARRAY_SIZE(kernels) - 1;

	while (i && number < kernel_release_number(kernels[i].since))
		i--;
	return &kernels[i];
}

static unsigned int highest_bit(uint64_t number)
{
	return number ? 63 - __builtin_clzll(number) : 0;
}

/* A window reaching past the end of the file is cut, and so is the distance to the mark. */
static void submit_pages(struct cached_file *file, uint64_t start, uint64_t size, uint64_t ahead)
{
	uint64_t i;

	if (start >= file->pages)
		return;
	if (size > file->pages - start)
		size = file->pages - start;
	for (i = 0; i < size; i++) {
		if (cached_file_has(file, start + i))
			continue;
		cached_file_read(file, start + i, 0);
		if (ahead && i + ahead == size)
			cached_file_mark(file, start + i);
	}
}

static bool folio_is_missing(struct cached_file *file, uint64_t first, unsigned int order)
{
	uint64_t i;

	for (i = 0; i < 1ULL << order; i++)
		if (cached_file_has(file, first + i))
			return false;
	return true;
}

/* The order of the folio at a page: aligned, and within the window. */
static unsigned int folio_order(uint64_t page, uint64_t end, unsigned int order)
{
	if (page && (unsigned int)__builtin_ctzll(page) < order)
		order = __builtin_ctzll(page);
	while (order && page + (1ULL << order) > end)
		order--;
	return order;
}

/* The first page in the cache ends the large folios. The rest of the window has single pages. */
static void submit_folios(struct cached_file *file, struct readahead_state *state)
{
	const uint64_t window_end = state->start + state->size, mark = window_end - state->ahead;
	const uint64_t end = window_end < file->pages ? window_end : file->pages;
	uint64_t page = state->start;
	unsigned int order;

	if (state->order > highest_bit(state->size))
		state->order = highest_bit(state->size);
	if (state->order > CACHED_FILE_ORDER)
		state->order = CACHED_FILE_ORDER;
	for (; page < end; page += 1ULL << order) {
		order = folio_order(page, end, state->order);
		if (!folio_is_missing(file, page, order)) {
			submit_pages(file, page, window_end - page, state->ahead);
			return;
		}
		cached_file_read(file, page, order);
		if (page == mark >> order << order)
			cached_file_mark(file, page);
	}
}

static void submit_window(const struct readahead_rule *rule, struct cached_file *file,
			  struct readahead_state *state)
{
	if (rule->kernel->aligned && rule->large_folios) {
		submit_folios(file, state);
	} else {
		state->order = 0;
		submit_pages(file, state->start, state->size, state->ahead);
	}
}

static void read_around(const struct readahead_rule *rule, struct readahead_state *state,
			uint64_t page)
{
	state->start = page > rule->window / 2 ? page - rule->window / 2 : 0;
	state->size = rule->window;
	state->ahead = rule->window / 4;
}

static void read_code(const struct readahead_rule *rule, struct readahead_state *state,
		      const struct readahead_access *access)
{
	const uint64_t rest = access->end > access->page ? access->end - access->page : 1;

	state->start = access->page;
	state->size = rest < rule->window ? rest : rule->window;
	state->ahead = 0;
}

/* The kernel's get_init_ra_size(). */
static uint64_t first_size(const struct readahead_rule *rule, uint64_t pages)
{
	const uint64_t size = pages > 1 ? 1ULL << (highest_bit(pages - 1) + 1) : 1;

	if (size <= rule->window / 32)
		return 4 * size;
	return size <= rule->window / 4 ? 2 * size : rule->window;
}

/* The number of cached pages before a page, at most a window. */
static uint64_t cached_before(const struct readahead_rule *rule, struct cached_file *file,
			      uint64_t page)
{
	uint64_t nr = 0;

	while (nr < rule->window && nr < page && cached_file_has(file, page - 1 - nr))
		nr++;
	return nr;
}

/* A miss of read(2), or with MADV_SEQUENTIAL, that wants so many pages. */
static void read_sequential(const struct readahead_rule *rule, struct cached_file *file,
			    struct readahead_state *state, uint64_t page, uint64_t pages)
{
	uint64_t before;

	if (!page || pages > rule->window ||
	    (state->next && (page == state->next || page + 1 == state->next))) {
		state->size = first_size(rule, pages);
		state->ahead = state->size > pages ? state->size - pages : state->size / 2;
	} else {
		before = cached_before(rule, file, page);
		if (before <= pages) {
			submit_pages(file, page, pages, 0);
			return;
		}
		if (before == page)
			before *= 2;
		state->size = before + pages < rule->window ? before + pages : rule->window;
		state->ahead = 1;
	}
	state->start = page;
	state->order = 0;
	submit_window(rule, file, state);
}

static bool is_read_ahead(const struct readahead_rule *rule, const struct readahead_access *access)
{
	if (access->advice == MAPPING_RANDOM && !(access->code && rule->kernel->code_forward))
		return false;
	return rule->window;
}

static bool is_counted(const struct readahead_rule *rule, const struct readahead_access *access)
{
	return !rule->kernel->counts_evenly ||
	       !(access->code || access->advice == MAPPING_SEQUENTIAL);
}

static void miss(const struct readahead_rule *rule, struct cached_file *file,
		 struct readahead_state *state, const struct readahead_access *access)
{
	if (!is_read_ahead(rule, access))
		return;
	if (access->advice == MAPPING_SEQUENTIAL) {
		read_sequential(rule, file, state, access->page, rule->window);
		return;
	}
	if (is_counted(rule, access)) {
		if (state->excess < MOST_MISSES)
			state->excess++;
		if (state->excess > MANY_MISSES)
			return;
	}
	if (access->code && rule->kernel->code_forward)
		read_code(rule, state, access);
	else
		read_around(rule, state, access->page);
	state->order = 0;
	submit_window(rule, file, state);
}

static uint64_t next_size(const struct readahead_rule *rule, uint64_t size)
{
	if (size < rule->window / 16)
		return 4 * size;
	return size <= rule->window / 2 ? 2 * size : rule->window;
}

/*
 * Searches as many pages as a window has. If all are cached, the result is the page behind them,
 * which is too far for a window. On Linux 6.1 the result is the last searched page, which is not
 * too far.
 *
 * The kernel's page_cache_next_miss() looks at the slots of the xarray's nodes. From within a large
 * folio it starts at the slot of the folio's first page, but counts from @from. So its @slot stays
 * behind the page that it counts, and the result is too far by this distance. The next node puts
 * this right, and skips the slots between. A folio as large as a node has no slot in it.
 * See Documentation/internals/next_miss.rst.
 */
static uint64_t next_missing(const struct readahead_rule *rule, struct cached_file *file,
			     uint64_t from)
{
	uint64_t slot = from, i;

	if (cached_file_has(file, from) && cached_file_folio(file, from).pages < NODE_SLOTS)
		slot = cached_file_folio(file, from).first;
	for (i = 0; i < rule->window && cached_file_has(file, slot); i++)
		slot = (slot + 1) % NODE_SLOTS ? slot + 1 : from + i + 1;
	if (i == rule->window && rule->kernel->linux_6_1)
		i--;
	return from + i;
}

/* For the mark of an earlier window. Returns false if no page near the mark is missing. */
static bool continue_from_cache(const struct readahead_rule *rule, struct cached_file *file,
				struct readahead_state *state, uint64_t mark)
{
	const uint64_t missing = next_missing(rule, file, mark + 1);

	if (missing - mark > rule->window)
		return false;
	state->start = missing;
	state->size = next_size(rule, missing - mark + rule->window);
	return true;
}

/* The window ends at a multiple of the size that its folios may have. */
static void align_window(const struct readahead_rule *rule, struct readahead_state *state)
{
	const unsigned int most = __builtin_ctzll(rule->window);
	unsigned int order;
	uint64_t end;

	state->order += 2;
	order = state->order < most ? state->order : most;
	end = (state->start + state->size) >> order << order;
	if (end > state->start)
		state->size = end - state->start;
}

static void hit_mark(const struct readahead_rule *rule, struct cached_file *file,
		     struct readahead_state *state, uint64_t page)
{
	const uint64_t pages = cached_file_folio(file, page).pages;
	uint64_t size;

	cached_file_clear_mark(file, page);
	if (page == ((state->start + state->size - state->ahead) & ~(pages - 1)) ||
	    (rule->kernel->linux_6_1 && page == state->start + state->size)) {
		size = next_size(rule, state->size);
		state->start += state->size;
		state->size = size > state->size ? size : state->size;
	} else if (!continue_from_cache(rule, file, state, page)) {
		return;
	}
	if (rule->kernel->aligned)
		align_window(rule, state);
	state->ahead = state->size;
	submit_window(rule, file, state);
}

static void hit(const struct readahead_rule *rule, struct readahead_state *state, uint64_t pages)
{
	if (!rule->hits_ignored)
		state->excess = pages < state->excess ? state->excess - pages : 0;
}

void readahead_rule_around(const struct readahead_rule *rule, struct readahead_state *state,
			   const struct readahead_access *access, uint64_t pages, bool found)
{
	if (!rule->kernel->counts_evenly)
		hit(rule, state, pages);
	else if (found && is_counted(rule, access))
		hit(rule, state, 1);
}

void readahead_rule_retry(const struct readahead_rule *rule, struct readahead_state *state,
			  const struct readahead_access *access)
{
	if (rule->kernel->retry_is_hit && is_counted(rule, access))
		hit(rule, state, 1);
}

enum fault_class readahead_rule_fault(const struct readahead_rule *rule, struct cached_file *file,
				      struct readahead_state *state,
				      const struct readahead_access *access)
{
	const uint64_t page = access->page;

	if (!cached_file_has(file, page)) {
		miss(rule, file, state, access);
		if (!cached_file_has(file, page))
			cached_file_read(file, page, 0);
		return FAULT_DISK;
	}
	if (access->advice == MAPPING_RANDOM || !rule->window)
		return FAULT_LONG;
	if (is_counted(rule, access))
		hit(rule, state, 1);
	if (!cached_file_has_mark(file, page))
		return FAULT_LONG;
	hit_mark(rule, file, state, page);
	return FAULT_READAHEAD;
}

void readahead_rule_read(const struct readahead_rule *rule, struct cached_file *file,
			 struct readahead_state *state, uint64_t page, uint64_t pages)
{
	const uint64_t end = page + pages < file->pages ? page + pages : file->pages;

	for (; page < end; page++) {
		if (!cached_file_has(file, page)) {
			if (rule->window)
				read_sequential(rule, file, state, page, end - page);
			else
				submit_pages(file, page, end - page, 0);
		} else if (rule->window && cached_file_has_mark(file, page)) {
			hit_mark(rule, file, state, page);
		}
		state->next = page + 1;
	}
}
