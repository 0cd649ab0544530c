/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run as an object, and its printers: a drive, or a recording of any
 * program. Who measured fills it, the printers only print: no printer computes.
 * Strings may be empty and numbers may be marked unknown (COUNT_NA where nothing
 * else is said); both print as "n/a", never as 0.
 */
#ifndef PFSTAT_USER_REPORT_H
#define PFSTAT_USER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/accounts/ledger.h"
#include "analyze/analysis.h"
#include "analyze/groups/groups.h"
#include "analyze/pages/readahead.h"
#include "analyze/summary.h"
#include "model/counters.h"
#include "model/environment.h"
#include "model/usage.h"
#include "report/report_extras.h"

/* What a drive does one after the other, in this order. */
enum step {
	STEP_POPULATE,
	STEP_MEMSET,
	STEP_MSYNC,
	STEP_ACCESS,
	NR_STEPS
};

#define STEP_NAMES { "populate", "memset", "msync", "access" }

struct step_figures {
	bool made;
	uint64_t elapsed_ns;
	uint64_t bytes;		/* COUNT_NA: n/a */
	struct usage usage;
};

struct report {
	struct environment environment;
	const char *damage;	/* one clause: the recording is not whole; NULL: it is */
	const struct summary *summary;
	uint64_t elapsed_ns;	/* of the access loop; of the recording */
	uint64_t counted_ns;	/* of all that is counted: the steps before the loop, too */
	uint64_t calls;		/* wrapper calls, as the module counted them */
	uint64_t lost;		/* records lost in the module's rings */
	uint64_t call_cost_ps;	/* see struct run_counters */
	uint64_t inside_ps;
	uint64_t bpf_hooked_ps, bpf_again_ps, bpf_other_ps;
	/* As eBPF counted: faults of hooked files, those begun again, returns of others. */
	uint64_t bpf_hooked, bpf_again, bpf_other;
	bool subtract;		/* inside_ps of each call, in what is printed of classes */
	uint64_t pages_touched;	/* distinct pages that the pattern visits */
	uint64_t pages_written;	/* of these, the ones that it stores to */
	struct usage rusage;
	struct step_figures steps[NR_STEPS];
	bool have_bpf;		/* false: parts, off-CPU times and requests are n/a */
	char bpf_missing[256];	/* why, one clause */
	uint32_t hooks;		/* 1 << enum bpf_hook: those that eBPF had */
	bool have_counts;	/* eBPF's own counts, and system calls, are known */
	uint64_t events_lost;	/* events of any type and syscalls that eBPF lost */
	uint64_t events_skipped;	/* of these, no program ran for; COUNT_NA: not known */
	/* Others: how many eBPF sent, and how many arrived. They differ only by an error. */
	uint64_t events_sent, events_received;
	/* Mappings that perf lost, or for which the analysis had no room: their names are lost. */
	uint64_t maps_lost;
	uint64_t names_left_out;	/* names of code that are not in the recording */
	uint64_t off_cpu_count;	/* stays off the CPU that eBPF saw */
	const struct syscall_row *syscalls;	/* by total time, longest first */
	size_t nr_syscalls;
	/* Logical faults. */
	struct fault_figures faults[NR_FAULT_CLASSES], all_faults;
	bool parts_known;
	struct ledger ledger;
	struct readahead_figures readahead;
	struct blame_figures evictions;
	struct blame_pair *blame;	/* most pages first; report_exit() frees */
	size_t nr_blame;
	struct block_figures blocks;
	struct measures measures;
	/* Where they belong, costliest first. */
	bool grouped;		/* asked for */
	enum group_by by;
	unsigned int top;	/* of the groups, and of a table's system calls; 0: all */
	struct group *groups;	/* report_exit() frees */
	size_t nr_groups;
	unsigned int repeat;	/* 1 … repeats */
	unsigned int repeats;
};

#define REPORT_TOP 20

/* Everything unknown; the first of one run, and no groups. */
void report_init(struct report *report);
void report_exit(struct report *report);

/*
 * Fills in what the items and the counters of a run say. Both stay, for the summary
 * and the system calls are pointed to. have_bpf and hooks stay as they are when the
 * counters do not know eBPF: the end of a recording, with the counters, may be missing.
 * 0 or -ENOMEM.
 */
int report_fill(struct report *report, const struct analysis *analysis,
		const struct run_counters *counters);

enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON };

/*
 * Prints the runs of one command to out. JSON is one object: a run's own for
 * one run, { "runs": [ … ] } for several. CSV has one header line and a line
 * a class and run, or of one run that is grouped a line a group. Returns 0 or a
 * negative errno (ENOMEM, or out's error).
 */
int report_print(FILE *out, enum report_format format, const struct report *runs,
		 size_t nr_runs);
/*
 * Writes a report that was printed to memory. Names in it come from recordings: a table, and
 * any format on a terminal, has no character that a terminal would obey. 0 or -errno.
 */
int report_write(FILE *out, enum report_format format, const char *text, size_t length);
/* The lines that a table begins with where something is lost: nothing, mostly. */
int report_print_warnings(FILE *out, const struct report *run);

#endif
