// SPDX-License-Identifier: GPL-2.0-only
/* The sleeps for mmap_lock in JSON, with the threads that passed the lock on. */
#include <string.h>

#include "print/json/json_parts.h"
#include "util/array.h"
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

static json_t *lock_waker(const struct report *run, const struct lock_waker_row *row)
{
	static const char *const doings[] = {
		[PFSTAT_WAKER_UNKNOWN] = "unknown",
		[PFSTAT_WAKER_EXCEPTION] = "exception",
		[PFSTAT_WAKER_KERNEL] = "kernel",
		[PFSTAT_WAKER_KILL] = "kill",
	};
	const bool is_call = row->doing >= PFSTAT_WAKER_CALL;

	return json_pack("{so so ss so so so so so}", "tid", value_count_if(row->tid, row->tid),
			 "thread", value_text(row->comm), "doing",
			 is_call			 ? "call" :
			 row->doing < ARRAY_SIZE(doings) ? doings[row->doing] :
							   "unknown",
			 "call", json_waker_call(run, row->doing), "call_number",
			 value_count_if(is_call, row->doing - PFSTAT_WAKER_CALL), "sleeps",
			 value_count(row->sleeps), "total_ns", value_count(row->total_ns), "max_ns",
			 value_count(row->max_ns));
}

json_t *json_mmap_lock(const struct report *run)
{
	const struct report_mmap_lock *lock = &run->mmap_lock;
	json_t *array;
	size_t i;

	if (view_source_is_perf(run) || !view_has_hook(run, HOOK_WAIT_STACK))
		return json_null();
	array = json_array();
	for (i = 0; i < lock->nr; i++)
		array = value_appended(array, lock_waker(run, &lock->rows[i]));
	return json_pack("{so so so so}", "sleeps", value_count(lock->sleeps), "total_ns",
			 value_count(lock->total_ns), "in_faults_ns",
			 value_count(lock->in_faults_ns), "wakers", array);
}
