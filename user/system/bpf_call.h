/* SPDX-License-Identifier: GPL-2.0-only */
/* Tries whether bpf(2) reaches the kernel. */
#ifndef PFSTAT_USER_BPF_CALL_H
#define PFSTAT_USER_BPF_CALL_H

/*
 * Calls bpf(2) with a command that no kernel has, so nothing happens. 0: the kernel looked at the
 * command. -EPERM, -EACCES or -ENOSYS: the call was refused before. Kernels before 5.19 answer
 * -EPERM to each call of a user without CAP_BPF if kernel.unprivileged_bpf_disabled is set; later
 * ones answer 0.
 */
int bpf_call_try(void);

#endif
