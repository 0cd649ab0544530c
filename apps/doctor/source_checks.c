// SPDX-License-Identifier: GPL-2.0-only
/* What each fault source lacks on a machine, and the checks for it. Pure: judges facts. */
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "doctor/source_checks.h"
#include "privilege/privilege.h"
#include "util/kernel_release.h"
#include "util/version.h"

/*
 * The tries decide, as far as they were made. For a machine of which only files are known (--root),
 * a source works if no file speaks against it.
 */

/* From this release on, bpf(2) refuses a user by command: see bpf_call.h. */
#define BPF_CALL_KERNEL "5.19"

uint64_t doctor_lacks(const struct doctor_facts *facts, uint64_t wanted)
{
	uint64_t have = facts->capabilities;

	if (have & CAPABILITY(CAP_SYS_ADMIN))
		have |= CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON);
	return wanted & ~have;
}

static bool is_older_than(const struct doctor_facts *facts, const char *release)
{
	return kernel_release_number(facts->release) < kernel_release_number(release);
}

bool doctor_is_too_old_for_module(const struct doctor_facts *facts)
{
	return is_older_than(facts, OLDEST_KERNEL);
}

/* In a PID namespace mappings cannot be matched: see instruments.c. */
bool doctor_source_module_works(const struct doctor_facts *facts)
{
	const struct doctor_tries *tries = &facts->tries;

	if (!facts->loaded || facts->pid_namespace)
		return false;
	if (tries->made)
		return !tries->module.err || tries->module.err == -EBUSY;
	return !doctor_lacks(facts, CAPABILITY(CAP_PERFMON)) && !facts->user_namespace;
}

static bool doctor_source_bpf_works(const struct doctor_facts *facts)
{
	if (facts->without_bpf || !facts->bpffs || facts->pid_namespace)
		return false;
	if (facts->tries.made)
		return !facts->tries.bpf.err;
	return !doctor_source_bpf_obstacle(facts) &&
	       !doctor_lacks(facts, CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON));
}

enum perf_access doctor_source_perf_access(const struct doctor_facts *facts)
{
	const int paranoid = facts->perf_event_paranoid;

	if (facts->tries.made)
		return facts->tries.perf.access;
	if (paranoid == INT_MAX)
		return PERF_ACCESS_NONE;
	if (paranoid <= 1 || !doctor_lacks(facts, CAPABILITY(CAP_SYS_ADMIN)))
		return PERF_ACCESS_ALL;
	if (paranoid > 2)
		return PERF_ACCESS_NONE;
	return doctor_lacks(facts, CAPABILITY(CAP_PERFMON)) ? PERF_ACCESS_USER : PERF_ACCESS_ALL;
}

enum doctor_source doctor_source_of(const struct doctor_facts *facts)
{
	const bool module = doctor_source_module_works(facts);

	if (doctor_source_bpf_works(facts))
		return module ? DOCTOR_SOURCE_MODULE_AND_BPF : DOCTOR_SOURCE_BPF;
	if (doctor_source_perf_access(facts))
		return DOCTOR_SOURCE_PERF;
	return module ? DOCTOR_SOURCE_MODULE : DOCTOR_SOURCE_NONE;
}

static bool is_about_privileges(int err)
{
	return err == -EPERM || err == -EACCES;
}

/* An error about privileges says nothing about root. */
static const char *doctor_bpf_refusal(const struct doctor_facts *facts)
{
	const bool entitled = !doctor_lacks(facts, CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON));
	const struct doctor_tries *tries = &facts->tries;

	if (tries->bpf_call && tries->filtered &&
	    (entitled || !is_older_than(facts, BPF_CALL_KERNEL)))
		return "a system call filter (seccomp) refuses bpf(2)";
	if (tries->made ? tries->bpf_call == -ENOSYS :
			  facts->options[CONFIG_BPF_SYSCALL] == OPTION_OFF)
		return "this kernel has no bpf(2) (CONFIG_BPF_SYSCALL)";
	if (tries->bpf.err == -EOPNOTSUPP)
		return "this kernel has no ftrace direct calls, which the programs need";
	if (tries->bpf.err == -EPERM && entitled)
		return "the kernel refuses to load the programs";
	if (tries->bpf.err && (entitled || !is_about_privileges(tries->bpf.err)))
		return "the programs cannot be loaded";
	return NULL;
}

const char *doctor_source_bpf_obstacle(const struct doctor_facts *facts)
{
	if (facts->without_bpf)
		return "this pfdrive was built without it (BPF=no)";
	if (facts->user_namespace)
		return "no capability counts in this user namespace";
	if (facts->pid_namespace)
		return "this container has separate process ids";
	if (!facts->btf)
		return "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)";
	if (is_older_than(facts, OLDEST_BPF_KERNEL))
		return "this kernel is older than " OLDEST_BPF_KERNEL;
	if (!strcmp(facts->lockdown, "confidentiality"))
		return "the kernel is locked down for confidentiality";
	return doctor_bpf_refusal(facts);
}

/* Fills a check's line, for all files with checks. */

void doctor_line_set(struct doctor_line *line, enum doctor_state value, const char *format, ...)
{
	va_list arguments;

	line->state = value;
	va_start(arguments, format);
	vsnprintf(line->text, sizeof(line->text), format, arguments);
	va_end(arguments);
}

void doctor_line_fix_as_root(struct doctor_line *line, const struct doctor_facts *facts,
			     const char *format, ...)
{
	const size_t size = sizeof(line->fix);
	int used = snprintf(line->fix, size, "%s", facts->root ? "" : "sudo ");
	va_list arguments;

	va_start(arguments, format);
	used += vsnprintf(line->fix + used, size - used, format, arguments);
	va_end(arguments);
	if (facts->container && (size_t)used < size)
		snprintf(line->fix + used, size - used, " (on the host)");
}

void doctor_line_fix_container(struct doctor_line *line, const char *option)
{
	snprintf(line->fix, sizeof(line->fix), "the container with %s", option);
}

enum doctor_state doctor_line_without_source(const struct doctor_facts *facts)
{
	return doctor_source_of(facts) == DOCTOR_SOURCE_NONE ? DOCTOR_MISSING : DOCTOR_LIMITED;
}

const char *doctor_line_instead(const struct doctor_facts *facts)
{
	if (doctor_source_bpf_works(facts))
		return "; pfdrive uses eBPF instead";
	return doctor_source_perf_access(facts) ? "; pfdrive uses perf instead" : "";
}

/* Judges the facts about the module, eBPF and perf, each by a pure function that fills one line. */

static void check_loaded_module(const struct doctor_facts *facts, struct doctor_line *line)
{
	const struct doctor_attempt *attempt = &facts->tries.module;

	if (!strcmp(facts->loaded_version, PFDRIVE_VERSION)) {
		if (attempt->err)
			doctor_line_set(line, doctor_line_without_source(facts),
					"loaded, version %s, but %s", facts->loaded_version,
					attempt->why.text);
		else
			doctor_line_set(line, DOCTOR_OK, "loaded, version %s%s",
					facts->loaded_version,
					facts->tries.made ? "; tried: this user can open it" : "");
		return;
	}
	doctor_line_set(line, DOCTOR_LIMITED,
			"version %s is loaded, but pfdrive is %s; load the same one",
			facts->loaded_version[0] ? facts->loaded_version : "(unknown)",
			PFDRIVE_VERSION);
	doctor_line_fix_as_root(line, facts, "rmmod pfstat");
}

void source_check_module(const struct doctor_facts *facts, struct doctor_line *line)
{
	const bool built = facts->built[0] && !strcmp(facts->built_for, facts->release);

	if (facts->loaded) {
		check_loaded_module(facts, line);
	} else if (facts->options[CONFIG_PREEMPT_RT] == OPTION_ON) {
		doctor_line_set(line, doctor_line_without_source(facts),
				"cannot be built for PREEMPT_RT%s", doctor_line_instead(facts));
	} else if (doctor_is_too_old_for_module(facts)) {
		doctor_line_set(line, doctor_line_without_source(facts), "not for this kernel%s",
				doctor_line_instead(facts));
	} else if (built) {
		doctor_line_set(line, doctor_line_without_source(facts),
				"built for this kernel%s, but not loaded%s",
				facts->built_signed ? " and signed" : "",
				doctor_line_instead(facts));
		doctor_line_fix_as_root(line, facts, "insmod %s", facts->built);
	} else if (facts->installed[0]) {
		doctor_line_set(line, doctor_line_without_source(facts),
				"installed (%s), but not loaded%s", facts->installed,
				doctor_line_instead(facts));
		doctor_line_fix_as_root(line, facts, "modprobe pfstat");
	} else if (facts->built[0]) {
		doctor_line_set(
			line, doctor_line_without_source(facts),
			"%s is for Linux %s, which is not running; build it again in the source "
			"tree%s",
			facts->built, facts->built_for[0] ? facts->built_for : "(unknown)",
			doctor_line_instead(facts));
		snprintf(line->fix, sizeof(line->fix), "make module");
	} else {
		doctor_line_set(
			line, doctor_line_without_source(facts),
			"neither loaded, nor installed for this kernel, nor built beside pfdrive; "
			"build it in the source tree%s",
			doctor_line_instead(facts));
		snprintf(line->fix, sizeof(line->fix),
			 "make && sudo make install && sudo modprobe "
			 "pfstat");
	}
}

/* Other tools may take the function, so the module may still not get it. */
void source_check_all_faults(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (doctor_source_of(facts) == DOCTOR_SOURCE_PERF) {
		doctor_line_set(line, DOCTOR_OK,
				"perf samples them, except those in get_user_pages()");
	} else if (doctor_is_too_old_for_module(facts) && !facts->loaded) {
		doctor_line_set(line, DOCTOR_OK, "eBPF counts them");
	} else if (strcmp(facts->architecture, "x86_64")) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"eBPF counts them: the module can take handle_mm_fault() on x86-64 only");
	} else if (!strcmp(facts->hold_faults, "N")) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"eBPF counts them, which costs more: the module's parameter hold_faults is "
			"off");
		doctor_line_fix_as_root(
			line, facts, "sh -c 'echo Y >/sys/module/pfstat/parameters/hold_faults'");
	} else if (facts->loaded && !facts->hold_faults[0]) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"eBPF counts them, which costs more: the loaded module is older than "
			"pfdrive");
	} else {
		doctor_line_set(
			line, DOCTOR_OK,
			"a loaded module counts them, unless another tool has handle_mm_fault()");
	}
}

void source_check_bpf(const struct doctor_facts *facts, struct doctor_line *line)
{
	const struct doctor_tries *tries = &facts->tries;
	const char *obstacle = doctor_source_bpf_obstacle(facts);

	if (facts->without_bpf)
		doctor_line_set(
			line, doctor_line_without_source(facts),
			"this pfdrive was built without eBPF (BPF=no), so a report has no parts; "
			"build it with BPF=yes");
	else if (!facts->btf)
		doctor_line_set(
			line, doctor_line_without_source(facts),
			"this kernel was built without CONFIG_DEBUG_INFO_BTF, so a report has no "
			"parts; use another kernel");
	else if (!tries->made && obstacle)
		doctor_line_set(line, doctor_line_without_source(facts), "not tried: %s", obstacle);
	else if (!tries->made)
		doctor_line_set(line, DOCTOR_OK,
				"not tried; the kernel has BTF, which the programs need");
	else if (tries->bpf.err)
		doctor_line_set(line, doctor_line_without_source(facts), "%s%s%s",
				tries->bpf.why.text,
				obstacle && !facts->root ? "; root cannot either: " : "",
				obstacle && !facts->root ? obstacle : "");
	else
		doctor_line_set(line, DOCTOR_OK, "tried: the programs can be loaded");
}

void source_check_bpffs(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (facts->bpffs) {
		doctor_line_set(line, DOCTOR_OK, "mounted: the eBPF maps can be pinned");
		return;
	}
	doctor_line_set(line, doctor_line_without_source(facts),
			"not mounted: pfdrive cannot use eBPF, so a report has no parts");
	if (facts->container)
		doctor_line_fix_container(line, "-v /sys/fs/bpf:/sys/fs/bpf");
	else
		doctor_line_fix_as_root(line, facts, "mount -t bpf -o mode=700 bpf /sys/fs/bpf");
}

/* Mappings are read by perf too, for all sources. */
static void check_tried_perf(const struct doctor_facts *facts, struct doctor_line *line)
{
	const struct perf_trial *trial = &facts->tries.perf;
	const bool refused = trial->err == -EACCES;
	struct why reason;

	perf_access_reason(trial, &reason);
	if (trial->access == PERF_ACCESS_ALL) {
		doctor_line_set(
			line, DOCTOR_OK,
			"tried: this user can sample all faults (kernel.perf_event_paranoid is %d)",
			trial->paranoid);
	} else if (trial->access == PERF_ACCESS_USER) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"tried: this user can sample faults in its own processes, except those "
			"in system calls: %s",
			reason.text);
		if (refused)
			doctor_line_fix_as_root(line, facts, "sysctl kernel.perf_event_paranoid=1");
	} else {
		doctor_line_set(
			line, doctor_line_without_source(facts),
			"tried: this user can sample no faults, and mappings are not recorded: %s",
			reason.text);
		if (refused && trial->paranoid > 2)
			doctor_line_fix_as_root(line, facts, "sysctl kernel.perf_event_paranoid=2");
		else if (trial->filtered && facts->container)
			doctor_line_fix_container(line, "--security-opt seccomp=unconfined");
	}
}

void source_check_perf(const struct doctor_facts *facts, struct doctor_line *line)
{
	const int paranoid = facts->perf_event_paranoid;

	if (facts->tries.made) {
		check_tried_perf(facts, line);
	} else if (paranoid == INT_MAX) {
		doctor_line_set(line, doctor_line_without_source(facts),
				"this kernel has no perf_event_open(2): mappings are not recorded");
	} else if (!doctor_source_perf_access(facts)) {
		doctor_line_set(
			line, doctor_line_without_source(facts),
			"%d: Debian's kernels then demand CAP_SYS_ADMIN to record faults and "
			"mappings",
			paranoid);
		doctor_line_fix_as_root(line, facts, "sysctl kernel.perf_event_paranoid=2");
	} else if (doctor_source_perf_access(facts) == PERF_ACCESS_USER) {
		doctor_line_set(line, DOCTOR_LIMITED,
				"%d: this user can sample no faults in system calls", paranoid);
		doctor_line_fix_as_root(line, facts, "sysctl kernel.perf_event_paranoid=1");
	} else {
		doctor_line_set(line, DOCTOR_OK, "%d, which does not restrict this user", paranoid);
	}
}
