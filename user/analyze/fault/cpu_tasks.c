// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers the processes by pid and name, and adds the waits of the faults to them. A wait beyond
 * the spans that a fault stores has no process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/cpu_tasks.h"
#include "fields/tables.h"

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
