// SPDX-License-Identifier: GPL-2.0-only
/* Judges the facts about the module, eBPF and perf, each by a pure function that fills one line. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "doctor/doctor_line.h"
#include "doctor/doctor_sources.h"
#include "doctor/source_checks.h"
#include "util/version.h"

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
