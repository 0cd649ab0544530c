/* SPDX-License-Identifier: GPL-2.0-only */
/* The pfdrive bench command line. */
#ifndef PFSTAT_USER_BENCH_OPTIONS_H
#define PFSTAT_USER_BENCH_OPTIONS_H

#include <argp.h>

#include "bench/suite/core/operation.h"
#include "print/print_report.h"
#include "report/report.h"

struct bench_command {
	struct bench_options options;
	enum report_format format;
	const char *predict; /* file, or NULL if not given */
	const char *json;    /* file, or NULL if not given */
	const char *report;  /* file, or NULL if not given */
	const char *plot;    /* folder, or NULL if not given */
	bool list;
	bool serve;		   /* serve as the peer, without measuring */
	const char *serve_address; /* NULL: 127.0.0.1 */
	bool watch;		   /* with eBPF, or false with --no-bpf */
	char **names;
	size_t nr_names;
	const char *measuring;	      /* last argument refused by --list and --serve, or NULL */
	const char *measuring_dashes; /* prefix before it: "--" or "" */
};

extern const struct argp bench_argp;
/* Exits with STATUS_USAGE and a message on errors. */
void bench_options_parse(struct bench_command *command, int argc, char **argv);

#endif
