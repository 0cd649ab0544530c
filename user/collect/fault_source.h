/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Supplies a struct pfstat_record for every call from the memory manager into a watched mapping's
 * file operations. The collector and the instruments use only this interface.
 *
 *	open, use_events, then hook a file or follow processes, then start (the rings exist from the
 *	first target on), then read the rings, then stop, then counters, then close
 *
 * A source supplies one ring per CPU. record_ring.h reads the rings from any source. All functions
 * return 0 or a negative errno. Those with @why also store a clause for the user, with the reason
 * and the remedy.
 */
#ifndef PFSTAT_USER_FAULT_SOURCE_H
#define PFSTAT_USER_FAULT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pfstat/event.h>

#include "collect/record_ring.h"
#include "model/item.h"
#include "util/why.h"

struct fault_source_options {
	uint64_t ring_size; /* bytes, 0 for the source's default */
	bool fault_around;
	int only_fd; /* only this file's mappings, or -1 for any */
	bool stacks; /* the user stack for each fault, if the source itself can record it */
};

/* COUNT_NA: not known. */
struct fault_source_counters {
	uint64_t calls;	       /* since the source was opened */
	uint64_t lost;	       /* among these, not stored */
	uint64_t call_cost_ps; /* see struct run_counters */
	uint64_t inside_ps;
	/* Records for faults without a call, which are passed as events: stored, and lost. */
	uint64_t events, events_lost;
};

/* Each source embeds it at the start of a larger struct. */
struct fault_source {
	const struct fault_source_ops *ops;
	struct record_ring *rings; /* from start to close */
	unsigned int nr_rings;
};

/* Receives a hooked mapping's state. Returns 0 or a negative errno. */
typedef int (*fault_source_sink)(void *context, const struct pfstat_mapping *mapping);

struct events;

/* The handle_mm_fault() counts so far. */
struct fault_source_faults {
	struct pfstat_fault_value values[PFSTAT_NR_FAULT_INDICES];
	struct pfstat_missed missed;
	uint64_t stored;	  /* PFSTAT_OP_MM_FAULT records */
	uint64_t lost;		  /* such records */
	uint64_t unwatched;	  /* faults, and children, that could not be watched */
	bool has_swap, has_write; /* swap-ins and copies on write are told apart */
};

/*
 * A source may count all faults in some threads itself, as eBPF does, and record the faults not
 * covered by another record. 0 or a negative errno.
 */
struct fault_source_fault_ops {
	/* After open. On failure why is one clause with the reason. */
	int (*take)(struct fault_source *source, struct why *why);
	/* Others may attach to handle_mm_fault() from now on, even without an earlier take(). */
	int (*drop)(struct fault_source *source);
	/* A tid, or a tgid. */
	int (*watch)(struct fault_source *source, pid_t id, enum pfstat_target how);
	int (*ignore)(struct fault_source *source, pid_t id);
	/*
	 * Mappings with the same ->fault as this process's mapping there count as hooked. NULL:
	 * undo.
	 */
	int (*imitate)(struct fault_source *source, const volatile void *address);
	/* Drops all records and counts so far. Before start. */
	int (*clear)(struct fault_source *source);
	int (*read)(const struct fault_source *source, struct fault_source_faults *faults);
};

struct run_counters;
struct code_files;

/*
 * A source that supplies all items itself: faults, off-CPU intervals, tasks and mappings. Such a
 * source has no rings, and the instruments open neither eBPF nor perf's mappings.
 */
struct fault_source_stream_ops {
	int (*fd)(const struct fault_source *source); /* readable if items wait */
	/* Passes the items up to a time, in time order. UINT64_MAX: the last ones. */
	int (*drain)(struct fault_source *source, uint64_t until_ns, item_sink sink, void *context);
	const struct code_files *(*code_files)(const struct fault_source *source);
	/*
	 * Opens the code files that processes mapped before follow(). Call before the first drain.
	 */
	void (*see_code)(struct fault_source *source);
	/* Known after the first target: faults of the kernel in system calls are not seen. */
	bool (*user_only)(const struct fault_source *source);
	/* Known after the first target: 1 << enum bpf_hook for what the source sees. */
	uint32_t (*hooks)(const struct fault_source *source);
	/* The source's counts so far. After stop, the kernel's counts too. */
	int (*fill)(const struct fault_source *source, struct run_counters *counters);
	/* A thread in this process, which is recorded from begin to end. */
	int (*hold_thread)(struct fault_source *source, pid_t tid);
	int (*begin_thread)(struct fault_source *source);
	int (*end_thread)(struct fault_source *source);
};

struct fault_source_ops {
	const char *name; /* in sentences: "the module" */
	const char *word; /* for --source, in a recording and in JSON: "module" */
	const struct fault_source_stream_ops *stream; /* NULL: it has rings */
	const struct fault_source_fault_ops *faults;  /* NULL: it cannot */
	int (*open)(struct fault_source **source, const struct fault_source_options *options,
		    struct why *why);
	/* After the programs are loaded. NULL: the source needs no eBPF. */
	int (*use_events)(struct fault_source *source, struct events *events, struct why *why);
	/* This process's mappings of the file open as fd. */
	int (*hook_file)(struct fault_source *source, int fd, const char *path, struct why *why);
	/* No mapping: only_fd is a file not mapped by this process. */
	int (*hook_nothing)(struct fault_source *source, struct why *why);
	/* A process, and its children from now on. `existing`: the program is already running. */
	int (*follow)(struct fault_source *source, pid_t pid, bool existing, struct why *why);
	int (*start)(struct fault_source *source);
	/* The ->fault address in hooked VMAs, by which eBPF recognises their faults. */
	int (*wrapper)(const struct fault_source *source, uint64_t *address);
	/* The state of each currently hooked mapping. NULL: the source hooks none. */
	int (*mappings)(const struct fault_source *source, fault_source_sink sink, void *context);
	/* Nothing is recorded after it. */
	int (*stop)(struct fault_source *source);
	/*
	 * From any thread. An error is about calls and lost. A cost may be unknown without an
	 * error.
	 */
	int (*counters)(const struct fault_source *source, struct fault_source_counters *counters);
	void (*close)(struct fault_source *source);
};

#endif
