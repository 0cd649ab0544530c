/* SPDX-License-Identifier: GPL-2.0-only */
/* The `pfdrive run' options. */
#ifndef PFSTAT_USER_RUN_OPTIONS_H
#define PFSTAT_USER_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "print/print_report.h"
#include "report/report.h"
#include "run/result.h"
#include "workload/pattern.h"
#include "workload/workload.h"

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

#endif
