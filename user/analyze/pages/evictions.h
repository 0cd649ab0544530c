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
#define BLAME_MAX_EVICTORS 1024
#define BLAME_MAX_PAIRS	   4096
#define BLAME_OTHERS	   "(others)"

struct blame_pair {
	uint32_t evictor; /* process that removed the pages; kswapd is one of its own */
	char evictor_name[16];
	uint32_t victim;   /* process that wanted them again; 0: several, of others */
	uint64_t pages;	   /* read again, with what was read ahead */
	uint64_t faults;   /* that waited for such a page: class disk or wait, or major */
	uint64_t total_ns; /* of these faults */
};

/* One of those who are not told apart: so it is not known either whether the victim did it. */
static inline bool blame_is_others(const struct blame_pair *pair)
{
	return !pair->evictor && !strcmp(pair->evictor_name, BLAME_OTHERS);
}

static inline bool blame_is_itself(const struct blame_pair *pair)
{
	return pair->evictor == pair->victim && !blame_is_others(pair);
}

struct blame_figures {
	uint64_t evicted;  /* pages removed that a target had read, by whomever */
	uint64_t overflow; /* of them not kept: what became of these is not known */
};

struct blame;

struct blame *blame_new(void);
void blame_free(struct blame *blame);

/* In time order. -ENOMEM. */
int blame_remove(struct blame *blame, const struct pfstat_page *page);
int blame_add_read(struct blame *blame, const struct pfstat_block *block);
int blame_add_fault(struct blame *blame, const struct explained *fault);

void blame_figures(const struct blame *blame, struct blame_figures *figures);
/* Most pages first; the caller frees *pairs. -ENOMEM. */
int blame_pairs(const struct blame *blame, struct blame_pair **pairs, size_t *nr);

#endif
