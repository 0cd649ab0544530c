/* SPDX-License-Identifier: GPL-2.0-only */
/* Replays an access plan once under a candidate, in a child process. */
#ifndef PFSTAT_USER_REPETITION_H
#define PFSTAT_USER_REPETITION_H

#include "advise/candidate.h"
#include "advise/ranking.h"
#include "advise/recorded_accesses.h"
#include "util/why.h"

/*
 * The child has a thread for each recorded one, and a mapping for each recorded mapping. A device's
 * read-ahead setting is changed only while the child opens a file on this device.
 * Returns 0, a positive signal number, or a negative errno with a clause in why: the operation and
 * its object.
 */
int repetition_run(const struct recorded_accesses *accesses, const struct candidate *candidate,
		   struct repetition_figures *figures, struct why *why);

#endif
