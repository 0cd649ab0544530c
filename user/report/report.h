/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run as an object: a drive, or a recording of any program. The session fills it;
 * printers only read it, each the sub-objects that it prints, and compute nothing.
 * Strings may be empty and numbers may be COUNT_NA; both print as "n/a", never as 0.
 */
#ifndef PFSTAT_USER_REPORT_H
#define PFSTAT_USER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/accounts/cache_simulation.h"
#include "analyze/accounts/hw_counts.h"
#include "analyze/accounts/ledger.h"
#include "analyze/accounts/rusage_check.h"
#include "analyze/accounts/syscall_totals.h"
#include "analyze/analysis.h"
#include "analyze/groups/groups.h"
#include "analyze/pages/competition.h"
#include "analyze/pages/readahead.h"
#include "analyze/summary.h"
#include "model/counters.h"
#include "model/environment.h"
#include "system/vma_kind.h"

/* The steps of a drive, in this order. */
enum step { STEP_POPULATE, STEP_MEMSET, STEP_MSYNC, STEP_ACCESS, NR_STEPS };

#define STEP_NAMES { "populate", "memset", "msync", "access" }

struct step_figures {
	bool made;
	uint64_t elapsed_ns;
	uint64_t bytes; /* COUNT_NA: n/a */
	struct usage usage;
};

/* Known only of a drive. */
struct report_drive {
	uint64_t pages_touched; /* distinct pages that the pattern visits */
	uint64_t pages_written; /* of these, the ones that it stores to */
	struct step_figures steps[NR_STEPS];
	unsigned int repeat; /* 1 … repeats */
	unsigned int repeats;
};

struct report_time {
	uint64_t elapsed_ns; /* of the access loop; of the recording */
	uint64_t counted_ns; /* of all that is counted: the steps before the loop, too */
};

/* The cost of pfstat itself; see struct run_counters. */
struct report_cost {
	uint64_t calls; /* wrapper calls, as the module counted them */
	uint64_t call_cost_ps;
	uint64_t inside_ps;
	bool subtract; /* print the classes without inside_ps of each call */
	uint64_t bpf_hooked_ps, bpf_again_ps, bpf_other_ps;
	/* As eBPF counted: faults of hooked files, those begun again, returns of others. */
	uint64_t bpf_hooked, bpf_again, bpf_other;
};

/* The reach of eBPF. */
struct report_bpf {
	bool known;		/* false: parts, off-CPU times and requests are n/a */
	char missing[256];	/* why, one clause */
	uint32_t hooks;		/* 1 << enum bpf_hook: those that it had */
	bool have_counts;	/* its own counts, and system calls, are known */
	uint64_t off_cpu_count; /* off-CPU intervals that it saw */
};

/* Losses, by which the other figures are too low. */
struct report_losses {
	const char *damage;	 /* one clause: the recording is not whole; NULL: it is */
	uint64_t records;	 /* in the module's rings */
	uint64_t events;	 /* events of any type and system calls that eBPF lost */
	uint64_t events_skipped; /* of these, no program ran for */
	/* Others: how many eBPF sent, and how many arrived. They differ only by an error. */
	uint64_t events_sent, events_received;
	uint64_t maps;		 /* mappings that perf or the analysis lost, with their names */
	uint64_t names_left_out; /* names of code that are not in the recording */
};

struct report_syscalls {
	const struct syscall_row *rows; /* by total time, longest first */
	size_t nr;
};

/* Logical faults. */
struct report_faults {
	struct fault_figures classes[NR_FAULT_CLASSES], all;
	bool parts_known;
};

/* Pages of files. */
struct report_pages {
	struct readahead_figures readahead;
	struct evictions_figures evictions;
	struct evictions_pair *pairs; /* most pages first; report_exit() frees */
	size_t nr_pairs;
};

/* Where the faults belong, costliest first. */
struct report_groups {
	bool wanted;
	enum group_by by;
	struct group *rows; /* report_exit() frees */
	size_t nr;
};

/* Further figures of a run, if they are asked for; the session fills them. */
struct report_extras {
	bool print_usage, print_syscalls; /* as tables; JSON has them always */
	struct usage_line usage[USAGE_NR];
	struct syscall_total *syscalls; /* report_exit() frees */
	size_t nr_syscalls;
	/* NULL: not asked for. */
	const struct hw_counts *counters;
	const struct cache_simulation *simulation;
	const struct map_list *maps;
	const struct competition *competition;
};

struct report {
	struct environment environment;
	struct report_drive drive;
	struct report_time time;
	struct usage usage;
	struct report_bpf bpf;
	struct report_losses losses;
	struct report_cost cost;
	const struct summary *summary; /* of calls */
	struct report_faults faults;
	struct ledger ledger;
	struct report_pages pages;
	struct block_figures blocks;
	struct report_syscalls syscalls;
	struct report_groups groups;
	unsigned int top; /* rows of groups, and of a table's system calls; 0: all */
	struct report_extras extras;
};

#define REPORT_TOP 20

/* Everything unknown; the first of one run, and no groups. */
void report_init(struct report *report);
void report_exit(struct report *report);

/*
 * Fills the report from the analysis and the counters of a run. Both must outlive it, because
 * it points to the summary and the system calls. report->bpf stays as it is when the
 * counters do not know eBPF: the end of a recording, with the counters, may be missing.
 * 0 or -ENOMEM.
 */
int report_fill(struct report *report, const struct analysis *analysis,
		const struct run_counters *counters);

#endif
