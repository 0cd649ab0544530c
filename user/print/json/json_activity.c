// SPDX-License-Identifier: GPL-2.0-only
/* The time with a fault in progress, and the threads' activity, in JSON. */
#include <stdlib.h>

#include "analyze/activity.h"
#include "analyze/standstill.h"
#include "fields/tables.h"
#include "print/json/json_parts.h"
#include "print/standstill_text.h"
#include "util/json_value.h"

json_t *json_busy(const struct report *run)
{
	return json_pack("{so so}", "min_ns", value_count(run->evidence.busy_ns), "max_ns",
			 value_count(run->evidence.busy_max_ns));
}

json_t *json_in_flight(const struct report *run)
{
	return json_pack("{so so so}", "mean", value_real(standstill_text_in_flight(run)),
			 "most_min", value_count(run->evidence.depth), "most_max",
			 value_count(run->evidence.depth_max));
}

static const struct field bounds_rows[] = {
	FIELD(KNOWN, overlap_time, min_ns, NULL),
	FIELD(KNOWN, overlap_time, max_ns, NULL),
};

static const struct fields bounds_fields = FIELDS("bounds", NULL, overlap_time, bounds_rows);

static const struct field standstill_rows[] = {
	FIELD_AS("pid", COUNT, standstill_figures, most.pid, NULL),
	FIELD_AS("process", TEXT, standstill_figures, most.name, "Its name; null: not known."),
	FIELD_AS("threads", COUNT, standstill_figures, most.threads,
		 "Its threads with at least one event."),
	FIELD_AS("still", OBJECT, standstill_figures, most.still, NULL, .of = &bounds_fields),
	FIELD_AS("several", OBJECT, standstill_figures, most.several,
		 "The part with two or more threads in faults.", .of = &bounds_fields),
	FIELD(COUNT, standstill_figures, processes, "The number of processes with faults."),
	FIELD(FLAG, standstill_figures, complete,
	      "False: so many processes lived at once that some were left out."),
};

const struct fields standstill_fields =
	FIELDS("standstill",
	       "The time in which a thread of the process was in a fault, and none ran outside of "
	       "faults.",
	       standstill_figures, standstill_rows);

json_t *json_standstill(const struct report *run)
{
	struct standstill_figures figures = run->evidence.standstill;

	if (!standstill_text_known(run))
		return json_null();
	figures.most.still = standstill_text_bounds(run, &figures.most.still);
	figures.most.several = standstill_text_bounds(run, &figures.most.several);
	return json_fields(&standstill_fields, run, &figures);
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

/* The sleeps for mmap_lock in JSON, with the threads that passed the lock on. */

json_t *json_waker_call(const struct report *run, uint32_t doing)
{
	char *name;
	json_t *call;

	if (doing < PFSTAT_WAKER_CALL)
		return json_null();
	name = view_syscall_name(run, doing - PFSTAT_WAKER_CALL);
	call = value_text(name);
	free(name);
	return call;
}

static const char *const doings[PFSTAT_WAKER_CALL + 1] = {
	[PFSTAT_WAKER_UNKNOWN] = "unknown", [PFSTAT_WAKER_EXCEPTION] = "exception",
	[PFSTAT_WAKER_KERNEL] = "kernel",   [PFSTAT_WAKER_KILL] = "kill",
	[PFSTAT_WAKER_CALL] = "call",
};

static json_t *waker_doing(const struct report *run __attribute__((unused)), const void *object)
{
	const struct lock_waker_row *row = object;

	if (row->doing >= PFSTAT_WAKER_CALL)
		return json_string(doings[PFSTAT_WAKER_CALL]);
	return json_string(doings[row->doing] ?: doings[PFSTAT_WAKER_UNKNOWN]);
}

static json_t *waker_call(const struct report *run, const void *object)
{
	return json_waker_call(run, ((const struct lock_waker_row *)object)->doing);
}

static json_t *waker_call_number(const struct report *run __attribute__((unused)),
				 const void *object)
{
	const uint32_t doing = ((const struct lock_waker_row *)object)->doing;

	return value_count_if(doing >= PFSTAT_WAKER_CALL, doing - PFSTAT_WAKER_CALL);
}

static const struct field lock_waker_rows[] = {
	FIELD(NONZERO, lock_waker_row, tid, "null: not known."),
	FIELD_AS("thread", TEXT, lock_waker_row, comm, "Its name; null: not a recorded thread."),
	FIELD(MADE, lock_waker_row, doing,
	      "call: a system call. exception: no system call, as in a page fault. kernel: a "
	      "kernel thread. kill: the waiting thread had a fatal signal pending.",
	      .make = waker_doing, FIELD_WORDS(doings)),
	FIELD_AS("call", MADE, lock_waker_row, doing,
		 "The system call; null: none, or it has no known name.", .make = waker_call,
		 .definition = "text_or_null"),
	FIELD_AS("call_number", MADE, lock_waker_row, doing,
		 "Its number; null: in no system call, or not known.", .make = waker_call_number,
		 .definition = "count_or_null"),
	FIELD(COUNT, lock_waker_row, sleeps, "The sleeps that ended so."),
	FIELD(COUNT, lock_waker_row, total_ns, "Their time, until the thread was woken."),
	FIELD(COUNT, lock_waker_row, max_ns, "The longest of them."),
};

static const struct fields lock_waker_fields =
	FIELDS("lock_waker", NULL, lock_waker_row, lock_waker_rows);

static const struct field mmap_lock_rows[] = {
	FIELD(COUNT, report_mmap_lock, sleeps, NULL),
	FIELD(COUNT, report_mmap_lock, total_ns, NULL),
	FIELD(COUNT, report_mmap_lock, in_faults_ns,
	      "The part of total_ns within faults. The rest comes before the faults."),
	FIELD_AS("wakers", ROWS, report_mmap_lock, rows,
		 "The threads that passed the lock on, by system call, longest first.",
		 .of = &lock_waker_fields, FIELD_NR(report_mmap_lock, nr)),
};

const struct fields mmap_lock_fields = FIELDS("mmap_lock", NULL, report_mmap_lock, mmap_lock_rows);

json_t *json_mmap_lock(const struct report *run)
{
	if (!view_has_hook(run, HOOK_WAIT_STACK))
		return json_null();
	return json_fields(&mmap_lock_fields, run, &run->mmap_lock);
}
