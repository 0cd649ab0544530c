// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers the kernel stacks by their text, and adds the fault spans to them. Time in spans beyond
 * those a fault stores has no stack.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/waits.h"
#include "fields/tables.h"
#include "model/wait_cause.h"
#include "util/array.h"

/*
 * Numbers the processes by pid and name, and adds the waits of the faults to them. A wait beyond
 * the spans that a fault stores has no process.
 */

static const struct field cpu_task_rows[] = {
	FIELD(COUNT, cpu_task_row, pid, NULL),
	FIELD_AS("name", TEXT, cpu_task_row, comm, "The first thread's name; null: not known."),
	FIELD(FLAG, cpu_task_row, kernel, "A kernel thread."),
	FIELD(FLAG, cpu_task_row, recorded, "The run has this process."),
	FIELD(COUNT, cpu_task_row, waits,
	      "Waits for at least 10 µs that ended when a thread of this process left the CPU."),
	FIELD(COUNT, cpu_task_row, total_ns,
	      "How long these waits took. Other tasks may have run for a part."),
	FIELD(NONZERO, cpu_task_row, ran_ns,
	      "Least time that the process had the CPU; null: not known."),
	FIELD(COUNT, cpu_task_row, own_ns, "Part of total_ns in which its own threads waited."),
};

const struct fields cpu_task_fields = FIELDS("cpu_task", NULL, cpu_task_row, cpu_task_rows);

#define FIRST_ROOM 16U

void cpu_tasks_exit(struct cpu_tasks *tasks)
{
	hash_exit(&tasks->ids, NULL);
	free(tasks->rows);
	*tasks = (struct cpu_tasks){ 0 };
}

static int cpu_tasks_grow(struct cpu_tasks *tasks)
{
	const size_t room = tasks->room ? 2 * tasks->room : FIRST_ROOM;
	struct cpu_task_row *grown = reallocarray(tasks->rows, room, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	tasks->rows = grown;
	tasks->room = room;
	return 0;
}

static uint64_t cpu_tasks_key(const struct cpu_task_row *row)
{
	char text[sizeof(row->pid) + sizeof(row->comm)] = { 0 };

	memcpy(text, &row->pid, sizeof(row->pid));
	strcpy(text + sizeof(row->pid), row->comm);
	return hash_of(text, sizeof(text));
}

int cpu_tasks_find(struct cpu_tasks *tasks, const struct pfstat_cpu_task *event, bool recorded,
		   uint32_t *id)
{
	struct cpu_task_row row = {
		.pid = event->task_pid,
		.kernel = event->event.flags & PFSTAT_CPU_TASK_KERNEL,
		.recorded = recorded,
	};
	uint64_t key;
	int err = 0;

	strcpy(row.comm, event->comm);
	key = cpu_tasks_key(&row);
	*id = (uintptr_t)hash_find(&tasks->ids, key);
	if (*id || tasks->nr == CPU_TASKS_MAX)
		return 0;
	if (tasks->nr == tasks->room)
		err = cpu_tasks_grow(tasks);
	if (!err)
		err = hash_add(&tasks->ids, key, (void *)(uintptr_t)(tasks->nr + 1));
	if (err)
		return err;
	tasks->rows[tasks->nr++] = row;
	*id = tasks->nr;
	return 0;
}

void cpu_tasks_add_fault(struct cpu_tasks *tasks, const struct explained *fault)
{
	const struct explain_span *span = fault->spans;
	struct cpu_task_row *row;
	uint64_t ns;

	for (; span < fault->spans + fault->nr_spans; span++) {
		if (!span->task)
			continue;
		row = &tasks->rows[span->task - 1];
		ns = span->to_ns - span->from_ns;
		row->waits++;
		row->total_ns += ns;
		row->ran_ns += span->task_ran_ns;
		if (row->pid == fault->pid)
			row->own_ns += ns;
	}
}

static int cpu_tasks_compare(const void *a, const void *b)
{
	const struct cpu_task_row *left = a, *right = b;

	if (left->ran_ns != right->ran_ns)
		return left->ran_ns < right->ran_ns ? 1 : -1;
	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return left->pid < right->pid ? -1 : left->pid > right->pid;
}

int cpu_tasks_list(const struct cpu_tasks *tasks, struct cpu_task_row **rows, size_t *nr)
{
	size_t i;

	*nr = 0;
	*rows = calloc(tasks->nr ?: 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (i = 0; i < tasks->nr; i++)
		if (tasks->rows[i].waits)
			(*rows)[(*nr)++] = tasks->rows[i];
	qsort(*rows, *nr, sizeof(**rows), cpu_tasks_compare);
	return 0;
}

/*
 * Numbers the wakers by thread, name and call, and adds up their sleeps. A sleep ends at the
 * wake-up. The following wait for a CPU does not count.
 */

void lock_wakers_exit(struct lock_wakers *wakers)
{
	hash_exit(&wakers->ids, NULL);
	free(wakers->rows);
	*wakers = (struct lock_wakers){ 0 };
}

static uint64_t lock_wakers_key(const struct lock_waker_row *row)
{
	char text[sizeof(row->tid) + sizeof(row->doing) + sizeof(row->comm)] = { 0 };

	memcpy(text, &row->tid, sizeof(row->tid));
	memcpy(text + sizeof(row->tid), &row->doing, sizeof(row->doing));
	strcpy(text + sizeof(row->tid) + sizeof(row->doing), row->comm);
	return hash_of(text, sizeof(text));
}

/* Sets *found to the row, or to NULL if there are too many. */
static int lock_wakers_find(struct lock_wakers *wakers, const struct lock_waker_row *row,
			    struct lock_waker_row **found)
{
	const uint64_t key = lock_wakers_key(row);
	const size_t id = (uintptr_t)hash_find(&wakers->ids, key);
	int err;

	*found = id ? &wakers->rows[id - 1] : NULL;
	if (id || wakers->nr == LOCK_WAKERS_MAX)
		return 0;
	err = array_reserve((void **)&wakers->rows, wakers->nr, &wakers->room, sizeof(*row));
	if (!err)
		err = hash_add(&wakers->ids, key, (void *)(uintptr_t)(wakers->nr + 1));
	if (err)
		return err;
	*found = &wakers->rows[wakers->nr++];
	**found = *row;
	return 0;
}

int lock_wakers_add(struct lock_wakers *wakers, const struct pfstat_off_cpu *interval,
		    const char *comm)
{
	const bool woken = interval->event.flags & PFSTAT_OFF_CPU_WOKEN;
	const uint64_t ns =
		item_elapsed(interval->off_ns, woken ? interval->woken_ns : interval->event.ns);
	struct lock_waker_row row = {
		.tid = interval->waker,
		.doing = interval->event.flags >> PFSTAT_OFF_CPU_WAKER_SHIFT,
	};
	struct lock_waker_row *found;
	int err;

	snprintf(row.comm, sizeof(row.comm), "%s", comm);
	err = lock_wakers_find(wakers, &row, &found);
	if (err)
		return err;
	wakers->sleeps++;
	wakers->total_ns += ns;
	if (!found)
		return 0;
	found->sleeps++;
	found->total_ns += ns;
	if (ns > found->max_ns)
		found->max_ns = ns;
	return 0;
}

static int lock_wakers_compare(const void *a, const void *b)
{
	const struct lock_waker_row *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return left->doing < right->doing ? -1 : left->doing > right->doing;
}

int lock_wakers_list(const struct lock_wakers *wakers, struct lock_waker_row **rows, size_t *nr)
{
	*nr = 0;
	*rows = calloc(wakers->nr ?: 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	*nr = wakers->nr;
	if (wakers->nr)
		memcpy(*rows, wakers->rows, wakers->nr * sizeof(**rows));
	qsort(*rows, *nr, sizeof(**rows), lock_wakers_compare);
	return 0;
}

void waits_exit(struct waits *waits)
{
	hash_exit(&waits->ids, NULL);
	free(waits->rows);
	cpu_tasks_exit(&waits->tasks);
	lock_wakers_exit(&waits->lock_wakers);
	*waits = (struct waits){ 0 };
}

/* Searches for the functions of a read-write semaphore, also in a real-time kernel. */
static bool waits_for_read_write_lock(const char *functions)
{
	return strstr(functions, "rwsem_down_") || strstr(functions, "rwbase_");
}

int waits_find(struct waits *waits, const char *functions, uint32_t *id)
{
	const uint64_t key = hash_of(functions, strlen(functions));
	struct wait_row *row;
	int err;

	*id = (uintptr_t)hash_find(&waits->ids, key);
	if (*id || !functions[0] || waits->nr == WAITS_MAX)
		return 0;
	err = array_reserve((void **)&waits->rows, waits->nr, &waits->room, sizeof(*row));
	if (!err)
		err = hash_add(&waits->ids, key, (void *)(uintptr_t)(waits->nr + 1));
	if (err)
		return err;
	row = &waits->rows[waits->nr++];
	memset(row, 0, sizeof(*row));
	strcpy(row->functions, functions);
	row->cause = wait_cause_of(functions);
	row->is_mmap_lock = row->cause && !strcmp(row->cause, WAIT_MMAP_LOCK) &&
			    waits_for_read_write_lock(functions);
	*id = waits->nr;
	return 0;
}

static void waits_may_be_own(struct wait_row *row)
{
	if (row->cause && !strcmp(row->cause, WAIT_PAGE))
		row->cause = WAIT_OWN_PAGE;
}

int waits_find_event(struct waits *waits, const struct pfstat_wait *event, uint32_t *id,
		     enum wait_kind *kind)
{
	int err = 0;

	*id = 0;
	if (event->event.flags & PFSTAT_WAIT_NAMED)
		err = waits_find(waits, event->functions, id);
	if (*id && event->event.flags & PFSTAT_WAIT_OWN)
		waits_may_be_own(&waits->rows[*id - 1]);
	*kind = wait_kind_of(*id ? waits->rows[*id - 1].cause : NULL);
	return err;
}

int waits_add_sleep(struct waits *waits, uint32_t id, const struct pfstat_off_cpu *interval,
		    const char *comm)
{
	if (!id || !waits->rows[id - 1].is_mmap_lock)
		return 0;
	return lock_wakers_add(&waits->lock_wakers, interval, comm);
}

/* A sleep may have several spans, one after the other. @slept_ns: in earlier spans. */
static uint64_t waits_add_span(struct wait_row *row, const struct explain_span *span,
			       const struct explained *fault, uint64_t slept_ns)
{
	const uint64_t ns = span->to_ns - span->from_ns;

	row->sleeps += !slept_ns;
	row->total_ns += ns;
	row->parts_ns[span->part] += ns;
	row->classes_ns[fault->class] += ns;
	if (span->part == PART_ASLEEP && !fault->major)
		row->minor_asleep_ns += ns;
	slept_ns += ns;
	if (slept_ns > row->max_ns)
		row->max_ns = slept_ns;
	return slept_ns;
}

void waits_add_fault(struct waits *waits, const struct explained *fault)
{
	uint64_t slept_ns = 0, known_ns = 0;
	const struct explain_span *span;
	unsigned int i;

	cpu_tasks_add_fault(&waits->tasks, fault);
	for (i = 0; i < fault->nr_spans; i++) {
		span = &fault->spans[i];
		if (!i || span[-1].wait != span->wait || span[-1].to_ns != span->from_ns)
			slept_ns = 0;
		if (!span->wait || !part_has(span->part, PART_HAS_STACK))
			continue;
		slept_ns = waits_add_span(&waits->rows[span->wait - 1], span, fault, slept_ns);
		if (span->part == PART_FOREIGN || span->part == PART_BLOCKED ||
		    span->part == PART_ASLEEP)
			known_ns += span->to_ns - span->from_ns;
	}
	waits->unknown_ns += fault->parts_ns[PART_FOREIGN] + fault->parts_ns[PART_BLOCKED] +
			     fault->parts_ns[PART_ASLEEP] - known_ns;
}

static int waits_compare(const void *a, const void *b)
{
	const struct wait_row *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return strcmp(left->functions, right->functions);
}

int waits_list(const struct waits *waits, struct wait_row **rows, size_t *nr)
{
	size_t i;

	*nr = 0;
	*rows = calloc(waits->nr ?: 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (i = 0; i < waits->nr; i++)
		if (waits->rows[i].total_ns)
			(*rows)[(*nr)++] = waits->rows[i];
	qsort(*rows, *nr, sizeof(**rows), waits_compare);
	return 0;
}
