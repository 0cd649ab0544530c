/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The privileges of a process: single capabilities, kernel lockdown, and what remains once
 * everything is set up.
 */
#ifndef PFSTAT_USER_PRIVILEGE_H
#define PFSTAT_USER_PRIVILEGE_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Checks and drops single capabilities, see capabilities(7). */

#define CAPABILITY(number)    (1ULL << (number))
#define CAPABILITY_NAMES_SIZE 256

/*
 * Counts the capabilities in `wanted` that are not effective, and stores their names, "CAP_A and
 * CAP_B". CAP_SYS_ADMIN implies CAP_BPF and CAP_PERFMON, as in the kernel.
 */
unsigned int capabilities_lack(uint64_t wanted, char *names, size_t size);
/* Stores only the names. */
void capabilities_name(uint64_t set, char *names, size_t size);

/*
 * Drops all capabilities outside the set, in this thread and in the threads it creates later. A
 * program that root executes gets them back: this limits pfdrive, not its children.
 */
int capabilities_keep(uint64_t set);

/* Detects kernel lockdown, see kernel_lockdown(7). */

/*
 * Extracts the active word from "none [integrity] confidentiality", or NULL if no word is in
 * brackets.
 */
const char *lockdown_parse(const char *text, char *word, size_t size);
/* "integrity" or "confidentiality", or NULL if not locked down or not known. Static buffer. */
const char *lockdown_level(void);

/* Reduces pfdrive's privileges once everything is set up. */

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

/* A child parsing watched programs' files runs in a sandbox. */

/*
 * Call it in a child. It cannot be undone. Keeps one socket as descriptors 0 to 2 and closes all
 * others, becomes the invoker (or uid 65534 if root works for root), drops all capabilities, and
 * limits memory and CPU time. The seccomp filter allows only the system calls for reading
 * descriptors and for receiving others through the socket. Any other call fails with EPERM. Returns
 * 0 or a negative errno.
 */
int sandbox_enter(int socket);

#endif
