// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up faults by the content of their page. Input: logical faults, tasks, and records of calls.
 * A copy of a page shared by a fork is attributed to a fork if its process is the parent or the
 * child in an earlier fork. An exec ends this: the process has other memory, and its former parent
 * shares no more with it. The parent's pages stay write-protected, and the next write to each is
 * attributed to the fork as a page in use again.
 */
#include <string.h>

#include "analyze/contents.h"

static void contents_drop_fork(struct contents *contents, size_t i)
{
	contents->nr_forks--;
	memmove(contents->forks + i, contents->forks + i + 1,
		(contents->nr_forks - i) * sizeof(contents->forks[0]));
}

static bool contents_is_of(const struct contents_fork *fork, uint32_t pid)
{
	return fork->child == pid || (fork->has_parent && fork->parent == pid);
}

/* The number is in use again, by a process with memory of its own. */
static void contents_forget(struct contents *contents, uint32_t pid)
{
	size_t i = contents->nr_forks;

	while (i--)
		if (contents_is_of(&contents->forks[i], pid))
			contents_drop_fork(contents, i);
}

/* One fork whose child has ended is enough to know that the parent had forked: the earliest. */
static bool contents_is_first_ended(const struct contents *contents, size_t nr)
{
	const struct contents_fork *fork = &contents->forks[nr];
	size_t i;

	for (i = 0; i < nr; i++)
		if (!contents->forks[i].child && contents->forks[i].parent == fork->parent &&
		    contents->forks[i].child_executed == fork->child_executed)
			return false;
	return true;
}

/*
 * The process has no memory any more, or other memory. The pages that it shared with its parent and
 * its children, these may still have to copy, or to make writable.
 */
static void contents_end_memory(struct contents *contents, uint32_t pid, bool by_exec)
{
	struct contents_fork *fork;
	size_t i = 0;

	while (i < contents->nr_forks) {
		fork = &contents->forks[i];
		if (fork->parent == pid)
			fork->has_parent = false;
		if (fork->child == pid) {
			fork->child = 0;
			fork->child_executed = by_exec;
		}
		if (fork->child || (fork->has_parent && contents_is_first_ended(contents, i)))
			i++;
		else
			contents_drop_fork(contents, i);
	}
}

static void contents_add_fork(struct contents *contents, const struct pfstat_task *task)
{
	if (contents->nr_forks == CONTENTS_FORKS)
		contents_drop_fork(contents, 0);
	contents->forks[contents->nr_forks++] = (struct contents_fork){
		.ns = task->event.ns,
		.parent = task->parent_pid,
		.child = task->event.pid,
		.has_parent = true,
	};
}

/* Only the first thread's events count. This thread's exit is taken for the process's exit. */
void contents_add_task(struct contents *contents, const struct pfstat_task *task)
{
	const uint32_t pid = task->event.pid;

	if (task->event.flags & PFSTAT_TASK_EXEC) {
		contents_end_memory(contents, pid, true);
	} else if (task->event.tid == pid && task->event.flags & PFSTAT_TASK_FORK) {
		contents_forget(contents, pid); /* the number is in use again */
		contents_add_fork(contents, task);
	} else if (task->event.tid == pid && task->event.flags & PFSTAT_TASK_EXIT) {
		contents_end_memory(contents, pid, false);
	}
}

/* The last fork before the fault explaining the fault, or NULL. */
static const struct contents_fork *contents_fork_before(const struct contents *contents,
							const struct explained *fault)
{
	size_t i = contents->nr_forks;

	while (i--) {
		if (contents->forks[i].child_executed && fault->content == PFSTAT_CONTENT_FORK)
			continue;
		if (contents_is_of(&contents->forks[i], fault->pid) &&
		    contents->forks[i].ns <= fault->start_ns)
			return &contents->forks[i];
	}
	return NULL;
}

/* If there are too many, the latest have no separate count. */
static void contents_count_forker(struct contents *contents, uint32_t pid)
{
	size_t i;

	for (i = 0; i < contents->nr_forkers && contents->forkers[i].pid != pid; i++)
		;
	if (i == CONTENTS_FORKERS)
		return;
	contents->nr_forkers += i == contents->nr_forkers;
	contents->forkers[i].pid = pid;
	contents->forkers[i].copies++;
}

static void contents_add_copy(struct contents *contents, const struct explained *fault)
{
	const struct contents_fork *fork = contents_fork_before(contents, fault);

	if (!fork)
		return;
	evidence_sum_add(&contents->figures.after_fork, fault);
	contents_count_forker(contents, fork->parent);
}

/* NULL: the table is full of other sizes. Sizes stay in order. */
static struct contents_huge *contents_huge_of(struct contents_figures *figures, uint8_t order)
{
	struct contents_huge *huge = figures->huge;
	size_t i;

	for (i = 0; i < CONTENTS_HUGE && huge[i].order && huge[i].order < order; i++)
		;
	if (i < CONTENTS_HUGE && huge[i].order == order)
		return &huge[i];
	if (huge[CONTENTS_HUGE - 1].order)
		return NULL;
	memmove(huge + i + 1, huge + i, (CONTENTS_HUGE - 1 - i) * sizeof(*huge));
	huge[i] = (struct contents_huge){ .order = order };
	return &huge[i];
}

void contents_add_fault(struct contents *contents, const struct explained *fault)
{
	struct contents_huge *huge;

	evidence_sum_add(&contents->figures.mechanisms[mechanism_of(fault)], fault);
	contents->figures.notes |= fault->note != PFSTAT_NOTE_UNKNOWN;
	if (!fault->solved)
		return;
	if (fault->content != PFSTAT_CONTENT_UNKNOWN || fault->class == FAULT_COW)
		evidence_sum_add(&contents->figures.by[fault->content], fault);
	if (fault->content == PFSTAT_CONTENT_FORK)
		contents_add_copy(contents, fault);
	if (fault->content == PFSTAT_CONTENT_REUSED && contents_fork_before(contents, fault))
		evidence_sum_add(&contents->figures.reused_after_fork, fault);
	/* A copy of the huge page of zeros is no new page. */
	huge = fault->huge_order && fault->class != FAULT_COW ?
		       contents_huge_of(&contents->figures, fault->huge_order) :
		       NULL;
	if (huge)
		evidence_sum_add(fault->class == FAULT_ANON ? &huge->anon : &huge->hugetlb, fault);
}

/* Only a fault of a file on DAX looks nothing up in the page cache, and maps a page itself. */
void contents_add_record(struct contents *contents, const struct pfstat_record *record)
{
	contents->figures.dax_small +=
		record->op == PFSTAT_OP_FAULT && record->before == PFSTAT_BEFORE_UNKNOWN &&
		record->result & PFSTAT_RESULT_NOPAGE &&
		!(record->result & (PFSTAT_RESULT_ERROR | PFSTAT_RESULT_RETRY));
}

void contents_figures(const struct contents *contents, struct contents_figures *figures)
{
	const struct contents_forker *forker;
	size_t i;

	*figures = contents->figures;
	for (i = 0; i < contents->nr_forkers; i++) {
		forker = &contents->forkers[i];
		if (forker->copies <= figures->fork_pid_count)
			continue;
		figures->fork_pid = forker->pid;
		figures->fork_pid_count = forker->copies;
	}
}
