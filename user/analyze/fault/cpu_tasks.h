/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes that had a CPU while threads waited for it in faults, and the time of these waits.
 * A wait has one process, see struct pfstat_cpu_task. Bounded.
 */
#ifndef PFSTAT_USER_CPU_TASKS_H
#define PFSTAT_USER_CPU_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "util/hash.h"

/* Further processes are not distinguished: their waits have no row. */
#define CPU_TASKS_MAX 1024U

struct cpu_task_row {
	uint32_t pid;
	char comm[16];	   /* of its first thread */
	bool kernel;	   /* a thread of the kernel */
	bool recorded;	   /* it is a process of the run */
	uint64_t waits;	   /* in faults */
	uint64_t total_ns; /* of these waits */
	uint64_t ran_ns;   /* of total_ns, its thread ran: at least */
	uint64_t own_ns;   /* of total_ns, threads of the process itself waited */
};

/* All zero is empty. */
struct cpu_tasks {
	struct hash ids;	   /* by pid and name */
	struct cpu_task_row *rows; /* for id 1, 2, … */
	size_t nr, room;
};

void cpu_tasks_exit(struct cpu_tasks *tasks);
/*
 * Sets *id to the number of the process, or to 0 if there are too many. @recorded: it is a process
 * of the run. Returns 0 or -ENOMEM.
 */
int cpu_tasks_find(struct cpu_tasks *tasks, const struct pfstat_cpu_task *event, bool recorded,
		   uint32_t *id);
void cpu_tasks_add_fault(struct cpu_tasks *tasks, const struct explained *fault);
/* A copy of the rows with waits, the longest ran_ns first; the caller frees it. 0 or -ENOMEM. */
int cpu_tasks_list(const struct cpu_tasks *tasks, struct cpu_task_row **rows, size_t *nr);

#endif
