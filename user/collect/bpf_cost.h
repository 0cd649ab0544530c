/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measures the time that eBPF and perf's counters add to a fault on this kernel: this thread faults
 * before they are attached, and then as their only target. The events of that are dropped.
 */
#ifndef PFSTAT_USER_BPF_COST_H
#define PFSTAT_USER_BPF_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/all_faults.h"
#include "collect/fault_stage.h"

struct bpf_cost {
	struct fault_stage memory, vdso;
	uint64_t memory_ps, vdso_ps; /* one of their faults, unwatched */
	/* Added, in picoseconds; COUNT_NA: n/a. */
	uint64_t hooked_ps; /* to a fault of a file that the module hooks */
	uint64_t again_ps;  /* to one of these, for each time that it is begun again */
	uint64_t other_ps;  /* to another, of which an event is sent */
};

#define BPF_COST_NONE \
	((struct bpf_cost){ .hooked_ps = COUNT_NA, .again_ps = COUNT_NA, .other_ps = COUNT_NA })

/*
 * Before all_faults_take() and events_attach(), and with all memory mapped that events_open()
 * maps: the kernel's search for the faulting mapping takes longer with more mappings, and is not
 * their cost. A figure that cannot be measured stays n/a.
 */
void bpf_cost_begin(struct bpf_cost *cost);
/*
 * After events_attach(): nothing is watched yet. counters: perf's are used too. 0, or the error of
 * all_faults_forget().
 */
int bpf_cost_end(struct bpf_cost *cost, const struct all_faults *faults, bool counters);
void bpf_cost_close(struct bpf_cost *cost);

#endif
