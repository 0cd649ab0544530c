/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time in which a process stood still: at least one thread was in a fault, and no thread ran
 * outside a fault. A thread sleeping outside a fault does not run. A thread waiting for a CPU there
 * does, as it would if it had one.
 *
 *	thread 1  ###fault###|run|      asleep       |###fault###
 *	thread 2  |run|  #######fault########|run|  asleep
 *	still         ####### ###############         ###########
 *
 * A thread is on the CPU, or waits for it, between the known off-CPU intervals. Before the first
 * sign of life and after the last one a thread may run or sleep, so there are two bounds. A thread
 * without any sign of life slept.
 *
 * Pure, in bounded memory: if more than STANDSTILL_PROCESSES processes are alive, the others are
 * left out. Beyond 16384 living threads, processes start anew.
 */
#ifndef PFSTAT_USER_STANDSTILL_H
#define PFSTAT_USER_STANDSTILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"
#include "analyze/fault_overlap.h"
#include "util/hash.h"

#define STANDSTILL_PROCESSES 256U
/* Time chunks per process, see fault_overlap.h. */
#define STANDSTILL_CHUNKS 1024U

struct process_standstill {
	uint32_t pid;		     /* 0: no process */
	char name[16];		     /* "": not known */
	uint64_t threads;	     /* with signs of life */
	struct overlap_time still;   /* it stood still */
	struct overlap_time several; /* in this time, two or more threads in faults */
};

struct standstill_figures {
	struct process_standstill most; /* the process with the longest standstill */
	uint64_t processes;		/* with faults */
	bool complete;			/* no process was left out */
	/*
	 * False: no event has the wake-ups, so a thread that waited for a CPU after a sleep counts
	 * as asleep, and the lower bounds are 0.
	 */
	bool wakeups_known;
};

/* All zero is empty. */
struct standstill {
	struct hash threads;		/* by tid */
	struct hash processes;		/* by pid */
	struct process_standstill most; /* among the exited processes */
	uint64_t ended;
	bool wakeup_missing, incomplete;
};

void standstill_exit(struct standstill *standstill);
/*
 * A thread's tasks, off-CPU intervals and faults come in time order. A fault comes after the
 * intervals within it. 0 or -ENOMEM.
 */
int standstill_add_task(struct standstill *standstill, const struct pfstat_task *task);
int standstill_add_off_cpu(struct standstill *standstill, const struct pfstat_off_cpu *interval);
int standstill_add_fault(struct standstill *standstill, const struct explained *fault);
/* No item follows. */
int standstill_finish(struct standstill *standstill);
void standstill_figures(const struct standstill *standstill, struct standstill_figures *figures);

#endif
