/* SPDX-License-Identifier: GPL-2.0-only */
/* A nameless file for one operation, with all blocks allocated and in the state that it needs. */
#ifndef PFSTAT_USER_BENCH_FILE_H
#define PFSTAT_USER_BENCH_FILE_H

#include "bench/suite/core/operation.h"

/*
 * Each function returns a negative errno on errors, with bench_refuse() unless noted.
 *
 * Returns the descriptor for a new file in the operation's folder. The file is written page by
 * page, so kernels with large folios cache it in small ones.
 */
int bench_file_make(struct bench *bench, uint64_t bytes);
/* The same in any folder, without bench_refuse(). */
int bench_file_make_in(const char *directory, uint64_t bytes);
/* From now on reads bypass the page cache (O_DIRECT). */
int bench_file_set_direct(struct bench *bench, int fd);
/* Drops all pages from the page cache. None may be mapped. */
int bench_file_cool(struct bench *bench, int fd, uint64_t bytes);
/* Reads all pages into the page cache. */
int bench_file_warm(struct bench *bench, int fd, uint64_t bytes);

#endif
