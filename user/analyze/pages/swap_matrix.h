/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who swapped out what was swapped in again: pages by the role of who evicted them
 * and the role of whose they were.
 */
#ifndef PFSTAT_USER_SWAP_MATRIX_H
#define PFSTAT_USER_SWAP_MATRIX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/counters.h"

#define COMPETITORS_MAX 16

/* 1 … COMPETITORS_MAX are the competitors. */
enum swap_role {
	SWAP_RUN,
	SWAP_COMPETITOR,
	SWAP_KSWAPD = SWAP_COMPETITOR + COMPETITORS_MAX, /* only evicts */
	SWAP_OTHERS,
	SWAP_SEVERAL, /* only owned: pages of several processes, or of nobody known */
	NR_SWAP_ROLES
};

struct swap_matrix {
	unsigned int nr;			      /* competitors */
	uint64_t pages[NR_SWAP_ROLES][NR_SWAP_ROLES]; /* [evictor][owner] */
	uint64_t read, not_seen, evicted;
};

/* run, competitors: process numbers. */
void swap_matrix_make(struct swap_matrix *matrix, const struct run_counters *counters, pid_t run,
		      const pid_t *competitors, unsigned int nr);
/* The sum of all pairs. */
uint64_t swap_matrix_sum(const struct swap_matrix *matrix);
/* "the run", "competitor 2", "kswapd"; all its life long in one buffer of the caller. */
const char *swap_role_name(unsigned int role, char *buffer, size_t size);
/* Has it a row, a column, with that many competitors? */
int swap_role_evicts(const struct swap_matrix *matrix, unsigned int role);
int swap_role_owns(const struct swap_matrix *matrix, unsigned int role);

#endif
