// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive: a subcommand by its name; anything else is a FILE to drive. */
#include <errno.h>
#include <locale.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd_bench.h"
#include "cmd/cmd_compare.h"
#include "cmd/cmd_drive.h"
#include "cmd/cmd_record.h"
#include "cmd/cmd_replay.h"
#include "cmd/cmd_report.h"
#include "cmd/cmd_show_maps.h"
#include "cmd/cmd_top.h"
#include "cmd/cmd_touch.h"
#include "cmd/cmd_via.h"
#include "collect/bpf_pins.h"
#include "compete/competitor.h"
#include "privilege/invoker.h"
#include "system/memory_cgroup.h"
#include "util/message.h"

static const struct {
	const char *name;
	/* What the option parser's usage and sentences begin with. */
	char *called;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "bare-loop", "pfdrive bare-loop", cmd_bare_loop },
	{ "bench", "pfdrive bench", cmd_bench },
	{ "compare", "pfdrive compare", cmd_compare },
	{ "competitor", "pfdrive competitor", cmd_competitor },
	{ "drive", "pfdrive drive", cmd_drive },
	{ "keeper", "pfdrive keeper", cmd_keeper },
	{ "loop", "pfdrive loop", cmd_loop },
	{ "record", "pfdrive record", cmd_record },
	{ "replay", "pfdrive replay", cmd_replay },
	{ "report", "pfdrive report", cmd_report },
	{ "show-maps", "pfdrive show-maps", cmd_show_maps },
	{ "top", "pfdrive top", cmd_top },
	{ "touch", "pfdrive touch", cmd_touch },
	{ "unpin", "pfdrive unpin", cmd_unpin },
	{ "via", "pfdrive via", cmd_via },
};

static int find_invoker(void)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	int err = invoker_init(uid, gid);

	if (err == -EINVAL)
		return complain(STATUS_FAILED, "SUDO_UID '%s' and SUDO_GID '%s' are not a user's "
				"numbers: unset them, or use sudo", uid, gid ?: "");
	return err ? complain(STATUS_FAILED, "cannot tell who called sudo: %s", strerror(-err)) :
		     STATUS_OK;
}

int main(int argc, char **argv)
{
	size_t i;

	/* µ for people, also where LANG says nothing; numbers stay as programs read them. */
	setlocale(LC_CTYPE, "C.UTF-8");
	if (find_invoker())
		return STATUS_FAILED;
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		argv[1] = commands[i].called;
		return commands[i].run(argc - 1, argv + 1);
	}
	argv[0] = program_invocation_short_name;
	return cmd_drive(argc, argv);
}
