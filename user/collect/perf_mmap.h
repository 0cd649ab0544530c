/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mappings that processes and their descendants make, as perf reports them: one event and
 * one buffer for each CPU.
 */
#ifndef PFSTAT_USER_PERF_MMAP_H
#define PFSTAT_USER_PERF_MMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/item.h"

struct code_files;
struct perf_maps;

/* One thread may watch while another drains; all else is for one thread at a time. */

/* Takes one mapping, which is only there during the call. 0 or a negative errno. */
typedef int (*maps_sink)(void *context, const struct item_map *map);

/* On failure a negative errno and in `why` what is wrong and what to do, one clause. */
int perf_maps_open(struct perf_maps **maps, char *why, size_t size);
void perf_maps_close(struct perf_maps *maps);

/*
 * A process and what it forks from now on; existing: also the mappings that it has now, with
 * ns = 0, which the next perf_maps_drain() hands over first. -ESRCH: it is gone, if existing.
 */
int perf_maps_watch(struct perf_maps *maps, pid_t pid, bool existing);
/* The files whose code they execute. */
const struct code_files *perf_maps_code_files(const struct perf_maps *maps);

/* Readable when a buffer is half full, and several times a second. */
int perf_maps_fd(const struct perf_maps *maps);
/*
 * Hands over what was told before the call, in time order. A mapping that is made at
 * the same moment may come with the next call though it is a little older than the last
 * of this one. The sink's first error.
 */
int perf_maps_drain(struct perf_maps *maps, maps_sink sink, void *context);

/* Records, of any process, that found no room in a buffer so far; COUNT_NA: not known. */
uint64_t perf_maps_lost(const struct perf_maps *maps);
/* No more are told; what was told stays to be drained. */
void perf_maps_stop(struct perf_maps *maps);

#endif
