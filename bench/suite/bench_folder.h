/* SPDX-License-Identifier: GPL-2.0-only */
/* The file system and the disk of a folder with measured files. */
#ifndef PFSTAT_USER_BENCH_FOLDER_H
#define PFSTAT_USER_BENCH_FOLDER_H

#include "bench/suite/core/operation.h"
#include "util/why.h"

struct bench_folder {
	const char *directory; /* NULL: not used */
	char filesystem[32];   /* ext4, nfs4, …, or "" if n/a */
	char device[64];       /* the disk below, or "" if n/a or none */
	/* Why O_DIRECT does not work there, or "" if it works. */
	struct why no_direct;
};

/* Makes a file there and reads it with O_DIRECT. @directory: may be NULL */
void bench_folder_read(struct bench_folder *facts, const char *directory);

#endif
