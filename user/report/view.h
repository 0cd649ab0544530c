/* SPDX-License-Identifier: GPL-2.0-only */
/* Questions about a filled report. */
#ifndef PFSTAT_USER_VIEW_H
#define PFSTAT_USER_VIEW_H

#include "report/report.h"

/* A larger unaccounted share causes a warning. */
#define VIEW_RESIDUE_MAX 0.02

struct spread {
	double mean;
	double stddev; /* sample standard deviation (divisor n - 1), 0 for one value */
};

/* pfstat's cost in a run, from the calibration before it. */
struct own_cost {
	double call_ns;	  /* extra time for a wrapped call, NAN if n/a */
	double inside_ns; /* the part within the call's own measured time */
	double total_ns;  /* for all calls */
	/* The cost of counting all faults, by eBPF or the module, and with perf's counters. */
	double hooked_ns; /* extra time for a fault with a module-wrapped call */
	double again_ns;  /* extra time for each restart of such a fault, NAN if n/a */
	double other_ns;  /* extra time for another fault, which sends an event */
	/*
	 * For all faults that were counted. If again_ns is n/a, a restart costs as much as a fault.
	 */
	double bpf_total_ns;
	/*
	 * The cost as one figure: the time added by the instruments in use to all threads' faults,
	 * without system calls and sleeps, and this figure's share of the fault time. The share of
	 * the elapsed time would depend on how long the threads were idle.
	 */
	double added_ns;
	double added_share;
	const char *missing; /* why added_ns is NAN, one clause, or else NULL */
};

struct own_cost view_own_cost(const struct report *run);

/* NAN if nothing was counted, or if the count is unknown. */
double view_mean_ns(const struct class_figures *figures);
double view_share(uint64_t part, uint64_t whole);

/* NAN if one of the values is NAN. */
struct spread view_spread(const double *values, size_t nr);

bool view_is_drive(const struct report *run);
/* True if the call records come from eBPF, not from the module. */
bool view_source_is_bpf(const struct report *run);
/* One line with the source's limits, or NULL because the module has none. */
const char *view_source_note(const struct report *run);
bool view_source_is_perf(const struct report *run);

/* True if the process is pfdrive as the instrument, and not as the recorded program. */
bool view_cpu_task_is_own(const struct cpu_task_row *row);
/* How long pfdrive ran, at least, on a CPU for which threads waited in faults. */
uint64_t view_own_ran_ns(const struct report *run);

/* True if eBPF had the hook. Without it, a part or a class of faults cannot be measured. */
bool view_has_hook(const struct report *run, enum bpf_hook hook);
/* Why it is not known which pages were evicted and read again, or NULL if it is known. */
const char *view_lacks_evictions(const struct report *run);
bool view_part_known(const struct report *run, enum part part);
bool view_class_known(const struct report *run, enum fault_class class);

/* The unaccounted share of the total fault time, NAN if n/a. */
double view_residue_share(const struct report *run);
/*
 * The share of the total fault time spent waiting for a CPU, if it is large enough for a warning. 0
 * if it is smaller, or n/a.
 */
double view_noise_share(const struct report *run);
/* Events, and fault records of the module, that found no room, or COUNT_NA. */
uint64_t view_events_lost(const struct report *run);
/* False if only hooked files, or faults outside system calls, are seen. */
bool view_sees_all_faults(const struct report *run);
/* How many faults may be missing, as far as it is known. */
uint64_t view_faults_lost(const struct report *run);
/*
 * How many faults the kernel counted for the program without an event of perf: those in
 * get_user_pages(), and a user's in system calls. 0 if they are few, or not known.
 */
uint64_t view_faults_unseen(const struct report *run);
/* True if perf did not see all faults: the kernel ended its events when a process executed. */
bool view_perf_ended(const struct report *run);
/* True if events were lost, so that time counted as on the CPU may be off-CPU time. */
bool view_cpu_at_most(const struct report *run);

#define VIEW_CPU_TASK 160
/* "NAME (pid N)". Returns @text, of VIEW_CPU_TASK bytes. */
const char *view_cpu_task_name(char *text, const struct cpu_task_row *row);

#define VIEW_WAKER 160
/* "NAME (tid N)", "thread N", "a kernel thread (tid N)". Returns @text, of VIEW_WAKER bytes. */
const char *view_waker_name(char *text, const struct lock_waker_row *row);
/* "CALL()", "system call N", or "" if no call is known. Returns @text, of VIEW_WAKER bytes. */
const char *view_waker_call(char *text, const struct report *run, uint32_t doing);

/* The part with the largest share of the group's time. */
enum part view_main_part(const struct group *group);

/* The read-ahead for a mapping's group. NULL or COUNT_NA if not known. */
const char *view_advice_name(const struct group *group);
uint64_t view_ra_bytes(const struct report *run, const struct group *group);
uint64_t view_mmap_miss(const struct group *group);
/* What comes before a list of figures that the source does not have. */
const char *view_missing(const struct report *run);
const char *view_group_name(enum group_by by);

/*
 * A system call's name on the measured machine, which may have another architecture than this one.
 * A 32-bit call's name ends in " (32-bit)". Freed by the caller. NULL if unknown.
 */
char *view_syscall_name(const struct report *run, uint32_t number);

/* The number in its table, without PFSTAT_SYSCALL_COMPAT. */
uint32_t view_syscall_index(uint32_t number);

/* A system call's number there, or below 0 if that architecture does not have it. */
int view_syscall_number(const struct report *run, const char *name);

#endif
