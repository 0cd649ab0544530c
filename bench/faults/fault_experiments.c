// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and simulates the demo runs. The file, the pattern, the seed and the read-ahead come from
 * the run itself, so the prediction is for exactly this run.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/faults/fault_experiments.h"
#include "print/json/json_environment.h"

/* Columns "Disk faults" and "Long" in the tables of these study figures. */
const struct fault_experiment fault_experiments[NR_FAULT_EXPERIMENTS] = {
	[FAULT_RANDOM_COLD] = { "random-cold", "1", { .disk = 6198, .longs = 5101 } },
	[FAULT_RANDOM_WARM] = { "random-warm", "3", { .disk = 0, .longs = 9412 } },
	[FAULT_SEQUENTIAL] = { "sequential", "5", { .disk = 1, .longs = 11299 } },
	[FAULT_STRIDE_4K] = { "stride-4K", "7", { .disk = 58, .longs = 11242 } },
	[FAULT_STRIDE_256K] = { "stride-256K", "9", { .disk = 7224, .longs = 4075 } },
};

/* A class without calls is not in the JSON. */
static uint64_t count_of(const json_t *group, const char *class)
{
	return json_integer_value(json_object_get(json_object_get(group, class), "count"));
}

/* Disabled for the target, or for all programs. */
static bool is_fault_around_off(const struct environment *e)
{
	return !e->fault_around || e->fault_around_bytes == e->page_bytes;
}

static int take_run(struct fault_run *run, const json_t *json)
{
	const json_t *study = json_object_get(json, "study");
	const json_t *classes = json_object_get(json, "classes");

	if (!json_is_object(study) || !json_is_object(classes) ||
	    json_environment_parse(&run->environment, json_object_get(json, "environment")) ||
	    !is_fault_around_off(&run->environment))
		return -ENODATA;
	run->counts.disk = count_of(study, "disk");
	run->counts.longs = count_of(study, "long");
	run->counts.marks = count_of(classes, "readahead");
	run->waits = count_of(classes, "wait");
	run->faults = json_integer_value(json_object_get(json, "faults"));
	run->lost = json_integer_value(json_object_get(json, "lost"));
	return 0;
}

int fault_run_load(struct fault_run *run, const char *folder, const char *name)
{
	char *path;
	json_t *json;
	FILE *file;
	int err;

	*run = (struct fault_run){ 0 };
	if (asprintf(&path, "%s/%s.json", folder, name) < 0)
		return -ENOMEM;
	file = fopen(path, "re");
	err = -errno;
	free(path);
	if (!file)
		return err;
	json = json_loadf(file, 0, NULL);
	fclose(file);
	err = json ? take_run(run, json) : -ENODATA;
	json_decref(json);
	return err;
}

static uint64_t fault_pages_of(uint64_t bytes, uint64_t page_bytes)
{
	return (bytes + page_bytes - 1) / page_bytes;
}

int fault_experiment_order(const struct pattern *pattern, uint32_t **order, uint64_t *pages)
{
	const uint64_t all = fault_pages_of(pattern->bytes, pattern->page_bytes);
	const volatile sig_atomic_t stop = 0;
	int err;

	*order = calloc(all, sizeof(**order));
	err = *order ? pattern_page_order(pattern, &stop, *order, pages) : -ENOMEM;
	if (!err)
		return 0;
	free(*order);
	*order = NULL;
	return err;
}

/* The first access to a page in a mapping without advice. */
static enum fault_class simulate_fault(const struct readahead_rule *rule, struct cached_file *file,
				       struct readahead_state *state, uint64_t page)
{
	const struct readahead_access access = { .page = page, .end = file->pages };
	const enum fault_class class = readahead_rule_fault(rule, file, state, &access);

	if (class == FAULT_READAHEAD)
		readahead_rule_retry(rule, state, &access);
	return class;
}

int fault_counts_simulate(struct fault_counts *counts, const struct readahead_rule *rule,
			  uint64_t file_pages, bool warm, const uint32_t *order, uint64_t pages)
{
	uint64_t classes[NR_FAULT_CLASSES] = { 0 };
	struct readahead_state state = { 0 };
	struct cached_file file;
	uint64_t i;
	int err;

	cached_file_open(&file, file_pages);
	for (i = 0; i < pages; i++)
		classes[warm ? FAULT_LONG : simulate_fault(rule, &file, &state, order[i])]++;
	err = file.err;
	cached_file_close(&file);
	*counts = (struct fault_counts){
		.disk = classes[FAULT_DISK] + classes[FAULT_READAHEAD],
		.marks = classes[FAULT_READAHEAD],
		.longs = classes[FAULT_LONG],
	};
	return err;
}

int fault_run_simulate(const struct fault_run *run, struct fault_counts *counts)
{
	const struct environment *e = &run->environment;
	const struct readahead_rule rule = {
		.kernel = readahead_kernel_find(e->kernel),
		.window = e->readahead_bytes > 0 ? e->readahead_bytes / (int64_t)e->page_bytes : 0,
	};
	struct pattern pattern;
	uint32_t *order;
	uint64_t pages;
	int err;

	if (pattern_parse(&pattern, e->pattern))
		return -EINVAL;
	pattern.page_bytes = e->page_bytes;
	if (pattern_fit(&pattern, e->file_bytes, e->accesses, e->seed))
		return -EINVAL;
	err = fault_experiment_order(&pattern, &order, &pages);
	if (err)
		return err;
	err = fault_counts_simulate(counts, &rule, fault_pages_of(e->file_bytes, e->page_bytes),
				    !strcmp(e->cache, "warm"), order, pages);
	free(order);
	return err;
}
