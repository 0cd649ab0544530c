/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counts, times and quantiles of a run's calls, by class. explain.c adds each record, and the
 * reports read the figures. Pure: no I/O, no clock, no globals. Memory does not grow with the
 * number of records.
 */
#ifndef PFSTAT_USER_SUMMARY_H
#define PFSTAT_USER_SUMMARY_H

#include <stdint.h>

#include <pfstat/record.h>

#include "analyze/fault/attempt_chain.h"
#include "util/statistics.h"

struct class_figures {
	uint64_t count; /* attempts */
	uint64_t total_ns;
	uint64_t off_cpu_ns; /* share of total_ns, if the off-CPU intervals are known */
	uint64_t max_ns;
	uint64_t p50_ns; /* within 0.1 %, see quantile_of() */
	uint64_t p99_ns;
};

struct summary_figures {
	struct class_figures classes[PFSTAT_NR_CLASSES];
	uint64_t calls;	  /* records seen: the sum of all class counts */
	uint64_t retried; /* calls returning RETRY, except passes */
	uint64_t faults;  /* completed chains: the module's logical faults */
	uint64_t major;	  /* among faults, those the kernel counts in majflt */
	uint64_t sequels; /* page_mkwrite calls belonging to the fault before them */
	uint64_t late;	  /* records arriving out of time order */
	/* Chains whose next attempt never came: a signal, or another thread mapped the page. */
	uint64_t unfinished;
	/* Records whose off_cpu_ns is a lower bound, see off_cpu_queue_count(). */
	uint64_t off_cpu_partial;
};

/* All zero is an empty one. */
struct summary {
	struct {
		struct quantiles quantiles;
		uint64_t total_ns;
		uint64_t off_cpu_ns;
	} classes[PFSTAT_NR_CLASSES];
	struct attempt_chain_counts chains;
	uint64_t calls, retried, late, off_cpu_partial;
};

void summary_exit(struct summary *summary);
/*
 * Adds a record, which was off-CPU for off_cpu_ns. Returns 0, -ENOMEM, or -EINVAL for a class
 * unknown to this version. The caller counts chains, late and partial records.
 */
int summary_add(struct summary *summary, const struct pfstat_record *record, uint64_t off_cpu_ns);

void summary_figures(const struct summary *summary, struct summary_figures *figures);
/* Computes the figures for several classes as one (a column in the study). */
void summary_combine(const struct summary *summary, const enum pfstat_class *classes,
		     unsigned int nr_classes, struct class_figures *figures);

#endif
