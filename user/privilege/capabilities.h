/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks and drops single capabilities, see capabilities(7). */
#ifndef PFSTAT_USER_CAPABILITIES_H
#define PFSTAT_USER_CAPABILITIES_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
