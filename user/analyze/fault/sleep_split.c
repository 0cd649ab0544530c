// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/fault/sleep_split.h"

/* TASK_UNINTERRUPTIBLE, also in TASK_KILLABLE; include/linux/sched.h. */
#define STATE_UNINTERRUPTIBLE 0x2U

struct sleep {
	const struct pfstat_off_cpu *stay;
	const struct pfstat_block *const *requests;
	size_t nr_requests;
	uint64_t last_complete_ns;	/* 0: no request */
	uint64_t woken_ns;		/* as far as it is known */
};

/* No request explains the sleep: the state that the thread slept in is a hint. */
static enum part part_of_sleep(const struct pfstat_off_cpu *stay)
{
	if (stay->event.flags & PFSTAT_OFF_CPU_IOWAIT)
		return PART_FOREIGN;
	return stay->state & STATE_UNINTERRUPTIBLE ? PART_BLOCKED : PART_RESIDUE;
}

/* Of the moment that begins at ns. */
static enum part part_at(const struct sleep *sleep, uint64_t ns)
{
	const struct pfstat_block *request;
	bool queued = false;
	size_t i;

	if (ns >= sleep->woken_ns)
		return PART_RUNQUEUE;
	for (i = 0; i < sleep->nr_requests; i++) {
		request = sleep->requests[i];
		if (ns >= request->issue_ns && ns < request->event.ns)
			return PART_DEVICE;
		queued |= ns >= request->insert_ns && ns < request->issue_ns;
	}
	if (queued)
		return PART_QUEUE;
	/* The page is there; its completion wakes who waits. */
	if (sleep->last_complete_ns && ns >= sleep->last_complete_ns)
		return PART_RUNQUEUE;
	return part_of_sleep(sleep->stay);
}

static int ascending(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void add_edge(uint64_t *edges, size_t *nr, const struct sleep *sleep, uint64_t ns)
{
	if (ns > sleep->stay->off_ns && ns < sleep->stay->event.ns)
		edges[(*nr)++] = ns;
}

static size_t find_edges(const struct sleep *sleep, uint64_t *edges)
{
	size_t nr = 0, i;

	edges[nr++] = sleep->stay->off_ns;
	add_edge(edges, &nr, sleep, sleep->woken_ns);
	for (i = 0; i < sleep->nr_requests; i++) {
		add_edge(edges, &nr, sleep, sleep->requests[i]->insert_ns);
		add_edge(edges, &nr, sleep, sleep->requests[i]->issue_ns);
		add_edge(edges, &nr, sleep, sleep->requests[i]->event.ns);
	}
	qsort(edges, nr, sizeof(*edges), ascending);
	edges[nr] = sleep->stay->event.ns;
	return nr;
}

static uint64_t woken_at(const struct sleep *sleep)
{
	const struct pfstat_off_cpu *stay = sleep->stay;

	if (stay->event.flags & PFSTAT_OFF_CPU_PREEMPTED)
		return stay->off_ns;
	if (stay->event.flags & PFSTAT_OFF_CPU_WOKEN)
		return stay->woken_ns;
	/* The hook is not there: until its request was complete, or all of it. */
	return sleep->last_complete_ns ? sleep->last_complete_ns : stay->event.ns;
}

size_t sleep_cut(const struct pfstat_off_cpu *stay, const struct pfstat_block *const *requests,
		 size_t nr_requests, struct explain_span *spans)
{
	struct sleep sleep = { .stay = stay, .requests = requests, .nr_requests = nr_requests };
	uint64_t edges[SLEEP_MAX_SPANS + 1];
	size_t nr_edges, nr = 0, i;
	enum part part;

	for (i = 0; i < nr_requests; i++)
		if (requests[i]->event.ns > sleep.last_complete_ns)
			sleep.last_complete_ns = requests[i]->event.ns;
	sleep.woken_ns = woken_at(&sleep);
	nr_edges = find_edges(&sleep, edges);
	for (i = 0; i < nr_edges; i++) {
		if (edges[i] == edges[i + 1])
			continue;
		part = part_at(&sleep, edges[i]);
		if (nr && spans[nr - 1].part == part)
			spans[nr - 1].to_ns = edges[i + 1];
		else
			spans[nr++] = (struct explain_span){ edges[i], edges[i + 1], part };
	}
	return nr;
}
