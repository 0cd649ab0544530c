/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counts, times and quantiles of a run by class. Pure: no I/O, no clock, no globals. Its
 * input is records and off-CPU intervals. Memory is bounded: it grows with the number of
 * threads, never with the number of records.
 */
#ifndef PFSTAT_USER_SUMMARY_H
#define PFSTAT_USER_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>
#include <pfstat/record.h>

struct class_figures {
	uint64_t count; /* attempts */
	uint64_t total_ns;
	uint64_t off_cpu_ns; /* share of total_ns, if the off-CPU intervals are known */
	uint64_t max_ns;
	uint64_t p50_ns; /* within 0.1 %, see quantile.h */
	uint64_t p99_ns;
};

struct summary_figures {
	struct class_figures classes[PFSTAT_NR_CLASSES];
	uint64_t calls;	  /* records seen: the sum of all classes' counts */
	uint64_t retried; /* calls that returned RETRY and are not passes */
	uint64_t faults;  /* completed chains: the module's logical faults */
	uint64_t major;	  /* of these, those that the kernel counts in majflt */
	uint64_t sequels; /* page_mkwrite calls that are a part of the fault before them */
	uint64_t late;	  /* records that arrived out of time order */
	/* Chains whose next attempt never came: a signal, or another thread mapped the page. */
	uint64_t unfinished;
	/* Records whose off_cpu_ns is a lower bound, see record_off_cpu.h. */
	uint64_t off_cpu_partial;
};

struct summary;

/* Returns NULL without memory. */
struct summary *summary_new(uint64_t page_bytes);
void summary_free(struct summary *summary);

/*
 * Adds items in time order for each thread: first the off-CPU intervals up to some moment, then
 * the records that ended before it. Returns 0, -ENOMEM, or -EINVAL for a class that this version
 * does not know.
 */
int summary_add_off_cpu(struct summary *summary, const struct pfstat_off_cpu *interval);
int summary_add_record(struct summary *summary, const struct pfstat_record *record);

/* A handle_mm_fault() of the thread returned that no record describes. */
void summary_end_attempt(struct summary *summary, uint32_t tid);

/* Drops the state of an exited thread, because its number may be reused. */
void summary_end_thread(struct summary *summary, uint32_t tid);

void summary_figures(const struct summary *summary, struct summary_figures *figures);
/* Computes the figures of several classes as one (a column of the study). */
void summary_combine(const struct summary *summary, const enum pfstat_class *classes,
		     unsigned int nr_classes, struct class_figures *figures);

#endif
