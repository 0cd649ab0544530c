/* SPDX-License-Identifier: GPL-2.0-only */
/* Detects a filter of system calls (seccomp), which containers and services have. */
#ifndef PFSTAT_USER_SYSCALL_FILTER_H
#define PFSTAT_USER_SYSCALL_FILTER_H

#include <stdbool.h>

/* Has this process a filter? False if /proc cannot be read. */
bool syscall_filter_is_set(void);

/*
 * Calls bpf(2) with a command that no kernel has, so nothing happens. 0: the kernel looked at the
 * command. -EPERM, -EACCES or -ENOSYS: the call was refused before. Kernels before 5.19 answer
 * -EPERM to each call of a user without CAP_BPF if kernel.unprivileged_bpf_disabled is set; later
 * ones answer 0.
 */
int syscall_filter_try_bpf(void);

#endif
