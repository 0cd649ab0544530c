// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive top: watches a program as record does, and prints the current cost of the program's
 * faults at intervals. The analysis and the views run in the collector's thread.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "live/live.h"
#include "report/view.h"
#include "run/watch_options.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/time_ns.h"

#define BY_FILE	  (1U << GROUP_BY_FILE)
#define BY_THREAD (1U << GROUP_BY_THREAD)

struct top {
	struct watch_options watch_options;
	unsigned int interval_ms;
	uint64_t views; /* 0: until the end */
	unsigned int by;
	struct watch *watch;
	struct result result;
	struct live *live;
	uint64_t shown;
	int err;
};

enum key {
	KEY_INTERVAL = 'i',
	KEY_COUNT = 'n',
	KEY_BY = 3000,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Output:", 3 },
	{ "interval", KEY_INTERVAL, "S", 0, "seconds between two screens (default 1)", 3 },
	{ "count", KEY_COUNT, "N", 0, "exit after this many screens", 3 },
	{ "by", KEY_BY, "file|thread", 0, "print only this table (default both)", 3 },
	{ 0 },
};

static error_t top_parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const tables[] = { "file", "thread", NULL };
	struct top *top = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->watch_options;
		return 0;
	case KEY_INTERVAL:
		top->interval_ms = 1000 * argument_decimal(state, "interval", text,
							   "a number of seconds", 0.1, 3600);
		return 0;
	case KEY_COUNT:
		top->views = argument_number(state, "count", text, 1, UINT64_MAX);
		return 0;
	case KEY_BY:
		top->by = argument_word(state, "by", text, tables) ? BY_THREAD : BY_FILE;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child top_children[] = { { &watch_argp, 0, NULL, 0 }, { 0 } };

static const struct argp top_argp = {
	.options = argp_options,
	.parser = top_parse_option,
	.children = top_children,
	.args_doc = "[--] COMMAND [ARGUMENT...]\n-p PID\n--cgroup PATH\n--file PATH",
	.doc = "Shows a program's current page fault cost.\vCtrl-C stops pfdrive; "
	       "processes that pfdrive did not start continue. A COMMAND also receives Ctrl-C: "
	       "pfdrive stops when it exits, or at a second Ctrl-C. An ordinary user can watch "
	       "their own processes; the pfstat module and eBPF, which show more about a "
	       "fault, require root.",
};

static void top_parse(struct top *top, int argc, char **argv)
{
	watch_options_init(&top->watch_options);
	argp_parse(&top_argp, argc, argv, ARGP_IN_ORDER, NULL, top);
}

static int top_print(const struct top *top)
{
	const bool terminal = isatty(STDOUT_FILENO);
	struct winsize size = { 0 };

	if (terminal)
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	return live_print(top->live, stdout, terminal, size.ws_row, size.ws_col);
}

/* Runs in the thread of the collector, which feeds the analysis: it does not change meanwhile. */
static void top_show(void *context)
{
	struct top *top = context;
	struct live_counters counters;

	if (top->err || (top->views && top->shown == top->views))
		return;
	watch_lost(top->watch, &counters.lost_records, &counters.lost_events);
	counters.hooks = watch_hooks(top->watch);
	counters.user_only = top->result.report.bpf.user_only;
	counters.source_note = view_source_note(&top->result.report);
	top->err = live_update(top->live, top->result.analysis, &counters, clock_monotonic_ns());
	if (!top->err)
		top->err =
			live_judge(top->live, top->result.analysis, top->result.report.bpf.known);
	if (!top->err)
		top->err = top_print(top);
	top->shown++;
	if (top->err || top->shown == top->views)
		watch_end(top->watch);
}

static int top_open_watch(struct top *top)
{
	struct instruments_options *instruments = &top->watch_options.instruments;

	top->live = live_new(top->by, clock_monotonic_ns());
	if (!top->live)
		return message(STATUS_FAILED, "out of memory");
	instruments->tick_ms = top->interval_ms;
	instruments->tick_drains = true;
	instruments->tick = top_show;
	instruments->tick_context = top;
	/* The verdict names files, mappings and threads. Code has no names before the end. */
	top->watch_options.groups = REPORT_PLACES & ~(1U << GROUP_BY_CODE);
	return watch_open(&top->watch, &top->watch_options, &top->result);
}

static int top_run(struct top *top)
{
	int status;

	status = top_open_watch(top);
	if (!status)
		status = watch_go(top->watch);
	if (!status) {
		watch_wait(top->watch);
		watch_stop(top->watch);
		if (top->result.damage[0])
			status = message(STATUS_FAILED, "%s", top->result.damage);
	}
	if (!status && top->err)
		status = message_of_stdout(top->err, "the screen");
	return status ? status : watch_status(top->watch);
}

static int cmd_top(int argc, char **argv)
{
	struct top top = { .interval_ms = 1000, .by = BY_FILE | BY_THREAD };
	int status;

	top_parse(&top, argc, argv);
	signals_init();
	result_init(&top.result);
	status = top_run(&top);
	watch_close(top.watch);
	live_free(top.live);
	result_free(&top.result);
	return status;
}

const struct subcommand top_command = {
	.name = "top",
	.title = "pfdrive top",
	.group = COMMAND_MEASURE,
	.summary = "show a program's current fault cost",
	.run = cmd_top,
	.argp = &top_argp,
};
