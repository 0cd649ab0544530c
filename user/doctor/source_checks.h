/* SPDX-License-Identifier: GPL-2.0-only */
/* The pfdrive doctor checks for fault sources, see doctor_checks.h. */
#ifndef PFSTAT_USER_SOURCE_CHECKS_H
#define PFSTAT_USER_SOURCE_CHECKS_H

#include "doctor/doctor_checks.h"

void source_check_module(const struct doctor_facts *facts, struct doctor_line *line);
void source_check_all_faults(const struct doctor_facts *facts, struct doctor_line *line);
void source_check_bpf(const struct doctor_facts *facts, struct doctor_line *line);
void source_check_bpffs(const struct doctor_facts *facts, struct doctor_line *line);
void source_check_perf(const struct doctor_facts *facts, struct doctor_line *line);

#endif
