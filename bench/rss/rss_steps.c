// SPDX-License-Identifier: GPL-2.0-only
/* Assigns faults to the toucher's steps, by time. */
#include "bench/rss/rss_steps.h"

static struct rss_step *rss_step_at(struct rss_report *report, uint64_t ns)
{
	const struct rss_marks *marks;
	unsigned int i;

	for (i = 0; i < report->nr_steps; i++) {
		marks = &report->steps[i].marks;
		if (ns >= marks->start_ns && ns <= marks->end_ns)
			return &report->steps[i];
	}
	return NULL;
}

void rss_steps_add_fault(struct rss_report *report, const struct explained *fault)
{
	struct rss_step *step = rss_step_at(report, fault->start_ns);

	if (!step)
		return;
	if (step->nr_faults < RSS_FAULTS_MAX)
		step->faults[step->nr_faults] = (struct rss_fault){
			.class = fault->class,
			.pgoff = fault->inode ? fault->pgoff : COUNT_NA,
			.ns = fault->end_ns - fault->start_ns,
			.attempts = fault->attempts,
			.major = fault->major,
			.solved = fault->solved,
		};
	step->nr_faults++;
}
