// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers the kernel stacks by their text, and adds the fault spans to them. Time in spans beyond
 * those a fault stores has no stack.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/waits.h"
#include "model/wait_cause.h"
#include "util/array.h"

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

int waits_find_event(struct waits *waits, const struct pfstat_wait *event, uint32_t *id,
		     enum wait_kind *kind)
{
	int err = 0;

	*id = 0;
	if (event->event.flags & PFSTAT_WAIT_NAMED)
		err = waits_find(waits, event->functions, id);
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
			       enum fault_class class, uint64_t slept_ns)
{
	const uint64_t ns = span->to_ns - span->from_ns;

	row->sleeps += !slept_ns;
	row->total_ns += ns;
	row->parts_ns[span->part] += ns;
	row->classes_ns[class] += ns;
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
		slept_ns =
			waits_add_span(&waits->rows[span->wait - 1], span, fault->class, slept_ns);
		if (span->part == PART_FOREIGN || span->part == PART_BLOCKED)
			known_ns += span->to_ns - span->from_ns;
	}
	waits->unknown_ns +=
		fault->parts_ns[PART_FOREIGN] + fault->parts_ns[PART_BLOCKED] - known_ns;
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
