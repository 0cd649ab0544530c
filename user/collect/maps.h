/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mappings that processes make, as perf tells them: a buffer a CPU, and no
 * mapping is asked for again. What these processes fork is watched, too.
 */
#ifndef PFSTAT_USER_MAPS_H
#define PFSTAT_USER_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../item.h"

struct maps;

/* One thread may watch while another drains; all else is for one thread at a time. */

/* Takes one mapping, which is only there during the call. 0 or a negative errno. */
typedef int (*maps_sink)(void *context, const struct item_map *map);

/* On failure a negative errno and in `why` what is wrong and what to do, one clause. */
int maps_open(struct maps **maps, char *why, size_t size);
void maps_close(struct maps *maps);

/*
 * All threads of a process; existing: also the mappings that it has now, with ns = 0,
 * which the next maps_drain() hands over first. -ESRCH: it is gone. -EMFILE: no
 * descriptors are left; only those that it has now are told. -EAGAIN: it makes threads
 * all the time; those of some are not told.
 */
int maps_watch(struct maps *maps, pid_t pid, bool existing);
/* Closes the events of threads that have ended, as all have that they made. */
void maps_forget_ended(struct maps *maps);

/* Readable when a buffer is half full, or was when maps_forget_ended() looked. */
int maps_fd(const struct maps *maps);
/*
 * Hands over what was told before the call, in time order. A mapping that is made at
 * the same moment may come with the next call though it is a little older than the last
 * of this one. The sink's first error.
 */
int maps_drain(struct maps *maps, maps_sink sink, void *context);

/* Mappings (and execs) that found no room in a buffer, so far; FACT_NONE: not to be had. */
uint64_t maps_lost(const struct maps *maps);
/* No more are told; what was told stays to be drained. */
void maps_stop(struct maps *maps);

#endif
