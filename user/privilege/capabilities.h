/* SPDX-License-Identifier: GPL-2.0-only */
/* Root's privileges, one by one, see capabilities(7): which are there, which are kept. */
#ifndef PFSTAT_USER_CAPABILITIES_H
#define PFSTAT_USER_CAPABILITIES_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPABILITY(number)    (1ULL << (number))
#define CAPABILITY_NAMES_SIZE 256

/*
 * Of the set `wanted`, those without effect here: how many, and their names, "CAP_A and
 * CAP_B". CAP_SYS_ADMIN does for CAP_BPF and CAP_PERFMON, in the kernel too.
 */
unsigned int capabilities_lack(uint64_t wanted, char *names, size_t size);
/* The names alone. */
void capabilities_name(uint64_t set, char *names, size_t size);

/*
 * This thread, and those that it makes from now on, give up all that are not in the
 * set. What root executes has them again: it is pfdrive that needs no more.
 */
int capabilities_keep(uint64_t set);

#endif
