// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums the module's records by class. explain.c adds the records, with the chains and the off-CPU
 * time it knows for each thread. The reports read the figures.
 */
#include <errno.h>

#include "analyze/fault/summary.h"

void summary_exit(struct summary *summary)
{
	enum pfstat_class class;

	for (class = 0; class < PFSTAT_NR_CLASSES; class++)
		quantile_exit(&summary->classes[class].quantiles);
}

int summary_add(struct summary *summary, const struct pfstat_record *record, uint64_t off_cpu_ns)
{
	const uint32_t class = record->class;
	int err;

	if (class >= PFSTAT_NR_CLASSES)
		return -EINVAL;
	err = quantile_add(&summary->classes[class].quantiles, record->duration_ns);
	if (err)
		return err;
	summary->classes[class].total_ns += record->duration_ns;
	summary->classes[class].off_cpu_ns += off_cpu_ns;
	summary->calls++;
	/* A pass only counts as a pass, with or without RETRY. */
	summary->retried += record->result & PFSTAT_RESULT_RETRY && class != PFSTAT_CLASS_PASS;
	return 0;
}

void summary_combine(const struct summary *summary, const enum pfstat_class *classes,
		     unsigned int nr_classes, struct class_figures *figures)
{
	const struct quantiles *several[PFSTAT_NR_CLASSES];
	enum pfstat_class class;
	unsigned int i;

	*figures = (struct class_figures){ 0 };
	for (i = 0; i < nr_classes; i++) {
		class = classes[i];
		several[i] = &summary->classes[class].quantiles;
		figures->count += several[i]->count;
		figures->total_ns += summary->classes[class].total_ns;
		figures->off_cpu_ns += summary->classes[class].off_cpu_ns;
		if (several[i]->max_ns > figures->max_ns)
			figures->max_ns = several[i]->max_ns;
	}
	figures->p50_ns = quantile_of(several, nr_classes, 5000);
	figures->p99_ns = quantile_of(several, nr_classes, 9900);
}

void summary_figures(const struct summary *summary, struct summary_figures *figures)
{
	enum pfstat_class class;

	for (class = 0; class < PFSTAT_NR_CLASSES; class++)
		summary_combine(summary, &class, 1, &figures->classes[class]);
	figures->calls = summary->calls;
	figures->retried = summary->retried;
	figures->late = summary->late;
	figures->off_cpu_partial = summary->off_cpu_partial;
	figures->faults = summary->chains.faults;
	figures->major = summary->chains.major;
	figures->sequels = summary->chains.sequels;
	figures->unfinished = summary->chains.unfinished;
}
