/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults in this thread with known times, for measuring an instrument's cost. */
#ifndef PFSTAT_USER_FAULT_STAGE_H
#define PFSTAT_USER_FAULT_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapping whose pages are present: to map one again is a fault that does nothing else. */
struct fault_stage {
	volatile char *memory; /* NULL: there is none */
	size_t pages;
	bool is_written; /* by a fault, else read */
};

/* A shared memory mapping: a write to one of its pages calls the file's ->fault. -errno. */
int fault_stage_open(struct fault_stage *stage);
/*
 * The vDSO mapping: it has ->fault but not ->map_pages, so a fault that holds only the VMA lock
 * (since v6.4) is retried under mmap_lock, see vmf_can_call_fault() in mm/memory.c. -ENOENT: the
 * process has no vDSO.
 */
int fault_stage_open_vdso(struct fault_stage *stage);
void fault_stage_close(struct fault_stage *stage);
/* Picoseconds per fault, or COUNT_NA if the stage is not available or had no faults. */
uint64_t fault_stage_time(const struct fault_stage *stage);
/* Picoseconds, or COUNT_NA if machine noise exceeds the difference: no cost is 0. */
uint64_t fault_stage_difference(uint64_t more, uint64_t less);

#endif
