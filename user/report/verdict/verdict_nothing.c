// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules that are checked even if faults took a small share of the run, and the sentence for a
 * run in which nothing is wrong. Evidence: faults that failed, the longest faults, the throttling
 * of a cgroup, and the activity of the threads.
 */
#include <inttypes.h>

#include "report/verdict/verdict_rules.h"
#include "report/view.h"

/* A service that waits for requests is idle for most of the run. */
static bool was_idle(const struct verdict *verdict, const struct report *run, double *active_share)
{
	const struct fault_figures *all = &run->faults.all;
	uint64_t active_ns;

	if (run->usage.utime_ns == COUNT_NA || run->usage.stime_ns == COUNT_NA ||
	    !run->faults.parts_known)
		return false;
	/*
	 * A thread that waits for a CPU is not idle. Its wait in a fault counts twice: idle is the
	 * exception.
	 */
	active_ns = run->usage.utime_ns + run->usage.stime_ns + verdict_off_cpu_ns(all) +
		    run->evidence.waiting_ns;
	*active_share = active_ns ? (double)all->whole.total_ns / active_ns : 0;
	return active_ns < 0.2 * verdict->wall_ns && *active_share >= VERDICT_CAUSE_SHARE;
}

void verdict_state_nothing(const struct verdict *verdict, const struct report *run,
			   struct verdict_cause *cause)
{
	double active_share;

	cause->rule = "nothing-wrong";
	cause->weight = 1;
	cause->certain = !verdict->at_least;
	if (!cause->certain && view_source_is_perf(run)) {
		verdict_state(cause, "the faults that perf shows to this user cost little; those "
				     "in system calls are not among them.");
		verdict_advise(cause, "record as root, or with kernel.perf_event_paranoid=1.");
	} else if (!cause->certain) {
		verdict_state(cause,
			      "only faults of hooked files are known, and they cost little.");
		verdict_advise(cause, "record as root with eBPF, which sees all faults.");
	} else if (was_idle(verdict, run, &active_share)) {
		cause->certain = false;
		verdict_state(cause,
			      "the program was idle for most of the run; page faults were %.0f %% "
			      "of its activity.",
			      100 * active_share);
		verdict_advise(cause, "record while it is busy; pfdrive report --by thread names "
				      "the threads that faulted.");
	} else {
		verdict_state(cause,
			      "nothing is wrong with page faults; they do not slow this run.");
		verdict_advise(cause, "perf record for the CPU's time, perf trace -s for system "
				      "calls.");
	}
}
