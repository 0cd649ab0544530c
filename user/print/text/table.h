/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of the text report. Each function returns 0 or a negative errno. */
#ifndef PFSTAT_USER_TABLE_H
#define PFSTAT_USER_TABLE_H

#include <stdio.h>

#include "print/view_run.h"

/* The verdict, without a heading. */
int table_verdict(FILE *out, const struct view *view);

/* The machine, and the machine's state during the run. */
int table_environment(FILE *out, const struct report *run);

/* The table in the page-fault study, figure 1. */
int table_study(FILE *out, const struct view *view);

/* Three rows each for the classes, the files or mappings, and the threads with most time. */
int table_short_where(FILE *out, const struct view *view);

/* All tables of one run except the environment. */
int table_run(FILE *out, const struct view *view);
/* The tables and lines in the short report, without those that would be empty. */
int table_short_run(FILE *out, const struct view *view);

/* The calls by class, as the module counts them. */
int table_classes(FILE *out, const struct view *view);

/* Logical faults by class, and the parts of their time. */
int table_parts(FILE *out, const struct view *view);
/* Prints nothing if no fault has such a figure. */
void table_contents(FILE *out, const struct report *run);
/* The same without the classes and the small parts. */
int table_parts_all(FILE *out, const struct view *view);
/* Kernel stacks for sleeps in faults. The short form has one line for each of the longest. */
int table_waits(FILE *out, const struct report *run);
void table_guest_line(FILE *out, const struct report *run);
int table_handlers(FILE *out, const struct report *run);
/* Lines about sleeps for mmap_lock, and the threads that passed the lock on. */
void table_lock_notes(FILE *out, const struct report *run);
void table_waits_short(FILE *out, const struct report *run);
/* Words of a kernel stack, innermost first: "a < b < ...", as many as fit into the bytes. */
void table_waits_functions(char *text, size_t size, const char *functions);
/*
 * The longest faults: first a table, then each fault with its parts, sleeps and requests. Sentences
 * are wrapped to the columns.
 */
int table_slowest(FILE *out, const struct view *view, size_t columns);
/* The percentiles for whole faults by class. The line has the tail over all faults. */
int table_tail_percentiles(FILE *out, const struct report *run);
void table_tail_line(FILE *out, const struct report *run);
int table_parts_requests(FILE *out, const struct report *run);
int table_parts_readahead(FILE *out, const struct report *run);
int table_evictions(FILE *out, const struct report *run);
/* Prints nothing if no fault waited for a reclaimed page. */
int table_more_memory(FILE *out, const struct report *run);
int table_calls(FILE *out, const struct report *run);

/* A drive's steps. table_steps_exist() is false if the drive only read. */
bool table_steps_exist(const struct report *run);
int table_steps(FILE *out, const struct report *run);

/* Prints a line that is made by @print, wrapped to the page. */
int table_wrapped(FILE *out, const struct report *run,
		  void (*print)(FILE *out, const struct report *run));

/* One line with the module's own cost. */
void table_cost(FILE *out, const struct report *run);
/* The cost as one figure, without the line end. */
void table_cost_sum(FILE *out, const struct report *run);

/* One line with the missing kind of figures and the reason why eBPF did not run. */
void table_no_bpf(FILE *out, const struct report *run, const char *what);

int table_ledger(FILE *out, const struct ledger *ledger);

/* Only for a report with groups. */
int table_groups(FILE *out, const struct view *view);

/* For one or more runs with competitors. Several runs give means and standard deviations. */

/* For several runs: the study's table for each run, then means and standard deviations. */
int table_repeats(FILE *out, const struct view *views, size_t nr);

/*
 * Prints one line in capitals for each reason why the figures are incomplete. @number: the run's
 * number, from 1, or 0 for the only run.
 */
void table_warnings(FILE *out, const struct view *view, size_t number);

#endif
