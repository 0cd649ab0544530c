// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts a run's counters and a cgroup's limits to the JSON at the end of a recording, and back.
 * One list of names serves both directions: the reader knows every key. COUNT_NA is null.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/tables.h"
#include "model/counters.h"
#include "recording/counters_json.h"
#include "util/array.h"
#include "util/json_value.h"

static const struct field cpu_limit_rows[] = {
	FIELD(NAME, cgroup_cpu_limit, path, NULL),
	FIELD(KNOWN, cgroup_cpu_limit, quota_ns,
	      "CPU time in a period; null: changed during the run."),
	FIELD(KNOWN, cgroup_cpu_limit, period_ns, NULL),
	FIELD(KNOWN, cgroup_cpu_limit, periods, "nr_periods: the periods in which the cgroup ran."),
	FIELD(KNOWN, cgroup_cpu_limit, throttled,
	      "nr_throttled: the periods with a used-up quota."),
	FIELD(KNOWN, cgroup_cpu_limit, throttled_ns,
	      "throttled_usec: the time in which the cgroup was throttled, summed over CPUs. The "
	      "kernel adds a time when it ends."),
};

static const struct fields cpu_limit_fields = FIELDS("cgroup_cpu_limit",
						     "cpu.max, and the increase of cpu.stat.",
						     cgroup_cpu_limit, cpu_limit_rows);

static const struct field memory_limit_rows[] = {
	FIELD(NAME, cgroup_memory_limit, path, NULL),
	FIELD(KNOWN, cgroup_memory_limit, high_bytes,
	      "memory.high; null: no limit, or changed during the run."),
	FIELD(KNOWN, cgroup_memory_limit, high, NULL),
	FIELD(KNOWN, cgroup_memory_limit, max, NULL),
	FIELD(KNOWN, cgroup_memory_limit, oom_kill, NULL),
};

static const struct fields memory_limit_fields = FIELDS("cgroup_memory_limit",
							"The increase of memory.events.local.",
							cgroup_memory_limit, memory_limit_rows);

static const struct field pressure_rows[] = {
	FIELD(KNOWN, cgroup_pressure, cpu_some_ns, NULL),
	FIELD(KNOWN, cgroup_pressure, cpu_full_ns, NULL),
	FIELD(KNOWN, cgroup_pressure, memory_some_ns, NULL),
	FIELD(KNOWN, cgroup_pressure, memory_full_ns, NULL),
};

static const struct fields pressure_fields =
	FIELDS("cgroup_pressure",
	       "The increase of the totals in cpu.pressure and memory.pressure. some: time with a "
	       "waiting task. full: time in which all tasks with work waited at once. The kernel "
	       "averages both over CPUs.",
	       cgroup_pressure, pressure_rows);

FIELD_FUNCTION(bool, has_cpu_limit, cgroup_limits, it->cpu.path[0])
FIELD_FUNCTION(bool, has_memory_limit, cgroup_limits, it->memory.path[0])

static const struct field cgroup_limits_rows[] = {
	FIELD(NAME, cgroup_limits, path, "The cgroup's folder."),
	FIELD(OBJECT, cgroup_limits, cpu,
	      "The nearest cgroup, among this one and its parents, whose cpu.max was used up; if "
	      "none was, the nearest with a limit. null: none has one, or the kernel does not "
	      "count it.",
	      .of = &cpu_limit_fields, .known = has_cpu_limit),
	FIELD(OBJECT, cgroup_limits, memory,
	      "The nearest cgroup that exceeded memory.high or met memory.max. null: none did, or "
	      "the kernel does not count it.",
	      .of = &memory_limit_fields, .known = has_memory_limit),
	FIELD(OBJECT, cgroup_limits, pressure, NULL, .of = &pressure_fields),
};

const struct fields cgroup_limits_fields =
	FIELDS("cgroup_limits",
	       "All counts are for whole cgroups, including unwatched processes. null: the kernel "
	       "has no such file, or the cgroup was removed and made again during the run.",
	       cgroup_limits, cgroup_limits_rows);

json_t *cgroup_json(const struct cgroup_limits *limits)
{
	const struct fields_run no_run = { 0 };

	return limits->path[0] ? fields_json(&cgroup_limits_fields, &no_run, limits) : json_null();
}

static int cgroup_json_text(const struct field *row, char *text, const json_t *json)
{
	const char *value = json_string_value(json);

	if (!value || !value[0] || (size_t)snprintf(text, row->bytes, "%s", value) >= row->bytes)
		return -EINVAL;
	return 0;
}

static int cgroup_json_number(uint64_t *number, const json_t *json)
{
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return -EINVAL;
	*number = json_integer_value(json);
	return 0;
}

/* A missing or null member keeps its value, except for a path. */
static int cgroup_json_rows(const struct fields *fields, void *object, const json_t *json)
{
	const struct field *row;
	const json_t *value;
	char *member;
	int err = json_is_object(json) ? 0 : -EINVAL;

	for (row = fields->rows; !err && row < fields->rows + fields->nr; row++) {
		value = json_object_get(json, row->key);
		member = (char *)object + row->offset;
		if (row->type == FIELD_NAME)
			err = cgroup_json_text(row, member, value);
		else if (!value || json_is_null(value))
			continue;
		else if (row->type == FIELD_OBJECT)
			err = cgroup_json_rows(row->of, member, value);
		else
			err = cgroup_json_number((uint64_t *)member, value);
	}
	return err;
}

int cgroup_json_parse(struct cgroup_limits *limits, const json_t *json)
{
	int err;

	cgroup_limits_init(limits);
	if (!json || json_is_null(json))
		return 0;
	err = cgroup_json_rows(&cgroup_limits_fields, limits, json);
	if (err)
		cgroup_limits_init(limits);
	return err;
}

static const struct field exact_reach_rows[] = {
	FIELD(COUNT, exact_reach, programs, "Program starts that loaded the library."),
	FIELD(COUNT, exact_reach, checked,
	      "Those that ended by exit(3). The library then looks for file mappings that it does "
	      "not know."),
	FIELD(COUNT, exact_reach, not_reached,
	      "File mappings found then. Fault-around was on there: made by system calls without "
	      "libc, or by libc itself, or refused by the kernel."),
	FIELD(COUNT, exact_reach, not_reached_bytes, "Their size."),
	FIELD(COUNT, exact_reach, made_private,
	      "Read-only shared mappings that became private ones."),
	FIELD(COUNT, exact_reach, no_userfaultfd,
	      "Processes in which userfaultfd(2) failed: fault-around was on."),
	FIELD(COUNT, exact_reach, closed,
	      "Times that a program closed the library's descriptor by a system call: fault-around "
	      "was on until the next mmap()."),
};

const struct fields exact_reach_fields =
	FIELDS("exact_reach", "The library of record --exact in the recorded programs.",
	       exact_reach, exact_reach_rows);

json_t *exact_json(const struct exact_reach *reach)
{
	const struct fields_run no_run = { 0 };

	return reach->programs == COUNT_NA ? json_null() :
					     fields_json(&exact_reach_fields, &no_run, reach);
}

static int exact_json_parse(struct exact_reach *reach, const json_t *json)
{
	int err = 0;

	*reach = EXACT_REACH_NONE;
	if (json && !json_is_null(json))
		err = cgroup_json_rows(&exact_reach_fields, reach, json);
	if (err)
		*reach = EXACT_REACH_NONE;
	return err;
}

struct number {
	const char *name;
	size_t offset;
};

#define NUMBER(name) { #name, offsetof(struct run_counters, name) }
#define USAGE(name)  { #name, offsetof(struct run_counters, usage.name) }

static const struct number numbers[] = {
	NUMBER(start_ns),	NUMBER(end_ns),		NUMBER(counts_start_ns),
	NUMBER(calls),		NUMBER(lost),		USAGE(utime_ns),
	USAGE(stime_ns),	USAGE(minflt),		USAGE(majflt),
	USAGE(inblock),		USAGE(oublock),		USAGE(nvcsw),
	USAGE(nivcsw),		USAGE(maxrss_bytes),	NUMBER(perf_faults),
	NUMBER(perf_minor),	NUMBER(perf_major),	NUMBER(maps_lost),
	NUMBER(names_left_out), NUMBER(events_skipped), NUMBER(events_received),
	NUMBER(task_minor),	NUMBER(task_major),	NUMBER(call_cost_ps),
	NUMBER(inside_ps),	NUMBER(bpf_hooked_ps),	NUMBER(bpf_again_ps),
	NUMBER(bpf_other_ps),	NUMBER(perf_failed),	NUMBER(perf_unpaired),
	NUMBER(perf_forgotten), NUMBER(maps_late_cpus), NUMBER(memory_limit),
	NUMBER(memory_peak),	NUMBER(perf_partial),	NUMBER(perf_exec_pages),
	NUMBER(perf_ended),	NUMBER(faults_lost),	NUMBER(faults_unwatched),
};

#define NR_NUMBERS ARRAY_SIZE(numbers)

static const char *const count_names[PFSTAT_NR_COUNTS] = {
	[PFSTAT_COUNT_OFF_CPU] = "off_cpu",
	[PFSTAT_COUNT_EVENTS] = "events",
	[PFSTAT_COUNT_EVENTS_LOST] = "events_lost",
	[PFSTAT_COUNT_SYSCALL_LOST] = "syscall_lost",
	[PFSTAT_COUNT_UNTRACKED] = "untracked_requests",
	[PFSTAT_COUNT_SEGV] = "segv",
	[PFSTAT_COUNT_BUS] = "bus",
};

static const char *const hook_names[NR_HOOKS] = HOOK_NAMES;
static const char *const kind_names[PFSTAT_NR_FAULT_KINDS] = PFSTAT_FAULT_KIND_NAMES;
static const char *const origin_names[PFSTAT_NR_ORIGINS] = PFSTAT_FAULT_ORIGIN_NAMES;
static const char *const outcome_names[PFSTAT_NR_OUTCOMES] = PFSTAT_FAULT_OUTCOME_NAMES;

/* A number that does not fit in JSON's signed integers is treated as not counted. */
static json_t *number_or_null(uint64_t value)
{
	return value <= INT64_MAX ? json_integer(value) : json_null();
}

/* -EINVAL if the value is present and is neither a number nor null. */
static int read_number(const json_t *json, uint64_t *value)
{
	*value = COUNT_NA;
	if (!json || json_is_null(json))
		return 0;
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return -EINVAL;
	*value = json_integer_value(json);
	return 0;
}

static int read_u32(const json_t *json, uint32_t *value)
{
	uint64_t number;
	int err = read_number(json, &number);

	if (err || number > UINT32_MAX)
		return -EINVAL;
	*value = number;
	return 0;
}

/* A name's index, or size if it is not in the list. */
static size_t index_of(const json_t *name, const char *const *names, size_t size)
{
	size_t i = 0;

	if (!json_is_string(name))
		return size;
	while (i < size && strcmp(json_string_value(name), names[i]))
		i++;
	return i;
}

/* -ENOMEM if the array or the item is NULL. */
static int append(json_t *array, json_t *item)
{
	return json_array_append_new(array, item) ? -ENOMEM : 0;
}

/* Consumes the array. Returns NULL if err is not 0. */
static json_t *filled(json_t *array, int err)
{
	if (!err)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *hooks_to_json(uint32_t hooks)
{
	json_t *array = json_array();
	unsigned int i;
	int err = 0;

	for (i = 0; i < NR_HOOKS && !err; i++)
		if (hooks & 1U << i)
			err = append(array, json_string(hook_names[i]));
	return filled(array, err);
}

static json_t *counts_to_json(const uint64_t *counts)
{
	json_t *object = json_object();
	unsigned int i;
	int err = 0;

	for (i = 0; i < PFSTAT_NR_COUNTS && !err; i++)
		err = json_object_set_new(object, count_names[i], number_or_null(counts[i]));
	return filled(object, err);
}

static json_t *fault_to_json(unsigned int index, const struct pfstat_fault_value *value)
{
	const unsigned int outcome = index % PFSTAT_NR_OUTCOMES;
	const unsigned int origin = index / PFSTAT_NR_OUTCOMES % PFSTAT_NR_ORIGINS;
	const unsigned int kind = index / PFSTAT_NR_OUTCOMES / PFSTAT_NR_ORIGINS;

	return json_pack("{s:s, s:s, s:s, s:o, s:o}", "kind", kind_names[kind], "origin",
			 origin_names[origin], "outcome", outcome_names[outcome], "count",
			 number_or_null(value->count), "total_ns", number_or_null(value->total_ns));
}

/* Only the known values. */
static json_t *faults_to_json(const struct pfstat_fault_value *faults)
{
	json_t *array = json_array();
	unsigned int i;
	int err = 0;

	for (i = 0; i < PFSTAT_NR_FAULT_INDICES && !err; i++)
		if (faults[i].count != COUNT_NA)
			err = append(array, fault_to_json(i, &faults[i]));
	return filled(array, err);
}

static json_t *buckets_to_json(const __u64 *buckets)
{
	json_t *array = json_array();
	unsigned int i;
	int err = 0;

	for (i = 0; i < PFSTAT_SYSCALL_BUCKETS && !err; i++)
		err = append(array, number_or_null(buckets[i]));
	return filled(array, err);
}

static json_t *syscall_to_json(const struct syscall_row *row)
{
	return json_pack("{s:I, s:I, s:o, s:o, s:o}", "number", (json_int_t)row->number, "error",
			 (json_int_t)row->error, "count", number_or_null(row->value.count),
			 "total_ns", number_or_null(row->value.total_ns), "log2_ns",
			 buckets_to_json(row->value.log2_ns));
}

static json_t *syscalls_to_json(const struct run_counters *counters)
{
	json_t *array = json_array();
	size_t i;
	int err = 0;

	for (i = 0; i < counters->nr_syscalls && !err; i++)
		err = append(array, syscall_to_json(&counters->syscalls[i]));
	return filled(array, err);
}

/* The same for perf as the source, which has no system calls. */
static json_t *bpf_to_json(const struct run_counters *counters)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "hooks", hooks_to_json(counters->hooks), "counts",
			 counts_to_json(counters->counts), "faults",
			 faults_to_json(counters->faults), "syscalls", syscalls_to_json(counters));
}

static json_t *perf_lost_to_json(const struct perf_lost_rows *rows)
{
	json_t *array = json_array();
	const struct perf_lost_row *row;
	unsigned int i;
	int err = 0;

	for (i = 0; i < rows->nr && !err; i++) {
		row = &rows->rows[i];
		err = append(array,
			     json_pack("{s:I, s:I, s:o, s:o}", "pid", (json_int_t)row->pid, "tid",
				       (json_int_t)row->tid, "name", value_text(row->name),
				       "samples", number_or_null(row->samples)));
	}
	return filled(array, err);
}

static uint64_t number_at(const struct run_counters *counters, const struct number *number)
{
	return *(const uint64_t *)((const char *)counters + number->offset);
}

json_t *counters_json(const struct run_counters *counters)
{
	const bool by_perf = counters->hooks & 1U << HOOK_PERF;
	json_t *json = json_object();
	int err = json ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < NR_NUMBERS && !err; i++)
		err = json_object_set_new(json, numbers[i].name,
					  number_or_null(number_at(counters, &numbers[i])));
	if (!err)
		err = json_object_set_new(json, "hooked_only", json_boolean(counters->hooked_only));
	if (!err)
		err = json_object_set_new(json, "edges", json_boolean(counters->edges));
	if (!err)
		err = json_object_set_new(json, "advice", json_boolean(counters->have_advice));
	if (!err)
		err = json_object_set_new(json, "cgroup", cgroup_json(&counters->cgroup));
	if (!err)
		err = json_object_set_new(json, "exact", exact_json(&counters->exact));
	if (!err)
		err = json_object_set_new(json, "filesystems", filesystems_json(counters));
	if (!err)
		err = json_object_set_new(json, "bpf",
					  counters->have_bpf && !by_perf ? bpf_to_json(counters) :
									   json_null());
	if (!err && by_perf)
		err = json_object_set_new(json, "perf", bpf_to_json(counters));
	if (!err && by_perf)
		err = json_object_set_new(json, "perf_lost",
					  perf_lost_to_json(&counters->perf_lost));
	if (!err && by_perf)
		err = json_object_set_new(json, "perf_partial_threads",
					  perf_lost_to_json(&counters->perf_partial_rows));
	if (!err && counters->perf_ended_name[0])
		err = json_object_set_new(json, "perf_ended_name",
					  value_text(counters->perf_ended_name));
	if (!err && by_perf)
		err = json_object_set_new(json, "perf_user_only",
					  json_boolean(counters->perf_user_only));
	if (!err && counters->perf_waits_missing[0])
		err = json_object_set_new(json, "perf_waits_missing",
					  json_string(counters->perf_waits_missing));
	if (!err && by_perf)
		err = json_object_set_new(json, "perf_unsettled",
					  json_boolean(counters->perf_unsettled));
	if (!err)
		err = json_object_set_new(json, "bpf_missing", json_string(counters->bpf_missing));
	if (!err)
		err = json_object_set_new(json, "module_faults",
					  json_boolean(counters->module_faults));
	if (!err && counters->module_faults_missing[0])
		err = json_object_set_new(json, "module_faults_missing",
					  json_string(counters->module_faults_missing));
	return filled(json, err);
}

/* Hooks unknown to this version are ignored. */
static int read_hooks(const json_t *json, uint32_t *hooks)
{
	const json_t *name;
	size_t i, hook;

	if (!json_is_array(json))
		return -EINVAL;
	json_array_foreach(json, i, name) {
		hook = index_of(name, hook_names, NR_HOOKS);
		if (hook < NR_HOOKS)
			*hooks |= 1U << hook;
	}
	return 0;
}

static int read_counts(const json_t *json, uint64_t *counts)
{
	unsigned int i;
	int err = json_is_object(json) ? 0 : -EINVAL;

	for (i = 0; i < PFSTAT_NR_COUNTS && !err; i++)
		err = read_number(json_object_get(json, count_names[i]), &counts[i]);
	return err;
}

static int read_fault(const json_t *json, struct pfstat_fault_value *faults)
{
	const size_t kind =
		index_of(json_object_get(json, "kind"), kind_names, PFSTAT_NR_FAULT_KINDS);
	const size_t origin =
		index_of(json_object_get(json, "origin"), origin_names, PFSTAT_NR_ORIGINS);
	const size_t outcome =
		index_of(json_object_get(json, "outcome"), outcome_names, PFSTAT_NR_OUTCOMES);
	struct pfstat_fault_value *fault;
	uint64_t count, total_ns;

	if (kind == PFSTAT_NR_FAULT_KINDS || origin == PFSTAT_NR_ORIGINS ||
	    outcome == PFSTAT_NR_OUTCOMES || read_number(json_object_get(json, "count"), &count) ||
	    read_number(json_object_get(json, "total_ns"), &total_ns))
		return -EINVAL;
	fault = &faults[PFSTAT_FAULT_INDEX(kind, origin, outcome)];
	*fault = (struct pfstat_fault_value){ count, total_ns };
	return 0;
}

static int read_faults(const json_t *json, struct pfstat_fault_value *faults)
{
	const json_t *row;
	int err = json_is_array(json) ? 0 : -EINVAL;
	size_t i;

	json_array_foreach(json, i, row)
		if (!err)
			err = read_fault(row, faults);
	return err;
}

/* Never n/a: a value with a row was counted. */
static int read_counted(const json_t *json, __u64 *value)
{
	uint64_t number;

	if (read_number(json, &number) || number == COUNT_NA)
		return -EINVAL;
	*value = number;
	return 0;
}

static int read_value(const json_t *json, struct pfstat_syscall_value *value)
{
	const json_t *buckets = json_object_get(json, "log2_ns");
	unsigned int i;

	if (read_counted(json_object_get(json, "count"), &value->count) ||
	    read_counted(json_object_get(json, "total_ns"), &value->total_ns) ||
	    json_array_size(buckets) != PFSTAT_SYSCALL_BUCKETS)
		return -EINVAL;
	for (i = 0; i < PFSTAT_SYSCALL_BUCKETS; i++)
		if (read_counted(json_array_get(buckets, i), &value->log2_ns[i]))
			return -EINVAL;
	return 0;
}

static int read_syscall(const json_t *json, struct syscall_row *row)
{
	int err;

	err = read_u32(json_object_get(json, "number"), &row->number);
	if (!err)
		err = read_u32(json_object_get(json, "error"), &row->error);
	return err ? err : read_value(json, &row->value);
}

static int read_syscalls(const json_t *json, struct run_counters *counters)
{
	const json_t *row;
	size_t i;
	int err = 0;

	if (!json_is_array(json))
		return -EINVAL;
	if (!json_array_size(json))
		return 0;
	counters->syscalls = calloc(json_array_size(json), sizeof(*counters->syscalls));
	if (!counters->syscalls)
		return -ENOMEM;
	counters->nr_syscalls = json_array_size(json);
	json_array_foreach(json, i, row)
		if (!err)
			err = read_syscall(row, &counters->syscalls[i]);
	return err;
}

static int read_bpf(const json_t *json, struct run_counters *counters)
{
	int err;

	if (!json || json_is_null(json))
		return 0;
	counters->have_bpf = true;
	err = read_hooks(json_object_get(json, "hooks"), &counters->hooks);
	if (!err)
		err = read_counts(json_object_get(json, "counts"), counters->counts);
	if (!err)
		err = read_faults(json_object_get(json, "faults"), counters->faults);
	return err ? err : read_syscalls(json_object_get(json, "syscalls"), counters);
}

static int read_perf_lost_row(const json_t *json, struct perf_lost_row *row)
{
	const char *name = json_string_value(json_object_get(json, "name"));
	int err = read_u32(json_object_get(json, "pid"), &row->pid) ?:
			  read_u32(json_object_get(json, "tid"), &row->tid);

	if (name)
		snprintf(row->name, sizeof(row->name), "%s", name);
	return err ?: read_number(json_object_get(json, "samples"), &row->samples);
}

static int read_perf_lost(const json_t *json, struct perf_lost_rows *rows)
{
	const json_t *row;
	size_t i;
	int err = 0;

	json_array_foreach(json, i, row)
		if (!err && i < PERF_LOST_ROWS)
			err = read_perf_lost_row(row, &rows->rows[rows->nr++]);
	return err;
}

static int read_missing(const json_t *json, char *missing, size_t size)
{
	if (!json)
		return 0;
	if (!json_is_string(json))
		return -EINVAL;
	strncpy(missing, json_string_value(json), size - 1);
	return 0;
}

static int read_counters(const json_t *json, struct run_counters *counters)
{
	size_t i;
	int err = json_is_object(json) ? 0 : -EINVAL;

	for (i = 0; i < NR_NUMBERS && !err; i++)
		err = read_number(json_object_get(json, numbers[i].name),
				  (uint64_t *)((char *)counters + numbers[i].offset));
	counters->hooked_only = json_is_true(json_object_get(json, "hooked_only"));
	counters->edges = json_is_true(json_object_get(json, "edges"));
	counters->have_advice = json_is_true(json_object_get(json, "advice"));
	if (!err)
		err = cgroup_json_parse(&counters->cgroup, json_object_get(json, "cgroup"))	 ?:
			      exact_json_parse(&counters->exact, json_object_get(json, "exact")) ?:
			      filesystems_json_parse(counters,
						     json_object_get(json, "filesystems"));
	if (!err)
		err = read_bpf(json_object_get(json, "bpf"), counters);
	if (!err)
		err = read_bpf(json_object_get(json, "perf"), counters);
	if (!err)
		err = read_perf_lost(json_object_get(json, "perf_lost"), &counters->perf_lost);
	if (!err)
		err = read_perf_lost(json_object_get(json, "perf_partial_threads"),
				     &counters->perf_partial_rows);
	counters->perf_user_only = json_is_true(json_object_get(json, "perf_user_only"));
	counters->perf_unsettled = json_is_true(json_object_get(json, "perf_unsettled"));
	if (!err)
		err = read_missing(json_object_get(json, "perf_waits_missing"),
				   counters->perf_waits_missing,
				   sizeof(counters->perf_waits_missing));
	if (!err)
		err = read_missing(json_object_get(json, "perf_ended_name"),
				   counters->perf_ended_name, sizeof(counters->perf_ended_name));
	if (!err)
		err = read_missing(json_object_get(json, "bpf_missing"), counters->bpf_missing,
				   sizeof(counters->bpf_missing));
	counters->module_faults = json_is_true(json_object_get(json, "module_faults"));
	return err ? err :
		     read_missing(json_object_get(json, "module_faults_missing"),
				  counters->module_faults_missing,
				  sizeof(counters->module_faults_missing));
}

int counters_json_parse(struct run_counters *counters, const json_t *json)
{
	int err;

	run_counters_init(counters);
	err = read_counters(json, counters);
	if (err) {
		run_counters_exit(counters);
		run_counters_init(counters);
	}
	return err;
}
