/* SPDX-License-Identifier: GPL-2.0-only */
/* A run as the printers see it: every figure that more than one prints. */
#ifndef PFSTAT_USER_VIEW_H
#define PFSTAT_USER_VIEW_H

#include "report/report.h"

/* The columns of the page-fault study (enum pfstat_column), and their sum. */
enum study_column {
	STUDY_DISK = PFSTAT_COLUMN_DISK,
	STUDY_SHORT = PFSTAT_COLUMN_SHORT,
	STUDY_LONG = PFSTAT_COLUMN_LONG,
	STUDY_ALL = PFSTAT_NR_COLUMNS,
	STUDY_NR_COLUMNS
};

struct view {
	const struct report *run;
	struct summary_figures figures;
	struct class_figures study[STUDY_NR_COLUMNS];
	struct class_figures every; /* all classes */
	size_t nr_rows;		    /* of the report's groups, those to be printed */
	struct group left_out;	    /* the sum of the others */
};

/* Residue: more than this share makes a warning. */
#define VIEW_RESIDUE_MAX 0.02

struct spread {
	double mean;
	double stddev; /* of a sample: divided by n - 1; 0 for one value */
};

/* The share of pfstat itself in a run, from the calibration before it. */
struct own_cost {
	double call_ns;	  /* that a wrapped call takes longer; NAN: n/a */
	double inside_ns; /* of that, the part within the call's own time */
	double total_ns;  /* of all calls */
	double share;	  /* of the elapsed time */
	/* The same of eBPF, with perf's counters of faults. */
	double hooked_ns; /* a fault of which the module wraps a call takes longer */
	double again_ns;  /* that, each time that the kernel begins it again; NAN: n/a */
	double other_ns;  /* another, of which an event is sent */
	/* Of all faults that eBPF counted; one begun again is a whole one where again_ns is n/a. */
	double bpf_total_ns;
	double bpf_share;
};

struct own_cost view_own_cost(const struct report_cost *cost, const struct report_time *time);

void view_run(struct view *view, const struct report *run);

/* NAN when nothing was counted, or is unknown: it has no mean and no share. */
double view_mean_ns(const struct class_figures *figures);
double view_share(uint64_t part, uint64_t whole);

/* NAN when one of the values is. */
struct spread view_spread(const double *values, size_t nr);

bool view_is_drive(const struct report *run);

/* Without its hook of eBPF a part, or a class of faults, cannot be seen. */
bool view_has_hook(const struct report *run, enum bpf_hook hook);
bool view_part_known(const struct report *run, enum part part);
bool view_class_known(const struct report *run, enum fault_class class);

/* Of all faults' time; NAN: n/a. */
double view_residue_share(const struct report *run);
/*
 * Of all faults' time, the share that waited for a CPU, if it is large enough for a warning;
 * 0: it is not, or it is n/a.
 */
double view_noise_share(const struct report *run);
/* Events were lost: time that counts as on the CPU may have been spent off it. */
bool view_cpu_at_most(const struct report *run);

/* The part that took most of the group's time. */
enum part view_main_part(const struct group *group);

/* The names of enum part and enum group_by as they are spelled everywhere. */
const char *view_part_name(enum part part);
const char *view_group_name(enum group_by by);

/* The system call's name, to be freed; NULL: unknown to this machine. */
char *view_syscall_name(uint32_t number);

#endif
