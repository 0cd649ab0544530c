// SPDX-License-Identifier: GPL-2.0-only
/* The sleeps for mmap_lock in JSON, with the threads that passed the lock on. */
#include <stdlib.h>

#include "fields/tables.h"
#include "print/json/json_parts.h"
#include "util/json_value.h"

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
	if (view_source_is_perf(run) || !view_has_hook(run, HOOK_WAIT_STACK))
		return json_null();
	return json_fields(&mmap_lock_fields, run, &run->mmap_lock);
}
