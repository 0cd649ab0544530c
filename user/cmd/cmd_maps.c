// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive maps: reads the memory map of a process from /proc/PID/smaps and the module, and
 * prints it.
 */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "print/json/json_extras.h"
#include "print/text/table_measures.h"
#include "system/proc_maps.h"
#include "util/argument.h"
#include "util/json_value.h"
#include "util/message.h"

#define MAX_PID 4194304U

struct show_options {
	pid_t pid;
	bool json;
};

static const struct argp_option argp_options[] = {
	{ "pid", 'p', "PID", 0, "print this process's memory map", 1 },
	{ "format", 'f', "table|json", 0, "standard output format (default table)", 1 },
	{ 0 },
};

static error_t maps_parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const formats[] = { "table", "json", NULL };
	struct show_options *options = state->input;

	switch (key) {
	case 'p':
		options->pid = argument_number(state, "pid", text, 1, MAX_PID);
		return 0;
	case 'f':
		options->json = argument_word(state, "format", text, formats);
		return 0;
	case ARGP_KEY_ARG:
		usage(state, "unexpected argument '%s'; usage: pfdrive maps -p PID", text);
		return 0;
	case ARGP_KEY_SUCCESS:
		if (!options->pid)
			usage(state, "no process was given; usage: pfdrive maps -p PID");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int message_of_process(pid_t pid, int err)
{
	switch (err) {
	case -ESRCH:
		return message(STATUS_FAILED, "there is no process %d", pid);
	case -ENODATA:
		return message(STATUS_FAILED,
			       "process %d has no user memory: it is a kernel thread or has exited",
			       pid);
	case -EACCES:
	case -EPERM:
		return message(STATUS_FAILED,
			       "cannot read process %d's memory map: permission denied; run as the "
			       "owner or as root",
			       pid);
	default:
		return message(STATUS_FAILED, "cannot read process %d's memory map: %s", pid,
			       strerror(-err));
	}
}

static int maps_print(const struct map_list *maps, bool json)
{
	int err = json ? value_print(stdout, json_maps(maps)) : table_maps(stdout, maps);

	if (!err && (fflush(stdout) || ferror(stdout)))
		err = errno ? -errno : -EIO;
	return err ? message_of_stdout(err, "the memory map") : STATUS_OK;
}

static const struct argp maps_argp = {
	.options = argp_options,
	.parser = maps_parse_option,
	.args_doc = "-p PID",
	.doc = "Prints the memory map of a process, and describes each mapping, with resident and "
	       "swapped size, and whether the pfstat module has hooked it.\vAnother "
	       "user's process, and the column Hooked, require root.",
};

static int cmd_maps(int argc, char **argv)
{
	struct show_options options = { 0 };
	struct map_list maps;
	int err, status;

	argp_parse(&maps_argp, argc, argv, 0, NULL, &options);
	err = proc_smaps_read(&maps, options.pid);
	if (err)
		return message_of_process(options.pid, err);
	map_list_explain(&maps);
	status = maps_print(&maps, options.json);
	map_list_exit(&maps);
	return status;
}

const struct subcommand maps_command = {
	.name = "maps",
	.title = "pfdrive maps",
	.group = COMMAND_LOOK,
	.summary = "print and explain a process's memory map",
	.run = cmd_maps,
	.argp = &maps_argp,
};
