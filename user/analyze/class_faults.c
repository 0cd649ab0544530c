// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up logical faults, which come from explain.c through analysis.c. A class's parts add up to
 * the whole time.
 */
#include "analyze/class_faults.h"
#include "model/counters.h"
#include "model/item.h"

void class_faults_exit(struct class_faults *class)
{
	unsigned int i;

	for (i = 0; i <= NR_PARTS; i++)
		quantile_exit(&class->quantiles[i]);
}

static uint64_t pages_of(const struct explained *fault)
{
	if (!fault->solved)
		return 0;
	/* The number of pages mapped by fault-around is unknown. At least one was mapped. */
	return fault->order && !fault->around_pages ? 1ULL << fault->order : 1;
}

int class_faults_add(struct class_faults *class, const struct explained *fault)
{
	const uint64_t whole_ns = fault->end_ns - fault->start_ns;
	enum part part;
	int err;

	class->count++;
	class->major += fault->major;
	class->unsolved += !fault->solved;
	class->calls_only += !fault->whole;
	class->pages += pages_of(fault);
	class->reclaim_cpu_ns += fault->reclaim_cpu_ns;
	class->had[NR_PARTS]++;
	class->total_ns[NR_PARTS] += whole_ns;
	err = quantile_add(&class->quantiles[NR_PARTS], whole_ns);
	for (part = 0; part < NR_PARTS && !err; part++) {
		if (!fault->parts_ns[part])
			continue;
		class->had[part]++;
		class->total_ns[part] += fault->parts_ns[part];
		err = quantile_add(&class->quantiles[part], fault->parts_ns[part]);
	}
	return err;
}

int class_faults_add_zeros(struct class_faults *class)
{
	enum part part;
	int err = 0;

	for (part = 0; part < NR_PARTS && !err; part++)
		if (class->quantiles[part].count < class->count)
			err = quantile_add_many(&class->quantiles[part], 0,
						class->count - class->quantiles[part].count);
	return err;
}

void part_figures_fill(struct part_figures *figures, const struct quantiles *const *several,
		       size_t nr, uint64_t count, uint64_t total_ns)
{
	uint64_t zeros = count;
	size_t i;

	figures->max_ns = 0;
	for (i = 0; i < nr; i++) {
		zeros -= several[i]->count;
		if (several[i]->max_ns > figures->max_ns)
			figures->max_ns = several[i]->max_ns;
	}
	figures->total_ns = total_ns;
	figures->p50_ns = quantile_with_zeros(several, nr, zeros, 5000);
	figures->p99_ns = quantile_with_zeros(several, nr, zeros, 9900);
	figures->p999_ns = count < P999_LEAST ? COUNT_NA :
						quantile_with_zeros(several, nr, zeros, 9990);
	figures->p9999_ns = count < P9999_LEAST ? COUNT_NA :
						  quantile_with_zeros(several, nr, zeros, 9999);
}

void class_faults_fill(const struct class_faults *classes, size_t nr, struct fault_figures *figures)
{
	const struct quantiles *several[NR_FAULT_CLASSES];
	const struct class_faults *class;
	struct part_figures *filled;
	uint64_t total_ns;
	unsigned int part;
	size_t i;

	*figures = (struct fault_figures){ 0 };
	for (i = 0; i < nr; i++) {
		class = &classes[i];
		figures->count += class->count;
		figures->major += class->major;
		figures->unsolved += class->unsolved;
		figures->calls_only += class->calls_only;
		figures->pages += class->pages;
		figures->reclaim_cpu_ns += class->reclaim_cpu_ns;
	}
	for (part = 0; part <= NR_PARTS; part++) {
		filled = part == NR_PARTS ? &figures->whole : &figures->parts[part];
		total_ns = 0;
		for (i = 0; i < nr; i++) {
			class = &classes[i];
			several[i] = &class->quantiles[part];
			filled->faults += class->had[part];
			total_ns += class->total_ns[part];
		}
		part_figures_fill(filled, several, nr, figures->count, total_ns);
	}
}

/* Adds up the targets' block requests. Only reads have times, because faults wait for reads. */

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
