// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the answer from the facts. Attempts and their results are stated as facts. What only root
 * can try is "perhaps", unless a known fact speaks against it.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "doctor/doctor_answer.h"
#include "doctor/doctor_sources.h"
#include "privilege/privilege.h"

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

static void answer_add_perf(struct answer *answer, const struct doctor_facts *facts)
{
	const char *obstacle = bpf_reason(facts);

	answer_add(answer, " with perf: whole faults%s, no disk requests",
		   doctor_source_perf_access(facts) == PERF_ACCESS_USER ?
			   " except those in system calls" :
			   "");
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
