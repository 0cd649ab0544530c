// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the verdict for a filled report: first the shares and the places with most of the time,
 * then the causes, which verdict_rules.c finds.
 */
#include <math.h>

#include "verdict/verdict.h"
#include "verdict/verdict_rules.h"
#include "report/view.h"

const struct group *verdict_top(const struct report *run, enum group_by by)
{
	const struct report_places *places = &run->places[by];
	size_t i;

	for (i = 0; i < places->nr && group_is_others(&places->rows[i]); i++)
		;
	return i < places->nr ? &places->rows[i] : NULL;
}

static enum fault_class longest_class(const struct report *run)
{
	enum fault_class class, longest = 0;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		if (run->faults.classes[class].whole.total_ns >
		    run->faults.classes[longest].whole.total_ns)
			longest = class;
	return longest;
}

/* Anonymous memory has a single name, so the mapping is named instead, if it is known. */
static const struct group *costliest_place(const struct report *run)
{
	const struct group *file = verdict_top(run, GROUP_BY_FILE);
	const struct group *map = verdict_top(run, GROUP_BY_VMA);

	return file && !file->inode && map ? map : file;
}

/*
 * A thread without a CPU makes the run longer, so a small share of the run alone proves nothing.
 * Many threads that mostly work seldom leave a moment without any fault.
 */
static bool is_small(const struct verdict *verdict, const struct report *run)
{
	const struct thread_activity *stalled = &run->evidence.activity.stalled;
	const double least = verdict->active.least;

	if ((isnan(least) ? verdict->share : least) >= VERDICT_WRONG_SHARE)
		return false;
	return verdict->share < VERDICT_WRONG_SHARE || !stalled->tid ||
	       stalled->fault_ns < VERDICT_WRONG_SHARE * activity_own_ns(stalled);
}

void verdict_make(struct verdict *verdict, const struct report *run)
{
	*verdict = (struct verdict){
		.wall_ns = run->time.counted_ns,
		.busy_ns = run->evidence.busy_ns,
		.share = NAN,
		.cpu_share = NAN,
		.active = { NAN, NAN, false },
		.at_least = !view_sees_all_faults(run) || view_perf_ended(run) ||
			    view_faults_lost(run) || view_faults_unseen(run),
	};
	if (verdict->wall_ns == COUNT_NA || !verdict->wall_ns)
		return;
	verdict->known = true;
	verdict->share = (double)verdict->busy_ns / verdict->wall_ns;
	if (verdict->share > 1)
		verdict->share = 1;
	verdict->cpu_share = active_share_of_cpu(run, &verdict->cpu_ns);
	verdict->active = active_share_of_run(run);
	verdict->idle = verdict->active.idle && verdict->share < VERDICT_WRONG_SHARE &&
			verdict->active.most >= VERDICT_WRONG_SHARE;
	verdict->small = !verdict->idle && is_small(verdict, run);
	verdict->class = longest_class(run);
	verdict->class_share = verdict_class_share(run, verdict->class);
	verdict->place = costliest_place(run);
	verdict->thread = verdict_top(run, GROUP_BY_THREAD);
	verdict_code_find(&verdict->code, run);
	verdict_find_causes(verdict, run);
}
