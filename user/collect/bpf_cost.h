/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measures the time that eBPF and perf's counters add to a fault on this kernel: this thread faults
 * before they are attached, and then as their only target. The resulting events are dropped.
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
	uint64_t memory_ps, vdso_ps; /* one fault on these stages, unwatched */
	/* Added, in picoseconds, or COUNT_NA if n/a. */
	uint64_t hooked_ps; /* to a fault on a file hooked by the module */
	uint64_t again_ps;  /* to such a fault, for each time it is restarted */
	uint64_t other_ps;  /* to another fault, for which an event is sent */
};

#define BPF_COST_NONE \
	((struct bpf_cost){ .hooked_ps = COUNT_NA, .again_ps = COUNT_NA, .other_ps = COUNT_NA })

/*
 * Call before all_faults_take() and events_attach(), and with all memory mapped that events_open()
 * maps: the kernel's search for the faulting mapping takes longer with more mappings, which is not
 * part of the cost. An unmeasurable figure stays n/a.
 */
void bpf_cost_begin(struct bpf_cost *cost);
/*
 * After events_attach(): nothing is watched yet. counters: perf's are used too. 0, or the error of
 * all_faults_forget().
 */
int bpf_cost_end(struct bpf_cost *cost, const struct all_faults *faults, bool counters);
void bpf_cost_close(struct bpf_cost *cost);

#endif
