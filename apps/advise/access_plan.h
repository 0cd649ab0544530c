/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorded accesses of all threads, as a program for each thread. Pure.
 *
 *	recorded events of a thread		steps of its program
 *	between two events, on the CPU		PLAN_RUN
 *	fault of a replayed mapping		PLAN_TOUCH
 *	madvise(2)				PLAN_ADVISE
 *	mmap(2) of a replayed mapping		PLAN_MAPPED: the place of a candidate's advice
 *	sleep that no recorded thread ended	PLAN_SLEEP
 *	sleep that another thread ended		PLAN_WAIT, and PLAN_SIGNAL in that thread
 *	start of a thread			PLAN_WAIT, and PLAN_SIGNAL in the parent
 *
 * Time within a fault, and time on the run queue, is not included, because the replay spends it
 * again. A thread's steps are in recorded time order, where a wait counts when it ends. A signal
 * precedes a wait at the same time, so waits cannot form a cycle.
 */
#ifndef PFSTAT_APPS_ACCESS_PLAN_H
#define PFSTAT_APPS_ACCESS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/hash.h"

enum plan_event_type {
	PLAN_EVENT_SIGNAL, /* made by access_plan_build(), sorts before the others */
	PLAN_EVENT_MAPPED, /* start_ns == end_ns */
	PLAN_EVENT_ADVICE,
	PLAN_EVENT_TOUCH,
	PLAN_EVENT_OFF_CPU,
	PLAN_EVENT_EXIT, /* start_ns == end_ns */
	PLAN_EVENT_SENT, /* a signal with the step already made */
};

struct plan_event {
	uint64_t start_ns, end_ns;
	uint64_t page;	   /* TOUCH, ADVICE: page in the mapping, from 0 */
	uint64_t pages;	   /* ADVICE */
	uint64_t woken_ns; /* OFF_CPU: 0: not known */
	uint32_t type;	   /* enum plan_event_type */
	uint32_t mapping;  /* TOUCH, ADVICE, MAPPED: mapping number. SIGNAL: signal number */
	int32_t advice;	   /* ADVICE: MADV_* */
	uint32_t waker;	   /* OFF_CPU: thread, or 0 if none */
	bool runnable;	   /* OFF_CPU: the thread was preempted */
};

enum plan_step_type {
	PLAN_RUN,    /* use the CPU for value ns */
	PLAN_SLEEP,  /* value ns */
	PLAN_TOUCH,  /* page `value` in the mapping */
	PLAN_ADVISE, /* pages from value on, advice */
	PLAN_MAPPED,
	PLAN_SIGNAL, /* number: mapping */
	PLAN_WAIT,
};

struct plan_step {
	uint64_t value;
	uint64_t pages;
	uint32_t type; /* enum plan_step_type */
	uint32_t mapping;
	int32_t advice;
	uint32_t reserved;
};

struct plan_thread {
	uint32_t tid;
	uint64_t start_ns; /* when the program starts */
	bool forked;	   /* within the recording */
	uint32_t fork_signal;
	struct plan_event *events;
	size_t nr_events, event_capacity;
	struct plan_step *steps;
	size_t nr_steps, step_capacity;
};

struct access_plan {
	struct plan_thread **threads;
	size_t nr_threads, thread_capacity;
	struct hash by_tid; /* latest thread with this number */
	uint32_t nr_signals;
	uint64_t nr_touches;
	/* Set by the caller before access_plan_build(). */
	uint64_t start_ns;	 /* start of the recording */
	uint64_t fault_extra_ns; /* instrument cost per fault, outside the fault time */
	bool have_off_cpu;	 /* false: a thread sleeps between its faults */
	const bool *left_out;	 /* for each mapping: not replayed, NULL if all are */
};

/* Adds a thread's event, in any order. Returns 0 or -ENOMEM. */
int access_plan_add(struct access_plan *plan, uint32_t tid, const struct plan_event *event);
/* A thread starts. A thread that had the number before keeps its events. */
int access_plan_fork(struct access_plan *plan, uint32_t tid, uint32_t parent, uint64_t ns);
/* Makes the steps for all threads. Returns 0 or -ENOMEM. */
int access_plan_build(struct access_plan *plan);
void access_plan_exit(struct access_plan *plan);

#endif
