/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the table printer. Each returns 0 or a negative errno. */
#ifndef PFSTAT_USER_TABLE_H
#define PFSTAT_USER_TABLE_H

#include <stdio.h>

#include "report/view.h"

/* The machine, and the state that the run was measured under. */
int table_environment(FILE *out, const struct report *run);

/* The table of the page-fault study, its figure 1. */
int table_study(FILE *out, const struct view *view);

/* All tables of one run but that of its environment. */
int table_run(FILE *out, const struct view *view);

/* Logical faults by class, and the parts of their time. */
int table_parts(FILE *out, const struct view *view);
int table_requests(FILE *out, const struct report *run);
int table_readahead(FILE *out, const struct report *run);
int table_evictions(FILE *out, const struct report *run);

/* The steps of a drive; nothing when it only read. */
bool table_has_steps(const struct report *run);
int table_steps(FILE *out, const struct report *run);
/* Of several runs with the same steps: mean ± standard deviation. */
int table_steps_spread(FILE *out, const struct view *views, size_t nr);

/* A line: the module's own cost. */
void table_cost(FILE *out, const struct report *run);

/* A line: there is no such thing, and why there was no eBPF. */
void table_no_bpf(FILE *out, const struct report *run, const char *what);

int table_ledger(FILE *out, const struct ledger *ledger);

/* Of a report that is grouped. */
int table_groups(FILE *out, const struct view *view);

/* Of runs that had competitors, one or more: means and standard deviations. */
int table_competition(FILE *out, const struct view *views, size_t nr);

/* Several runs: the study's table of each, then means and standard deviations. */
int table_repeats(FILE *out, const struct view *views, size_t nr);

/*
 * One line in capitals for everything that makes the figures less than whole.
 * number: which of several runs, from 1; 0: the only one.
 */
void table_warnings(FILE *out, const struct view *view, size_t number);

#endif
