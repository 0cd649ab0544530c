/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the result of pfdrive doctor as text. */
#ifndef PFSTAT_USER_DOCTOR_PRINT_H
#define PFSTAT_USER_DOCTOR_PRINT_H

#include <stdio.h>

#include "doctor/doctor_facts.h"

/*
 * Prints the answer, then a line for each check. Returns how many checks found something missing.
 */
unsigned int doctor_print_lines(FILE *out, const struct doctor_facts *facts);
/* Prints the versions, the machine and the kernel's options, for a bug report. */
void doctor_print_machine(FILE *out, const struct doctor_facts *facts);

#endif
