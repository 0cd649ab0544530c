/* SPDX-License-Identifier: GPL-2.0-only */
/* Fills the line of a pfdrive doctor check. */
#ifndef PFSTAT_USER_DOCTOR_LINE_H
#define PFSTAT_USER_DOCTOR_LINE_H

#include "doctor/doctor_checks.h"

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

#endif
