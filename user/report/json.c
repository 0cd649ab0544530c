// SPDX-License-Identifier: GPL-2.0-only
/* The shape is Documentation/pfdrive.schema.json's; a unit test compares them. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_spread.h"
#include "printers.h"

static json_t *number(uint64_t value)
{
	return json_integer(value);
}

/* array with item in it; NULL when one of them is (out of memory). */
static json_t *appended(json_t *array, json_t *item)
{
	if (array && !json_array_append_new(array, item))
		return array;
	json_decref(array);
	return NULL;
}

static json_t *number_or_null(bool known, uint64_t value)
{
	return known ? number(value) : json_null();
}

/* JSON's integers are signed here, a seed has 64 bits. */
static json_t *seed_of(uint64_t seed)
{
	return seed <= INT64_MAX ? number(seed) : json_sprintf("%" PRIu64, seed);
}

/* Bytes of the character of UTF-8 at text; 0: it is none. */
static size_t character_length(const char *text)
{
	const size_t left = strnlen(text, 4);
	json_t *character;
	size_t length;

	for (length = 1; length <= left; length++) {
		character = json_stringn(text, length);
		if (character) {
			json_decref(character);
			return length;
		}
	}
	return 0;
}

/* A file name may be any bytes; JSON is UTF-8. Others become U+FFFD. */
static json_t *replaced(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *valid = malloc(3 * strlen(text) + 1), *end = valid;
	json_t *string;
	size_t length;

	if (!valid)
		return NULL;
	while (*text) {
		length = character_length(text);
		end = length ? mempcpy(end, text, length) : mempcpy(end, replacement, 3);
		text += length ? length : 1;
	}
	string = json_stringn(valid, end - valid);
	free(valid);
	return string;
}

static json_t *text_or_null(const char *text)
{
	json_t *string;

	if (!text || !*text)
		return json_null();
	string = json_string(text);
	return string ? string : replaced(text);
}

static json_t *environment_of(const struct environment *e)
{
	return json_pack("{so so so so so so so so so so so so so so so so so so ss so so}",
		"kernel", text_or_null(e->kernel),
		"machine", text_or_null(e->machine),
		"cpus", number_or_null(e->cpus, e->cpus),
		"memory_bytes", number_or_null(e->memory_bytes, e->memory_bytes),
		"clocksource", text_or_null(e->clocksource),
		"virtualization", text_or_null(e->virtualization),
		"file", text_or_null(e->file),
		"file_bytes", number(e->file_bytes),
		"file_pages", number(e->file_pages),
		"filesystem", text_or_null(e->filesystem),
		"device", text_or_null(e->device),
		"readahead_bytes", number_or_null(e->readahead_bytes >= 0, e->readahead_bytes),
		"cache", text_or_null(e->cache),
		"resident_pages", number(e->resident_pages),
		"pattern", text_or_null(e->pattern),
		"accesses", number(e->accesses),
		"seed", seed_of(e->seed),
		"pinned_cpu", number_or_null(e->pinned_cpu >= 0, e->pinned_cpu),
		"fault_around", e->fault_around ? "keep" : "off",
		"fault_around_bytes", number_or_null(e->fault_around_bytes, e->fault_around_bytes),
		"overhead_ns", number_or_null(e->overhead_ns, e->overhead_ns));
}

static json_t *class_of(const struct class_figures *figures, bool have_bpf)
{
	const bool any = figures->count;

	return json_pack("{so so so so so so so}",
		"count", number(figures->count),
		"mean_ns", json_real_or_null(view_mean_ns(figures)),
		"p50_ns", number_or_null(any, figures->p50_ns),
		"p99_ns", number_or_null(any, figures->p99_ns),
		"max_ns", number_or_null(any, figures->max_ns),
		"total_ns", number(figures->total_ns),
		"off_cpu_ns", number_or_null(have_bpf, figures->off_cpu_ns));
}

static json_t *classes_of(const struct view *view)
{
	json_t *classes = json_object();
	enum pfstat_class class;

	for (class = 0; classes && class < PFSTAT_NR_CLASSES; class++) {
		if (!json_object_set_new(classes, view_class_name(class),
					 class_of(&view->figures.classes[class],
						  view->run->have_bpf)))
			continue;
		json_decref(classes);
		return NULL;
	}
	return classes;
}

static json_t *column_of(const struct view *view, enum study_column column)
{
	const struct class_figures *figures = &view->study[column];

	return json_pack("{so so so so}",
		"count", number(figures->count),
		"percent", json_real_or_null(100 * view_share(figures->count,
							 view->study[STUDY_ALL].count)),
		"mean_ns", json_real_or_null(view_mean_ns(figures)),
		"total_ns", number(figures->total_ns));
}

static json_t *study_of(const struct view *view)
{
	return json_pack("{so so so so}",
		"disk", column_of(view, STUDY_DISK),
		"short", column_of(view, STUDY_SHORT),
		"long", column_of(view, STUDY_LONG),
		"all", column_of(view, STUDY_ALL));
}

static uint64_t microseconds(const struct timeval *time)
{
	return time->tv_sec * 1000000ULL + time->tv_usec;
}

static json_t *rusage_of(const struct rusage *rusage)
{
	return json_pack("{so so so so so so so so so}",
		"utime_us", number(microseconds(&rusage->ru_utime)),
		"stime_us", number(microseconds(&rusage->ru_stime)),
		"maxrss_kb", number(rusage->ru_maxrss),
		"minflt", number(rusage->ru_minflt),
		"majflt", number(rusage->ru_majflt),
		"inblock", number(rusage->ru_inblock),
		"oublock", number(rusage->ru_oublock),
		"nvcsw", number(rusage->ru_nvcsw),
		"nivcsw", number(rusage->ru_nivcsw));
}

/* Up to the last bucket that holds something. */
static json_t *log2_of(const __u64 *buckets, size_t nr)
{
	json_t *array = json_array();
	size_t i;

	while (nr && !buckets[nr - 1])
		nr--;
	for (i = 0; i < nr; i++)
		array = appended(array, number(buckets[i]));
	return array;
}

static json_t *syscall_of(const struct syscall_row *row)
{
	char *name = view_syscall_name(row->number);
	json_t *object;

	object = json_pack("{so so so so so so so}", "name", text_or_null(name),
			   "number", number(row->number),
			   "error", number(row->error),
			   "count", number(row->value.count),
			   "total_ns", number(row->value.total_ns),
			   "mean_ns",
			   json_real_or_null(view_share(row->value.total_ns, row->value.count)),
			   "log2_ns", log2_of(row->value.log2_ns, PFSTAT_SYSCALL_BUCKETS));
	free(name);
	return object;
}

static json_t *syscalls_of(const struct report *run)
{
	json_t *array;
	size_t i;

	if (!run->have_bpf)
		return json_null();
	array = json_array();
	for (i = 0; i < run->nr_syscalls; i++)
		array = appended(array, syscall_of(&run->syscalls[i]));
	return array;
}

static json_t *difference_of(const struct difference *difference)
{
	return json_pack("{so so so}",
		"what", text_or_null(difference->what),
		"amount", json_integer(difference->amount),
		"why", text_or_null(difference->why));
}

static json_t *differences_of(const struct report *run)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < run->nr_differences; i++)
		array = appended(array, difference_of(&run->differences[i]));
	return array;
}

static json_t *run_of(const struct view *view)
{
	const struct report *run = view->run;
	const struct summary_figures *figures = &view->figures;

	return json_pack("{so so so so so so so so so so so so so so so so so so so so}",
		"environment", environment_of(&run->environment),
		"repeat", number(run->repeat),
		"elapsed_ns", number(run->elapsed_ns),
		"study", study_of(view),
		"classes", classes_of(view),
		"calls", number(run->calls),
		"lost", number(run->lost),
		"late", number(figures->late),
		"retried", number(figures->retried),
		"faults", number(figures->faults),
		"major", number(figures->major),
		"unfinished", number(figures->unfinished),
		"pages_touched", number(run->pages_touched),
		"rusage", rusage_of(&run->rusage),
		"differences", differences_of(run),
		"syscalls", syscalls_of(run),
		"events_lost", number_or_null(run->have_bpf, run->events_lost),
		"off_cpu_count", number_or_null(run->have_bpf, run->off_cpu_count),
		"off_cpu_partial", number_or_null(run->have_bpf, figures->off_cpu_partial),
		"bpf_missing", run->have_bpf ? json_null() : text_or_null(run->bpf_missing));
}

/* What is a number in every run and may vary between runs. */
static json_t *varying_of(const struct view *view)
{
	const struct report *run = view->run;

	return json_pack("{so so so so so so so so so so}",
		"elapsed_ns", number(run->elapsed_ns),
		"study", study_of(view),
		"classes", classes_of(view),
		"calls", number(run->calls),
		"lost", number(run->lost),
		"retried", number(view->figures.retried),
		"faults", number(view->figures.faults),
		"major", number(view->figures.major),
		"pages_touched", number(run->pages_touched),
		"rusage", rusage_of(&run->rusage));
}

static struct json_spread spread_of_runs(const struct view *views, size_t nr)
{
	json_t **varying = calloc(nr, sizeof(json_t *));
	struct json_spread pair = { 0 };
	size_t i;

	if (!varying)
		return pair;
	for (i = 0; i < nr; i++) {
		varying[i] = varying_of(&views[i]);
		if (!varying[i])
			break;
	}
	if (i == nr)
		pair = json_spread_of(varying, nr);
	for (i = 0; i < nr; i++)
		json_decref(varying[i]);
	free(varying);
	return pair;
}

static json_t *runs_of(const struct view *views, size_t nr)
{
	struct json_spread pair;
	json_t *runs = json_array();
	size_t i;

	for (i = 0; i < nr; i++)
		runs = appended(runs, run_of(&views[i]));
	pair = spread_of_runs(views, nr);
	return json_pack("{so so so}", "runs", runs, "mean", pair.mean, "stddev", pair.stddev);
}

int json_print(FILE *out, const struct view *views, size_t nr)
{
	json_t *object = nr == 1 ? run_of(&views[0]) : runs_of(views, nr);
	int err;

	/* Every string was made valid: what can fail is memory. */
	if (!object)
		return -ENOMEM;
	err = json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	json_decref(object);
	if (err)
		return -ENOMEM;
	fputc('\n', out);
	return 0;
}
