/* SPDX-License-Identifier: GPL-2.0-only */
/* The cause of a wait, from the names of the functions on the kernel stack. */
#ifndef PFSTAT_USER_WAIT_CAUSE_H
#define PFSTAT_USER_WAIT_CAUSE_H

/*
 * @functions: as in struct pfstat_wait, "innermost<caller<…"
 * Returns a noun that fits after "waited for". NULL: the table has none of the functions.
 */
const char *wait_cause_of(const char *functions);

#endif
