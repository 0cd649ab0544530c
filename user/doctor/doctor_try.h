/* SPDX-License-Identifier: GPL-2.0-only */
/* Tries the fault sources as the user of this process. */
#ifndef PFSTAT_USER_DOCTOR_TRY_H
#define PFSTAT_USER_DOCTOR_TRY_H

#include "doctor/doctor_facts.h"

/*
 * Fills facts->tries. Call it after doctor_facts_read() of the running system. It opens and closes
 * the module's session, loads and unloads the eBPF programs, and opens and closes an event of perf.
 */
void doctor_try_sources(struct doctor_facts *facts);

#endif
