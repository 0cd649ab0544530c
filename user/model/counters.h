/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of a run beside its items: counts that the kernel, the module
 * and eBPF kept, each from its own place. A recording carries it (recording/),
 * the ledger compares it. What could not be had is COUNT_NA and prints "n/a".
 */
#ifndef PFSTAT_USER_COUNTERS_H
#define PFSTAT_USER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "model/usage.h"

#define COUNT_NA UINT64_MAX

/* Optional hooks of eBPF: a bit each in counters.hooks. */
enum bpf_hook {
	HOOK_WAKEUP,	   /* sched_waking: the run-queue part */
	HOOK_BLOCK_INSERT, /* the queue part */
	HOOK_BLOCK,	   /* issue and completion: the device part */
	HOOK_FAULT,	   /* handle_mm_fault: the kernel's own count */
	HOOK_SWAP,	   /* do_swap_page: tells swap-ins from other */
	HOOK_WP,	   /* do_wp_page: tells copies on write */
	HOOK_PAGE_DELETE,  /* mm_filemap_delete_from_page_cache: what became of pages read */
	HOOK_SWAP_IO,	   /* swap cache and reads: who swapped out whose pages */
	NR_HOOKS
};

#define HOOK_NAMES \
	{ "wakeup", "block_insert", "block", "fault", "swap", "wp", "page_delete", "swap_io" }

struct syscall_row {
	uint32_t number;
	uint32_t error;			   /* 0, or an errno */
	struct pfstat_syscall_value value; /* summed over CPUs */
};

/* Pages that a process made leave for swap, and that were read again. */
struct swap_row {
	struct pfstat_swap_pair pair;
	char evictor_name[16]; /* "": not known */
	char owner_name[16];
	uint64_t pages;
};

struct run_counters {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC, of the watched part */
	/* Since when all is counted: a drive's steps before the accesses. COUNT_NA: start_ns. */
	uint64_t counts_start_ns;
	bool hooked_only; /* nothing but hooked files was touched: the driver's own loop */
	bool edges;	  /* it ran on while the watching began and ended */
	/* The module's. */
	uint64_t calls;	       /* wrapper calls counted */
	uint64_t lost;	       /* of these, not stored */
	uint64_t call_cost_ps; /* its own cost, by its calibration: that a call takes longer */
	uint64_t inside_ps;    /* of that, what lies within the time of the call */
	/* eBPF's; without it have_bpf is false and the rest is meaningless. */
	bool have_bpf;
	char bpf_missing[256]; /* why, one clause */
	bool have_advice;      /* calls of madvise(2) are among the events */
	uint32_t hooks;	       /* 1 << enum bpf_hook: attached */
	/* What it and perf's counters add to a fault, in picoseconds, as pfdrive measured. */
	uint64_t bpf_hooked_ps; /* where the module wraps the call */
	uint64_t bpf_again_ps;	/* there, each time that the kernel begins it again */
	uint64_t bpf_other_ps;	/* where not: an event is sent */
	uint64_t counts[PFSTAT_NR_COUNTS];
	/* Events that pfdrive read; counts[PFSTAT_COUNT_EVENTS] were sent. */
	uint64_t events_received;
	uint64_t events_skipped; /* of EVENTS_LOST: where the kernel left out a program */
	struct pfstat_fault_value faults[PFSTAT_NR_FAULT_INDICES];
	uint64_t task_minor, task_major; /* the tasks' own counts, with HOOK_FAULT */
	struct syscall_row *syscalls; /* by total time, longest first; run_counters_exit() frees */
	size_t nr_syscalls;
	/* Of the whole machine, with HOOK_SWAP_IO. */
	struct pfstat_swap_counts swap;
	struct swap_row *swap_rows; /* run_counters_exit() frees */
	size_t nr_swap_rows;
	/* getrusage(2), or /proc for a running process: of all that was watched. */
	struct usage usage;
	/* perf_event_open(2), PERF_TYPE_SOFTWARE. */
	uint64_t perf_faults, perf_minor, perf_major;
	uint64_t maps_lost;	 /* mappings that perf had no room to tell of */
	uint64_t names_left_out; /* names of code that the recording had no room for */
};

/* Everything COUNT_NA or empty. */
void run_counters_init(struct run_counters *counters);
void run_counters_exit(struct run_counters *counters);

/* Of counts, any of which may be unknown: then the sum is. */
uint64_t count_sum(uint64_t a, uint64_t b);
/* Of handle_mm_fault(), as eBPF counted, from wherever it was called. COUNT_NA: unknown. */
uint64_t run_counters_returns(const struct run_counters *counters, enum pfstat_fault_kind kind,
			      enum pfstat_fault_outcome outcome);

#endif
