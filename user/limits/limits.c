// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares a filled report with limits, for scripts. A run with lost records or events may have had
 * more faults than the report counts. So a limit seemingly kept by such a run is not kept.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "limits/limits.h"
#include "model/item.h"
#include "report/active_share.h"
#include "util/argument.h"

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

/* A window that slides over a measurement's sums. If the ring is full, the window gets shorter. */

int limit_window_open(struct limit_window *window, uint64_t window_ns, uint64_t step_ns)
{
	*window = (struct limit_window){
		.window_ns = window_ns,
		.size = window_ns / step_ns + 2,
	};
	window->marks = calloc(window->size, sizeof(*window->marks));
	return window->marks ? 0 : -ENOMEM;
}

void limit_window_close(struct limit_window *window)
{
	free(window->marks);
	*window = (struct limit_window){ 0 };
}

static void drop_first(struct limit_window *window)
{
	window->first = (window->first + 1) % window->size;
	window->nr--;
}

struct limit_sums limit_window_add(struct limit_window *window, uint64_t now_ns,
				   const struct limit_sums *sums)
{
	const struct limit_sums *first;

	while (window->nr && window->marks[window->first].ns + window->window_ns < now_ns)
		drop_first(window);
	if (window->nr == window->size)
		drop_first(window);
	window->marks[(window->first + window->nr++) % window->size] =
		(struct limit_mark){ now_ns, *sums };
	first = &window->marks[window->first].sums;
	return (struct limit_sums){
		.major = sums->major - first->major,
		.fault_ns = sums->fault_ns - first->fault_ns,
		.busy_ns = sums->busy_ns - first->busy_ns,
		/* An interval that begins before a fault can end after it. */
		.active_ns = item_elapsed(first->active_ns, sums->active_ns),
		.waiting_ns = item_elapsed(first->waiting_ns, sums->waiting_ns),
	};
}

/* Parses the limits for check, and those a flight recorder shares with check. */

enum key {
	KEY_MAX_MAJOR = 5000,
	KEY_MAX_FAULT_TIME,
	KEY_MAX_SHARE,
	KEY_MAX_FAULT,
	KEY_MAX_FAILED,
};

static const struct argp_option argp_options[] = {
	{ "max-major", KEY_MAX_MAJOR, "N", 0, "number of major faults", 0 },
	{ "max-fault-time", KEY_MAX_FAULT_TIME, "MS", 0, "total fault time, in milliseconds", 0 },
	{ "max-share", KEY_MAX_SHARE, "PERCENT", 0, "share of time with a fault in progress", 0 },
	{ 0 },
};

/* Only for check. A flight recorder has --longer-than. */
static const struct argp_option check_options[] = {
	{ "max-fault", KEY_MAX_FAULT, "MS", 0, "longest fault time, in milliseconds", 0 },
	{ "max-failed", KEY_MAX_FAILED, "N", 0, "number of faults that failed: a signal followed",
	  0 },
	{ 0 },
};

static error_t limit_parse_option(int key, char *text, struct argp_state *state)
{
	struct limits *limits = state->input;

	switch (key) {
	case KEY_MAX_MAJOR:
		limits->max_major = argument_number(state, "max-major", text, 0, UINT64_MAX - 1);
		return 0;
	case KEY_MAX_FAULT_TIME:
		limits->max_fault_ns = 1e6 * argument_decimal(state, "max-fault-time", text,
							      "a number of milliseconds", 0, 1e9);
		return 0;
	case KEY_MAX_SHARE:
		limits->max_share =
			argument_decimal(state, "max-share", text, "a number of per cent", 0, 100) /
			100;
		return 0;
	case KEY_MAX_FAULT:
		limits->max_longest_ns = 1e6 * argument_decimal(state, "max-fault", text,
								"a number of milliseconds", 0, 1e9);
		return 0;
	case KEY_MAX_FAILED:
		limits->max_failed = argument_number(state, "max-failed", text, 0, UINT64_MAX - 1);
		return 0;
	case ARGP_KEY_INIT:
		/* Only for check_limit_argp: limit_argp has no children. */
		if (state->child_inputs)
			state->child_inputs[0] = limits;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp limit_argp = { .options = argp_options, .parser = limit_parse_option };

static const struct argp_child check_children[] = {
	{ &limit_argp, 0, NULL, 0 },
	{ 0 },
};

const struct argp check_limit_argp = {
	.options = check_options,
	.parser = limit_parse_option,
	.children = check_children,
};
