/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run's longest faults, each with what else the items report about its time: the place, requests
 * to the same device, and the process's calls that change mappings. Pure, in bounded memory: about
 * 3 KiB per fault, and 50 KiB.
 */
#ifndef PFSTAT_USER_SLOWEST_H
#define PFSTAT_USER_SLOWEST_H

#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"
#include "analyze/fault/waits.h"
#include "analyze/fault_tail.h"
#include "analyze/groups/grouping.h"

/*
 * The longest fault in words. The place is noted when the fault ends, because mappings and thread
 * names change. Code and files get their names at the end of the run.
 */

struct longest_place {
	struct group_key code;
	uint32_t mapping; /* path number, see address_spaces.h, 0 if none or not known */
	char thread[16];
};

struct longest_names {
	char *file;    /* as in the groups by file */
	char *mapping; /* the mapping's path or kernel name, "" if none or not known */
	char *code;    /* as in the groups by code */
	char thread[16];
	const char *cause; /* see model/wait_cause.h, NULL if not known */
	char *functions;   /* the kernel stack, as in struct pfstat_wait, "" if not known */
};

/*
 * The requests a device had at a given moment. Input: completed requests, in completion order. Only
 * the last ones are kept, in 24 KiB.
 */

#define DEVICE_LOAD_REQUESTS 1024U

struct device_load_request {
	uint64_t issue_ns, end_ns;
	uint32_t dev;
};

/* All zero is empty. */
struct device_load {
	struct device_load_request *ring;
	uint64_t count; /* number ever added */
};

#define SLOWEST_FAULTS 10U
#define SLOWEST_MAX    1000U

#define SLOWEST_RECENT_CALLS 256U

#define SLOW_CALLS   4
#define SLOW_THREADS 8

/* A thread's name when the fault ended, or when the call was added. */
struct slow_thread {
	uint32_t tid;
	char comm[16]; /* "": not known */
};

struct slow_fault {
	struct explained fault;
	struct longest_place place;
	uint64_t order; /* among the run's faults, and the first stays among equals */
	/*
	 * For each of fault.requests: the requests the disk had when it was passed to the driver,
	 * including the request. Counts only the recorded threads' requests. 0: not known
	 */
	uint32_t in_flight[EXPLAIN_MAX_REQUESTS];
	/*
	 * Calls from other threads in the process that shape mappings, during the fault: the calls
	 * sharing most time with it.
	 */
	struct pfstat_call calls[SLOW_CALLS];
	unsigned int nr_calls, calls_left_out;
	struct slow_thread threads[SLOW_THREADS]; /* wakers and callers, the first nr_threads */
	unsigned int nr_threads;
};

/* All zero is empty. */
struct slowest {
	unsigned int max; /* faults kept, 0 for SLOWEST_FAULTS */
	unsigned int nr;
	struct slow_fault **heap; /* the shortest at [0] */
	uint64_t order;
	uint64_t end_ns; /* latest end of a kept fault */
	struct device_load load;
	struct pfstat_call *calls; /* a ring with the last SLOWEST_RECENT_CALLS */
	uint64_t nr_calls;	   /* number ever added */
};

void slowest_exit(struct slowest *slowest);
/*
 * These return 0 or -ENOMEM. @grouping: has the names of places and threads. Without it, they are
 * not noted. Items come in time order.
 */
int slowest_add_fault(struct slowest *slowest, const struct explained *fault,
		      const struct grouping *grouping);
int slowest_add_block(struct slowest *slowest, const struct pfstat_block *block);
int slowest_add_call(struct slowest *slowest, const struct pfstat_call *call,
		     const struct grouping *grouping);

/* NULL: there was no fault. */
const struct slow_fault *slowest_longest(const struct slowest *slowest);

/* Sets *sorted to the faults, longest first. The caller frees the array. 0 or -ENOMEM. */
int slowest_list(const struct slowest *slowest, const struct slow_fault ***sorted);

/* "": not known. */
const char *slow_fault_thread(const struct slow_fault *slow, uint32_t tid);

/* The time shared by the call and the fault. */
uint64_t slow_fault_shared_ns(const struct slow_fault *slow, const struct pfstat_call *call);

static inline uint64_t slow_fault_ns(const struct slow_fault *slow)
{
	return slow->fault.end_ns - slow->fault.start_ns;
}

/* One of the longest faults in words: the place, the sleeps, and the files for the requests. */
struct slow_names {
	struct longest_names place;
	/*
	 * The kernel stack for each of fault.spans. NULL: not known, or a request explains it. The
	 * rows belong to the waits.
	 */
	const struct wait_row *waits[EXPLAIN_MAX_SPANS];
	/* The process that had the CPU during each of fault.spans; NULL: not known. */
	const struct cpu_task_row *tasks[EXPLAIN_MAX_SPANS];
	/* The file for each of fault.requests. NULL: the fault's own file, none, or not known. */
	char *files[EXPLAIN_MAX_REQUESTS];
};

/* Returns 0 or -ENOMEM. slow_names_exit() frees them in both cases. */
int slow_names_fill(struct slow_names *names, const struct slow_fault *slow,
		    const struct grouping *grouping, const struct waits *waits);
void slow_names_exit(struct slow_names *names);

#endif
