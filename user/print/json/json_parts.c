// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logical faults in JSON by class, with their time parts, requests and pages. The figures come from
 * the report. Those needing a missing eBPF hook are null.
 */
#include "fields/tables.h"
#include "model/call_kind.h"
#include "print/json/json_parts.h"
#include "report/more_memory.h"
#include "util/array.h"
#include "util/json_value.h"

static struct fields_run run_of(const struct report *run)
{
	return (struct fields_run){ run, run->bpf.known ? run->bpf.hooks : 0 };
}

json_t *json_fields(const struct fields *fields, const struct report *run, const void *object)
{
	const struct fields_run of = run_of(run);

	return fields_json(fields, &of, object);
}

json_t *json_fields_list(const struct fields *fields, const struct report *run, const void *objects,
			 size_t nr)
{
	const struct fields_run of = run_of(run);

	return fields_json_list(fields, &of, objects, nr);
}

/* @known: the part can be measured. A part that no fault has gets a total, and the rest is null. */
static json_t *times_of(const struct part_figures *figures, uint64_t count, bool known)
{
	const bool any = known && count;

	return json_pack("{so so so so so so so}", "total_ns",
			 value_count_if(known, figures->total_ns), "mean_ns",
			 any ? value_real(view_share(figures->total_ns, count)) : json_null(),
			 "p50_ns", value_count_if(any, figures->p50_ns), "p99_ns",
			 value_count_if(any, figures->p99_ns), "p999_ns",
			 any ? value_known(figures->p999_ns) : json_null(), "p9999_ns",
			 any ? value_known(figures->p9999_ns) : json_null(), "max_ns",
			 value_count_if(any, figures->max_ns));
}

static json_t *fault_parts_of(const struct report *run, const struct fault_figures *faults,
			      bool known)
{
	json_t *parts = json_object();
	json_t *times;
	enum part part;
	bool seen;

	for (part = 0; part < NR_PARTS; part++) {
		seen = known && view_part_known(run, part);
		times = times_of(&faults->parts[part], faults->count, seen);
		times = value_with(times, "faults",
				   value_count_if(seen, faults->parts[part].faults));
		parts = value_with(parts, part_name(part), times);
	}
	return parts;
}

static json_t *faults_of(const struct report *run, const struct fault_figures *faults, bool known)
{
	json_t *object = times_of(&faults->whole, faults->count, known);

	object = value_with(object, "count", value_count_if(known, faults->count));
	object = value_with(object, "major", value_count_if(known, faults->major));
	object = value_with(object, "unsolved", value_count_if(known, faults->unsolved));
	/* perf has no calls. */
	object = value_with(object, "calls_only",
			    value_count_if(known && !view_source_is_perf(run), faults->calls_only));
	/* perf does not report the size of a mapped folio. */
	object = value_with(object, "pages",
			    value_count_if(known && !view_source_is_perf(run), faults->pages));
	return value_with(object, "parts", fault_parts_of(run, faults, known));
}

static json_t *fault_classes_of(const struct report *run)
{
	json_t *classes = json_object();
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class ++)
		classes = value_with(classes, fault_class_name(class),
				     faults_of(run, &run->faults.classes[class],
					       view_class_known(run, class)));
	return classes;
}

json_t *json_parts(const struct report *run)
{
	return json_pack("{sb sb so so so}", "known", run->faults.parts_known, "cpu_at_most",
			 view_cpu_at_most(run), "residue_share",
			 value_real(view_residue_share(run)), "classes", fault_classes_of(run),
			 "all", faults_of(run, &run->faults.all, true));
}

json_t *json_requests(const struct report *run)
{
	const struct block_figures *blocks = &run->blocks;

	if (!view_has_hook(run, HOOK_BLOCK))
		return json_null();
	return json_pack("{so so so so so so so}", "reads", value_count(blocks->reads), "writes",
			 value_count(blocks->writes), "errors", value_count(blocks->errors),
			 "bytes_read", value_count(blocks->bytes_read), "bytes_written",
			 value_count(blocks->bytes_written), "queue",
			 times_of(&blocks->queue, blocks->reads,
				  view_has_hook(run, HOOK_BLOCK_INSERT)),
			 "device", times_of(&blocks->device, blocks->reads, true));
}

static const struct field cpu_wait_rows[] = {
	FIELD(COUNT, evidence_cpu_wait, count, NULL),
	FIELD(COUNT, evidence_cpu_wait, total_ns, NULL),
};

static const struct fields cpu_wait_fields =
	FIELDS("cpu_wait", NULL, evidence_cpu_wait, cpu_wait_rows);

struct cpu_waits {
	struct evidence_cpu_wait by[NR_CPU_WAITS];
};

FIELD_FUNCTION(bool, cpu_limits_known, cpu_waits, run->evidence.limits_known)

#define CPU_WAIT_ROW(name, wait, ...)                                                        \
	FIELD_AS(name, OBJECT, cpu_waits, by[CPU_WAIT_##wait], NULL, .of = &cpu_wait_fields, \
		 ##__VA_ARGS__)

static const struct field cpu_waits_rows[] = {
	CPU_WAIT_ROW("unknown", UNKNOWN),
	CPU_WAIT_ROW("task", TASK),
	CPU_WAIT_ROW("idle", IDLE),
	CPU_WAIT_ROW("preempted_idle", PREEMPTED_IDLE),
	CPU_WAIT_ROW("throttled", THROTTLED, .known = cpu_limits_known),
};

const struct fields cpu_waits_fields = FIELDS(
	"cpu_waits",
	"task: another task ran there. idle: the thread was woken, and the CPU was idle. "
	"preempted_idle: it was preempted, and the CPU was idle. throttled: it was preempted "
	"while its cgroup had used up its CPU time (cpu.max), whatever ran on the CPU right "
	"before; null: not known, then these waits are in the others. unknown: an old "
	"recording.",
	cpu_waits, cpu_waits_rows);

json_t *json_cpu_waits(const struct report *run)
{
	if (!view_part_known(run, PART_RUNQUEUE))
		return json_null();
	return json_fields(&cpu_waits_fields, run, run->evidence.cpu_waits);
}

json_t *json_cpu_limit(const struct report *run)
{
	return run->evidence.limits_known ?
		       json_fields(&cpu_wait_fields, run, &run->evidence.throttled) :
		       json_null();
}

json_t *json_cpu_tasks(const struct report *run)
{
	if (!view_part_known(run, PART_RUNQUEUE) || view_source_is_perf(run))
		return json_null();
	return json_fields_list(&cpu_task_fields, run, run->cpu_tasks.rows, run->cpu_tasks.nr);
}

json_t *json_reclaims(const struct report *run)
{
	static const char *const names[PFSTAT_NR_RECLAIM_KINDS] = {
		[PFSTAT_RECLAIM_DIRECT] = "direct",
		[PFSTAT_RECLAIM_CGROUP] = "cgroup",
		[PFSTAT_RECLAIM_COMPACTION] = "compaction",
		[PFSTAT_RECLAIM_THROTTLE] = "throttle",
	};
	enum pfstat_reclaim_kind kind;
	json_t *object;

	if (!view_has_hook(run, HOOK_RECLAIM))
		return json_null();
	object = json_object();
	for (kind = 0; kind < PFSTAT_NR_RECLAIM_KINDS; kind++) {
		const struct evidence_reclaims *reclaims = &run->evidence.reclaims[kind];

		if (kind == PFSTAT_RECLAIM_THROTTLE && !view_has_hook(run, HOOK_THROTTLE)) {
			object = value_with(object, names[kind], json_null());
			continue;
		}
		object = value_with(object, names[kind],
				    json_pack("{so so so}", "count", value_count(reclaims->count),
					      "total_ns", value_count(reclaims->total_ns), "pages",
					      value_count(reclaims->pages)));
	}
	return object;
}

json_t *json_functions(const char *functions)
{
	json_t *array = json_array();
	size_t length;

	for (; *functions; functions += length + (functions[length] == '<')) {
		length = strcspn(functions, "<");
		array = value_appended(array, json_stringn(functions, length));
	}
	return array;
}

json_t *json_waits(const struct report *run)
{
	const struct wait_row *row;
	json_t *array, *object, *sums;
	enum part part;
	size_t i;

	if (!view_has_hook(run, HOOK_WAIT_STACK))
		return json_null();
	array = json_array();
	for (i = 0; i < run->waits.nr; i++) {
		row = &run->waits.rows[i];
		sums = json_object();
		for (part = 0; part < NR_PARTS; part++)
			if (part_has(part, PART_HAS_STACK))
				sums = value_with(sums, part_name(part),
						  value_count(row->parts_ns[part]));
		object = json_pack("{so so so so so}", "cause",
				   row->cause ? value_text(row->cause) : json_null(), "functions",
				   json_functions(row->functions), "sleeps",
				   value_count(row->sleeps), "total_ns", value_count(row->total_ns),
				   "max_ns", value_count(row->max_ns));
		array = value_appended(array, value_with(object, "parts", sums));
	}
	return json_pack("{so so}", "stacks", array, "unknown_ns",
			 value_count(run->waits.unknown_ns));
}

json_t *json_guest(const struct report *run)
{
	if (view_source_is_perf(run) || !view_has_hook(run, HOOK_FAULT))
		return json_null();
	return json_pack("{so so}", "faults", value_count(run->evidence.guest_faults), "total_ns",
			 value_count(run->evidence.guest_ns));
}

json_t *json_handlers(const struct report *run)
{
	const struct handlers_figures *handlers = &run->evidence.handlers;

	if (!view_has_hook(run, HOOK_WAIT_STACK))
		return json_null();
	return json_fields_list(&handler_fields, run, handlers->rows, handlers->nr);
}

json_t *json_readahead(const struct report *run)
{
	if (!view_has_hook(run, HOOK_BLOCK))
		return json_null();
	return json_fields(&readahead_fields, run, &run->pages.readahead);
}

static json_t *json_again(const struct report *run)
{
	static const char *const reasons[EVICTIONS_NR_REASONS] = EVICTIONS_REASON_NAMES;
	json_t *object = json_object(), *sum;
	size_t i;

	for (i = 0; i < EVICTIONS_NR_REASONS; i++) {
		sum = json_fields(&evictions_sum_fields, run, &run->pages.evictions.again[i]);
		object = value_with(object, reasons[i], sum);
	}
	return object;
}

static json_t *json_point(const struct report *run, const struct memory_curve_point *point)
{
	return json_pack("{so sf sf sf sf}", "bytes", value_count(more_memory_bytes(run, point)),
			 "faults_least", point->least.faults, "faults_most", point->most.faults,
			 "time_least", point->least.total_ns, "time_most", point->most.total_ns);
}

static json_t *json_more_memory(const struct report *run)
{
	const struct evictions_curve *curve = &run->pages.evictions.curve;
	const struct swap_outs_figures *swaps = &run->pages.evictions.swaps;
	const bool has_swap = view_has_hook(run, HOOK_SWAP_OUT);
	json_t *points;
	size_t i;

	if (!curve->nr_points)
		return json_null();
	points = json_array();
	for (i = 0; i < curve->nr_points; i++)
		points = value_appended(points, json_point(run, &curve->points[i]));
	return json_pack("{so so so so sb sb so so so}", "faults",
			 value_count(curve->figures.faults), "swap_ins",
			 value_count_if(has_swap, swaps->faults), "swap_ins_unknown",
			 value_count_if(has_swap, swaps->unknown), "total_ns",
			 value_count(curve->figures.total_ns), "regular", curve->figures.is_regular,
			 "shared", more_memory_is_shared(run), "sampled_pages",
			 value_count(curve->figures.sampled), "one_of",
			 value_count(curve->figures.one_of), "points", points);
}

json_t *json_evictions(const struct report *run)
{
	if (view_lacks_evictions(run))
		return json_null();
	return json_pack("{so so so so so so}", "evicted",
			 value_count(run->pages.evictions.evicted), "overflow",
			 value_count(run->pages.evictions.overflow), "untracked_requests",
			 value_known(run->pages.untracked), "again", json_again(run), "more_memory",
			 json_more_memory(run), "blame",
			 json_fields_list(&evictions_pair_fields, run, run->pages.pairs,
					  run->pages.nr_pairs));
}

static json_t *sum_of(const struct evidence_sum *sum)
{
	return json_pack("{so so}", "count", value_count(sum->count), "total_ns",
			 value_count(sum->total_ns));
}

static json_t *huge_of(const struct report *run)
{
	const struct contents_huge *huge;
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(run->contents.huge) && run->contents.huge[i].order; i++) {
		huge = &run->contents.huge[i];
		array = value_appended(array, json_pack("{so so so}", "bytes",
							value_count(run->environment.page_bytes
								    << huge->order),
							"anon", sum_of(&huge->anon), "hugetlb",
							sum_of(&huge->hugetlb)));
	}
	return array;
}

/* The JSON member for the pages copied or made by a run's faults. */
json_t *json_contents(const struct report *run)
{
	static const char *const names[PFSTAT_NR_CONTENTS] = PFSTAT_CONTENT_NAMES;
	const struct contents_figures *contents = &run->contents;
	json_t *object;
	size_t i;

	if (!view_has_hook(run, HOOK_FAULT) || view_source_is_perf(run))
		return json_null();
	object = json_object();
	for (i = 0; i < PFSTAT_NR_CONTENTS; i++)
		object = value_with(object, names[i], sum_of(&contents->by[i]));
	object = value_with(object, "after_fork", sum_of(&contents->after_fork));
	object = value_with(object, "reused_after_fork", sum_of(&contents->reused_after_fork));
	object = value_with(object, "fork_pid",
			    value_count_if(contents->fork_pid, contents->fork_pid));
	object = value_with(object, "fork_pid_count", value_count(contents->fork_pid_count));
	object = value_with(object, "huge", huge_of(run));
	return value_with(object, "dax_small", value_count(contents->dax_small));
}

static json_t *shaping_call_name(const struct report *run __attribute__((unused)),
				 const void *object)
{
	return json_string(call_kind_name(((const struct report_call *)object)->sum.kind));
}

static json_t *shaping_call_detail(const struct report *run __attribute__((unused)),
				   const void *object)
{
	const struct shaping_call *sum = &((const struct report_call *)object)->sum;
	char detail[256];

	call_kind_print_detail(sum->kind, sum->detail, detail, sizeof(detail));
	return value_text(detail);
}

static bool shaping_call_forked(const struct report *run __attribute__((unused)),
				const void *object)
{
	return ((const struct report_call *)object)->sum.forks;
}

static bool shaping_call_knows_pages(const struct report *run, const void *object)
{
	const struct shaping_call *sum = &((const struct report_call *)object)->sum;

	return shaping_call_forked(run, object) && sum->forks_counted == sum->forks;
}

static const struct field shaping_call_rows[] = {
	FIELD_OF_ALL("name", MADE, NULL, .make = shaping_call_name),
	FIELD_AS("detail", WIDE, report_call, sum.detail,
		 "Advice or flags as passed; 0 for calls without any. A string with digits when it "
		 "needs 64 bits."),
	FIELD_OF_ALL("detail_name", MADE, "The same as text.", .make = shaping_call_detail,
		     .definition = "text_or_null"),
	FIELD(POINTER, report_call, file,
	      "The file that is mapped in the range; null without one, for failed calls and for "
	      "fadvise64."),
	FIELD(STRING, report_call, caller,
	      "Function+offset (object), offset (object), or (not known)."),
	FIELD_AS("count", COUNT, report_call, sum.count, NULL),
	FIELD_AS("failed", COUNT, report_call, sum.failed, "Calls that returned an error."),
	FIELD_AS("bytes", WIDE, report_call, sum.bytes, "All ranges, for successful calls."),
	FIELD_AS("total_ns", COUNT, report_call, sum.total_ns, "Time in the calls."),
	FIELD_AS("first_ns", COUNT, report_call, sum.first_ns,
		 "When the first call returned, CLOCK_MONOTONIC."),
	FIELD_AS("last_ns", COUNT, report_call, sum.last_ns, NULL),
	FIELD_AS("forks", COUNT, report_call, sum.forks,
		 "Calls that copied page tables: fork, and clone and clone3 into a new address "
		 "space. 0 also in recordings by older versions, and if single threads are "
		 "watched."),
	FIELD_AS("fork_pages", COUNT, report_call, sum.fork_pages,
		 "Page-table entries for pages and swap that the forks copied, as the child had "
		 "them right after the fork. A huge page counts as its small pages; pages from "
		 "hugetlb, and from files that the fork left out, do not count. null: no fork, or "
		 "the kernel does not show it.",
		 .known = shaping_call_knows_pages),
	FIELD_AS("fork_table_bytes", COUNT, report_call, sum.fork_table_bytes,
		 "The children's page tables right after the fork; null: no fork.",
		 .known = shaping_call_forked),
};

const struct fields shaping_call_fields =
	FIELDS("shaping_call",
	       "The calls from one place in the code for one file, with the same advice or flags.",
	       report_call, shaping_call_rows);

/* The calls that shape mappings in JSON, in the order of their first calls. */
json_t *json_calls(const struct report *run)
{
	json_t *rows;

	if (!run->bpf.known || view_source_is_perf(run))
		return json_null();
	rows = json_fields_list(&shaping_call_fields, run, run->calls.rows, run->calls.nr);
	return json_pack("{so so}", "rows", rows, "left_out", value_count(run->calls.left_out));
}
