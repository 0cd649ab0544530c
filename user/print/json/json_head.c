// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts a recording's head to JSON and back. The head holds everything known about a run before
 * it starts. A head from a file is not trusted.
 */
#include <errno.h>
#include <string.h>

#include "print/json/json_environment.h"
#include "print/json/json_head.h"
#include "util/json_value.h"

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
