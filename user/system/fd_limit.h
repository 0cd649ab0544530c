/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many descriptors there may be: the events of perf take one for each thread and CPU
 * that is watched, and the soft limit is 1024 on most machines.
 */
#ifndef PFSTAT_USER_FD_LIMIT_H
#define PFSTAT_USER_FD_LIMIT_H

#include <stdbool.h>

/* The soft limit becomes the hard one, as far as that may be. */
void descriptors_raise(void);
/* As it was; for a child, whose program may believe in it. */
void descriptors_restore(void);
/*
 * Is this one, just opened, among the last? They are not for what there may be any number
 * of: to list processes and to write what was found takes some as well.
 */
bool descriptors_are_short(int fd);

#endif
