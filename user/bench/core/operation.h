/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations of the system that are measured from outside. An operation is one struct
 * in one file (op_*.c), listed in op_registry.h; how often it runs, for how long, and what
 * is made of the times is the framework's.
 *
 *	registry → plan: rows → worker: a process a row, pinned, that prepares, calibrates,
 *	                        warms up, repeats (bench_measure.c) → statistics → predictions
 *	                      → witness: once more, watched by eBPF and the module
 */
#ifndef PFSTAT_USER_OPERATION_H
#define PFSTAT_USER_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/core/formula.h"
#include "bench/core/judge.h"
#include "system/cpus.h"

enum bench_unit {
	BENCH_NS,	/* an operation */
	BENCH_MBS,	/* 10^6 bytes a second */
	BENCH_BYTES,
};

struct bench_options {
	bool quick;
	bool huge_pages;
	int cpu;		/* to stay on; -1: the last one allowed */
	const char *directory;	/* for files of its own */
	const char *nfs;	/* likewise, over the network; NULL: none */
	const char *peer;	/* NULL: loopback alone */
	const char *port;	/* there */
};

/* What is known of the machine before anything is measured. */
struct bench_machine {
	struct cpus cpus;	/* where pfdrive may run */
	unsigned int nr_cpus;
	int cpu;		/* of rows that stay on one */
	double cycle_ns;	/* of the TSC; NAN: it cannot be read */
	uint64_t memory_bytes;
	uint64_t available_bytes;	/* to file pages, as the kernel thinks: see machine.c */
	uint64_t room_bytes;	/* what a benchmark may take: a quarter, less where less is free */
	uint64_t cache_bytes[3];	/* L1d, L2, L3 as hwloc says; 0: none or not known */
	uint64_t line_bytes;		/* likewise */
};

/* What happened between bench_start() and bench_stop(), summed over all of them. */
struct bench_window {
	uint64_t ns, cycles;	/* of the TSC; 0 where it cannot be read */
	uint64_t brackets;
	struct bench_counts usage;	/* getrusage(2): this process's; system calls are n/a */
};

struct bench;

struct bench_operation {
	const char *name;
	enum bench_unit unit;
	const char *title;	/* what one operation is */
	const char *method;	/* how it is measured, one sentence */
	/* Formulas, see formula.h; NULL: none. `point` is the number in the point's name. */
	const char *hardware;
	const char *prediction;
	const char *subtract;	/* from each run */
	struct bench_claim claim;
	double own_share;	/* of the claim's events, what getrusage(2) sees; 0: all */
	/* An operation at several sizes, …: how many; 0: there is but one, without a name. */
	size_t (*nr_points)(const struct bench_machine *machine,
			    const struct bench_options *options);
	void (*name_point)(const struct bench_machine *machine, const struct bench_options *options,
			   size_t point, char *name, size_t size);
	bool anywhere;		/* its threads are not kept on one CPU */
	bool over_nfs;		/* its files are in the folder of --nfs */
	bool of_faults;		/* its time is that of page faults: the kernel's goes beside it */
	/* In a process of its own. Negative errno, having said why with bench_refuse(). */
	int (*prepare)(struct bench *bench);
	/* n operations, the timed part within bench_start() … bench_stop(). */
	int (*run)(struct bench *bench, uint64_t n);
	void (*finish)(struct bench *bench);
	/* Instead of the functions: derived.c computes the value from this operation's rows. */
	const char *derived_from;
};

/* One operation being measured, in its own process. */
struct bench {
	const struct bench_operation *operation;
	const struct bench_options *options;
	const struct bench_machine *machine;
	size_t point;
	void *state;			/* the operation's */
	/* Moved by one operation, of a BENCH_MBS; what a run came to, of a BENCH_BYTES. */
	uint64_t bytes;
	struct bench_window window;
	struct bench_counts before;	/* of the bracket */
	uint64_t start_ns, start_cycles;
	char *why;			/* BENCH_WHY bytes */
	/* Around each timed part of an operation that is watched; else NULL. */
	void (*at_bracket)(void *context, bool starts);
	void *bracket_context;
};

#define BENCH_WHY 256

/* The limit that file.cache_size has itself with --quick. */
#define FILECACHE_QUICK_BYTES (32ULL << 20)

void bench_start(struct bench *bench);
void bench_stop(struct bench *bench);

/* Says why an operation cannot be had; returns err. */
int bench_refuse(struct bench *bench, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* fork(2) of a helper that ends with this process, whatever ends that. -1 and errno. */
pid_t bench_fork(void);

/* The compiler must take the value for used, and for changed. */
#define bench_use(value) __asm__ volatile("" : "+r"(value) : : "memory")

#endif
