/* SPDX-License-Identifier: GPL-2.0-only */
/* Members for logical faults in a run's JSON. NULL if there is no memory. */
#ifndef PFSTAT_USER_JSON_PARTS_H
#define PFSTAT_USER_JSON_PARTS_H

#include <jansson.h>

#include "fields/fields.h"
#include "print/view_run.h"

/* An object, and a list of @nr objects, from the rows of their struct. */
json_t *json_fields(const struct fields *fields, const struct report *run, const void *object);
json_t *json_fields_list(const struct fields *fields, const struct report *run, const void *objects,
			 size_t nr);

json_t *json_parts(const struct report *run);
/* Returns a JSON null without the hook for block requests. */
json_t *json_requests(const struct report *run);
/* Returns a JSON null if the part runqueue is not known. */
json_t *json_cpu_waits(const struct report *run);
json_t *json_cpu_limit(const struct report *run);
/* The processes that had a CPU before waits for it. */
json_t *json_cpu_tasks(const struct report *run);
/* The sleeps for mmap_lock, and the threads that passed it on. */
json_t *json_mmap_lock(const struct report *run);
/* A waker's system call (enum pfstat_waker), or a JSON null. */
json_t *json_waker_call(const struct report *run, uint32_t doing);
/* Returns a JSON null without the hook for reclaim. */
json_t *json_reclaims(const struct report *run);
json_t *json_waits(const struct report *run);
json_t *json_guest(const struct report *run);
json_t *json_handlers(const struct report *run);
json_t *json_readahead(const struct report *run);
/* Returns a JSON null if not all faults were counted, and for perf. NULL: no memory. */
json_t *json_contents(const struct report *run);
json_t *json_mechanisms(const struct report *run);
/* Returns a JSON null without eBPF. */
json_t *json_calls(const struct report *run);
json_t *json_evictions(const struct report *run);
/* Returns a JSON null if not requested. */
json_t *json_groups(const struct view *view);

/* The time with a fault in progress. */
json_t *json_busy(const struct report *run);
json_t *json_in_flight(const struct report *run);
json_t *json_standstill(const struct report *run);
/* The threads' active time, and the thread that spent most of its life in faults. */
json_t *json_activity(const struct report *run);
/* The long faults. */
json_t *json_tail(const struct report *run);
/* The longest faults, each with its waits. */
json_t *json_slowest(const struct report *run);
/* A list. @functions: as in struct pfstat_wait */
json_t *json_functions(const char *functions);

#endif
