/* SPDX-License-Identifier: GPL-2.0-only */
/* Once all is set up, pfdrive needs little of what root may. */
#ifndef PFSTAT_USER_REDUCE_H
#define PFSTAT_USER_REDUCE_H

/*
 * Gives up what is needed no more when the workload runs, in this thread and those that
 * it makes from now on. STATUS_OK, or it has complained.
 */
int privilege_reduce(void);

/*
 * For good, in a process that has one thread: it becomes the invoker, or nobody if root works
 * for root, and drops all capabilities and the way to new ones. 0 or a negative errno.
 */
int privilege_drop(void);

#endif
