// SPDX-License-Identifier: GPL-2.0-only
/* What pfdrive and pfbench set up before they run a subcommand. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "privilege/invoker.h"
#include "util/message.h"

static int find_invoker(void)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	int err = invoker_init(uid, gid);

	if (err == -EINVAL)
		return message(STATUS_FAILED,
			       "SUDO_UID '%s' and SUDO_GID '%s' are not a user's numbers; unset "
			       "them, or use sudo",
			       uid, gid ?: "");
	return err ? message(STATUS_FAILED, "cannot find the user that called sudo: %s",
			     strerror(-err)) :
		     STATUS_OK;
}

int program_start(void)
{
	/* UTF-8 for people (µs), even if LANG is not set. Numbers stay as programs read them. */
	setlocale(LC_CTYPE, "C.UTF-8");
	argp_err_exit_status = STATUS_USAGE;
	return find_invoker();
}
