/* SPDX-License-Identifier: GPL-2.0-only */
/* Reduces pfdrive's privileges once everything is set up. */
#ifndef PFSTAT_USER_PRIVILEGE_H
#define PFSTAT_USER_PRIVILEGE_H

/*
 * Drops privileges not needed while the workload runs, in this thread and in the threads it creates
 * later. Returns STATUS_OK, or a failure after a message.
 */
int privilege_reduce(void);

/*
 * For a process with one thread. It cannot be undone. Becomes the invoker (or uid 65534 if root
 * works for root), drops all capabilities and sets no_new_privs. Returns 0 or a negative errno.
 */
int privilege_drop(void);

#endif
