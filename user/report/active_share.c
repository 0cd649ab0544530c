// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the faults' time with the threads' active time: on the CPU and in faults. Input: the
 * off-CPU intervals' bounds for this time, and the CPU time from rusage, which has no bounds.
 */
#include <math.h>

#include "analyze/activity.h"
#include "model/item.h"
#include "report/active_share.h"

#define IDLE_RUN      0.2	  /* share of the run in which it was active, or waited for a CPU */
#define TICKS_NS      20000000ULL /* /proc/PID/stat counts utime and stime in ticks of 10 ms */
#define MOST_TICKS    0.05	  /* of the CPU time */
#define COUNTED_SHARE 0.9	  /* of the faults: rusage knows all processes */
#define MOST_EXCESS   1.05	  /* of the CPU time, by different clocks */

static double active_share_ratio(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns == COUNT_NA || !whole_ns ? NAN : fmin((double)part_ns / whole_ns, 1);
}

struct active_share active_share_of(const struct active_time *time)
{
	const uint64_t waiting_ns = time->waiting_ns == COUNT_NA ? 0 : time->waiting_ns;

	return (struct active_share){
		.least = active_share_ratio(time->fault_ns, time->most_ns),
		.most = active_share_ratio(time->fault_ns, time->least_ns),
		.idle = time->least_ns != COUNT_NA &&
			time->least_ns + waiting_ns < IDLE_RUN * time->wall_ns,
	};
}

static uint64_t faults_cpu_ns(const struct fault_figures *faults)
{
	return fault_figures_cpu_ns(faults) + faults->reclaim_cpu_ns;
}

/* Children reaped by the kernel, because their parent ignores SIGCHLD, are not in rusage. */
static bool rusage_is_whole(const struct report *run)
{
	const struct usage *usage = &run->usage;

	if (usage->utime_ns == COUNT_NA || usage->stime_ns == COUNT_NA)
		return false;
	return usage->minflt == COUNT_NA || usage->majflt == COUNT_NA ||
	       usage->minflt + usage->majflt >= COUNTED_SHARE * run->faults.all.count;
}

/* The CPU time of a running process comes from /proc, which does not count context switches. */
static uint64_t rusage_error_ns(const struct report *run)
{
	return run->usage.nvcsw == COUNT_NA ? TICKS_NS : 0;
}

/* The CPU time and the faults' sleeps are the active time. */
static void narrow_by_rusage(const struct report *run, struct active_time *time)
{
	const struct fault_figures *all = &run->faults.all;
	const uint64_t error_ns = rusage_error_ns(run);
	const uint64_t active_ns = run->usage.utime_ns + run->usage.stime_ns +
				   item_elapsed(faults_cpu_ns(all), all->whole.total_ns);

	if (!rusage_is_whole(run) || !run->faults.parts_known)
		return;
	time->least_ns = item_elapsed(error_ns, active_ns);
	time->most_ns = active_ns + error_ns;
}

struct active_share active_share_of_run(const struct report *run)
{
	const struct activity_figures *activity = &run->evidence.activity;
	struct active_time time = {
		.fault_ns = run->faults.all.whole.total_ns,
		.least_ns = activity->active_ns,
		.most_ns = activity->active_max_ns,
		.waiting_ns = activity->waiting_ns,
		.wall_ns = run->time.counted_ns,
	};

	narrow_by_rusage(run, &time);
	return active_share_of(&time);
}

double active_share_of_cpu(const struct report *run, uint64_t *cpu_ns)
{
	double share;

	*cpu_ns = run->usage.utime_ns + run->usage.stime_ns;
	if (!rusage_is_whole(run) || !run->faults.parts_known ||
	    rusage_error_ns(run) > MOST_TICKS * *cpu_ns)
		return NAN;
	share = (double)faults_cpu_ns(&run->faults.all) / *cpu_ns;
	return share <= MOST_EXCESS ? fmin(share, 1) : NAN;
}
