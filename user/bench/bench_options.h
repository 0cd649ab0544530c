/* SPDX-License-Identifier: GPL-2.0-only */
/* What the command line asks of pfdrive bench. */
#ifndef PFSTAT_USER_BENCH_OPTIONS_H
#define PFSTAT_USER_BENCH_OPTIONS_H

#include "bench/core/operation.h"
#include "report/report.h"

struct bench_command {
	struct bench_options options;
	enum report_format format;
	const char *predict;	/* a file; NULL: none */
	const char *json;	/* NULL: no file */
	const char *report;	/* likewise */
	const char *plot;	/* a folder; likewise */
	bool list;
	bool serve;		/* be the peer, measure nothing */
	const char *serve_address;	/* NULL: 127.0.0.1 */
	bool watch;		/* false: --no-bpf */
	char **names;
	size_t nr_names;
	const char *measuring;	/* what --list and --serve have no use for; NULL: nothing */
	const char *measuring_dashes;	/* before it: "--", or nothing */
};

/* Ends the program with STATUS_USAGE and a sentence when it does not understand. */
void bench_options_parse(struct bench_command *command, int argc, char **argv);

#endif
