/* SPDX-License-Identifier: GPL-2.0-only */
/* The pfdrive doctor checks: each takes the facts and returns one line. */
#ifndef PFSTAT_USER_DOCTOR_CHECKS_H
#define PFSTAT_USER_DOCTOR_CHECKS_H

#include <stddef.h>

#include "doctor/doctor_facts.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* a part of pfstat does not work, or costs more */
	DOCTOR_MISSING, /* pfdrive cannot measure */
	NR_DOCTOR_STATES
};

struct doctor_line {
	enum doctor_state state;
	char text[512]; /* the finding, and its meaning for pfstat */
	char fix[512];	/* a command, "" if none */
};

struct doctor_check {
	const char *name;
	void (*check)(const struct doctor_facts *facts, struct doctor_line *line);
};

extern const struct doctor_check doctor_checks[];
extern const size_t nr_doctor_checks;

/* Runs one check. If a check does not apply (no path was given), the line has no text. */
void doctor_check_run(const struct doctor_check *check, const struct doctor_facts *facts,
		      struct doctor_line *line);

#endif
