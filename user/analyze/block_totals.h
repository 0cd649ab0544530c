/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The number, bytes and times of the targets' block requests. Pure: input is the requests in
 * completion order, and the reports read the figures.
 */
#ifndef PFSTAT_USER_BLOCK_TOTALS_H
#define PFSTAT_USER_BLOCK_TOTALS_H

#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/class_faults.h"
#include "util/statistics.h"

/* Service time (issue to completion) for the targets' requests. */
struct block_figures {
	uint64_t reads, writes, errors;
	uint64_t bytes_read, bytes_written;
	struct part_figures queue, device; /* for reads */
};

/* All zero is empty. */
struct block_totals {
	struct block_figures figures; /* without the percentiles */
	struct quantiles queue, device;
};

void block_totals_exit(struct block_totals *totals);
/* Returns 0 or -ENOMEM. */
int block_totals_add(struct block_totals *totals, const struct pfstat_block *block);
void block_totals_fill(const struct block_totals *totals, struct block_figures *figures);

#endif
