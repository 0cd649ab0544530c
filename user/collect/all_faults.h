/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts every handle_mm_fault() return in the watched threads: by the fault source, if possible,
 * else by eBPF. In both cases eBPF watches the same threads for all else.
 */
#ifndef PFSTAT_USER_ALL_FAULTS_H
#define PFSTAT_USER_ALL_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/events.h"
#include "collect/fault_source.h"
#include "model/counters.h"

/* eBPF's hooks replaced by the source. */
#define ALL_FAULTS_HOOKS (1U << HOOK_FAULT | 1U << HOOK_SWAP | 1U << HOOK_WP)

struct all_faults {
	struct fault_source *source;
	struct events *events; /* NULL: neither counts */
	bool by_source;
	uint32_t source_hooks; /* hooks of the source, 0 if it does not count */
	char missing[160];     /* the reason if not, as one clause */
};

/* Decides which one counts, as far as the options do. events is not opened yet. */
void all_faults_init(struct all_faults *faults, struct fault_source *source,
		     const struct events_options *options);
/*
 * The source takes handle_mm_fault(), or leaves it to eBPF. False: it should take the function, and
 * cannot. From now on eBPF counts.
 */
bool all_faults_take(struct all_faults *faults);

/* As events_watch() and events_ignore(). */
int all_faults_watch(const struct all_faults *faults, pid_t id, enum pfstat_target how);
int all_faults_ignore(const struct all_faults *faults, pid_t id);
bool all_faults_are_counted(const struct all_faults *faults);

/* Returns so far for faults that count as hooked. 0 or a negative errno. */
struct hooked_returns {
	uint64_t ended; /* the fault is solved, or failed */
	uint64_t again; /* the kernel begins the fault again */
};

int all_faults_hooked_returns(const struct all_faults *faults, struct hooked_returns *returns);
/* eBPF's hooks, and those replaced by the source. */
uint32_t all_faults_hooks(const struct all_faults *faults);
/* As events_forget(). */
int all_faults_forget(const struct all_faults *faults);
/* Mappings with the ->fault of this process's mapping there count as hooked. NULL: none do. */
int all_faults_imitate(const struct all_faults *faults, const volatile void *address);
/* After events_counters(). */
int all_faults_counters(const struct all_faults *faults, struct run_counters *counters);

#endif
