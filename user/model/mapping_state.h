/* SPDX-License-Identifier: GPL-2.0-only */
/* A mapping's advice, and the open file's read-ahead behind the mapping. */
#ifndef PFSTAT_USER_MAPPING_STATE_H
#define PFSTAT_USER_MAPPING_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>

/* Advice values that change how the kernel reads ahead. The first three have the MADV_* number. */
enum mapping_advice {
	MAPPING_NORMAL,
	MAPPING_RANDOM,
	MAPPING_SEQUENTIAL,
	MAPPING_NR_ADVICES,
	MAPPING_MIXED = MAPPING_NR_ADVICES, /* the mapping's parts differ */
};

#define MAPPING_ADVICE_NAMES { "normal", "random", "sequential", "mixed" }

struct mapping_state {
	bool known;
	uint32_t advice;   /* enum mapping_advice */
	uint32_t ra_pages; /* the most one read-ahead reads, 0 if none */
	uint32_t mmap_miss;
};

/* False: perf shows only the advice. */
static inline bool mapping_state_has_readahead(const struct mapping_state *state)
{
	return state->known && state->ra_pages != PFSTAT_MAPPING_UNKNOWN;
}

#endif
