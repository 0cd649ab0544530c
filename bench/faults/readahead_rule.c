// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rule has three parts, in the kernel's mm/filemap.c and mm/readahead.c.
 *
 * Read-around: a miss reads a window around the page, half of it before the page. The last quarter
 * of the window is ahead, and starts with a marked page. If misses exceed hits by a hundred, a miss
 * reads only the page itself.
 *
 *	|-------- size -----------|
 *	|         miss      mark  |
 *	start                |ahead|
 *
 * Mark: a hit on the mark submits a whole window behind this one, and marks the new window's first
 * page. If the mark does not belong to the last window, the new window starts at the next page
 * missing from the cache.
 *
 * Cached pages stay as they are: they are not read again and take no mark.
 */
#include <errno.h>

#include "bench/faults/readahead_rule.h"
#include "util/kernel_release.h"

#define MANY_MISSES 100
#define MOST_MISSES (10 * MANY_MISSES)

int readahead_rule_open(struct readahead_rule *rule, const struct readahead_rule_options *options)
{
	*rule = (struct readahead_rule){
		.options = *options,
		.cached = bitmap_new(options->pages),
		.marked = bitmap_new(options->pages),
	};
	if (rule->cached && rule->marked)
		return 0;
	readahead_rule_close(rule);
	return -ENOMEM;
}

void readahead_rule_close(struct readahead_rule *rule)
{
	bitmap_free(rule->cached);
	bitmap_free(rule->marked);
	rule->cached = NULL;
	rule->marked = NULL;
}

/* A window reaching past the end of the file is cut, and so is the distance to the mark. */
static void submit_window(struct readahead_rule *rule)
{
	const uint64_t pages = rule->options.pages;
	uint64_t size = rule->size, i;

	if (rule->start >= pages)
		return;
	if (size >= pages - rule->start)
		size = pages - rule->start;
	for (i = 0; i < size; i++)
		if (bitmap_set(rule->cached, rule->start + i) && i + rule->ahead == size)
			bitmap_set(rule->marked, rule->start + i);
}

static void read_around(struct readahead_rule *rule, uint64_t page)
{
	const uint64_t window = rule->options.window;

	rule->start = page > window / 2 ? page - window / 2 : 0;
	rule->size = window;
	rule->ahead = window / 4;
	submit_window(rule);
}

static enum fault_class miss(struct readahead_rule *rule, uint64_t page)
{
	if (rule->excess < MOST_MISSES)
		rule->excess++;
	if (rule->excess <= MANY_MISSES && rule->options.window)
		read_around(rule, page);
	else
		bitmap_set(rule->cached, page);
	return FAULT_DISK;
}

static uint64_t next_size(const struct readahead_rule *rule, uint64_t size)
{
	const uint64_t most = rule->options.window;

	if (size < most / 16)
		return 4 * size;
	return size <= most / 2 ? 2 * size : most;
}

/*
 * Searches as many pages as a window has. If all are cached, the result is the page behind them,
 * which is too far for a window. On Linux 6.1 the result is the last searched page, which is not
 * too far.
 */
static uint64_t next_missing(const struct readahead_rule *rule, uint64_t from)
{
	const uint64_t end = from + rule->options.window;
	uint64_t page;

	for (page = from; page < end; page++)
		if (page >= rule->options.pages || !bitmap_has(rule->cached, page))
			return page;
	return rule->options.linux_6_1 ? end - 1 : end;
}

/* For the mark of an earlier window. Returns false if no page near the mark is missing. */
static bool continue_from_cache(struct readahead_rule *rule, uint64_t mark)
{
	const uint64_t window = rule->options.window;
	const uint64_t missing = next_missing(rule, mark + 1);

	if (missing - mark > window)
		return false;
	rule->start = missing;
	rule->size = next_size(rule, missing - mark + window);
	return true;
}

static void hit_mark(struct readahead_rule *rule, uint64_t mark)
{
	uint64_t size;

	bitmap_clear(rule->marked, mark);
	if (mark == rule->start + rule->size - rule->ahead ||
	    (rule->options.linux_6_1 && mark == rule->start + rule->size)) {
		size = next_size(rule, rule->size);
		rule->start += rule->size;
		rule->size = size > rule->size ? size : rule->size;
	} else if (!continue_from_cache(rule, mark)) {
		return;
	}
	rule->ahead = rule->size;
	submit_window(rule);
}

enum fault_class readahead_rule_fault(struct readahead_rule *rule, uint64_t page)
{
	if (rule->options.warm)
		return FAULT_LONG;
	if (!bitmap_has(rule->cached, page))
		return miss(rule, page);
	if (rule->excess && !rule->options.hits_ignored)
		rule->excess--;
	if (!bitmap_has(rule->marked, page))
		return FAULT_LONG;
	hit_mark(rule, page);
	if (rule->options.retry_is_hit && rule->excess && !rule->options.hits_ignored)
		rule->excess--;
	return FAULT_READAHEAD;
}

void readahead_rule_set_kernel(struct readahead_rule_options *options, const char *release)
{
	const unsigned int number = kernel_release_number(release);

	options->linux_6_1 = number && number <= kernel_release_number("6.1");
	options->retry_is_hit = number >= kernel_release_number("6.4");
}
