/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads that read the rings come before what they watch: four threads that do
 * nothing but fault would leave them a fifth of a CPU, and fill the rings. A thread gets
 * the nice value of who makes it, and keeps it when privileges are given up; so the maker
 * takes it for as long as that needs, and no privilege is kept for it.
 */
#ifndef PFSTAT_USER_PRIORITY_H
#define PFSTAT_USER_PRIORITY_H

#include <stdbool.h>

struct priority {
	bool raised;
	int before; /* the calling thread's nice value */
};

/* The calling thread's. Without CAP_SYS_NICE and a limit that allows it, nothing changes. */
void priority_raise(struct priority *priority);
/* As it was; by the same thread. */
void priority_restore(struct priority *priority);

#endif
