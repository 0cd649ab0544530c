/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * getrusage(2)'s figures beside what eBPF saw of the same, and why they differ. The
 * two measure at different places; each line says where eBPF's figure comes from.
 */
#ifndef PFSTAT_USER_RUSAGE_CHECK_H
#define PFSTAT_USER_RUSAGE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/counters.h"

/* What of it is the analysis's: sums over the events. */
struct usage_seen {
	uint64_t voluntary, preempted; /* stays off the CPU */
	uint64_t off_cpu_ns;
	uint64_t bytes_read, bytes_written; /* of block requests */
	uint64_t elapsed_ns;
	bool one_thread; /* elapsed_ns - off_cpu_ns is its time on the CPU */
};

enum usage_name {
	USAGE_UTIME,
	USAGE_STIME,
	USAGE_CPU, /* both; no member of struct rusage */
	USAGE_MAXRSS,
	USAGE_MINFLT,
	USAGE_MAJFLT,
	USAGE_INBLOCK,
	USAGE_OUBLOCK,
	USAGE_NVCSW,
	USAGE_NIVCSW,
	USAGE_SYSCALLS, /* nor this */
	USAGE_NR
};

struct usage_line {
	const char *name; /* utime, … */
	const char *key;  /* in JSON, with its unit */
	const char *unit;
	uint64_t rusage, ebpf; /* COUNT_NA: n/a */
	const char *source;    /* what eBPF's figure is, or why it has none */
	const char *reason;    /* of a difference; NULL: none is known */
};

void usage_compare(struct usage_line lines[USAGE_NR], const struct run_counters *counters,
		   const struct usage_seen *seen);

/* rusage - ebpf; false: one of them is n/a. */
bool usage_difference(const struct usage_line *line, int64_t *difference);

#endif
