// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorts the pairs of evictor and owner counted by eBPF for swap into the roles in a competition.
 * The pairs come from the run's counters, and the reports print the matrix. Each pair is counted in
 * exactly one cell.
 */
#include <stdio.h>
#include <string.h>

#include "bench/pressure/swap_matrix.h"

static unsigned int role_of(uint32_t pid, const char *name, pid_t run, const pid_t *competitors,
			    unsigned int nr)
{
	unsigned int i;

	if (pid == (uint32_t)run)
		return SWAP_RUN;
	for (i = 0; i < nr; i++)
		if (pid == (uint32_t)competitors[i])
			return SWAP_COMPETITOR + i;
	return strncmp(name, "kswapd", 6) ? SWAP_OTHERS : SWAP_KSWAPD;
}

void swap_matrix_make(struct swap_matrix *matrix, const struct run_counters *counters, pid_t run,
		      const pid_t *competitors, unsigned int nr)
{
	const struct swap_row *row;
	unsigned int evictor, owner;

	*matrix = (struct swap_matrix){
		.nr = nr,
		.read = counters->swap.read,
		.not_seen = counters->swap.not_seen,
		.evicted = counters->swap.evicted,
	};
	for (row = counters->swap_rows; row < counters->swap_rows + counters->nr_swap_rows; row++) {
		evictor = role_of(row->pair.evictor, row->evictor_name, run, competitors, nr);
		owner = SWAP_SEVERAL;
		if (row->pair.owner)
			owner = role_of(row->pair.owner, "", run, competitors, nr);
		matrix->pages[evictor][owner] += row->pages;
	}
}

uint64_t swap_matrix_sum(const struct swap_matrix *matrix)
{
	unsigned int evictor, owner;
	uint64_t sum = 0;

	for (evictor = 0; evictor < NR_SWAP_ROLES; evictor++)
		for (owner = 0; owner < NR_SWAP_ROLES; owner++)
			sum += matrix->pages[evictor][owner];
	return sum;
}

const char *swap_role_name(unsigned int role, char *buffer, size_t size)
{
	switch (role) {
	case SWAP_RUN:
		return "the run";
	case SWAP_KSWAPD:
		return "kswapd";
	case SWAP_OTHERS:
		return "others";
	case SWAP_SEVERAL:
		return "several";
	default:
		snprintf(buffer, size, "competitor %u", role);
		return buffer;
	}
}

static int is_there(const struct swap_matrix *matrix, unsigned int role)
{
	return role < SWAP_COMPETITOR + matrix->nr || role >= SWAP_KSWAPD;
}

int swap_role_evicts(const struct swap_matrix *matrix, unsigned int role)
{
	return is_there(matrix, role) && role != SWAP_SEVERAL;
}

int swap_role_owns(const struct swap_matrix *matrix, unsigned int role)
{
	return is_there(matrix, role) && role != SWAP_KSWAPD;
}
