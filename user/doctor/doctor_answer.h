/* SPDX-License-Identifier: GPL-2.0-only */
/* The first line of pfdrive doctor: with what pfdrive measures here, and what root would gain. */
#ifndef PFSTAT_USER_DOCTOR_ANSWER_H
#define PFSTAT_USER_DOCTOR_ANSWER_H

#include <stddef.h>

#include "doctor/doctor_facts.h"

#define DOCTOR_ANSWER_SIZE 1024

/* Stores one sentence without a full stop. */
void doctor_answer(const struct doctor_facts *facts, char *text, size_t size);

#endif
