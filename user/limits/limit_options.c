// SPDX-License-Identifier: GPL-2.0-only
/* Parses the limits for check, and those a flight recorder shares with check. */
#include "limits/limit_options.h"
#include "limits/limits.h"
#include "util/argument.h"

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
