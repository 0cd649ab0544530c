/* SPDX-License-Identifier: GPL-2.0-only */
/* Detects a system call filter (seccomp), which containers and services have. */
#ifndef PFSTAT_USER_SYSCALL_FILTER_H
#define PFSTAT_USER_SYSCALL_FILTER_H

#include <stdbool.h>

/* Has this process a filter? False if /proc cannot be read. */
bool syscall_filter_is_set(void);

/*
 * Calls bpf(2) with a command that no kernel has, so nothing happens. Returns 0 if the kernel
 * looked at the command, or -EPERM, -EACCES or -ENOSYS if the call was refused before. If
 * kernel.unprivileged_bpf_disabled is set, kernels before 5.19 answer -EPERM to each call by a user
 * without CAP_BPF. Later ones answer 0.
 */
int syscall_filter_try_bpf(void);

#endif
