/* SPDX-License-Identifier: GPL-2.0-only */
/* What a folder is on, in which files are measured. */
#ifndef PFSTAT_USER_BENCH_FOLDER_H
#define PFSTAT_USER_BENCH_FOLDER_H

#include "bench/core/operation.h"

struct bench_folder {
	const char *directory;	/* NULL: none was named */
	char filesystem[32];	/* ext4, nfs4, …; "": n/a */
	char device[64];	/* the disk below it; "": n/a, or there is none */
	/* Why files are not read around the page cache; "": they are. */
	char no_direct[BENCH_WHY];
};

/* By a file that is made there, and read with O_DIRECT. */
void bench_folder_read(struct bench_folder *facts, const char *directory);

#endif
