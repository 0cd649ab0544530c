// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses --user. A user that pfdrive cannot become is rejected here, before anything has
 * started.
 */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "privilege/invoker.h"
#include "privilege/privilege.h"
#include "util/argument.h"

enum key {
	KEY_USER = 4000,
};

static const struct argp_option argp_options[] = {
	{ "user", KEY_USER, "NAME", 0,
	  "run programs and write files as this user (default: sudo's user)", 8 },
	{ 0 },
};

static void choose(const struct argp_state *state, const char *user)
{
	int err = invoker_choose(user);

	if (err == -ENOENT)
		usage(state, "--user: there is no user '%s'", user);
	else if (err == -EPERM)
		usage(state,
		      "--user: only root can work for another user, '%s'; run pfdrive with sudo, "
		      "or leave --user out",
		      user);
	else if (err)
		argp_failure(state, STATUS_FAILED, 0, "--user: %s", strerror(-err));
}

/* Fails here, before anything has started. */
static void check(const struct argp_state *state)
{
	const uint64_t needed = CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID);
	char names[CAPABILITY_NAMES_SIZE];

	if (invoker_is_other() && capabilities_lack(needed, names, sizeof(names)))
		argp_failure(
			state, STATUS_FAILED, 0,
			"cannot work for user %s without %s; run pfdrive with it, or use --user "
			"root",
			invoker_name(), names);
}

static error_t invoker_parse_option(int key, char *text, struct argp_state *state)
{
	switch (key) {
	case KEY_USER:
		choose(state, text);
		return 0;
	case ARGP_KEY_SUCCESS:
		check(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp invoker_argp = { .options = argp_options, .parser = invoker_parse_option };
