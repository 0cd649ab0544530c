/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages swapped out and read again, by the evictor's role and the owner's role. */
#ifndef PFSTAT_USER_SWAP_MATRIX_H
#define PFSTAT_USER_SWAP_MATRIX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/counters.h"

#define COMPETITORS_MAX 16

/* The roles 1 to COMPETITORS_MAX are the competitors. */
enum swap_role {
	SWAP_RUN,
	SWAP_COMPETITOR,
	SWAP_KSWAPD = SWAP_COMPETITOR + COMPETITORS_MAX, /* only evicts */
	SWAP_OTHERS,
	SWAP_SEVERAL, /* owner only: pages of several processes, or of an unknown process */
	NR_SWAP_ROLES
};

struct swap_matrix {
	unsigned int nr;			      /* competitors */
	uint64_t pages[NR_SWAP_ROLES][NR_SWAP_ROLES]; /* [evictor][owner] */
	uint64_t read, not_seen, evicted;
};

/* @run, @competitors: process numbers */
void swap_matrix_make(struct swap_matrix *matrix, const struct run_counters *counters, pid_t run,
		      const pid_t *competitors, unsigned int nr);
/* The sum over all pairs. */
uint64_t swap_matrix_sum(const struct swap_matrix *matrix);
/* Returns "the run", "competitor 2", "kswapd" and so on. The text may lie in the buffer. */
const char *swap_role_name(unsigned int role, char *buffer, size_t size);
/* True if the role has a row (evicts) or a column (owns) in this matrix. */
int swap_role_evicts(const struct swap_matrix *matrix, unsigned int role);
int swap_role_owns(const struct swap_matrix *matrix, unsigned int role);

#endif
