// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive: sets up what all subcommands share, and runs the one that the command line names. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "privilege/invoker.h"
#include "util/message.h"

static int find_invoker(void)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	int err = invoker_init(uid, gid);

	if (err == -EINVAL)
		return message(
			STATUS_FAILED,
			"SUDO_UID '%s' and SUDO_GID '%s' are not the numbers of a user; unset "
			"them, or use sudo",
			uid, gid ?: "");
	return err ? message(STATUS_FAILED, "cannot find the user that called sudo: %s",
			     strerror(-err)) :
		     STATUS_OK;
}

/* The doctor reports it as one line of many. */
static int main_check_page_size(int argc, char **argv)
{
	const long bytes = sysconf(_SC_PAGESIZE);

	if (bytes == 4096 || (argc > 1 && !strcmp(argv[1], "doctor")))
		return STATUS_OK;
	return message(STATUS_FAILED,
		       "cannot measure pages of %ld bytes: pfdrive works with pages of 4096 bytes "
		       "only; use a kernel with these",
		       bytes);
}

int main(int argc, char **argv)
{
	/* UTF-8 for people (µs), also if LANG is not set; numbers stay as programs read them. */
	setlocale(LC_CTYPE, "C.UTF-8");
	if (main_check_page_size(argc, argv) || find_invoker())
		return STATUS_FAILED;
	return command_line(argc, argv);
}
