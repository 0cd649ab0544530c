/* SPDX-License-Identifier: GPL-2.0-only */
/* System calls by name, over all results, as `strace -c' counts them. */
#ifndef PFSTAT_USER_SYSCALL_TOTALS_H
#define PFSTAT_USER_SYSCALL_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "model/counters.h"

struct syscall_total {
	uint32_t number;
	uint64_t calls, errors, total_ns;
};

/*
 * Adds the rows up by number, longest first. At equal times the smaller number is first. The caller
 * frees *totals, which is NULL if there are no rows. Returns 0 or -ENOMEM.
 */
int syscall_totals(const struct syscall_row *rows, size_t nr_rows, struct syscall_total **totals,
		   size_t *nr);
struct syscall_total syscall_totals_sum(const struct syscall_total *totals, size_t nr);

#endif
