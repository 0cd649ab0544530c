/* SPDX-License-Identifier: GPL-2.0-only */
/* The times of each method in each cache state, and their printers. */
#ifndef PFSTAT_USER_IO_REPORT_H
#define PFSTAT_USER_IO_REPORT_H

#include <stdio.h>

#include "bench/io/io_files.h"
#include "bench/io/io_pass.h"

/* One method in one cache state. */
struct io_row {
	struct io_method method;
	enum io_cache cache;
	unsigned int nr_files;
	uint64_t bytes;		/* per file */
	struct io_pass *passes; /* bare: as many as there are repeats */
	unsigned int nr_passes;
	struct io_pass watched;
	const struct report *seen; /* in the watched one */
};

struct io_report {
	struct environment environment; /* the machine, the disk below the files */
	const char *folder;
	unsigned int nr_files;
	uint64_t file_bytes;
	const struct io_row *rows;
	unsigned int nr_rows;
};

/* MiB/s in a pass: the bytes divided by the phase time. */
double io_report_rate(const struct io_row *row, const struct io_pass *pass);
/* System calls in the watched pass, without the instrument's own. COUNT_NA: n/a. */
uint64_t io_report_syscalls(const struct report *seen);
/* How much longer watching made the pass, compared with the mean bare pass. NAN: n/a. */
double io_report_overhead(const struct io_row *row);

/* Each returns 0 or a negative errno. */
int io_table(FILE *out, const struct io_report *report);
int io_json(FILE *out, const struct io_report *report);

#endif
