/* SPDX-License-Identifier: GPL-2.0-only */
/* A file of the benchmark's own, of pages that are all there, which nobody else sees. */
#ifndef PFSTAT_USER_BENCH_FILE_H
#define PFSTAT_USER_BENCH_FILE_H

#include "bench/core/operation.h"

/*
 * Its descriptor; it has no name any more. It was written page by page, so that kernels
 * with large folios have it in small ones. Negative errno, and why is said.
 */
int bench_file_make(struct bench *bench, uint64_t bytes);
/* The same without a benchmark: in any folder, and nothing is said. */
int bench_file_make_in(const char *directory, uint64_t bytes);
/* Its file is read around the page cache from here on. Likewise. */
int bench_file_set_direct(struct bench *bench, int fd);
/* None of its pages in the page cache; they must not be mapped. Likewise. */
int bench_file_cool(struct bench *bench, int fd, uint64_t bytes);
/* All of its pages in the page cache. Likewise. */
int bench_file_warm(struct bench *bench, int fd, uint64_t bytes);

#endif
