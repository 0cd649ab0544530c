// SPDX-License-Identifier: GPL-2.0-only
/*
 * The longest faults in JSON: each with parts, off-CPU intervals, requests, and the process's calls
 * meanwhile. Figures the source cannot have are null.
 */
#include "fields/tables.h"
#include "model/call_kind.h"
#include "print/json/json_parts.h"
#include "util/json_value.h"

static json_t *slow_part_ns(const struct report *run, const void *object, unsigned int part)
{
	const struct explained *fault = object;

	return value_count_if(view_part_known(run, part), fault->parts_ns[part]);
}

const struct fields slow_parts_fields = {
	.name = "slow_parts",
	.about = "ns.",
	.nr_words = NR_PARTS,
	.word = part_name,
	.each = slow_part_ns,
	.definition = "count_or_null",
};

static json_t *slow_cpu_waits(const struct report *run, const struct explained *fault)
{
	static const char *const names[NR_CPU_WAITS] = CPU_WAIT_NAMES;
	json_t *object;
	bool known;
	size_t i;

	if (!view_part_known(run, PART_RUNQUEUE) || view_source_is_perf(run))
		return json_null();
	object = json_object();
	for (i = 0; i < NR_CPU_WAITS; i++) {
		known = i != CPU_WAIT_THROTTLED || run->evidence.limits_known;
		object = value_with(object, names[i],
				    known ? json_pack("{so so}", "count",
						      value_count(fault->cpu_waits[i]), "total_ns",
						      value_count(fault->cpu_waits_ns[i])) :
					    json_null());
	}
	return object;
}

static json_t *slow_interval(const struct report *run, const struct report_slow *row,
			     unsigned int i)
{
	const struct slow_fault *slow = row->slow;
	const struct explain_span *span = &slow->fault.spans[i];
	const struct wait_row *wait = row->names.waits[i];
	const struct cpu_task_row *task = row->names.tasks[i];
	const struct value_member members[] = {
		{ "start_ns", value_count(span->from_ns) },
		{ "duration_ns", value_count(span->to_ns - span->from_ns) },
		{ "part", value_text(part_name(span->part)) },
		{ "on_cpu", json_boolean(span->on_cpu) },
		{ "waker", value_count_if(span->waker, span->waker) },
		{ "waker_thread", value_text(slow_fault_thread(slow, span->waker)) },
		{ "waker_call", json_waker_call(run, span->waker_doing) },
		{ "cause", value_text(wait ? wait->cause : NULL) },
		{ "functions", json_functions(wait ? wait->functions : "") },
		{ "cpu_task", value_count_if(task, task ? task->pid : 0) },
		{ "cpu_task_name", value_text(task ? task->comm : NULL) },
		{ "cpu_task_ran_ns", value_count_if(span->task_ran_ns, span->task_ran_ns) },
		{ NULL, NULL },
	};

	return value_object(members);
}

static json_t *slow_intervals(const struct report *run, const struct report_slow *row)
{
	const struct explained *fault = &row->slow->fault;
	json_t *array;
	unsigned int i;

	if (!fault->parts_known)
		return json_null();
	array = json_array();
	for (i = 0; i < fault->nr_spans; i++)
		array = value_appended(array, slow_interval(run, row, i));
	return array;
}

static json_t *slow_request(const struct report *run, const struct report_slow *row, unsigned int i)
{
	const struct pfstat_block *request = &row->slow->fault.requests[i];
	const uint32_t flags = request->event.flags;
	const bool has_file = flags & PFSTAT_BLOCK_FILE;
	const char *file = row->names.files[i] ?: row->names.place.file;
	const struct value_member members[] = {
		{ "start_ns", value_count(request->insert_ns) },
		{ "queue_ns", value_count_if(view_has_hook(run, HOOK_BLOCK_INSERT),
					     item_elapsed(request->insert_ns, request->issue_ns)) },
		{ "device_ns", value_count(item_elapsed(request->issue_ns, request->event.ns)) },
		{ "in_flight", value_count_if(row->slow->in_flight[i], row->slow->in_flight[i]) },
		{ "tid", value_count(request->event.tid) },
		{ "bytes", value_count(request->bytes) },
		{ "dev", value_count(request->dev) },
		{ "sector", value_wide(request->sector) },
		{ "file", value_text(has_file ? file : NULL) },
		{ "page", value_count_if(has_file, request->pgoff) },
		{ "write", json_boolean(flags & PFSTAT_BLOCK_WRITE) },
		{ "readahead", json_boolean(flags & PFSTAT_BLOCK_READAHEAD) },
		{ "swap", json_boolean(flags & PFSTAT_BLOCK_SWAP) },
		{ "error", json_boolean(flags & PFSTAT_BLOCK_ERROR) },
		{ NULL, NULL },
	};

	return value_object(members);
}

static json_t *slow_requests_of(const struct report *run, const struct report_slow *row)
{
	json_t *array;
	unsigned int i;

	if (!view_has_hook(run, HOOK_BLOCK))
		return json_null();
	array = json_array();
	for (i = 0; i < row->slow->fault.nr_requests; i++)
		array = value_appended(array, slow_request(run, row, i));
	return array;
}

static json_t *slow_call(const struct slow_fault *slow, const struct pfstat_call *call)
{
	char detail[128];

	call_kind_print_detail(call->kind, call_kind_detail(call), detail, sizeof(detail));
	return json_pack("{so so so so so so so}", "call", value_text(call_kind_name(call->kind)),
			 "detail", value_text(detail), "tid", value_count(call->event.tid),
			 "thread", value_text(slow_fault_thread(slow, call->event.tid)), "start_ns",
			 value_count(call->start_ns), "duration_ns",
			 value_count(item_elapsed(call->start_ns, call->event.ns)), "shared_ns",
			 value_count(slow_fault_shared_ns(slow, call)));
}

static json_t *slow_calls_of(const struct report *run, const struct slow_fault *slow)
{
	json_t *array;
	unsigned int i;

	if (!run->bpf.known || view_source_is_perf(run))
		return json_null();
	array = json_array();
	for (i = 0; i < slow->nr_calls; i++)
		array = value_appended(array, slow_call(slow, &slow->calls[i]));
	return array;
}

static json_t *json_slow(const struct report *run, const struct report_slow *row)
{
	const struct explained *fault = &row->slow->fault;
	const bool by_perf = view_source_is_perf(run);
	struct longest_fault longest;
	json_t *object;

	longest_fault_set(&longest, fault);
	object = json_longest(&longest, &row->names.place);
	object = value_with(object, "write",
			    by_perf ? json_null() : json_boolean(fault->flags & PFSTAT_FLAG_WRITE));
	object = value_with(object, "attempts", value_count_if(!by_perf, fault->attempts));
	object = value_with(object, "read_bytes",
			    value_count_if(view_has_hook(run, HOOK_BLOCK), fault->read_bytes));
	object = value_with(object, "whole", json_boolean(fault->whole));
	object = value_with(object, "parts",
			    fault->parts_known ? json_fields(&slow_parts_fields, run, fault) :
						 json_null());
	object = value_with(object, "cpu_waits", slow_cpu_waits(run, fault));
	object = value_with(object, "intervals", slow_intervals(run, row));
	object = value_with(object, "more_intervals",
			    json_boolean(fault->nr_spans == EXPLAIN_MAX_SPANS));
	object = value_with(object, "requests", slow_requests_of(run, row));
	object = value_with(object, "more_requests", json_boolean(fault->more_requests));
	object = value_with(object, "calls", slow_calls_of(run, row->slow));
	return value_with(object, "calls_left_out", value_count(row->slow->calls_left_out));
}

json_t *json_slowest(const struct report *run)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < run->slowest.nr; i++)
		array = value_appended(array, json_slow(run, &run->slowest.rows[i]));
	return json_pack("{so so}", "run_start_ns", value_known(run->slowest.start_ns), "faults",
			 array);
}
