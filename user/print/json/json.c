// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints one command's runs as JSON, from the views of their reports. A unit test compares the
 * shape with the JSON schema, see json_schema().
 */
#include <jansson.h>
#include <stdlib.h>

#include "fields/tables.h"
#include "print/json/json_accounts.h"
#include "print/json/json_environment.h"
#include "print/json/json_extras.h"
#include "print/json/json_parts.h"
#include "print/json/json_spread.h"
#include "print/printers.h"
#include "recording/counters_json.h"
#include "util/array.h"
#include "util/json_value.h"
#include "util/message.h"

/* perf does not show file operation calls. */
static json_t *calls_of_class(const struct report *run, const struct class_figures *figures)
{
	const bool known = !view_source_is_perf(run), any = known && figures->count;

	return json_pack("{so so so so so so so}", "count", value_count_if(known, figures->count),
			 "mean_ns", value_real(view_mean_ns(figures)), "p50_ns",
			 value_count_if(any, figures->p50_ns), "p99_ns",
			 value_count_if(any, figures->p99_ns), "max_ns",
			 value_count_if(any, figures->max_ns), "total_ns",
			 value_count_if(known, figures->total_ns), "off_cpu_ns",
			 value_count_if(known && run->bpf.known, figures->off_cpu_ns));
}

static json_t *calls_by_class(const struct view *view)
{
	json_t *classes = json_object();
	enum pfstat_class class;

	for (class = 0; class < PFSTAT_NR_CLASSES; ++class)
		classes = value_with(classes, fault_class_name((enum fault_class) class),
				     calls_of_class(view->run, &view->figures.classes[class]));
	return classes;
}

static json_t *column_of(const struct view *view, enum study_column column)
{
	const struct class_figures *figures = &view->study[column];
	const bool known = !view_source_is_perf(view->run);

	return json_pack("{so so so so}", "count", value_count_if(known, figures->count), "percent",
			 value_real(100 * view_share(figures->count, view->study[STUDY_ALL].count)),
			 "mean_ns", value_real(view_mean_ns(figures)), "total_ns",
			 value_count_if(known, figures->total_ns));
}

static json_t *study_of(const struct view *view)
{
	return json_pack("{so so so so}", "disk", column_of(view, STUDY_DISK), "short",
			 column_of(view, STUDY_SHORT), "long", column_of(view, STUDY_LONG), "all",
			 column_of(view, STUDY_ALL));
}

/* Ends with the last nonempty bucket. */
static json_t *log2_of(const __u64 *buckets, size_t nr)
{
	json_t *array = json_array();
	size_t i;

	while (nr && !buckets[nr - 1])
		nr--;
	for (i = 0; i < nr; i++)
		array = value_appended(array, value_count(buckets[i]));
	return array;
}

static json_t *syscall_of(const struct report *run, const struct syscall_row *row)
{
	char *name = view_syscall_name(run, row->number);
	json_t *object;

	object = json_pack("{so so so so so so so}", "name", value_text(name), "number",
			   value_count(view_syscall_index(row->number)), "error",
			   value_count(row->error), "count", value_count(row->value.count),
			   "total_ns", value_count(row->value.total_ns), "mean_ns",
			   value_real(view_share(row->value.total_ns, row->value.count)), "log2_ns",
			   log2_of(row->value.log2_ns, PFSTAT_SYSCALL_BUCKETS));
	free(name);
	return object;
}

static json_t *syscalls_of(const struct report *run)
{
	json_t *array;
	size_t i;

	if (!run->bpf.have_counts)
		return json_null();
	array = json_array();
	for (i = 0; i < run->syscalls.nr; i++)
		array = value_appended(array, syscall_of(run, &run->syscalls.rows[i]));
	return array;
}

/* The verdict: the shares, the places with most of the time, and the causes by weight. */

static const char *const predicted_settings[] = PREDICTED_SETTING_NAMES;

FIELD_FUNCTION(bool, prediction_is_timed, predicted_faults, it->timed)

static const struct field predicted_faults_rows[] = {
	FIELD_AS("major_faults", COUNT, predicted_faults, major, NULL),
	FIELD_AS("bytes_read", COUNT, predicted_faults, read_bytes, NULL),
	FIELD(REAL, predicted_faults, total_ns, "The faults' time; null: not predicted.",
	      .known = prediction_is_timed),
	FIELD(REAL, predicted_faults, error_ns, "Two standard errors, for total_ns.",
	      .known = prediction_is_timed),
};

static const struct fields predicted_faults_fields =
	FIELDS("predicted_faults", NULL, predicted_faults, predicted_faults_rows);

static const struct field verdict_saving_rows[] = {
	FIELD(WORD, verdict_saving, setting, NULL, FIELD_WORDS(predicted_settings)),
	FIELD(OBJECT, verdict_saving, recorded, "With the recorded settings.",
	      .of = &predicted_faults_fields),
	FIELD(OBJECT, verdict_saving, changed, "With this setting.",
	      .of = &predicted_faults_fields),
};

static const struct fields verdict_saving_fields =
	FIELDS("verdict_saving", "See pfdrive-what-if(1).", verdict_saving, verdict_saving_rows);

FIELD_FUNCTION(bool, verdict_has_saving, verdict_cause, it->saving.known)

static const struct field verdict_cause_rows[] = {
	FIELD(STRING, verdict_cause, rule, NULL),
	FIELD(FLAG, verdict_cause, certain, "false: remedy is the next measurement."),
	FIELD(REAL, verdict_cause, weight, "Share of the faults' time that the cause concerns."),
	FIELD(TEXT, verdict_cause, text, NULL),
	FIELD(TEXT, verdict_cause, remedy, NULL),
	FIELD(OBJECT, verdict_cause, saving,
	      "The remedy's setting saves this, as predicted from the recording. null: no saving, or "
	      "no prediction.",
	      .of = &verdict_saving_fields, .known = verdict_has_saving),
};

static const struct fields verdict_cause_fields =
	FIELDS("verdict_cause", "A cause that a rule of verdict.rst found.", verdict_cause,
	       verdict_cause_rows);

struct verdict_place {
	bool known;
	const char *name;
	double share;
};

static const struct field verdict_place_rows[] = {
	FIELD(POINTER, verdict_place, name, NULL),
	FIELD(REAL, verdict_place, share, NULL),
};

static const struct fields verdict_place_fields =
	FIELDS("verdict_place",
	       "A class, file, mapping, thread or code, and its share of the faults' time.",
	       verdict_place, verdict_place_rows);

struct verdict_row {
	uint64_t wall_ns, busy_ns;
	double share, cpu_share;
	bool at_least;
	struct verdict_place class, place, thread, code;
	const struct verdict_cause *causes;
	size_t nr_causes;
};

FIELD_FUNCTION(bool, verdict_has_class, verdict_row, it->class.known)
FIELD_FUNCTION(bool, verdict_has_place, verdict_row, it->place.known)
FIELD_FUNCTION(bool, verdict_has_thread, verdict_row, it->thread.known)
FIELD_FUNCTION(bool, verdict_has_code, verdict_row, it->code.known)

static const struct field verdict_rows[] = {
	FIELD(COUNT, verdict_row, wall_ns,
	      "Duration of the run, with the steps before the access loop."),
	FIELD(COUNT, verdict_row, busy_ns,
	      "Time in which at least one thread was in a page fault."),
	FIELD(REAL, verdict_row, share, "busy_ns / wall_ns, at most 1."),
	FIELD(REAL, verdict_row, cpu_share,
	      "The faults' time on a CPU, divided by the run's CPU time (rusage); null: one of "
	      "both is not known."),
	FIELD(FLAG, verdict_row, at_least,
	      "Some faults are not known: without eBPF, all but those of hooked files; from perf, "
	      "those in system calls, if the user may not see them."),
	FIELD(OBJECT, verdict_row, class, "The class with most of the faults' time.",
	      .of = &verdict_place_fields, .known = verdict_has_class),
	FIELD(OBJECT, verdict_row, place,
	      "The file, or the mapping of anonymous memory, with most of it.",
	      .of = &verdict_place_fields, .known = verdict_has_place),
	FIELD(OBJECT, verdict_row, thread, NULL, .of = &verdict_place_fields,
	      .known = verdict_has_thread),
	FIELD(OBJECT, verdict_row, code, NULL, .of = &verdict_place_fields,
	      .known = verdict_has_code),
	FIELD(ROWS, verdict_row, causes,
	      "The heaviest first; at most three. A cause for everything that the threads do, or "
	      "that needs another one to be mended first, comes last.",
	      .of = &verdict_cause_fields, FIELD_NR(verdict_row, nr_causes)),
};

const struct fields verdict_fields =
	FIELDS("verdict", "How much of the run was page faults, where, why, and what to try.",
	       verdict_row, verdict_rows);

static struct verdict_place place_of(const struct group *group, uint64_t all_ns)
{
	if (!group)
		return (struct verdict_place){ 0 };
	return (struct verdict_place){ true, group->name, view_share(group->total_ns, all_ns) };
}

/* Returns a JSON null if the run's duration is not known. */
static json_t *json_verdict(const struct view *view)
{
	const struct verdict *verdict = &view->verdict;
	const struct report_faults *faults = &view->run->faults;
	const uint64_t all_ns = faults->all.whole.total_ns;
	const struct verdict_row row = {
		.wall_ns = verdict->wall_ns,
		.busy_ns = verdict->busy_ns,
		.share = verdict->share,
		.cpu_share = verdict->cpu_share,
		.at_least = verdict->at_least,
		.class = { faults->all.count, fault_class_name(verdict->class),
			   verdict->class_share },
		.place = place_of(verdict->place, all_ns),
		.thread = place_of(verdict->thread, all_ns),
		.code = { verdict->code.name[0], verdict->code.name,
			  view_share(verdict->code.total_ns, all_ns) },
		.causes = verdict->causes,
		.nr_causes = verdict->nr_causes,
	};

	return verdict->known ? json_fields(&verdict_fields, view->run, &row) : json_null();
}

static json_t *json_study(const struct report_study *study)
{
	return study ? study->json(study) : json_null();
}

static json_t *json_study_figures(const struct report_study *study)
{
	return study ? study->json_figures(study) : json_null();
}

static const struct field cgroup_memory_rows[] = {
	FIELD_AS("limit_bytes", COUNT, report_memory, limit, NULL),
	FIELD_AS("peak_bytes", KNOWN, report_memory, peak,
		 "Maximum usage since the cgroup was made; null: Linux before 5.19. A limit of "
		 "this size would not have been met."),
};

const struct fields cgroup_memory_fields = FIELDS("cgroup_memory",
						  "memory.max and memory.peak at the end.",
						  report_memory, cgroup_memory_rows);

static json_t *json_cgroup_memory(const struct report *run)
{
	return run->memory.limit == COUNT_NA ?
		       json_null() :
		       json_fields(&cgroup_memory_fields, run, &run->memory);
}

static json_t *json_of_run(const struct view *view)
{
	const struct report *run = view->run;
	const struct summary_figures *figures = &view->figures;
	const bool calls_known = !view_source_is_perf(run);
	const struct value_member members[] = {
		{ "environment", json_environment(&run->environment) },
		{ "cgroup_memory", json_cgroup_memory(run) },
		{ "cgroup_limits", cgroup_json(&run->cgroup) },
		{ "exact", exact_json(&run->exact) },
		{ "damage", value_text(run->losses.damage) },
		{ "repeat", value_count(run->drive.repeat) },
		{ "elapsed_ns", value_known(run->time.elapsed_ns) },
		{ "verdict", json_verdict(view) },
		{ "study", study_of(view) },
		{ "classes", calls_by_class(view) },
		{ "calls", value_known(run->cost.calls) },
		{ "lost", value_known(run->losses.records) },
		{ "cost", json_cost(run) },
		{ "late", value_count_if(calls_known, figures->late) },
		{ "retried", value_count_if(calls_known, figures->retried) },
		{ "faults", value_count_if(calls_known, figures->faults) },
		{ "major", value_count_if(calls_known, figures->major) },
		{ "unfinished", value_count_if(calls_known, figures->unfinished) },
		{ "failed_faults", value_known(run->evidence.failed_faults) },
		{ "guest", json_guest(run) },
		{ "busy", json_busy(run) },
		{ "in_flight", json_in_flight(run) },
		{ "standstill", json_standstill(run) },
		{ "activity", json_activity(run) },
		{ "tail", json_tail(run) },
		{ "slowest", json_slowest(run) },
		{ "parts", json_parts(run) },
		{ "groups", json_groups(view) },
		{ "requests", json_requests(run) },
		{ "cpu_waits", json_cpu_waits(run) },
		{ "cpu_limit", json_cpu_limit(run) },
		{ "cpu_tasks", json_cpu_tasks(run) },
		{ "mmap_lock", json_mmap_lock(run) },
		{ "reclaims", json_reclaims(run) },
		{ "contents", json_contents(run) },
		{ "mechanisms", json_mechanisms(run) },
		{ "waits", json_waits(run) },
		{ "handlers", json_handlers(run) },
		{ "readahead", json_readahead(run) },
		{ "evictions", json_evictions(run) },
		{ "shaping_calls", json_calls(run) },
		{ "pages_touched", value_known(run->drive.pages_touched) },
		{ "pages_written", value_known(run->drive.pages_written) },
		{ "steps", json_steps(&run->drive) },
		{ "rusage", json_usage(&run->usage) },
		{ "usage", json_both_usages(run->extras.usage) },
		{ "counters", json_counters(run->extras.counters) },
		{ "simulated_caches", json_simulation(run->extras.simulation) },
		{ "ledger", json_ledger(&run->ledger) },
		{ "syscalls", syscalls_of(run) },
		{ "syscall_totals", json_syscall_totals(run) },
		{ "competition", json_study(run->extras.study) },
		{ "maps", json_maps(run->extras.maps) },
		{ "maps_lost", value_known(run->losses.maps) },
		{ "maps_late_cpus", value_known(run->losses.maps_late_cpus) },
		{ "names_left_out", value_known(run->losses.names_left_out) },
		{ "faults_lost", value_known(run->losses.faults) },
		{ "faults_unwatched", value_known(run->losses.unwatched) },
		{ "events_lost", value_known(run->losses.events) },
		{ "events_skipped", value_known(run->losses.events_skipped) },
		{ "perf_ended", value_known(run->losses.ended) },
		{ "perf_ended_name", value_text(run->losses.ended_name) },
		{ "events_sent", value_known(run->losses.events_sent) },
		{ "events_received", value_known(run->losses.events_received) },
		{ "off_cpu_count", value_known(run->bpf.off_cpu_count) },
		{ "off_cpu_partial",
		  value_count_if(calls_known && run->bpf.known, figures->off_cpu_partial) },
		{ "module_faults", run->bpf.known && !view_source_is_perf(run) ?
					   json_boolean(run->bpf.module_faults) :
					   json_null() },
		{ "module_faults_missing", value_text(run->bpf.module_faults_missing) },
		{ "bpf_missing", view_source_is_perf(run) || !run->bpf.known ?
					 value_text(run->bpf.missing) :
					 json_null() },
		{ NULL, NULL },
	};

	return value_object(members);
}

/* Members that are numbers in every run, and may vary between runs. */
static json_t *varying_of(const struct view *view)
{
	const struct report *run = view->run;
	const bool calls_known = !view_source_is_perf(run);
	const struct value_member members[] = {
		{ "elapsed_ns", value_known(run->time.elapsed_ns) },
		{ "study", study_of(view) },
		{ "classes", calls_by_class(view) },
		{ "calls", value_known(run->cost.calls) },
		{ "lost", value_known(run->losses.records) },
		{ "retried", value_count_if(calls_known, view->figures.retried) },
		{ "faults", value_count_if(calls_known, view->figures.faults) },
		{ "major", value_count_if(calls_known, view->figures.major) },
		{ "pages_touched", value_known(run->drive.pages_touched) },
		{ "steps", json_steps(&run->drive) },
		{ "rusage", json_usage(&run->usage) },
		{ "usage", json_both_usages_figures(run->extras.usage) },
		{ "counters", json_counter_figures(run->extras.counters) },
		{ "competition", json_study_figures(run->extras.study) },
		{ NULL, NULL },
	};

	return value_object(members);
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
		runs = value_appended(runs, json_of_run(&views[i]));
	pair = spread_of_runs(views, nr);
	return json_pack("{so so so}", "runs", runs, "mean", pair.mean, "stddev", pair.stddev);
}

int json_print(FILE *out, const struct view *views, size_t nr)
{
	return value_print(out, nr == 1 ? json_of_run(&views[0]) : runs_of(views, nr));
}

/* Completes the JSON schema of a report with the definitions that rows of fields make. */

static const struct fields *const tables[] = { FIELD_TABLES(TABLE_ADDRESS) };

json_t *json_schema(const char *path)
{
	json_error_t error;
	json_t *schema = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	size_t i;

	if (!schema) {
		message(0, "cannot read %s: line %d: %s", path, error.line, error.text);
		return NULL;
	}
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		if (!fields_define(tables[i], json_object_get(schema, "$defs")))
			continue;
		message(0, "cannot make the JSON schema: out of memory");
		json_decref(schema);
		return NULL;
	}
	return schema;
}
