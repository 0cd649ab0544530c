/* SPDX-License-Identifier: GPL-2.0-only */
/* What a pattern implements (pattern.h has their table), and what patterns share. */
#ifndef PFSTAT_USER_PATTERN_ENGINE_H
#define PFSTAT_USER_PATTERN_ENGINE_H

#include "workload/loop.h"
#include "workload/pattern.h"

struct pattern_engine {
	/* argument: the text behind the colon, or NULL. -EINVAL. NULL: it takes none. */
	int (*parse)(struct pattern *pattern, const char *argument);
	/* bytes, accesses and seed are set. NULL: any file fits. -ERANGE. */
	int (*fit)(const struct pattern *pattern);
	/* Adapts the pattern to the few bytes of the warm-up. NULL: nothing to adapt. */
	void (*shrink)(struct pattern *pattern);
	/* Makes no system call and accesses only data, its stack and the watch. */
	uint64_t (*run)(const struct pattern *pattern, const volatile uint8_t *data,
			struct pattern_watch *watch);
	/* Counts the pages that are visited, or only those that are stored to. */
	int (*pages)(const struct pattern *pattern, const volatile sig_atomic_t *stop, bool written,
		     uint64_t *pages);
	uint64_t accesses;    /* the default; 0: as many as there are bytes */
	uint64_t min_bytes;   /* 0: any */
	unsigned int repeats; /* the default; 0: 1 */
};

#define PATTERN_DECLARE(name, usage) extern const struct pattern_engine pattern_##name;
PATTERNS(PATTERN_DECLARE)
#undef PATTERN_DECLARE

static inline uint64_t pattern_pages_of(uint64_t bytes)
{
	return (bytes + PATTERN_PAGE - 1) / PATTERN_PAGE;
}

/* Counts pages by running `next` once more, over a bitmap, until all pages were met. */
int pattern_count_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			bool written, struct loop_span (*next)(void *state, uint64_t max),
			void *state, uint64_t *pages);

#endif
