// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive doctor: reads the machine's facts, judges them, and prints what pfstat can measure here.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/events.h"
#include "collect/fault_source_module.h"
#include "doctor/doctor.h"
#include "doctor/source_checks.h"
#include "model/environment.h"
#include "privilege/privilege.h"
#include "system/machine.h"
#include "system/own_process.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/version.h"
#include "util/why.h"

/*
 * Writes the answer from the facts. Attempts and their results are stated as facts. What only root
 * can try is "perhaps", unless a known fact speaks against it.
 */

#define CALLS "each file operation call"
#define PARTS "the parts of each fault, disk requests"

struct answer {
	char *text;
	size_t size;
};

static __attribute__((format(printf, 2, 3))) void answer_add(struct answer *answer,
							     const char *format, ...)
{
	const size_t used = strlen(answer->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(answer->text + used, answer->size - used, format, arguments);
	va_end(arguments);
}

/* Why this process cannot use eBPF, or NULL if only the user is known to be in the way. */
static const char *bpf_reason(const struct doctor_facts *facts)
{
	const char *obstacle = doctor_source_bpf_obstacle(facts);

	if (obstacle || !facts->root)
		return obstacle;
	if (doctor_lacks(facts, CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON)))
		return "this process lacks capabilities";
	return facts->bpffs ? NULL : "no bpf file system is mounted";
}

static bool can_gain(const struct doctor_facts *facts)
{
	return !facts->root && !facts->user_namespace;
}

/* Root has all capabilities, except perhaps in a container. */
static const char *surely(const struct doctor_facts *facts)
{
	return facts->container ? " perhaps" : ":";
}

/* What root may use beyond perf, or NULL if nothing. */
static const char *hope_of(const struct doctor_facts *facts, const char *obstacle)
{
	if (facts->loaded && !facts->pid_namespace && !doctor_source_module_works(facts))
		return obstacle ? "the module (with --no-bpf)" : "the module and eBPF";
	return obstacle ? NULL : "eBPF";
}

/* @obstacle: what prevents eBPF, or NULL */
static void answer_add_perf_gain(struct answer *answer, const struct doctor_facts *facts,
				 const char *obstacle)
{
	const bool part = doctor_source_perf_access(facts) == PERF_ACCESS_USER;
	const char *hope = hope_of(facts, obstacle);

	if (part)
		answer_add(answer, "; with sudo%s these too", surely(facts));
	if (hope)
		answer_add(answer, "%s perhaps %s: %s", part ? ", and" : "; with sudo", hope,
			   obstacle ? CALLS : PARTS);
	if (obstacle)
		answer_add(answer, "; no eBPF%s: %s", part || hope ? "" : " with sudo either",
			   obstacle);
}

/* perf's kernel stacks need the names in /proc/kallsyms. */
static bool has_sleep_reasons(const struct doctor_facts *facts)
{
	return doctor_source_perf_access(facts) == PERF_ACCESS_ALL && facts->kallsyms &&
	       (facts->kptr_restrict == 0 ||
		(facts->kptr_restrict == 1 && !doctor_lacks(facts, CAPABILITY(CAP_SYSLOG))));
}

/* Tracepoints of all threads. */
static bool has_reclaim(const struct doctor_facts *facts)
{
	return doctor_source_perf_access(facts) == PERF_ACCESS_ALL && facts->tracefs &&
	       !doctor_lacks(facts, CAPABILITY(CAP_PERFMON));
}

static void answer_add_perf(struct answer *answer, const struct doctor_facts *facts)
{
	const char *obstacle = bpf_reason(facts);

	answer_add(answer, " with perf: whole faults%s%s, no disk requests%s",
		   has_reclaim(facts) ? " and reclaim" : "",
		   doctor_source_perf_access(facts) == PERF_ACCESS_USER ?
			   " except those in system calls" :
			   "",
		   has_sleep_reasons(facts) ? "" : ", no reasons of sleeps");
	if (doctor_source_module_works(facts))
		answer_add(answer, "; with --no-bpf the module: " CALLS);
	if (can_gain(facts))
		answer_add_perf_gain(answer, facts, obstacle);
	else if (obstacle)
		answer_add(answer, "; no eBPF: %s", obstacle);
}

static void answer_add_module(struct answer *answer, const struct doctor_facts *facts)
{
	const char *obstacle = bpf_reason(facts);

	answer_add(answer, " with the module: " CALLS ", no parts, no disk requests");
	if (obstacle)
		answer_add(answer, "; no eBPF: %s", obstacle);
	else if (can_gain(facts))
		answer_add(answer, "; with sudo perhaps eBPF too: " PARTS);
}

static void answer_add_perf_reason(struct answer *answer, const struct doctor_facts *facts)
{
	struct why reason = { "" };

	if (facts->tries.made)
		perf_access_reason(&facts->tries.perf, &reason);
	answer_add(answer, "%s", reason.text[0] ? reason.text : "this user may not use perf");
}

static bool is_perf_for_root(const struct doctor_facts *facts)
{
	return facts->perf_event_paranoid > 2 && facts->perf_event_paranoid != INT_MAX &&
	       (!facts->tries.made || facts->tries.perf.err == -EACCES);
}

static void answer_add_way_out(struct answer *answer, const struct doctor_facts *facts)
{
	if (facts->container)
		answer_add(answer, "; start the container with the options below");
	else if (facts->tries.filtered)
		answer_add(answer, "; run pfdrive outside the service or sandbox with this filter");
	else
		answer_add(answer, "; use another kernel, or the lab (tools/lab shell)");
}

/* Perf refuses users whom the module and eBPF refuse anyway, so its reason is the user's. */
static void answer_add_nothing_as_user(struct answer *answer, const struct doctor_facts *facts)
{
	const char *obstacle = bpf_reason(facts), *hope = hope_of(facts, obstacle);

	answer_add(answer, " as this user: ");
	answer_add_perf_reason(answer, facts);
	if (is_perf_for_root(facts))
		answer_add(answer, "; with sudo%s perf%s%s", surely(facts),
			   hope ? ", perhaps also " : "", hope ?: "");
	else if (hope)
		answer_add(answer, "; with sudo perhaps %s", hope);
	if (obstacle)
		answer_add(answer, "; no eBPF with sudo either: %s", obstacle);
	if (!hope && !is_perf_for_root(facts))
		answer_add_way_out(answer, facts);
}

static void answer_add_nothing(struct answer *answer, const struct doctor_facts *facts)
{
	const char *reason = bpf_reason(facts);

	answer_add(answer, ": %s; eBPF: %s; perf: ",
		   facts->loaded ? "this process cannot use the module" :
				   "the module is not loaded",
		   reason ?: "only root loads the programs");
	answer_add_perf_reason(answer, facts);
	answer_add_way_out(answer, facts);
}

void doctor_answer(const struct doctor_facts *facts, char *text, size_t size)
{
	const enum doctor_source source = doctor_source_of(facts);
	struct answer answer = { text, size };

	snprintf(text, size, "%spfdrive%s%s",
		 facts->tries.made ? "" : "nothing was tried; by the files, ",
		 source == DOCTOR_SOURCE_MODULE ? " --no-bpf" : "",
		 source == DOCTOR_SOURCE_NONE ? " cannot measure here" : " measures here");
	switch (source) {
	case DOCTOR_SOURCE_MODULE_AND_BPF:
		answer_add(&answer, " with the module and eBPF: " CALLS ", " PARTS);
		break;
	case DOCTOR_SOURCE_MODULE:
		answer_add_module(&answer, facts);
		break;
	case DOCTOR_SOURCE_BPF:
		answer_add(&answer, " with eBPF: " CALLS ", " PARTS);
		break;
	case DOCTOR_SOURCE_PERF:
		answer_add_perf(&answer, facts);
		break;
	case DOCTOR_SOURCE_NONE:
		if (can_gain(facts))
			answer_add_nothing_as_user(&answer, facts);
		else
			answer_add_nothing(&answer, facts);
		break;
	}
	/* Mappings come from perf, whatever the source: see perf_maps.c. */
	if (source != DOCTOR_SOURCE_NONE && !doctor_source_perf_access(facts)) {
		answer_add(&answer, "; to watch a process, perf is needed too: ");
		answer_add_perf_reason(&answer, facts);
	}
	if (facts->tries.module.err == -EBUSY)
		answer_add(&answer, "; another measurement is running now");
}

/*
 * Prints the facts about a machine and the check lines. A bug report has versions, kernel and
 * hardware, but no host name and no user name.
 */

unsigned int doctor_print_lines(FILE *out, const struct doctor_facts *facts)
{
	static const char *const words[NR_DOCTOR_STATES] = { "ok", "limited", "missing" };
	unsigned int nr[NR_DOCTOR_STATES] = { 0 };
	char answer[DOCTOR_ANSWER_SIZE];
	struct doctor_line line;
	size_t i;

	doctor_answer(facts, answer, sizeof(answer));
	fprintf(out, "%s\n", answer);
	for (i = 0; i < nr_doctor_checks; i++) {
		doctor_check_run(&doctor_checks[i], facts, &line);
		if (!line.text[0])
			continue;
		nr[line.state]++;
		fprintf(out, "%-8s %-13s %s%s%s\n", words[line.state], doctor_checks[i].name,
			line.text, line.fix[0] ? "; run: " : "", line.fix);
	}
	fprintf(out, "%u ok, %u limited, %u missing\n", nr[DOCTOR_OK], nr[DOCTOR_LIMITED],
		nr[DOCTOR_MISSING]);
	return nr[DOCTOR_MISSING];
}

static void doctor_print_fact(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%-14s %s\n", name, value[0] ? value : "n/a");
}

static void doctor_print_options(FILE *out, const struct doctor_facts *facts)
{
	static const char *const words[] = { "n/a", "n", "y" };
	size_t i;

	for (i = 0; i < NR_KERNEL_OPTIONS; i++)
		fprintf(out, "%s=%s\n", kernel_option_names[i], words[facts->options[i]]);
}

void doctor_print_machine(FILE *out, const struct doctor_facts *facts)
{
	struct environment *environment = calloc(1, sizeof(*environment));

	doctor_print_fact(out, "pfdrive", PFDRIVE_VERSION);
	doctor_print_fact(out, "module", facts->loaded ? facts->loaded_version : "not loaded");
	doctor_print_fact(out, "distribution", facts->distribution);
	doctor_print_fact(out, "kernel", facts->release);
	doctor_print_fact(out, "architecture", facts->architecture);
	if (environment) {
		machine_state_read(environment);
		doctor_print_fact(out, "processor", environment->machine);
		fprintf(out, "%-14s %u\n", "CPUs", environment->cpus);
		fprintf(out, "%-14s %llu MiB\n", "memory",
			(unsigned long long)environment->memory_bytes >> 20);
		doctor_print_fact(out, "virtual", environment->virtualization);
	}
	free(environment);
	doctor_print_fact(out, "clock source", facts->clocksource);
	doctor_print_options(out, facts);
	putc('\n', out);
}

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
	bool report, sources;
};

static const struct argp_option argp_options[] = {
	{ "report", 'r', NULL, 0, "print also the data for a bug report", 1 },
	{ "sources", 's', NULL, 0, "print what each source of faults shows, and no checks", 1 },
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
	case 's':
		options->sources = true;
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

static int doctor_end(unsigned int missing)
{
	if (fflush(stdout) || ferror(stdout))
		return message_of_stdout(errno ? -errno : -EIO, "the checks");
	return missing ? STATUS_MISSING : STATUS_OK;
}

static int cmd_doctor(int argc, char **argv)
{
	struct doctor_options options = { .root = "" };
	struct doctor_facts *facts;
	unsigned int missing;
	int err;

	argp_parse(&doctor_argp, argc, argv, 0, NULL, &options);
	if (options.sources && doctor_print_sources(stdout))
		return message(STATUS_FAILED, "out of memory");
	if (options.sources)
		return doctor_end(0);
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
	return doctor_end(missing);
}

const struct subcommand doctor_command = {
	.name = "doctor",
	.title = "pfdrive doctor",
	.group = COMMAND_LOOK,
	.summary = "check whether pfstat works on this machine",
	.run = cmd_doctor,
	.argp = &doctor_argp,
};
