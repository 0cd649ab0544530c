/* SPDX-License-Identifier: GPL-2.0-only */
/* Tries whether this process may sample its page faults with perf's software events. */
#ifndef PFSTAT_USER_PERF_ACCESS_H
#define PFSTAT_USER_PERF_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/why.h"

enum perf_access {
	PERF_ACCESS_NONE,
	PERF_ACCESS_USER, /* user mode faults, not those in system calls */
	PERF_ACCESS_ALL,
};

/* What was tried, and what restricts it. */
struct perf_trial {
	enum perf_access access;
	int err;       /* for the next better mode, 0 with PERF_ACCESS_ALL */
	int paranoid;  /* kernel.perf_event_paranoid, INT_MAX if the kernel has no perf events */
	bool filtered; /* this process has a system call filter */
};

/*
 * Opens an event for this thread on the current CPU, in both modes, and closes it. Nothing is
 * sampled.
 */
void perf_access_try(struct perf_trial *trial);
/* One clause with the reason for trial->err, "" if it is 0. */
void perf_access_reason(const struct perf_trial *trial, struct why *why);
/*
 * "cannot open perf's page-fault events: REASON; DO THIS" for PERF_ACCESS_NONE, "cannot see the
 * faults in system calls: …" for PERF_ACCESS_USER, "" for PERF_ACCESS_ALL.
 */
void perf_access_explain(const struct perf_trial *trial, struct why *why);

#endif
