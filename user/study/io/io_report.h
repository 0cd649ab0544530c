/* SPDX-License-Identifier: GPL-2.0-only */
/* What every way took, in every state of the cache; and its printers. */
#ifndef PFSTAT_USER_IO_REPORT_H
#define PFSTAT_USER_IO_REPORT_H

#include <stdio.h>

#include "study/io/io_files.h"
#include "study/io/io_pass.h"

/* One way in one state of the cache. */
struct via_row {
	struct way way;
	enum via_cache cache;
	unsigned int nr_files;
	uint64_t bytes;			/* of each */
	struct pass *passes;		/* bare: as many as there are repeats */
	unsigned int nr_passes;
	struct pass watched;
	const struct report *seen;	/* in the watched one */
};

struct via_report {
	struct environment environment;	/* the machine, the disk below the files */
	const char *folder;
	unsigned int nr_files;
	uint64_t file_bytes;
	const struct via_row *rows;
	unsigned int nr_rows;
};

/* MiB/s of a pass: its bytes in the time of its phases. */
double via_rate(const struct via_row *row, const struct pass *pass);
/* System calls of the watched pass, without the instrument's own; COUNT_NA: n/a. */
uint64_t via_syscalls(const struct report *seen);
/* By how much watching made the pass longer, against the mean of the bare ones; NAN: n/a. */
double via_overhead(const struct via_row *row);

/* Each returns 0 or a negative errno. */
int via_table(FILE *out, const struct via_report *report);
int via_json(FILE *out, const struct via_report *report);

#endif
