// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two judgements on a row: noise, from run statistics, and the operation's claim, from
 * getrusage(2) or eBPF counts. The limits are constants in this file.
 */
#include <math.h>
#include <stdio.h>

#include "bench/suite/core/judge.h"
#include "model/counters.h"

/*
 * Stray events do not come from the operation: a fault on the loop's own page, a signal. Three
 * stray events, plus one per hundred operations, are tolerated. The scheduler may also preempt, at
 * most once per PREEMPTION_NS.
 */
#define STRAY_SHARE   0.01
#define STRAY_COUNT   3
#define PREEMPTION_NS 1000000

/*
 * A row is noisy if the mean's half width is above WIDEST. Outliers do not matter if the half width
 * is below NARROW.
 */
#define WIDEST	      0.1
#define NARROW	      0.01
#define MOST_OUTLIERS 0.25
#define FEWEST_RUNS   3

static const char *const names[BENCH_NR_EVENTS] = BENCH_EVENT_NAMES;

static bool judge_one(enum bench_event event, const struct bench_range *range, uint64_t count,
		      uint64_t operations, double stray, double share, struct why *why)
{
	if (count < range->min * share * operations - STRAY_COUNT - STRAY_SHARE * operations) {
		why_set(why, "%.3g %s per operation, but at least %.3g are claimed",
			(double)count / operations, names[event], range->min * share);
		return false;
	}
	if (count > range->max * operations + stray) {
		why_set(why, "%.3g %s per operation, but at most %.3g are claimed",
			(double)count / operations, names[event], range->max);
		return false;
	}
	return true;
}

bool judge_counts(const struct bench_claim *claim, const struct bench_counts *counts,
		  uint64_t operations, uint64_t elapsed_ns, double share, struct why *why)
{
	const double stray = STRAY_COUNT + STRAY_SHARE * operations;
	const double preemptions = elapsed_ns / PREEMPTION_NS;
	enum bench_event event;

	why->text[0] = '\0';
	if (!claim->made || !operations)
		return true;
	for (event = 0; event < BENCH_NR_EVENTS; event++)
		if (counts->event[event] != COUNT_NA &&
		    !judge_one(event, &claim->range[event], counts->event[event], operations,
			       stray + (event == BENCH_SWITCHES ? preemptions : 0), share, why))
			return false;
	return true;
}

bool judge_noise(const struct statistics *statistics, double value, double half_width,
		 struct why *why)
{
	why->text[0] = '\0';
	if (statistics->runs < FEWEST_RUNS) {
		why_set(why, "only %zu runs fit into the time limit", statistics->runs);
		return false;
	}
	if (!(value > 0)) {
		why_set(why, "the subtracted value is not less than the measured one");
		return false;
	}
	if (half_width > WIDEST * value) {
		why_set(why, "the half width of the mean is %.0f%%", 100 * half_width / value);
		return false;
	}
	if (statistics->outliers > MOST_OUTLIERS * statistics->runs &&
	    half_width > NARROW * value) {
		why_set(why, "%zu of %zu runs are outliers", statistics->outliers,
			statistics->runs);
		return false;
	}
	return true;
}
