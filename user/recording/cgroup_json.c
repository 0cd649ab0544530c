// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts a cgroup's limits to JSON and back. One list of names serves both directions. COUNT_NA
 * is null.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "model/counters.h"
#include "recording/cgroup_json.h"
#include "util/json_value.h"

struct cgroup_number {
	const char *name;
	size_t offset;
};

#define CPU(name)      { #name, offsetof(struct cgroup_limits, cpu.name) }
#define MEMORY(name)   { #name, offsetof(struct cgroup_limits, memory.name) }
#define PRESSURE(name) { #name, offsetof(struct cgroup_limits, pressure.name) }

static const struct cgroup_number cpu_numbers[] = {
	CPU(quota_ns), CPU(period_ns), CPU(periods), CPU(throttled), CPU(throttled_ns), { 0 },
};

static const struct cgroup_number memory_numbers[] = {
	MEMORY(high_bytes), MEMORY(high), MEMORY(max), MEMORY(oom_kill), { 0 },
};

static const struct cgroup_number pressure_numbers[] = {
	PRESSURE(cpu_some_ns),
	PRESSURE(cpu_full_ns),
	PRESSURE(memory_some_ns),
	PRESSURE(memory_full_ns),
	{ 0 },
};

/* @path: NULL if the object has none */
static json_t *cgroup_object(const struct cgroup_limits *limits, const char *path,
			     const struct cgroup_number *number)
{
	json_t *object = json_object();

	if (path)
		object = value_with(object, "path", value_text(path));
	for (; number->name; number++)
		object = value_with(object, number->name,
				    value_known(*(const uint64_t *)((const char *)limits +
								    number->offset)));
	return object;
}

json_t *cgroup_json(const struct cgroup_limits *limits)
{
	const struct cgroup_cpu_limit *cpu = &limits->cpu;
	const struct cgroup_memory_limit *memory = &limits->memory;
	json_t *object;

	if (!limits->path[0])
		return json_null();
	object = value_with(json_object(), "path", value_text(limits->path));
	object = value_with(object, "cpu",
			    cpu->path[0] ? cgroup_object(limits, cpu->path, cpu_numbers) :
					   json_null());
	object = value_with(object, "memory",
			    memory->path[0] ? cgroup_object(limits, memory->path, memory_numbers) :
					      json_null());
	return value_with(object, "pressure", cgroup_object(limits, NULL, pressure_numbers));
}

static int cgroup_json_path(char *path, const json_t *json)
{
	const char *text = json_string_value(json_object_get(json, "path"));

	if (!text || !text[0] || (size_t)snprintf(path, CGROUP_PATH, "%s", text) >= CGROUP_PATH)
		return -EINVAL;
	return 0;
}

static int cgroup_json_numbers(struct cgroup_limits *limits, const json_t *json,
			       const struct cgroup_number *number)
{
	const json_t *value;

	for (; number->name; number++) {
		value = json_object_get(json, number->name);
		if (!value || json_is_null(value))
			continue;
		if (!json_is_integer(value) || json_integer_value(value) < 0)
			return -EINVAL;
		*(uint64_t *)((char *)limits + number->offset) = json_integer_value(value);
	}
	return 0;
}

/* @path: as for cgroup_object() */
static int cgroup_json_member(struct cgroup_limits *limits, const json_t *json, char *path,
			      const struct cgroup_number *numbers)
{
	if (!json || json_is_null(json))
		return 0;
	if (!json_is_object(json))
		return -EINVAL;
	if (path && cgroup_json_path(path, json))
		return -EINVAL;
	return cgroup_json_numbers(limits, json, numbers);
}

int cgroup_json_parse(struct cgroup_limits *limits, const json_t *json)
{
	int err;

	cgroup_limits_init(limits);
	if (!json || json_is_null(json))
		return 0;
	err = cgroup_json_path(limits->path, json) ?:
		      cgroup_json_member(limits, json_object_get(json, "cpu"), limits->cpu.path,
					 cpu_numbers);
	if (!err)
		err = cgroup_json_member(limits, json_object_get(json, "memory"),
					 limits->memory.path, memory_numbers);
	if (!err)
		err = cgroup_json_member(limits, json_object_get(json, "pressure"), NULL,
					 pressure_numbers);
	if (err)
		cgroup_limits_init(limits);
	return err;
}
