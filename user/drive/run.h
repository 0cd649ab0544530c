/* SPDX-License-Identifier: GPL-2.0-only */
/* One measured run of this program's own accesses: from the plan to the result. */
#ifndef PFSTAT_USER_RUN_H
#define PFSTAT_USER_RUN_H

#include "drive/run_options.h"
#include "run/result.h"
#include "system/cpus.h"
#include "util/subcommand.h"
#include "workload/mapping.h"

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

#endif
