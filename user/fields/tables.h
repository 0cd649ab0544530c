/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The structs with rows of fields. The rows of each are beside the struct or its printer, and the
 * JSON schema has a definition made from each.
 */
#ifndef PFSTAT_USER_TABLES_H
#define PFSTAT_USER_TABLES_H

#include "fields/fields.h"

#define FIELD_TABLES(TABLE)     \
	TABLE(activity)         \
	TABLE(cgroup_limits)    \
	TABLE(cgroup_memory)    \
	TABLE(contents)         \
	TABLE(counter_figures)  \
	TABLE(counters)         \
	TABLE(cpu_task)         \
	TABLE(cpu_waits)        \
	TABLE(evictions_pair)   \
	TABLE(evictions_sum)    \
	TABLE(exact_reach)      \
	TABLE(groups)           \
	TABLE(handler)          \
	TABLE(ledger)           \
	TABLE(longest_fault)    \
	TABLE(mechanisms)       \
	TABLE(mmap_lock)        \
	TABLE(parts)            \
	TABLE(process_maps)     \
	TABLE(readahead)        \
	TABLE(reclaims)         \
	TABLE(requests)         \
	TABLE(shaping_calls)    \
	TABLE(simulated_caches) \
	TABLE(slowest)          \
	TABLE(standstill)       \
	TABLE(syscall_total)    \
	TABLE(tail)             \
	TABLE(usage)            \
	TABLE(usage_figures)    \
	TABLE(verdict)          \
	TABLE(waits)

#define TABLE_DECLARE(name) extern const struct fields name##_fields;
#define TABLE_ADDRESS(name) &name##_fields,

FIELD_TABLES(TABLE_DECLARE)

#endif
