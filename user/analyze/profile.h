/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run's faults as a profile: each fault is a sample with a call path and a time. All profiler
 * formats are printed from this model as it is.
 *
 *	item, fault -> profile -> profile_finish() -> printers of pprof, Firefox
 *
 * Memory grows with the number of faults, by 48 bytes each, rounded up to a power of two. Sorting
 * them and adding them up takes as much again. Viewers draw every fault.
 */
#ifndef PFSTAT_USER_PROFILE_H
#define PFSTAT_USER_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analysis.h"

struct profile_function {
	char *name;	 /* a symbol, or "0x… (object)" */
	uint32_t object; /* file, or PROFILE_NONE: in no file */
};

struct profile_frame {
	uint32_t function;
	uint64_t offset; /* in the file, or the address without a file */
};

#define PROFILE_NONE UINT32_MAX

/* A file containing code of frames. */
struct profile_object {
	char *path;
	uint64_t end; /* largest offset of a frame, plus 1 */
};

/* A call: equal beginnings of stacks are the same calls. Parents come before their children. */
struct profile_call {
	uint32_t frame;
	uint32_t parent; /* PROFILE_NONE: it is outermost */
};

struct profile_stack {
	uint64_t number; /* in the analysis */
	uint32_t call;	 /* the innermost */
};

struct profile_thread {
	uint32_t pid, tid;
	char name[16];	  /* "": not known */
	char process[16]; /* process name, "" if not known */
	uint64_t faults;
	bool ended; /* the tid may belong to another thread by now */
};

/* Faulted memory: a file, or anonymous memory. */
struct profile_target {
	uint64_t inode;
	uint32_t dev;
	uint32_t generation; /* inode generation, 0 if not known */
	const char *path;    /* at the latest fault, NULL without a generation */
	char *name;
};

struct profile_sample {
	uint64_t start_ns, duration_ns;
	uint64_t address, page;		/* page in the file, 0 without a file */
	uint32_t stack, thread, target; /* indexes */
	uint8_t class;			/* enum fault_class */
	bool major, write, kernel;
	bool by_perf; /* whether it is a write is not known */
};

/* All samples with the same stack, thread, target and class. */
struct profile_sum {
	uint32_t stack, thread, target;
	uint8_t class;
	uint64_t faults, total_ns;
};

struct profile {
	/* Complete after profile_finish(). */
	struct profile_function *functions;
	struct profile_frame *frames;
	struct profile_object *objects;
	struct profile_call *calls;
	struct profile_stack *stacks;
	struct profile_thread *threads;
	struct profile_target *targets;
	struct profile_sample *samples; /* ordered by thread, then by start */
	struct profile_sum *sums;
	size_t nr_functions, nr_frames, nr_objects, nr_calls, nr_stacks, nr_threads, nr_targets;
	size_t nr_samples, nr_sums;
	uint64_t start_ns, end_ns; /* start of the first fault, end of the last fault */
	/* While it is built. */
	struct analysis *analysis;
	struct profile_index *index;
};

/* The analysis must live until profile_finish(). Returns 0 or -ENOMEM. */
int profile_init(struct profile *profile, struct analysis *analysis);
/* All zero has nothing to free. */
void profile_exit(struct profile *profile);

/* An explain_sink. */
int profile_add_fault(void *profile, const struct explained *fault);
/* Call it after the analysis has the item, which then has emitted the thread's last faults. */
int profile_add_item(struct profile *profile, const struct item *item);
/* Names everything, and adds up. Call it after the analysis has the names of the code. */
int profile_finish(struct profile *profile);

#endif
