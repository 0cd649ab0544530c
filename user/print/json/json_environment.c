// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts a run's environment to JSON and back, using one table of fields. Unknown values are null
 * in JSON. Each type has a special value for unknown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "print/json/json_environment.h"
#include "util/array.h"
#include "util/json_value.h"

#define TIME_FORMAT "%Y-%m-%dT%H:%M:%SZ" /* ISO 8601 */

enum type {
	TYPE_TEXT,    /* "" is n/a */
	TYPE_COUNT32, /* 0 is n/a */
	TYPE_COUNT64,
	TYPE_NUMBER, /* 64 bits; 0 is 0 */
	TYPE_FACT,   /* the same; COUNT_NA is n/a */
	TYPE_INT,    /* below 0 is n/a */
	TYPE_INT64,
	TYPE_TIME,  /* 0 is n/a */
	TYPE_KEEP,  /* keep or off */
	TYPE_FLAG,  /* true or false */
	TYPE_SHARE, /* 0 to 1 */
};

static const struct environment_field {
	const char *key;
	enum type type;
	bool of_drive; /* n/a if the run is not a drive */
	size_t offset, size;
} fields[] = {
#define FIELD(name, type, of_drive)                                  \
	{ #name, type, of_drive, offsetof(struct environment, name), \
	  sizeof(((struct environment *)0)->name) }
	FIELD(kind, TYPE_TEXT, false),
	{ "pfdrive", TYPE_TEXT, false, offsetof(struct environment, version),
	  sizeof(((struct environment *)0)->version) },
	{ "started", TYPE_TIME, false, offsetof(struct environment, started_s), sizeof(int64_t) },
	FIELD(source, TYPE_TEXT, false),
	FIELD(command, TYPE_TEXT, false),
	FIELD(invocation, TYPE_TEXT, false),
	FIELD(pid, TYPE_COUNT32, false),
	FIELD(cgroup, TYPE_TEXT, false),
	FIELD(only_file, TYPE_TEXT, false),
	FIELD(host, TYPE_TEXT, false),
	FIELD(kernel, TYPE_TEXT, false),
	FIELD(architecture, TYPE_TEXT, false),
	FIELD(machine, TYPE_TEXT, false),
	FIELD(cpus, TYPE_COUNT32, false),
	FIELD(memory_bytes, TYPE_COUNT64, false),
	FIELD(page_bytes, TYPE_COUNT64, false),
	FIELD(clocksource, TYPE_TEXT, false),
	FIELD(counter_hz, TYPE_COUNT64, false),
	FIELD(virtualization, TYPE_TEXT, false),
	FIELD(file, TYPE_TEXT, false),
	FIELD(file_bytes, TYPE_NUMBER, true),
	FIELD(file_pages, TYPE_NUMBER, true),
	FIELD(filesystem, TYPE_TEXT, false),
	FIELD(device, TYPE_TEXT, false),
	FIELD(readahead_bytes, TYPE_INT64, false),
	FIELD(cache, TYPE_TEXT, false),
	FIELD(resident_pages, TYPE_FACT, true),
	FIELD(pattern, TYPE_TEXT, false),
	FIELD(accesses, TYPE_NUMBER, true),
	FIELD(seed, TYPE_NUMBER, true),
	FIELD(pinned_cpu, TYPE_INT, false),
	FIELD(fault_around, TYPE_KEEP, false),
	FIELD(exact, TYPE_FLAG, false),
	FIELD(fault_around_bytes, TYPE_COUNT64, false),
	FIELD(ring_bytes, TYPE_COUNT64, false),
	FIELD(map, TYPE_TEXT, false),
	FIELD(backing, TYPE_TEXT, false),
	FIELD(store_share, TYPE_SHARE, true),
	FIELD(fill, TYPE_TEXT, false),
	FIELD(transparent_hugepage, TYPE_TEXT, false),
#undef FIELD
};

#define NR_FIELDS ARRAY_SIZE(fields)

static json_t *time_of(int64_t seconds)
{
	const time_t time = seconds;
	char text[64];
	struct tm utc;

	if (!time || !gmtime_r(&time, &utc))
		return json_null();
	strftime(text, sizeof(text), TIME_FORMAT, &utc);
	return json_string(text);
}

static json_t *signed_of(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *member_of(enum type type, const void *at)
{
	switch (type) {
	case TYPE_TEXT:
		return value_text(at);
	case TYPE_COUNT32:
		return value_count_if(*(const uint32_t *)at, *(const uint32_t *)at);
	case TYPE_COUNT64:
		return *(const uint64_t *)at ? value_wide(*(const uint64_t *)at) : json_null();
	case TYPE_NUMBER:
		return value_wide(*(const uint64_t *)at);
	case TYPE_FACT:
		return value_known(*(const uint64_t *)at);
	case TYPE_INT:
		return signed_of(*(const int *)at);
	case TYPE_INT64:
		return signed_of(*(const int64_t *)at);
	case TYPE_TIME:
		return time_of(*(const int64_t *)at);
	case TYPE_KEEP:
		return json_string(*(const bool *)at ? "keep" : "off");
	case TYPE_FLAG:
		return json_boolean(*(const bool *)at);
	case TYPE_SHARE:
		return json_real(*(const double *)at);
	}
	return NULL;
}

json_t *json_environment(const struct environment *environment)
{
	const bool drive = strcmp(environment->kind, "record");
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < NR_FIELDS; i++)
		object = value_with(object, fields[i].key,
				    fields[i].of_drive && !drive ?
					    json_null() :
					    member_of(fields[i].type, (const char *)environment +
									      fields[i].offset));
	return object;
}

static void take_text(char *at, size_t size, const json_t *json)
{
	const char *text = json_string_value(json);

	if (text && strlen(text) < size)
		strcpy(at, text);
}

static uint64_t environment_number_of(const json_t *json)
{
	const char *text = json_string_value(json);

	if (text)
		return strtoull(text, NULL, 10);
	return json_integer_value(json) > 0 ? json_integer_value(json) : 0;
}

static int64_t time_from(const json_t *json)
{
	const char *text = json_string_value(json);
	struct tm utc = { 0 };
	const char *end = text ? strptime(text, TIME_FORMAT, &utc) : NULL;

	return end && !*end ? timegm(&utc) : 0;
}

static void environment_take(const struct environment_field *field, void *at, const json_t *json)
{
	const json_int_t integer = json_is_integer(json) ? json_integer_value(json) : -1;

	switch (field->type) {
	case TYPE_TEXT:
		take_text(at, field->size, json);
		break;
	case TYPE_COUNT32:
		*(uint32_t *)at = integer > 0 && integer <= UINT32_MAX ? integer : 0;
		break;
	case TYPE_COUNT64:
	case TYPE_NUMBER:
		*(uint64_t *)at = environment_number_of(json);
		break;
	case TYPE_FACT:
		*(uint64_t *)at = integer >= 0 ? (uint64_t)integer : COUNT_NA;
		break;
	case TYPE_INT:
		*(int *)at = integer >= 0 && integer <= INT32_MAX ? integer : -1;
		break;
	case TYPE_INT64:
		*(int64_t *)at = integer >= 0 ? integer : -1;
		break;
	case TYPE_TIME:
		*(int64_t *)at = time_from(json);
		break;
	case TYPE_KEEP:
		*(bool *)at = !json_is_string(json) || strcmp(json_string_value(json), "off");
		break;
	case TYPE_FLAG:
		*(bool *)at = json_is_true(json);
		break;
	case TYPE_SHARE:
		*(double *)at = json_number_value(json);
		break;
	}
}

int json_environment_parse(struct environment *environment, const json_t *json)
{
	size_t i;

	if (!json_is_object(json))
		return -EINVAL;
	*environment = (struct environment){ 0 };
	for (i = 0; i < NR_FIELDS; i++)
		environment_take(&fields[i], (char *)environment + fields[i].offset,
				 json_object_get(json, fields[i].key));
	environment->page_bytes = environment->page_bytes ?: ENVIRONMENT_PAGE_BYTES;
	return 0;
}

/*
 * Converts a recording's head to JSON and back. The head holds everything known about a run before
 * it starts. A head from a file is not trusted.
 */

static const char *const hook_names[NR_HOOKS] = HOOK_NAMES;

static json_t *hooks_of(const struct report_bpf *bpf)
{
	json_t *names = json_array();
	enum bpf_hook hook;

	for (hook = 0; hook < NR_HOOKS; hook++)
		if (bpf->hooks & 1U << hook)
			names = value_appended(names, json_string(hook_names[hook]));
	return names;
}

json_t *json_head(const struct report *report)
{
	const bool by_perf = report->bpf.hooks & 1U << HOOK_PERF;

	return json_pack("{so sb so so so}", "environment", json_environment(&report->environment),
			 "have_bpf", report->bpf.known && !by_perf, "bpf_missing",
			 value_text(report->bpf.missing), "hooks", hooks_of(&report->bpf),
			 "pages_touched", value_known(report->drive.pages_touched));
}

static uint32_t hook_from(const char *name)
{
	enum bpf_hook hook;

	for (hook = 0; name && hook < NR_HOOKS; hook++)
		if (!strcmp(name, hook_names[hook]))
			return 1U << hook;
	return 0;
}

static uint32_t hooks_from(const json_t *names)
{
	uint32_t hooks = 0;
	const json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
		hooks |= hook_from(json_string_value(name));
	return hooks;
}

static bool is_kind(const struct environment *environment)
{
	return !strcmp(environment->kind, "drive") || !strcmp(environment->kind, "record");
}

int json_head_parse(struct report *report, const json_t *json)
{
	const char *missing = json_string_value(json_object_get(json, "bpf_missing"));
	const json_t *pages = json_object_get(json, "pages_touched");
	int err;

	err = json_environment_parse(&report->environment, json_object_get(json, "environment"));
	if (err)
		return err;
	if (!is_kind(&report->environment))
		return -EINVAL;
	report->bpf.known = json_is_true(json_object_get(json, "have_bpf"));
	if (missing)
		snprintf(report->bpf.missing, sizeof(report->bpf.missing), "%s", missing);
	report->bpf.hooks = hooks_from(json_object_get(json, "hooks"));
	report->bpf.known |= report->bpf.hooks & 1U << HOOK_PERF;
	if (json_is_integer(pages) && json_integer_value(pages) >= 0)
		report->drive.pages_touched = json_integer_value(pages);
	return 0;
}
