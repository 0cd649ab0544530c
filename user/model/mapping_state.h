/* SPDX-License-Identifier: GPL-2.0-only */
/* The advice of a mapping, and the read-ahead of the open file behind it. */
#ifndef PFSTAT_USER_MAPPING_STATE_H
#define PFSTAT_USER_MAPPING_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* The advices that change how the kernel reads ahead. The first three have the number of MADV_*. */
enum mapping_advice {
	MAPPING_NORMAL,
	MAPPING_RANDOM,
	MAPPING_SEQUENTIAL,
	MAPPING_NR_ADVICES,
	MAPPING_MIXED = MAPPING_NR_ADVICES, /* parts of the mapping have different ones */
};

#define MAPPING_ADVICE_NAMES { "normal", "random", "sequential", "mixed" }

struct mapping_state {
	bool known;
	uint32_t advice;   /* enum mapping_advice */
	uint32_t ra_pages; /* the most that a read-ahead reads; 0: none */
	uint32_t mmap_miss;
};

#endif
