/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A system operation measured from outside: one struct, in a file op_*.c, listed in op_registry.h.
 * The framework decides on the number and the length of the runs, and computes the statistics.
 *
 *	registry → plan: rows → worker: one pinned process per row, which prepares,
 *	                        calibrates, warms up and repeats (bench_measure.c)
 *	                      → suite: statistics → derived rows
 *	                      → witness: one more run, watched by eBPF
 *	                      → predictions → printers
 */
#ifndef PFSTAT_USER_OPERATION_H
#define PFSTAT_USER_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/suite/core/formula.h"
#include "bench/suite/core/judge.h"
#include "system/cpus.h"
#include "util/why.h"

enum bench_unit {
	BENCH_NS,  /* per operation */
	BENCH_MBS, /* 10^6 bytes per second */
	BENCH_BYTES,
};

struct bench_options {
	bool quick;
	bool huge_pages;
	int cpu;	       /* for rows that stay on one CPU, or -1 for the last allowed CPU */
	const char *directory; /* for the operations' files */
	const char *nfs;       /* the same, on NFS, or NULL if none */
	const char *peer;      /* NULL: only loopback is measured */
	const char *port;      /* on the peer */
};

/* Machine properties, read before the first row. */
struct bench_machine {
	struct cpus cpus; /* the allowed ones */
	unsigned int nr_cpus;
	int cpu;	 /* for rows staying on one */
	double cycle_ns; /* TSC cycle, or NAN if the TSC cannot be read */
	uint64_t memory_bytes;
	uint64_t available_bytes; /* for file pages, by MemAvailable or the cgroup */
	uint64_t limit_bytes;	  /* memory one operation may use */
	uint64_t cache_bytes[3];  /* L1d, L2, L3 by hwloc, or 0 if none or unknown */
	uint64_t line_bytes;	  /* by hwloc, or 0 if unknown */
};

/* Sums over all timed parts, from bench_start() to bench_stop(). */
struct bench_window {
	uint64_t ns, cycles;	   /* TSC cycles, or 0 if the TSC cannot be read */
	uint64_t brackets;	   /* number of timed parts */
	struct bench_counts usage; /* getrusage(2) for this process, without system calls */
};

struct bench;

struct bench_operation {
	const char *name;
	enum bench_unit unit;
	const char *title;  /* one operation, in words */
	const char *method; /* how it is measured, one sentence */
	/* Formulas, see formula.h, or NULL if none. `point` is the number in the point's name. */
	const char *hardware;
	const char *prediction;
	const char *subtract; /* operation whose mean is subtracted from each run */
	struct bench_claim claim;
	double own_share; /* share of claimed events seen by getrusage(2), or 0 for all */
	/* Number of points, such as sizes, or NULL for only one, without a name. */
	size_t (*nr_points)(const struct bench_machine *machine,
			    const struct bench_options *options);
	void (*name_point)(const struct bench_machine *machine, const struct bench_options *options,
			   size_t point, char *name, size_t size);
	bool anywhere;	/* not confined to one CPU */
	bool over_nfs;	/* uses files in the --nfs folder */
	bool of_faults; /* measures page faults: the kernel's own time is added */
	/* The functions run in a worker process. Negative errno, with bench_refuse(). */
	int (*prepare)(struct bench *bench);
	/* Makes n operations. The timed parts are within bench_start() … bench_stop(). */
	int (*run)(struct bench *bench, uint64_t n);
	void (*finish)(struct bench *bench);
	/* Instead of the functions: derived.c computes the value from this operation's rows. */
	const char *derived_from;
};

/* A measurement for one point in an operation, in a worker process. */
struct bench {
	const struct bench_operation *operation;
	const struct bench_options *options;
	const struct bench_machine *machine;
	size_t point;
	void *state; /* private to the operation */
	/* BENCH_MBS: bytes moved by one operation. BENCH_BYTES: a run's result. */
	uint64_t bytes;
	struct bench_window window;
	struct bench_counts before; /* at the start of the timed part */
	uint64_t start_ns, start_cycles;
	struct why *why;
	/* Called at the start and the end of each timed part. NULL unless watched. */
	void (*at_bracket)(void *context, bool starts);
	void *bracket_context;
};

/* The memory limit for file.cache_size with --quick. */
#define FILECACHE_QUICK_BYTES (32ULL << 20)

void bench_start(struct bench *bench);
void bench_stop(struct bench *bench);

/* Records why an operation cannot be measured. Returns err. */
int bench_refuse(struct bench *bench, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Forks a helper that is killed when this process exits. -1 and errno. */
pid_t bench_fork(void);

/* Makes the compiler assume the value is used and changed. */
#define bench_use(value) __asm__ volatile("" : "+r"(value) : : "memory")

const char *bench_unit_name(enum bench_unit unit);

#endif
