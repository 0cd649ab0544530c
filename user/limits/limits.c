// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares a filled report with limits, for scripts. A run with lost records or events may have had
 * more faults than the report counts. So a limit seemingly kept by such a run is not kept.
 */
#include <inttypes.h>
#include <math.h>

#include "limits/limits.h"
#include "report/active_share.h"

void limits_init(struct limits *limits)
{
	*limits = (struct limits){
		.max_major = COUNT_NA,
		.max_fault_ns = COUNT_NA,
		.max_share = NAN,
		.max_longest_ns = COUNT_NA,
		.max_failed = COUNT_NA,
	};
}

bool limits_any(const struct limits *limits)
{
	return limits->max_major != COUNT_NA || limits->max_fault_ns != COUNT_NA ||
	       !isnan(limits->max_share) || limits->max_longest_ns != COUNT_NA ||
	       limits->max_failed != COUNT_NA;
}

/* COUNT_NA is the largest number, and NAN compares as false. */
bool limits_exceeded(const struct limits *limits, const struct limit_sums *sums,
		     uint64_t elapsed_ns)
{
	const struct active_time time = {
		.fault_ns = sums->fault_ns,
		.least_ns = sums->active_ns,
		.most_ns = sums->active_ns,
		.waiting_ns = sums->waiting_ns,
		.wall_ns = elapsed_ns,
	};
	const struct active_share active = active_share_of(&time);

	return sums->major > limits->max_major || sums->fault_ns > limits->max_fault_ns ||
	       sums->busy_ns > limits->max_share * elapsed_ns ||
	       (!active.idle && active.least > limits->max_share);
}

static bool is_complete(const struct report_losses *losses)
{
	return !losses->damage && !losses->records &&
	       (losses->events == COUNT_NA || !losses->events);
}

/* @known: whether the figure is known. If something was lost, the figure may be too low. */
static bool limits_print_result(FILE *out, const struct report *run, bool exceeded, bool known)
{
	const bool kept = !exceeded && known && is_complete(&run->losses);

	fprintf(out, "%-9s  ", exceeded ? "EXCEEDED" : kept ? "ok" : "NOT KNOWN");
	return !kept;
}

static double limits_share(const struct report *run, uint64_t busy_ns)
{
	return run->time.counted_ns == COUNT_NA || !run->time.counted_ns ?
		       NAN :
		       (double)busy_ns / run->time.counted_ns;
}

static unsigned int limits_check_longest(FILE *out, const struct report *run, uint64_t max_ns)
{
	const uint64_t longest_ns = run->evidence.tail.longest.duration_ns;
	const bool kept = !limits_print_result(out, run, longest_ns > max_ns, true);

	fprintf(out, "longest fault: %.3f ms, at most %.3f ms\n", longest_ns / 1e6, max_ns / 1e6);
	return !kept;
}

static unsigned int limits_check_failed(FILE *out, const struct report *run, uint64_t max)
{
	const uint64_t count = run->evidence.failed_faults;
	const bool known = count != COUNT_NA;
	const bool kept = !limits_print_result(out, run, known && count > max, known);

	if (known)
		fprintf(out, "failed faults: %" PRIu64 ", at most %" PRIu64 "\n", count, max);
	else
		fprintf(out, "failed faults: n/a, at most %" PRIu64 "\n", max);
	return !kept;
}

/* A thread that waits for a CPU makes the share of the run smaller, but not the other one. */
static unsigned int limits_check_share(FILE *out, const struct report *run, double max)
{
	const double share = limits_share(run, run->evidence.busy_ns);
	const double share_max = limits_share(run, run->evidence.busy_max_ns);
	const struct active_share active = active_share_of_run(run);
	const bool judged = !active.idle && !isnan(active.least);
	const bool kept = !limits_print_result(out, run,
					       !(share <= max) || (judged && active.least > max),
					       share_max <= max && (!judged || active.most <= max));

	fprintf(out, "share of the run: %.2f %%", 100 * share);
	if (judged)
		fprintf(out, ", and of its threads' active time: %.2f %%", 100 * active.least);
	fprintf(out, ", at most %.2f %%\n", 100 * max);
	return !kept;
}

unsigned int limits_check(FILE *out, const struct limits *limits, const struct report *run)
{
	const struct fault_figures *all = &run->faults.all;
	unsigned int failed = 0;

	if (limits->max_major != COUNT_NA) {
		failed += limits_print_result(out, run, all->major > limits->max_major, true);
		fprintf(out, "major faults: %" PRIu64 ", at most %" PRIu64 "\n", all->major,
			limits->max_major);
	}
	if (limits->max_fault_ns != COUNT_NA) {
		failed += limits_print_result(out, run, all->whole.total_ns > limits->max_fault_ns,
					      true);
		fprintf(out, "time in faults: %.3f ms, at most %.3f ms\n",
			all->whole.total_ns / 1e6, limits->max_fault_ns / 1e6);
	}
	if (!isnan(limits->max_share))
		failed += limits_check_share(out, run, limits->max_share);
	if (limits->max_longest_ns != COUNT_NA)
		failed += limits_check_longest(out, run, limits->max_longest_ns);
	if (limits->max_failed != COUNT_NA)
		failed += limits_check_failed(out, run, limits->max_failed);
	return failed;
}
