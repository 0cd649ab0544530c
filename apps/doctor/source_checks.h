/* SPDX-License-Identifier: GPL-2.0-only */
/* What each fault source lacks on a machine, and the checks for it. */
#ifndef PFSTAT_APPS_SOURCE_CHECKS_H
#define PFSTAT_APPS_SOURCE_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include "doctor/doctor.h"

/* Judges from the facts with which fault source pfdrive measures. */

/* In the order in which pfdrive chooses: see instruments.c. */
enum doctor_source {
	DOCTOR_SOURCE_MODULE_AND_BPF,
	DOCTOR_SOURCE_BPF,
	DOCTOR_SOURCE_PERF,
	DOCTOR_SOURCE_MODULE, /* only with --no-bpf */
	DOCTOR_SOURCE_NONE,
};

/* Without a try (--root), the files decide. A source that is busy works. */
bool doctor_source_module_works(const struct doctor_facts *facts);
enum perf_access doctor_source_perf_access(const struct doctor_facts *facts);
enum doctor_source doctor_source_of(const struct doctor_facts *facts);

/*
 * The @wanted capabilities missing in the process. CAP_SYS_ADMIN implies CAP_BPF and CAP_PERFMON.
 */
uint64_t doctor_lacks(const struct doctor_facts *facts, uint64_t wanted);
/* The module is not written for older kernels. */
bool doctor_is_too_old_for_module(const struct doctor_facts *facts);
/*
 * Why eBPF works for no user on this system, as one clause, or NULL if nothing is known to forbid
 * it to root. Static text.
 */
const char *doctor_source_bpf_obstacle(const struct doctor_facts *facts);

/* Fills the line of a pfdrive doctor check. */

#define MESSAGE_FORMAT(text) __attribute__((format(printf, text, text + 1)))

void doctor_line_set(struct doctor_line *line, enum doctor_state value, const char *format, ...)
	MESSAGE_FORMAT(3);
/*
 * Commands that change the system need sudo, if this process is not root's. Root in a container may
 * not change it.
 */
void doctor_line_fix_as_root(struct doctor_line *line, const struct doctor_facts *facts,
			     const char *format, ...) MESSAGE_FORMAT(3);
/* @option: podman run and docker run option that gives it to the container. */
void doctor_line_fix_container(struct doctor_line *line, const char *option);

/* The state for a line about something a fault source needs. */
enum doctor_state doctor_line_without_source(const struct doctor_facts *facts);
/* What pfdrive uses if it cannot use the module: "; pfdrive uses eBPF instead", or "". */
const char *doctor_line_instead(const struct doctor_facts *facts);

/* The pfdrive doctor checks for fault sources. */

void source_check_module(const struct doctor_facts *facts, struct doctor_line *line);
void source_check_all_faults(const struct doctor_facts *facts, struct doctor_line *line);
void source_check_bpf(const struct doctor_facts *facts, struct doctor_line *line);
void source_check_bpffs(const struct doctor_facts *facts, struct doctor_line *line);
void source_check_perf(const struct doctor_facts *facts, struct doctor_line *line);

#endif
