/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mappings that processes and their descendants make, as perf reports them: one event and
 * one buffer for each CPU.
 */
#ifndef PFSTAT_USER_PERF_MAPS_H
#define PFSTAT_USER_PERF_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/item.h"
#include "util/why.h"

struct code_files;
struct perf_maps;

/* One thread may watch while another drains. All else is for one thread at a time. */

/* Receives one mapping, which is valid only during the call. 0 or a negative errno. */
typedef int (*maps_sink)(void *context, const struct item_map *map);

/* On failure returns a negative errno, and `why` is one clause with the reason and the remedy. */
int perf_maps_open(struct perf_maps **maps, struct why *why);
void perf_maps_close(struct perf_maps *maps);

/*
 * Watches a process and the processes it forks from now on. With @existing, the next
 * perf_maps_drain() first passes the present mappings, with ns = 0. -ESRCH: it is gone.
 */
int perf_maps_watch(struct perf_maps *maps, pid_t pid, bool existing);
/*
 * Opens the code files in existing mappings, while pfdrive has all privileges, and before the first
 * drain.
 */
void perf_maps_see_code(struct perf_maps *maps);
/*
 * Sets the advice for existing mappings, before they are drained for the first time.
 * @states: as from fault_source_ops.mappings, and sorted here.
 */
void perf_maps_set_advice(struct perf_maps *maps, struct pfstat_mapping *states, size_t nr);
/* The files whose code they execute. */
const struct code_files *perf_maps_code_files(const struct perf_maps *maps);

/* Readable when a buffer is half full, and several times a second. */
int perf_maps_fd(const struct perf_maps *maps);
/*
 * Passes the mappings recorded before the call to the sink, in time order. A mapping made at the
 * same moment may come with the next call although it is a little older than the last one in this
 * call. Returns the sink's first error.
 */
int perf_maps_drain(struct perf_maps *maps, maps_sink sink, void *context);

/* Records from any process that found no room in a buffer so far, or COUNT_NA if not known. */
uint64_t perf_maps_lost(const struct perf_maps *maps);
/*
 * CPUs that came online later. Each gets a buffer at the next drain, if pfdrive still has the
 * privilege. Earlier mappings made there are missing, and are not in perf_maps_lost().
 */
unsigned int perf_maps_late_cpus(const struct perf_maps *maps);
/* Stops recording. The records so far can still be drained. */
void perf_maps_stop(struct perf_maps *maps);

#endif
