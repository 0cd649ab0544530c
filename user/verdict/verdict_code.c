// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the places in the code named in the verdict: the function with most fault time, the one
 * whose system calls faulted, and the one giving most of an advice. Input: the report's groups by
 * instruction, and the report's calls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verdict/verdict_rules.h"
#include "report/view.h"
#include "util/array.h"

/* Only the costliest instructions' functions are compared. */
#define CANDIDATES 64

/* "function+0x1f (object)": the lengths of "function", and of what precedes " (object)". */
static void verdict_split_code(const char *name, size_t *function, size_t *place)
{
	const char *object = strstr(name, " ("), *offset;

	*place = object ? (size_t)(object - name) : strlen(name);
	*function = *place;
	for (offset = name; (offset = strstr(offset, "+0x")) && offset < name + *place; offset++)
		*function = offset - name;
}

/* @function: the name's length in @name. @object: " (object)" */
static bool verdict_is_function(const char *other, const char *name, size_t function,
				const char *object)
{
	const char *found;

	if (strncmp(other, name, function) || (other[function] != '+' && other[function] != ' '))
		return false;
	found = strstr(other + function, " (");
	return found && !strcmp(found, object);
}

static uint64_t verdict_total_ns(const struct group *group)
{
	return group->total_ns;
}

static uint64_t verdict_kernel_ns(const struct group *group)
{
	return group->kernel_ns;
}

static uint64_t verdict_sum_function(const struct report_places *codes, const char *name,
				     size_t function, const char *object,
				     uint64_t (*time_of)(const struct group *group))
{
	uint64_t sum_ns = 0;
	size_t i;

	for (i = 0; i < codes->nr; i++)
		if (verdict_is_function(codes->rows[i].name, name, function, object))
			sum_ns += time_of(&codes->rows[i]);
	return sum_ns;
}

static void verdict_find_function(struct verdict_code *code, const struct report *run,
				  uint64_t (*time_of)(const struct group *group))
{
	const struct report_places *codes = &run->places[GROUP_BY_CODE];
	size_t function, place, i;
	const struct group *row;
	uint64_t sum_ns;

	*code = (struct verdict_code){ 0 };
	for (i = 0; i < codes->nr && i < CANDIDATES; i++) {
		row = &codes->rows[i];
		if (group_is_others(row) || !time_of(row))
			continue;
		verdict_split_code(row->name, &function, &place);
		sum_ns = row->name[place] ? verdict_sum_function(codes, row->name, function,
								 row->name + place, time_of) :
					    time_of(row);
		if (sum_ns <= code->total_ns)
			continue;
		snprintf(code->name, sizeof(code->name), "%.*s%s", (int)function, row->name,
			 row->name + place);
		code->total_ns = sum_ns;
	}
}

const struct group *verdict_code_thread(const struct report *run, uint32_t tid)
{
	const struct report_places *threads = &run->places[GROUP_BY_THREAD];
	size_t i;

	for (i = 0; i < threads->nr; i++)
		if (threads->rows[i].tid == tid)
			return &threads->rows[i];
	return NULL;
}

void verdict_code_find(struct verdict_code *code, const struct report *run)
{
	verdict_find_function(code, run, verdict_total_ns);
}

/* These wait for something else than memory, however long they take. */
static bool verdict_is_wait(const char *name)
{
	static const char *const waits[] = {
		"futex",	   "poll",   "ppoll",	"select",   "pselect6",	 "epoll_wait",
		"epoll_pwait",	   "wait4",  "waitid",	"pause",    "nanosleep", "clock_nanosleep",
		"rt_sigtimedwait", "accept", "accept4", "recvfrom", "recvmsg",	 "rt_sigsuspend",
		"restart_syscall",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(waits); i++)
		if (!strcmp(waits[i], name))
			return true;
	return false;
}

/*
 * Adds the only system call that took as long as half of these faults. The others cannot hold most
 * of them.
 */
static void verdict_add_syscall(struct verdict_cause *cause, const struct report *run)
{
	const struct syscall_total *row = run->extras.syscalls, *found = NULL;
	const struct syscall_total *end = row ? row + run->extras.nr_syscalls : NULL;
	char *name = NULL, *other;

	for (; row < end && row->total_ns >= VERDICT_WAIT_SHARE * run->evidence.kernel_ns; row++) {
		other = view_syscall_name(run, row->number);
		if (!other || verdict_is_wait(other)) {
			free(other);
			continue;
		}
		if (found) {
			free(other);
			free(name);
			return;
		}
		found = row;
		name = other;
	}
	if (found)
		verdict_add(cause, ", where only %s() took that long (%" PRIu64 " call%s)", name,
			    found->calls, found->calls == 1 ? "" : "s");
	free(name);
}

void verdict_code_add_caller(struct verdict_cause *cause, const struct report *run)
{
	struct verdict_code caller;

	verdict_add_syscall(cause, run);
	verdict_find_function(&caller, run, verdict_kernel_ns);
	if (caller.total_ns >= VERDICT_WAIT_SHARE * run->evidence.kernel_ns)
		verdict_add(cause, ", mostly from %.120s", caller.name);
}

void verdict_code_advisers(const struct report *run, const char *file, int advice,
			   struct verdict_callers *found)
{
	const struct report_call *row;
	uint64_t succeeded;

	*found = (struct verdict_callers){ .more = run->calls.left_out };
	for (row = run->calls.rows; row < run->calls.rows + run->calls.nr; row++) {
		if (row->sum.kind != PFSTAT_CALL_MADVISE || row->sum.detail != (uint64_t)advice ||
		    (file && strcmp(row->file, file)))
			continue;
		succeeded = row->sum.count - row->sum.failed;
		found->calls += succeeded;
		found->bytes += row->sum.bytes;
		if (succeeded <= found->most)
			continue;
		found->most = succeeded;
		found->place = row->sum.place ? row->caller : NULL;
	}
}

/* "name+0x1 (/folder/file)", without the folder: the calls table has the whole path. */
static void verdict_add_code(struct verdict_cause *cause, const char *place)
{
	const char *path = strstr(place, " (/"), *slash = strrchr(place, '/');

	if (path)
		verdict_add(cause, "%.*s (%.80s", (int)(path - place), place, slash + 1);
	else
		verdict_add(cause, "%.160s", place);
}

void verdict_code_add_place(struct verdict_cause *cause, const struct verdict_callers *found)
{
	if (!found->place)
		return;
	if (found->most == found->calls && !found->more)
		verdict_add(cause, " in ");
	else
		verdict_add(cause, ", %" PRIu64 " of them in ", found->most);
	verdict_add_code(cause, found->place);
}
