/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a page fault takes this thread that does nothing but map a page that is there:
 * of some rounds the best, so that an interrupt does not count.
 */
#ifndef PFSTAT_USER_FAULT_STAGE_H
#define PFSTAT_USER_FAULT_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault_stage {
	volatile char *memory;	/* NULL: there is none */
	size_t pages;
	bool is_written;	/* by a fault; else read */
};

/* A shared mapping of memory: a write to one of its pages calls the file's ->fault. -errno. */
int fault_stage_open(struct fault_stage *stage);
/*
 * The vDSO's: its ->fault has no map_pages beside it, for want of which the kernel
 * begins a fault that holds the VMA's lock alone (since v6.4) once more, with all locked:
 * vmf_can_call_fault() of mm/memory.c. -ENOENT: there is no vDSO.
 */
int fault_stage_open_vdso(struct fault_stage *stage);
void fault_stage_close(struct fault_stage *stage);
/* Picoseconds a fault; COUNT_NA: there is no stage, or it had no faults. */
uint64_t fault_stage_time(const struct fault_stage *stage);

#endif
