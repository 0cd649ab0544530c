/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Misses of the study's file with other page orders and other rules. The study does not state the
 * exact file size, where a stride sweep starts, or the seed, so each variation is a range.
 */
#ifndef PFSTAT_USER_FAULT_VARIATIONS_H
#define PFSTAT_USER_FAULT_VARIATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUDY_PAGES	 11300U /* as stated in the study's section "Data and Observations" */
#define STUDY_PAGE	 4096U
#define STUDY_SWEEPS	 64U /* stride in pages */
#define FAULT_LAST_PAGES 64U /* last-page sizes */
#define FAULT_SEEDS	 32U

enum fault_order {
	FAULT_ORDER_STEPPED,  /* stride: a sweep begins one page after the one before */
	FAULT_ORDER_WRAPPED,  /* stride: the next sweep begins where the stride passes the end */
	FAULT_ORDER_SHUFFLED, /* stride: the sweeps from FAULT_ORDER_STEPPED in a random order */
	FAULT_ORDER_RANDOM,
};

struct fault_variation {
	enum fault_order order;
	uint64_t window; /* read-ahead in pages */
	bool hits_ignored;
	uint64_t least, most; /* misses */
	uint64_t runs;	      /* visiting each page */
};

#define NR_FAULT_VARIATIONS 7

extern const struct fault_variation fault_variations[NR_FAULT_VARIATIONS];

/*
 * Simulates all runs of a variation on a kernel (uname -r), and fills in their number and range.
 * -ENOMEM
 */
int fault_variation_run(struct fault_variation *variation, const char *kernel);

#endif
