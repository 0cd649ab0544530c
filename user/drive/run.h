/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One measured run of this program's own accesses: the `pfdrive run' arguments, the plan and the
 * result.
 */
#ifndef PFSTAT_USER_RUN_H
#define PFSTAT_USER_RUN_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "print/print_report.h"
#include "report/report.h"
#include "run/result.h"
#include "system/cpus.h"
#include "util/subcommand.h"
#include "workload/mapping.h"
#include "workload/pattern.h"
#include "workload/workload.h"

/* The `pfdrive run' options. */

struct fault_source_ops;

struct options {
	const char *file; /* NULL if the workload has private memory */
	struct workload workload;
	struct pattern pattern;
	const char *pattern_text;
	uint64_t accesses; /* 0: as many as the file has bytes */
	uint64_t seed;
	uint64_t ring_size; /* bytes, 0 for the module's default */
	bool warm;
	bool have_cache; /* --cache was given */
	bool fault_around;
	const struct fault_source_ops *source; /* NULL: the default */
	bool bpf;
	bool subtract; /* the module's share in the times */
	bool full;     /* print all tables */
	unsigned int repeats;
	int cpu; /* -1: any */
	struct extras_options extras;
	enum report_format format;
	const char *json;   /* NULL: no file */
	const char *record; /* NULL: none */
};

/* The `pfdrive run' arguments, shared by the other commands making accesses. */

void run_arguments_init(struct options *options);
/*
 * A parser to be the only child of a command's argp. Its input is a struct options. The parser
 * exits with STATUS_USAGE if it does not understand an argument, or if two do not go together.
 */
extern const struct argp run_arguments_argp;

/* One measured run of this program's own accesses: from the plan to the result. */

/*
 * A load on the machine during the accesses, such as processes competing for memory. The functions
 * are called in this order. Those returning an int return STATUS_OK, or the exit status after a
 * message. After end() nothing moves while it is counted. close() leaves nothing.
 */
struct run_load {
	int (*enter)(struct run_load *load); /* before the page cache is prepared */
	int (*begin)(struct run_load *load); /* the mapping is hooked */
	void (*go)(struct run_load *load);   /* the accesses begin */
	int (*end)(struct run_load *load);
	int (*close)(struct run_load *load);
};

struct run_plan {
	const struct options *options;
	const struct pattern *pattern; /* fitted to the file */
	struct mapping *mapping;       /* open, not mapped */
	const char *name;	       /* folder, for sentences */
	struct run_load *load;	       /* NULL: nothing */
	const struct policy *policy;   /* applied when the accesses start, NULL if none */
	const struct cpus *cpus;       /* where pfdrive may run, except for the accesses */
	unsigned int number;	       /* of this run, from 1 */
	bool last;		       /* no other run follows */
	explain_sink listener;	       /* receives every logical fault, NULL if none */
	void *listener_context;
};

/* STATUS_OK, or the exit status after a message. The result must be freed in any case. */
int run_once(const struct run_plan *plan, struct result *result);

extern const struct subcommand run_command;

/*
 * The phases of a run's workload in this thread: populate, memset, msync, access. Each phase lies
 * between two getrusage(2) calls.
 */

struct extras;

struct phase_marks {
	bool made;
	struct rusage before, after;
	uint64_t start_ns, end_ns;
};

struct phases {
	struct phase_marks marks[NR_STEPS];
	volatile enum step now; /* for the message after a SIGBUS */
};

#endif
