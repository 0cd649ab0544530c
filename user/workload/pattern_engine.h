/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface that a pattern implements (pattern.h has the table), and helpers for patterns. */
#ifndef PFSTAT_USER_PATTERN_ENGINE_H
#define PFSTAT_USER_PATTERN_ENGINE_H

#include "workload/loop.h"
#include "workload/pattern.h"

struct pattern_visits {
	uint64_t count;
	uint32_t *order; /* of the first visits; has room for all pages. NULL if not wanted */
};

struct pattern_engine {
	/* @argument: text after the colon, or NULL. -EINVAL. NULL: the pattern has no argument. */
	int (*parse)(struct pattern *pattern, const char *argument);
	/* Called with bytes, accesses and seed set. NULL: any file fits. -ERANGE. */
	int (*fit)(const struct pattern *pattern);
	/* Adapts the pattern to the small warm-up buffer. NULL if there is nothing to adapt. */
	void (*shrink)(struct pattern *pattern);
	/* Makes no system call and accesses only data, its stack and the watch. */
	uint64_t (*run)(const struct pattern *pattern, const volatile uint8_t *data,
			struct pattern_watch *watch);
	/* Counts the visited pages, or only the pages stored to. */
	int (*pages)(const struct pattern *pattern, const volatile sig_atomic_t *stop, bool written,
		     struct pattern_visits *visits);
	uint64_t accesses;    /* default, 0 for one per byte of the file */
	uint64_t min_bytes;   /* 0: any */
	unsigned int repeats; /* default, 0 means 1 */
};

#define PATTERN_DECLARE(name, usage) extern const struct pattern_engine pattern_##name;
PATTERNS(PATTERN_DECLARE)
#undef PATTERN_DECLARE

/* How many pages the first bytes of the file have. */
static inline uint64_t pattern_pages_of(const struct pattern *pattern, uint64_t bytes)
{
	return (bytes + pattern->page_bytes - 1) / pattern->page_bytes;
}

/* Counts pages by running `next` once more over a bitmap, until every page has been visited. */
int pattern_count_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			bool written, struct loop_span (*next)(void *state, uint64_t max),
			void *state, struct pattern_visits *visits);

/* Counts a page visited for the first time. */
static inline void pattern_visit(struct pattern_visits *visits, uint64_t page)
{
	if (visits->order)
		visits->order[visits->count] = page;
	visits->count++;
}

#endif
