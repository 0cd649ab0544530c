/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run as an object: a drive, or a recording of any program. The session fills it. Printers only
 * read it and compute nothing. Each prints some of the sub-objects. Strings may be empty and
 * numbers may be COUNT_NA. Both print as "n/a", never as 0.
 */
#ifndef PFSTAT_USER_REPORT_H
#define PFSTAT_USER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/accounts/cachegrind.h"
#include "analyze/accounts/hw_counts.h"
#include "analyze/accounts/ledger.h"
#include "analyze/accounts/rusage_check.h"
#include "analyze/analysis.h"
#include "analyze/class_faults.h"
#include "analyze/contents.h"
#include "analyze/groups/groups.h"
#include "analyze/pages/readahead.h"
#include "analyze/shaping_calls.h"
#include "analyze/fault/summary.h"
#include "model/counters.h"
#include "model/environment.h"
#include "system/map_list.h"

/* A drive's steps, in this order. */
enum step { STEP_POPULATE, STEP_MEMSET, STEP_MSYNC, STEP_ACCESS, NR_STEPS };

#define STEP_NAMES { "populate", "memset", "msync", "access" }

struct step_figures {
	bool made;
	uint64_t elapsed_ns;
	uint64_t bytes; /* COUNT_NA: n/a */
	struct usage usage;
};

/* Known only for a drive. */
struct report_drive {
	uint64_t pages_touched; /* distinct pages visited by the pattern */
	uint64_t pages_written; /* how many of these pages it writes */
	struct step_figures steps[NR_STEPS];
	unsigned int repeat; /* 1 … repeats */
	unsigned int repeats;
};

struct report_time {
	uint64_t elapsed_ns; /* for the access loop or the recording */
	uint64_t counted_ns; /* all counted time, including the steps before the loop */
};

/* pfstat's own cost, see struct run_counters. */
struct report_cost {
	uint64_t calls; /* wrapper calls counted by the module */
	uint64_t call_cost_ps;
	uint64_t inside_ps;
	bool subtract; /* print class times minus inside_ps for each call */
	uint64_t bpf_hooked_ps, bpf_again_ps, bpf_other_ps;
	/*
	 * Counted by eBPF: faults on hooked files, restarts of these faults, and returns for other
	 * files.
	 */
	uint64_t bpf_hooked, bpf_again, bpf_other;
};

/* The measurements eBPF was able to make. */
struct report_bpf {
	bool known;	   /* false: parts, off-CPU times and requests are n/a */
	char missing[256]; /* the reason, as one clause */
	uint32_t hooks;	   /* bit mask of 1 << enum bpf_hook: hooks that were attached */
	/* perf is the source: kernel faults in system calls are not seen. */
	bool user_only;
	char waits_missing[160]; /* perf: why the kernel stacks of sleeps are not known, or "" */
	bool have_counts;	 /* eBPF's own counts and the system calls are known */
	uint64_t off_cpu_count;	 /* off-CPU intervals seen by eBPF */
	/* The module counted all faults, or else eBPF did, for this reason (a clause). */
	bool module_faults;
	char module_faults_missing[160];
};

/* Losses. Each makes other figures too low. */
struct report_losses {
	/* how the recording is damaged, as one clause, NULL if not damaged */
	const char *damage;
	uint64_t records; /* records lost in the module's rings */
	uint64_t faults;  /* faults_lost and faults_unwatched in struct run_counters */
	uint64_t unwatched;
	uint64_t events;	 /* events of any type, and system calls, lost by eBPF */
	uint64_t events_skipped; /* how many of these were lost because no program ran */
	uint64_t forgotten;	 /* see perf_forgotten in struct run_counters */
	/* perf_ended and perf_ended_name there: no fault after it is known. */
	uint64_t ended;
	char ended_name[16];
	/* perf: the threads with the most lost samples, which are among the events. */
	struct perf_lost_rows threads;
	bool unsettled; /* as in struct run_counters, like the following */
	uint64_t partial;
	struct perf_lost_rows partial_threads;
	/* Events sent by eBPF and received. A difference is an error. */
	uint64_t events_sent, events_received;
	uint64_t maps_late_cpus; /* as in struct run_counters */
	uint64_t maps;		 /* mappings lost by perf or the analysis, with their names */
	uint64_t names_left_out; /* code names missing in the recording */
};

struct report_syscalls {
	const struct syscall_row *rows; /* sorted by total time, longest first */
	size_t nr;
};

/* Logical faults. */
struct report_faults {
	struct fault_figures classes[NR_FAULT_CLASSES], all;
	bool parts_known;
	bool has_spans; /* the items describe each handle_mm_fault(), if all faults are counted */
};

/* File pages. */
struct report_pages {
	uint64_t untracked; /* requests for files beyond eBPF's limit, COUNT_NA if not known */
	struct readahead_figures readahead;
	struct evictions_figures evictions;
	struct evictions_pair *pairs; /* most pages first, freed by report_exit() */
	size_t nr_pairs;
};

/* Of the watched cgroup; see struct run_counters. */
struct report_memory {
	uint64_t limit, peak; /* bytes; COUNT_NA: not known */
};

/* A call that shapes mappings, the caller's name, and the file in its range. */
struct report_call {
	struct shaping_call sum; /* without a symbol */
	char *caller;		 /* "(not known)" if sum.place is 0 */
	char *file;		 /* "": none */
};

struct report_calls {
	struct report_call *rows; /* by first call, freed by report_exit() */
	size_t nr;
	uint64_t left_out; /* calls without a row */
};

/* The faults by file, mapping, thread or place in the code, costliest group first. */
struct report_groups {
	bool wanted;
	enum group_by by;
	struct group *rows; /* freed by report_exit() */
	size_t nr;
};

/* All groups of each dimension, costliest first. None if the analysis did not group by it. */
struct report_places {
	struct group *rows; /* freed by report_exit() */
	size_t nr;
};

/* The verdict's dimensions, by which record and report always group. */
#define REPORT_PLACES \
	(1U << GROUP_BY_FILE | 1U << GROUP_BY_VMA | 1U << GROUP_BY_THREAD | 1U << GROUP_BY_CODE)

/* Kernel stacks for sleeps in faults, longest first. report_exit() frees them. */
struct report_waits {
	struct wait_row *rows;
	size_t nr;
	uint64_t unknown_ns; /* see struct waits */
};

/*
 * The processes that had a CPU while threads waited for it in faults, the one that ran longest
 * first. report_exit() frees them.
 */
struct report_cpu_tasks {
	struct cpu_task_row *rows;
	size_t nr;
};

/*
 * Sleeps for mmap_lock before or in a fault, by the thread that passed the lock on, the longest
 * first. report_exit() frees the rows.
 */
struct report_mmap_lock {
	struct lock_waker_row *rows;
	size_t nr;
	uint64_t sleeps, total_ns; /* also without a row, beyond the limit */
	uint64_t in_faults_ns;	   /* the part of total_ns in the faults' time */
};

/* One of the longest faults, which the analysis owns. */
struct report_slow {
	const struct slow_fault *slow;
	struct slow_names names;
};

/* Longest first. report_exit() frees them. */
struct report_slowest {
	bool wanted;	   /* a text report has them, in place of the tables */
	uint64_t start_ns; /* CLOCK_MONOTONIC at the run's start, COUNT_NA if not known */
	struct report_slow *rows;
	size_t nr;
};

struct view;
struct json_t;

/* Figures added to a report by a study, and their printers. */
struct report_study {
	/* A section after the other tables. Returns 0 or a negative errno. */
	int (*print_table)(FILE *out, const struct view *views, size_t nr);
	/* The member "competition" in the JSON report, NULL without memory. */
	struct json_t *(*json)(const struct report_study *study);
	/* The same, only numbers varying between runs. */
	struct json_t *(*json_figures)(const struct report_study *study);
	void (*free)(struct report_study *study);
};

/* A run's optional figures, filled by the session at the user's request. */
struct report_extras {
	bool print_usage, print_syscalls; /* print as tables; JSON always has them */
	struct usage_line usage[USAGE_NR];
	struct syscall_total *syscalls; /* freed by report_exit() */
	size_t nr_syscalls;
	/* NULL: not requested. */
	const struct hw_counts *counters;
	const struct cache_simulation *simulation;
	const struct map_list *maps;
	const struct report_study *study; /* NULL: there was none */
};

/* Settings whose faults are predicted, see predict/. They are for all recorded files. */
enum predicted_setting {
	PREDICTED_RECORDED,
	PREDICTED_NORMAL, /* with read-ahead, also if the recording had none */
	PREDICTED_RANDOM,
	PREDICTED_NO_READAHEAD,
	PREDICTED_READAHEAD_32K,
	PREDICTED_READAHEAD_512K,
	PREDICTED_READAHEAD_2M,
	NR_PREDICTED_SETTINGS
};

#define PREDICTED_SETTING_NAMES                                                            \
	{ "as recorded",      "MADV_NORMAL",	   "MADV_RANDOM",	"read_ahead_kb 0", \
	  "read_ahead_kb 32", "read_ahead_kb 512", "read_ahead_kb 2048" }

struct predicted_faults {
	bool known, timed;
	uint64_t major, read_bytes;
	double total_ns, error_ns; /* two standard errors; only if timed */
};

struct report {
	struct environment environment;
	struct report_drive drive;
	struct report_time time;
	struct usage usage;
	struct report_bpf bpf;
	struct report_losses losses;
	struct report_cost cost;
	const struct summary *summary; /* call summary */
	struct report_faults faults;
	struct ledger ledger;
	struct report_pages pages;
	struct report_memory memory;
	struct cgroup_limits cgroup; /* see struct run_counters */
	struct exact_reach exact;
	struct block_figures blocks;
	struct report_syscalls syscalls;
	struct report_groups groups;
	struct report_places places[NR_GROUP_BY];
	struct evidence_figures evidence;
	struct report_slowest slowest;
	struct longest_names longest; /* for evidence.tail.longest: those of the first in slowest */
	struct contents_figures contents;
	struct report_waits waits;
	struct report_cpu_tasks cpu_tasks;
	struct report_mmap_lock mmap_lock;
	struct report_calls calls;
	struct predicted_faults predicted[NR_PREDICTED_SETTINGS];
	bool full;	  /* a text report has all tables, also empty ones */
	unsigned int top; /* rows printed for groups and system calls, 0 for all */
	struct report_extras extras;
};

#define REPORT_TOP 20

/* Sets every figure to unknown, the run to number 1 of 1, and the groups to none. */
void report_init(struct report *report);
void report_exit(struct report *report);

/*
 * Fills the report from a run's analysis and counters. Both must outlive the report, because it
 * points to the summary and to the system calls. If the counters do not know eBPF, report->bpf is
 * not changed: the recording may lack the end, which holds the counters. Returns 0 or -ENOMEM.
 */
int report_fill(struct report *report, const struct analysis *analysis,
		const struct run_counters *counters);

#endif
