/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run as an object, and its printers. The driver fills it, the printers
 * only print: no printer computes. Strings may be NULL and optional numbers
 * may be marked unknown; both print as "n/a", never as 0.
 */
#ifndef PFSTAT_USER_REPORT_H
#define PFSTAT_USER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

#include <pfstat/event.h>
#include "../correlate/facts.h"
#include "../correlate/summary.h"

/* The machine, and the state that the run was measured under. */
struct environment {
	char kernel[128];	/* uname -r */
	char machine[128];	/* CPU model */
	unsigned int cpus;	/* online */
	uint64_t memory_bytes;
	char clocksource[32];
	char virtualization[32];	/* "none", "kvm", "qemu", … or "" unknown */
	char file[4096];
	uint64_t file_bytes;
	uint64_t file_pages;
	char filesystem[32];	/* ext4, … */
	char device[64];	/* block device name, or "" where there is none */
	int64_t readahead_bytes;	/* of the device; -1: n/a */
	char cache[8];		/* cold or warm */
	uint64_t resident_pages;	/* verified with mincore before the run */
	char pattern[32];
	uint64_t accesses;
	uint64_t seed;
	int pinned_cpu;		/* -1: not pinned */
	bool fault_around;
	uint64_t fault_around_bytes;	/* the kernel's setting; 0: n/a */
	uint64_t overhead_ns;	/* reserved for the instrument's own cost; 0: n/a */
};

/* One reason for a difference between two counts, and how much it explains. */
struct difference {
	char what[96];		/* "minflt - faults" */
	int64_t amount;
	char why[160];		/* "" : unexplained, unless amount is 0 */
};

struct report {
	struct environment environment;
	const struct summary *summary;
	uint64_t elapsed_ns;	/* of the access loop */
	uint64_t calls;		/* wrapper calls, as the module counted them */
	uint64_t lost;		/* records lost in the module's rings */
	uint64_t pages_touched;	/* distinct pages that the pattern visits */
	struct rusage rusage;	/* of the thread, over the access loop */
	bool have_bpf;		/* false: off-CPU and syscalls are n/a */
	const char *bpf_missing;	/* why, one clause */
	uint64_t events_lost;	/* off-CPU events and syscalls that eBPF lost */
	uint64_t off_cpu_count;	/* stays off the CPU that eBPF saw */
	const struct syscall_row *syscalls;	/* by total time, longest first */
	size_t nr_syscalls;
	const struct difference *differences;
	size_t nr_differences;
	unsigned int repeat;	/* 1 … repeats */
	unsigned int repeats;
};

enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON };

/*
 * Prints the runs of one command to out. JSON is one object: a run's own for
 * one run, { "runs": [ … ] } for several. CSV has one header line and a line
 * a class and run. Returns 0 or a negative errno (ENOMEM, or out's error).
 */
int report_print(FILE *out, enum report_format format, const struct report *runs,
		 size_t nr_runs);

#endif
