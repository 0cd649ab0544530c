/* SPDX-License-Identifier: GPL-2.0-only */
/* Measures the time that an instrument adds to a fault on this kernel. */
#ifndef PFSTAT_USER_FAULT_COST_H
#define PFSTAT_USER_FAULT_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/all_faults.h"

/* Faults in this thread with known times, for measuring an instrument's cost. */

/* A mapping whose pages are present: to map one again is a fault that does nothing else. */
struct fault_stage {
	volatile char *memory; /* NULL: there is none */
	size_t pages;
	bool is_written; /* by a fault, else read */
};

/* A shared memory mapping: a write to one of its pages calls the file's ->fault. -errno. */
int fault_stage_open(struct fault_stage *stage);
void fault_stage_close(struct fault_stage *stage);
/* Picoseconds per fault, or COUNT_NA if the stage is not available or had no faults. */
uint64_t fault_stage_time(const struct fault_stage *stage);
/* Picoseconds, or COUNT_NA if machine noise exceeds the difference: no cost is 0. */
uint64_t fault_stage_difference(uint64_t more, uint64_t less);

/*
 * Measures the time that eBPF and perf's counters add to a fault on this kernel: this thread faults
 * before they are attached, and then as their only target. The resulting events are dropped.
 */

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
