// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive check: watches a program as record does, and compares the program's faults with limits.
 * It prints one line for each limit. The exit status is 0 if all are kept.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits/limits.h"
#include "report/view.h"
#include "run/watch_options.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/signals.h"

struct check {
	struct watch_options watch_options;
	struct limits limits;
	struct watch *watch;
	struct result result;
};

static error_t check_parse_option(int key, char *text, struct argp_state *state)
{
	struct check *check = state->input;

	(void)text;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &check->watch_options;
		state->child_inputs[1] = &check->limits;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (!limits_any(&check->limits))
			usage(state, "no limit was given; use --max-major, --max-fault-time, "
				     "--max-share, --max-fault or --max-failed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child check_children[] = {
	{ &watch_argp, 0, NULL, 0 },
	{ &check_limit_argp, 0, "Limits, at least one:", 3 },
	{ 0 },
};

static const struct argp check_argp = {
	.parser = check_parse_option,
	.children = check_children,
	.args_doc = "LIMITS [--] COMMAND [ARGUMENT...]\n-p PID\n--cgroup PATH\n--file PATH",
	.doc = "Watches a program, and checks that its page faults stay within limits.\v"
	       "Prints a line for each limit. Exit status: 0, all are kept; 3, one is exceeded, or "
	       "not known because something was lost; COMMAND's if it failed. An "
	       "ordinary user can check their own processes; the pfstat module and eBPF "
	       "require root.",
};

static int check_print(const struct check *check)
{
	const struct report *report = &check->result.report;
	unsigned int failed;

	if (view_source_note(report))
		puts(view_source_note(report));
	failed = limits_check(stdout, &check->limits, report);
	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		return message_of_stdout(errno ? -errno : -EIO, "the limits");
	return failed ? STATUS_CHANGE : STATUS_OK;
}

static int check_run(struct check *check)
{
	int status, ended;

	status = watch_open(&check->watch, &check->watch_options, &check->result);
	if (!status)
		status = watch_go(check->watch);
	if (status)
		return status;
	watch_wait(check->watch);
	watch_stop(check->watch);
	status = watch_finish(check->watch);
	if (!status)
		status = check_print(check);
	ended = watch_status(check->watch);
	return ended ? ended : status;
}

static int cmd_check(int argc, char **argv)
{
	struct check check = { 0 };
	int status;

	watch_options_init(&check.watch_options);
	limits_init(&check.limits);
	argp_parse(&check_argp, argc, argv, ARGP_IN_ORDER, NULL, &check);
	signals_init();
	result_init(&check.result);
	strcpy(check.result.report.environment.kind, "record");
	status = check_run(&check);
	watch_close(check.watch);
	result_free(&check.result);
	return status;
}

const struct subcommand check_command = {
	.name = "check",
	.title = "pfdrive check",
	.group = COMMAND_MEASURE,
	.summary = "check that a program's faults stay within limits",
	.run = cmd_check,
	.argp = &check_argp,
};
