/* SPDX-License-Identifier: GPL-2.0-only */
/* Judges from the facts with which fault source pfdrive measures. */
#ifndef PFSTAT_USER_DOCTOR_SOURCES_H
#define PFSTAT_USER_DOCTOR_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "doctor/doctor_facts.h"

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
bool doctor_source_bpf_works(const struct doctor_facts *facts);
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

#endif
