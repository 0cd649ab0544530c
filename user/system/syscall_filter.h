/* SPDX-License-Identifier: GPL-2.0-only */
/* Detects a filter of system calls (seccomp), which containers and services have. */
#ifndef PFSTAT_USER_SYSCALL_FILTER_H
#define PFSTAT_USER_SYSCALL_FILTER_H

#include <stdbool.h>

/* Has this process a filter? False if /proc cannot be read. */
bool syscall_filter_is_set(void);

#endif
