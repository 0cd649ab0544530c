// SPDX-License-Identifier: GPL-2.0-only
/* The time with a fault in progress, the threads' activity, and the long faults, in JSON. */
#include <string.h>

#include "fields/tables.h"
#include "print/json/json_parts.h"
#include "print/json/json_spread.h"
#include "print/standstill_text.h"
#include "util/json_value.h"

json_t *json_busy(const struct report *run)
{
	return json_pack("{so so}", "min_ns", value_count(run->evidence.busy_ns), "max_ns",
			 value_count(run->evidence.busy_max_ns));
}

json_t *json_in_flight(const struct report *run)
{
	return json_pack("{so so so}", "mean", json_real_or_null(standstill_text_in_flight(run)),
			 "most_min", value_count(run->evidence.depth), "most_max",
			 value_count(run->evidence.depth_max));
}

static json_t *bounds_of(const struct report *run, const struct overlap_time *time)
{
	const struct overlap_time bounds = standstill_text_bounds(run, time);

	return json_pack("{so so}", "min_ns", value_known(bounds.min_ns), "max_ns",
			 value_known(bounds.max_ns));
}

json_t *json_standstill(const struct report *run)
{
	const struct standstill_figures *figures = &run->evidence.standstill;
	const struct process_standstill *most = &figures->most;

	if (!standstill_text_known(run))
		return json_null();
	return json_pack("{so so so so so so sb}", "pid", value_count(most->pid), "process",
			 value_text(most->name), "threads", value_count(most->threads), "still",
			 bounds_of(run, &most->still), "several", bounds_of(run, &most->several),
			 "processes", value_count(figures->processes), "complete",
			 figures->complete);
}

static const struct field thread_activity_rows[] = {
	FIELD(COUNT, thread_activity, pid, NULL),
	FIELD(COUNT, thread_activity, tid, NULL),
	FIELD(COUNT, thread_activity, life_ns, NULL),
	FIELD(COUNT, thread_activity, fault_ns, NULL),
	FIELD(KNOWN, thread_activity, waiting_ns, NULL),
	FIELD_AS("active_min_ns", KNOWN, thread_activity, active_ns, NULL),
	FIELD_AS("active_max_ns", KNOWN, thread_activity, active_max_ns, NULL),
};

static const struct fields thread_activity_fields =
	FIELDS("thread_activity", NULL, thread_activity, thread_activity_rows);

static bool any_is_stalled(const struct report *run __attribute__((unused)), const void *object)
{
	return ((const struct activity_figures *)object)->stalled.tid;
}

static const struct field activity_rows[] = {
	FIELD(COUNT, activity_figures, threads, NULL),
	FIELD(COUNT, activity_figures, life_ns, "Sum over the threads."),
	FIELD(KNOWN, activity_figures, waiting_ns,
	      "Sum over the threads: waits for a CPU outside faults; null: off-CPU events are not "
	      "known."),
	FIELD_AS("active_min_ns", KNOWN, activity_figures, active_ns,
		 "Sum over the threads: on a CPU, or in a fault; null: off-CPU events are not "
		 "known."),
	FIELD_AS("active_max_ns", KNOWN, activity_figures, active_max_ns,
		 "The upper bound. A thread may have slept before its first and after its last "
		 "event."),
	FIELD(OBJECT, activity_figures, stalled,
	      "The thread that spent the largest share in faults, not counting its waits for a "
	      "CPU, among threads with at least about 1/1000 in faults; null: none.",
	      .of = &thread_activity_fields, .known = any_is_stalled),
};

const struct fields activity_fields =
	FIELDS("activity",
	       "How long the threads existed in the run, and how long they were active: on the "
	       "CPU, waiting for a CPU, or in a fault.",
	       activity_figures, activity_rows);

json_t *json_activity(const struct report *run)
{
	return json_fields(&activity_fields, run, &run->evidence.activity);
}

static json_t *longest_wait_of(const struct longest_fault *fault, const struct longest_names *names)
{
	if (!fault->wait)
		return json_null();
	return json_pack("{so so so}", "cause",
			 names->cause ? value_text(names->cause) : json_null(), "functions",
			 json_functions(names->functions ?: ""), "total_ns",
			 value_count(fault->wait_ns));
}

static json_t *longest_part_of(const struct longest_fault *fault)
{
	if (!fault->parts_known)
		return json_null();
	return json_pack("{so so}", "name", value_text(part_name(fault->part)), "total_ns",
			 value_count(fault->part_ns));
}

json_t *json_longest(const struct longest_fault *fault, const struct longest_names *names)
{
	const bool has_file = fault->inode;
	const struct value_member members[] = {
		{ "start_ns", value_count(fault->start_ns) },
		{ "duration_ns", value_count(fault->duration_ns) },
		{ "pid", value_count(fault->pid) },
		{ "tid", value_count(fault->tid) },
		{ "thread", value_text(names->thread) },
		{ "class", value_text(fault_class_name(fault->class)) },
		{ "file", value_text(names->file) },
		{ "mapping", value_text(names->mapping) },
		{ "inode", has_file ? value_wide(fault->inode) : json_null() },
		{ "dev", value_count_if(has_file, fault->dev) },
		{ "page", value_count_if(has_file, fault->pgoff) },
		{ "address", value_wide(fault->address) },
		{ "code", value_text(names->code) },
		{ "ip", fault->ip ? value_wide(fault->ip) : json_null() },
		{ "major", fault->solved ? json_boolean(fault->major) : json_null() },
		{ "solved", json_boolean(fault->solved) },
		{ "part", longest_part_of(fault) },
		{ "wait", longest_wait_of(fault, names) },
		{ "kernel", json_boolean(!(fault->flags & PFSTAT_FLAG_USER)) },
		{ NULL, NULL },
	};

	return value_object(members);
}

json_t *json_tail(const struct report *run)
{
	const struct fault_tail *tail = &run->evidence.tail;

	return json_pack("{so so so so}", "at_least_ns", value_count(FAULT_TAIL_NS), "count",
			 value_count(tail->count), "total_ns", value_count(tail->total_ns),
			 "longest",
			 tail->longest.duration_ns ? json_longest(&tail->longest, &run->longest) :
						     json_null());
}
