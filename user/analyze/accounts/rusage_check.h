/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares getrusage(2) figures with eBPF's view of the same, and gives reasons for differences.
 * The two measure at different places. Each line names the source for eBPF's figure.
 */
#ifndef PFSTAT_USER_RUSAGE_CHECK_H
#define PFSTAT_USER_RUSAGE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/counters.h"

/* The figures computed by the analysis, as sums over the events. */
struct usage_seen {
	uint64_t voluntary, preempted; /* off-CPU intervals */
	uint64_t off_cpu_ns;
	uint64_t bytes_read, bytes_written; /* in block requests */
	uint64_t elapsed_ns;
	bool one_thread; /* elapsed_ns - off_cpu_ns is the thread's CPU time */
};

enum usage_name {
	USAGE_UTIME,
	USAGE_STIME,
	USAGE_CPU, /* both, not in struct rusage */
	USAGE_MAXRSS,
	USAGE_MINFLT,
	USAGE_MAJFLT,
	USAGE_INBLOCK,
	USAGE_OUBLOCK,
	USAGE_NVCSW,
	USAGE_NIVCSW,
	USAGE_SYSCALLS, /* not a member either */
	USAGE_NR
};

struct usage_line {
	const char *name; /* utime, … */
	const char *key;  /* in JSON, with the unit */
	const char *unit;
	uint64_t rusage, ebpf; /* COUNT_NA: n/a */
	const char *source;    /* origin of eBPF's figure, or why there is none */
	const char *reason;    /* for a difference, NULL if none is known */
};

void rusage_check_compare(struct usage_line lines[USAGE_NR], const struct run_counters *counters,
			  const struct usage_seen *seen);

/* Computes rusage - ebpf. False if either is n/a. */
bool rusage_check_difference(const struct usage_line *line, int64_t *difference);

/* System calls by name, over all results, as `strace -c' counts them. */

struct syscall_total {
	uint32_t number;
	uint64_t calls, errors, total_ns;
};

/*
 * Adds the rows up by number, longest first. At equal times the smaller number is first. The caller
 * frees *totals, which is NULL if there are no rows. Returns 0 or -ENOMEM.
 */
int syscall_totals(const struct syscall_row *rows, size_t nr_rows, struct syscall_total **totals,
		   size_t *nr);
struct syscall_total syscall_totals_sum(const struct syscall_total *totals, size_t nr);

#endif
