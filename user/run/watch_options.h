/* SPDX-License-Identifier: GPL-2.0-only */
/* Options for watching a program, shared by record and top. */
#ifndef PFSTAT_USER_WATCH_OPTIONS_H
#define PFSTAT_USER_WATCH_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "collect/fault_source.h"
#include "run/watch.h"

/* The option --source: which fault source supplies the records. */

/* A row for a struct argp_option table. */
#define SOURCE_OPTION(key, group)                                                 \
	{ "source",                                                               \
	  key,                                                                    \
	  "module|ebpf|perf",                                                     \
	  0,                                                                      \
	  "record with the pfstat module, with eBPF alone, or whole faults with " \
	  "perf, which needs no privilege (default: the first that works)",       \
	  group }

const struct fault_source_ops *source_option_parse(const struct argp_state *state,
						   const char *text);
/* Exits with STATUS_USAGE if the source, or NULL, cannot be used with the other options. */
void source_option_check(const struct argp_state *state, const struct fault_source_ops *source,
			 bool bpf, bool fault_around);

/* bpf and fault_around on, no target. */
void watch_options_init(struct watch_options *options);

/*
 * A child of a command's argp. Its input is a struct watch_options. The words after the options, or
 * after --, are the command. It exits with STATUS_USAGE if the options contradict each other.
 */
extern const struct argp watch_argp;

#endif
