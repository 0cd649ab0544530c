/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who evicted what came back: pages that left the page cache, joined to the reads
 * and the faults that later wanted them again.
 */
#ifndef PFSTAT_USER_EVICTIONS_H
#define PFSTAT_USER_EVICTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/fault/explain.h"

/* Evictors, and pairs, that are told apart; the rest is one that is named "(others)". */
#define EVICTIONS_MAX_EVICTORS 1024
#define EVICTIONS_MAX_PAIRS    4096
#define EVICTIONS_OTHERS       "(others)"

struct evictions_pair {
	uint32_t evictor; /* process that removed the pages; kswapd is one of its own */
	char evictor_name[16];
	uint32_t victim;   /* process that wanted them again; 0: several, of others */
	uint64_t pages;	   /* read again, with what was read ahead */
	uint64_t faults;   /* that waited for such a page: class disk or wait, or major */
	uint64_t total_ns; /* of these faults */
};

/* One of those who are not told apart: so it is not known either whether the victim did it. */
static inline bool evictions_is_others(const struct evictions_pair *pair)
{
	return !pair->evictor && !strcmp(pair->evictor_name, EVICTIONS_OTHERS);
}

static inline bool evictions_is_itself(const struct evictions_pair *pair)
{
	return pair->evictor == pair->victim && !evictions_is_others(pair);
}

struct evictions_figures {
	uint64_t evicted;  /* pages removed that a target had read, by whomever */
	uint64_t overflow; /* of them not kept: what became of these is not known */
};

struct evictions;

struct evictions *evictions_new(void);
void evictions_free(struct evictions *evictions);

/* In time order. -ENOMEM. */
int evictions_remove(struct evictions *evictions, const struct pfstat_page *page);
int evictions_add_read(struct evictions *evictions, const struct pfstat_block *block);
int evictions_add_fault(struct evictions *evictions, const struct explained *fault);

void evictions_figures(const struct evictions *evictions, struct evictions_figures *figures);
/* Most pages first; the caller frees *pairs. -ENOMEM. */
int evictions_pairs(const struct evictions *evictions, struct evictions_pair **pairs, size_t *nr);

#endif
