/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All instruments, opened and closed together: the fault source, eBPF's programs, perf's maps
 * and counters, and the collector that merges their events into one stream.
 *
 *	open, then hook one file or follow processes, then go (the collector's
 *	thread reads), then stop (the counters), then close
 */
#ifndef PFSTAT_USER_INSTRUMENTS_H
#define PFSTAT_USER_INSTRUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/events.h"
#include "collect/fault_source.h"
#include "model/counters.h"
#include "model/item.h"
#include "system/cpus.h"
#include "util/why.h"

struct code_files;
struct instruments;

struct instruments_options {
	/* NULL: the module if it is loaded, else eBPF, else perf if that suffices. */
	const struct fault_source_ops *source;
	bool whole_faults; /* faults without their calls suffice: perf may be the source */
	bool bpf;	   /* false: bpf_missing is the reason */
	const char *bpf_missing;
	struct events_options events;
	bool maps;	  /* record process mappings */
	bool no_counters; /* perf's own fault counts are n/a */
	/* Closing does not wait until the programs are detached. Nothing is measured after it. */
	bool detach_later;
	uint64_t ring_size; /* bytes, 0 for the module's default */
	bool fault_around;
	/* The module turns it off; for another source the programs load a library. */
	bool exact;
	int only_fd; /* only this file's mappings, or -1 for any */
	item_sink sink;
	void *sink_context;
	const struct cpus *cpus;     /* where the collector's thread may run, NULL for anywhere */
	int tick_ms;		     /* -1: none */
	bool tick_drains;	     /* first passes all events up to then to the sink */
	void (*tick)(void *context); /* in the collector's thread */
	void *tick_context;
	void (*failed)(void *context); /* same thread: reading has failed, or NULL */
	void *failed_context;
};

/* All return 0, or a negative errno. On error why is one clause with the reason and the remedy. */
int instruments_open(struct instruments **instruments, const struct instruments_options *options,
		     struct why *why);
/* The opened source. */
const struct fault_source_ops *instruments_source(const struct instruments *instruments);
/* True if eBPF or perf reports off-CPU intervals and all faults. */
bool instruments_have_events(const struct instruments *instruments);
/* True if perf is the source, and does not show this user the faults in system calls. */
bool instruments_user_only(const struct instruments *instruments);
/* One clause stating why eBPF is not used, or "" if it is. */
const char *instruments_bpf_missing(const struct instruments *instruments);
/* This process's mappings of the file open as fd. */
int instruments_hook_file(struct instruments *instruments, int fd, const char *path,
			  struct why *why);
/*
 * Hooks nothing, for a run without mapped files, watched only by eBPF and the counters.
 * options.only_fd must be a file that this process does not map.
 */
int instruments_hook_nothing(struct instruments *instruments, struct why *why);
/*
 * A process and its children. `existing`: present mappings are read too. 1, and why: after
 * instruments_go() the mappings could not be read, but all else is watched.
 */
int instruments_follow(struct instruments *instruments, pid_t pid, bool existing, struct why *why);
/*
 * Opens the code files that the processes execute now, which needs more privileges than the
 * watching. Call before instruments_go().
 */
void instruments_see_code(struct instruments *instruments);
/* The files whose code the processes execute. NULL: mappings are not watched. */
const struct code_files *instruments_code_files(const struct instruments *instruments);
/* True if eBPF already watches it, as a child of a watched process. */
bool instruments_are_on(const struct instruments *instruments, pid_t pid);
int instruments_go(struct instruments *instruments, struct why *why);
/*
 * Ends the watching. All events have passed the sink. Fills in the source, eBPF and perf counts.
 * counters must be initialised. After an error, counters holds the counts that could be read, and
 * why the first reason.
 */
int instruments_stop(struct instruments *instruments, struct run_counters *counters,
		     struct why *why);
/* For callers whose output has no room for the warning. -EPROTO: events were sent and not read. */
int instruments_check_events(const struct run_counters *counters, struct why *why);
/* Mask of 1 << enum bpf_hook: eBPF's, and the source's if it counts all faults. 0 without eBPF. */
uint32_t instruments_hooks(const struct instruments *instruments);
/* Counts so far, or COUNT_NA if not known. From any thread. */
void instruments_lost(const struct instruments *instruments, uint64_t *records, uint64_t *events);
/* From now on, or no longer: pages that go to swap and come back, see counters.swap. */
void instruments_count_swap(struct instruments *instruments, bool count);
/* Reads eBPF's counters so far. @counters must be initialised. -ENODATA: eBPF is not in use. */
int instruments_counts(const struct instruments *instruments, struct run_counters *counters);
void instruments_close(struct instruments *instruments);

/*
 * For a loop in this thread, which is watched only between begin and end. hold does beforehand what
 * requires privileges. Without eBPF, begin and end only start and stop the counters.
 */
void instruments_hold_thread(struct instruments *instruments, pid_t tid);
int instruments_begin_thread(struct instruments *instruments, pid_t tid);
int instruments_end_thread(struct instruments *instruments, pid_t tid);
/* Error of the two calls above, or 0: lets the caller blame the instrument, not the loop. */
int instruments_thread_err(const struct instruments *instruments);

#endif
