// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdio.h>

#include "bench/core/judge.h"
#include "model/counters.h"

/*
 * What comes by without being asked: a fault of the loop's own page, a signal. More than
 * one in a hundred operations, and three, is no accident. A scheduler on a busy CPU
 * preempts as well, every millisecond at most.
 */
#define STRAY_SHARE 0.01
#define STRAY_COUNT 3
#define PREEMPTION_NS 1000000

/*
 * A mean that is known no better than this is not to be built on; of one that is known as
 * well as that, no outlier is worth a word.
 */
#define WIDEST 0.1
#define NARROW 0.01
#define MOST_OUTLIERS 0.25
#define FEWEST_RUNS 3

static const char *const names[BENCH_NR_EVENTS] = BENCH_EVENT_NAMES;

static bool judge_one(enum bench_event event, const struct bench_range *range, uint64_t count,
		      uint64_t operations, double stray, double share, char *why, size_t size)
{
	if (count < range->min * share * operations - STRAY_COUNT - STRAY_SHARE * operations) {
		snprintf(why, size, "%.3g %s an operation, but it has %.3g at least",
			 (double)count / operations, names[event], range->min * share);
		return false;
	}
	if (count > range->max * operations + stray) {
		snprintf(why, size, "%.3g %s an operation, but it has %.3g at most",
			 (double)count / operations, names[event], range->max);
		return false;
	}
	return true;
}

bool judge_counts(const struct bench_claim *claim, const struct bench_counts *counts,
		  uint64_t operations, uint64_t elapsed_ns, double share, char *why, size_t size)
{
	const double stray = STRAY_COUNT + STRAY_SHARE * operations;
	const double preemptions = elapsed_ns / PREEMPTION_NS;
	enum bench_event event;

	why[0] = '\0';
	if (!claim->made || !operations)
		return true;
	for (event = 0; event < BENCH_NR_EVENTS; event++)
		if (counts->event[event] != FACT_NONE &&
		    !judge_one(event, &claim->range[event], counts->event[event], operations,
			       stray + (event == BENCH_SWITCHES ? preemptions : 0), share, why,
			       size))
			return false;
	return true;
}

bool judge_noise(const struct statistics *statistics, double value, double half_width, char *why,
		 size_t size)
{
	why[0] = '\0';
	if (statistics->runs < FEWEST_RUNS) {
		snprintf(why, size, "only %zu runs in the time allowed", statistics->runs);
		return false;
	}
	if (!(value > 0)) {
		snprintf(why, size, "what is subtracted is no less than what was measured");
		return false;
	}
	if (half_width > WIDEST * value) {
		snprintf(why, size, "the mean is only known to %.0f%%", 100 * half_width / value);
		return false;
	}
	if (statistics->outliers > MOST_OUTLIERS * statistics->runs &&
	    half_width > NARROW * value) {
		snprintf(why, size, "%zu of %zu runs are outliers", statistics->outliers,
			 statistics->runs);
		return false;
	}
	return true;
}
