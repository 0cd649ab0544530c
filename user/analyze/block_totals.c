// SPDX-License-Identifier: GPL-2.0-only
/* Adds up the targets' block requests. Only reads have times, because faults wait for reads. */
#include "analyze/block_totals.h"
#include "model/item.h"

void block_totals_exit(struct block_totals *totals)
{
	quantile_exit(&totals->queue);
	quantile_exit(&totals->device);
}

int block_totals_add(struct block_totals *totals, const struct pfstat_block *block)
{
	struct block_figures *figures = &totals->figures;
	const uint64_t queue_ns = item_elapsed(block->insert_ns, block->issue_ns);
	const uint64_t device_ns = item_elapsed(block->issue_ns, block->event.ns);
	int err;

	figures->errors += !!(block->event.flags & PFSTAT_BLOCK_ERROR);
	if (block->event.flags & PFSTAT_BLOCK_WRITE) {
		figures->writes++;
		figures->bytes_written += block->bytes;
		return 0;
	}
	figures->reads++;
	figures->bytes_read += block->bytes;
	figures->queue.total_ns += queue_ns;
	figures->device.total_ns += device_ns;
	err = quantile_add(&totals->queue, queue_ns);
	return err ? err : quantile_add(&totals->device, device_ns);
}

void block_totals_fill(const struct block_totals *totals, struct block_figures *figures)
{
	const struct quantiles *queue = &totals->queue, *device = &totals->device;

	*figures = totals->figures;
	figures->queue.faults = figures->reads;
	figures->device.faults = figures->reads;
	part_figures_fill(&figures->queue, &queue, 1, figures->reads, figures->queue.total_ns);
	part_figures_fill(&figures->device, &device, 1, figures->reads, figures->device.total_ns);
}
