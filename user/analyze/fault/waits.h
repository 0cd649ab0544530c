/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel stacks of sleeps in faults, with their times. Time is added only if no block request
 * explains it: the parts foreign, blocked, handler, reclaim, asleep and residue. Also the last tasks before
 * waits for a CPU, and the threads that passed mmap_lock on. Bounded.
 */
#ifndef PFSTAT_USER_WAITS_H
#define PFSTAT_USER_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "model/item.h"
#include "util/hash.h"

/*
 * The processes that had a CPU while threads waited for it in faults, and the time of these waits.
 * A wait has one process, see struct pfstat_cpu_task. Bounded.
 */

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

/*
 * Sleeps of page faults for mmap_lock, with the thread that passed the lock on and this thread's
 * system call. Most sleeps come before handle_mm_fault(), so no fault contains them. Bounded.
 */

/* Further threads and calls have no rows: only the sums contain their sleeps. */
#define LOCK_WAKERS_MAX 1024U

struct lock_waker_row {
	uint32_t tid;	/* 0: not known */
	uint32_t doing; /* enum pfstat_waker */
	char comm[16];	/* "": not known, or not a thread of the run */
	uint64_t sleeps, total_ns, max_ns;
};

/* All zero is empty. */
struct lock_wakers {
	struct hash ids;	     /* by thread, name and call */
	struct lock_waker_row *rows; /* for id 1, 2, … */
	size_t nr, room;
	uint64_t sleeps, total_ns;
};

void lock_wakers_exit(struct lock_wakers *wakers);
/* Adds a sleep for mmap_lock. @comm: the waker's name, or "". Returns 0 or -ENOMEM. */
int lock_wakers_add(struct lock_wakers *wakers, const struct pfstat_off_cpu *interval,
		    const char *comm);
/* Copies the rows, the longest first. The caller frees them. Returns 0 or -ENOMEM. */
int lock_wakers_list(const struct lock_wakers *wakers, struct lock_waker_row **rows, size_t *nr);

/* Further stacks are not distinguished: their time has no row. */
#define WAITS_MAX 1024U

struct wait_row {
	const char *cause; /* see model/wait_cause.h, NULL if not in the table */
	bool is_mmap_lock; /* the cause is mmap_lock, and a function waits for a read-write lock */
	char functions[PFSTAT_WAIT_BYTES];
	uint64_t sleeps;
	uint64_t total_ns, max_ns;
	uint64_t parts_ns[NR_PARTS];
	uint64_t classes_ns[NR_FAULT_CLASSES];
	uint64_t minor_asleep_ns; /* in PART_ASLEEP of minor faults */
};

/* All zero is empty. */
struct waits {
	struct hash ids;       /* by text */
	struct wait_row *rows; /* for id 1, 2, … */
	size_t nr, room;
	uint64_t unknown_ns; /* foreign, blocked and asleep parts without a known stack */
	struct cpu_tasks tasks;
	struct lock_wakers lock_wakers;
};

void waits_exit(struct waits *waits);
/* Sets *id to the number of a stack, or to 0 if there are too many. Returns 0 or -ENOMEM. */
int waits_find(struct waits *waits, const char *functions, uint32_t *id);
/* The stack of an event. One whose functions have no name counts as unknown. 0 or -ENOMEM. */
int waits_find_event(struct waits *waits, const struct pfstat_wait *event, uint32_t *id,
		     enum wait_kind *kind);
/*
 * Adds a sleep in a fault, or on the way to a fault, if the stack @id waits for mmap_lock. @comm:
 * the waker's name, or "". Returns 0 or -ENOMEM.
 */
int waits_add_sleep(struct waits *waits, uint32_t id, const struct pfstat_off_cpu *interval,
		    const char *comm);
void waits_add_fault(struct waits *waits, const struct explained *fault);
/* Copies the rows with time, longest first. The caller frees them. Returns 0 or -ENOMEM. */
int waits_list(const struct waits *waits, struct wait_row **rows, size_t *nr);

#endif
