// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive doctor: reads facts about this machine and tries the fault sources. It prints which
 * sources pfdrive uses to measure, then a line for each thing pfstat needs or uses. It changes
 * nothing.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/events.h"
#include "collect/fault_source_module.h"
#include "doctor/doctor.h"
#include "doctor/doctor_facts.h"
#include "doctor/doctor_print.h"
#include "system/own_process.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/why.h"

static void doctor_try_module(struct doctor_attempt *attempt)
{
	const struct fault_source_options options = { .fault_around = true, .only_fd = -1 };
	struct fault_source *source;

	attempt->err = fault_source_module.open(&source, &options, &attempt->why);
	if (!attempt->err)
		fault_source_module.close(source);
}

/*
 * Fills facts->tries. Call this function after doctor_facts_read() for the running system. It opens
 * and closes the module's session, loads and unloads the eBPF programs, and opens and closes a perf
 * event.
 */
static void doctor_try_sources(struct doctor_facts *facts)
{
	struct doctor_tries *tries = &facts->tries;

	tries->made = true;
	tries->filtered = syscall_filter_is_set();
	tries->bpf_call = syscall_filter_try_bpf();
	perf_access_try(&tries->perf);
	doctor_try_module(&tries->module);
	/* Without BTF, libbpf has no types to load them with. */
	tries->bpf.err = facts->btf ? events_try(&tries->bpf.why) : -ENOENT;
}

struct doctor_options {
	const char *root, *path;
	bool report;
};

static const struct argp_option argp_options[] = {
	{ "report", 'r', NULL, 0, "print also the data for a bug report", 1 },
	{ "root", 'R', "DIR", 0, "read the system files below DIR instead of /", 1 },
	{ 0 },
};

static error_t doctor_parse_option(int key, char *text, struct argp_state *state)
{
	struct doctor_options *options = state->input;

	switch (key) {
	case 'r':
		options->report = true;
		return 0;
	case 'R':
		options->root = text;
		return 0;
	case ARGP_KEY_ARG:
		if (options->path)
			usage(state, "unexpected argument '%s'; give one PATH", text);
		options->path = text;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp doctor_argp = {
	.options = argp_options,
	.parser = doctor_parse_option,
	.args_doc = "[PATH]",
	.doc = "Tries with what pfdrive measures here as this user: with the module, eBPF or perf. "
	       "The first line is the answer. A line for each check explains it: ok, limited or "
	       "missing, the effect, and a command that changes it. With PATH, also checks its "
	       "file system.\vIt changes nothing. The exit status is 3 if something is missing.",
};

static int cmd_doctor(int argc, char **argv)
{
	struct doctor_options options = { .root = "" };
	struct doctor_facts *facts;
	unsigned int missing;
	int err;

	argp_parse(&doctor_argp, argc, argv, 0, NULL, &options);
	facts = malloc(sizeof(*facts));
	if (!facts)
		return message(STATUS_FAILED, "out of memory");
	err = doctor_facts_read(facts, options.root, options.path);
	if (err) {
		free(facts);
		return message(
			STATUS_FAILED,
			"cannot read %s/proc/sys/kernel/osrelease: %s; mount /proc there, or "
			"give another --root",
			options.root, strerror(-err));
	}
	facts->without_bpf = !bpf_is_built_in;
	/* Another machine's files cannot be tried. */
	if (!options.root[0])
		doctor_try_sources(facts);
	if (options.report)
		doctor_print_machine(stdout, facts);
	missing = doctor_print_lines(stdout, facts);
	free(facts);
	if (fflush(stdout) || ferror(stdout))
		return message_of_stdout(errno ? -errno : -EIO, "the checks");
	return missing ? STATUS_MISSING : STATUS_OK;
}

const struct subcommand doctor_command = {
	.name = "doctor",
	.title = "pfdrive doctor",
	.group = COMMAND_LOOK,
	.summary = "check whether pfstat works on this machine",
	.run = cmd_doctor,
	.argp = &doctor_argp,
};
