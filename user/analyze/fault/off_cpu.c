// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue holds the sched_switch events sent by bpf/ for one thread, in time order. The thread's
 * faults and records use these events (explain.c). bpf/ also sends the sum of all the thread's
 * intervals, so a gap in the sum reveals lost events.
 *
 * The split knows three kinds of edges: the wake-up, and the insertion, issue and completion of
 * each request waited for. Between two edges the thread waited for one thing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/off_cpu.h"
#include "model/item.h"

#define FIRST_CAPACITY 2U

/* TASK_UNINTERRUPTIBLE, also in TASK_KILLABLE, see include/linux/sched.h. */
#define STATE_UNINTERRUPTIBLE 0x2U

void off_cpu_queue_exit(struct off_cpu_queue *queue)
{
	free(queue->ring);
	*queue = (struct off_cpu_queue){ 0 };
}

static struct off_cpu_interval *off_cpu_queue_at(const struct off_cpu_queue *queue, size_t index)
{
	return &queue->ring[(queue->first + index) & (queue->capacity - 1)];
}

static int off_cpu_queue_grow(struct off_cpu_queue *queue)
{
	size_t capacity = queue->capacity ? 2 * queue->capacity : FIRST_CAPACITY, i;
	struct off_cpu_interval *ring = calloc(capacity, sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	for (i = 0; i < queue->count; i++)
		ring[i] = *off_cpu_queue_at(queue, i);
	free(queue->ring);
	queue->ring = ring;
	queue->capacity = capacity;
	queue->first = 0;
	return 0;
}

/*
 * Returns the growth in the total for which no event accounts. Too small a total belongs to a new
 * thread with the same number, so the whole total counts.
 */
static uint64_t lost_before(const struct off_cpu_queue *queue, const struct pfstat_off_cpu *event)
{
	const uint64_t own_ns = item_elapsed(event->off_ns, event->event.ns);
	uint64_t grown_ns = event->total_ns;

	if (!event->total_ns || queue->total_unknown)
		return 0;
	if (event->total_ns >= queue->total_ns && event->total_ns - queue->total_ns >= own_ns)
		grown_ns -= queue->total_ns;
	return grown_ns > own_ns ? grown_ns - own_ns : 0;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Makes room. The next interval inherits the time that was lost before an unused one. */
static void off_cpu_queue_drop(struct off_cpu_queue *queue)
{
	const struct off_cpu_interval *oldest = off_cpu_queue_at(queue, 0);

	if (queue->used) {
		queue->used--;
	} else {
		queue->dropped_ns = oldest->event.event.ns;
		off_cpu_queue_at(queue, 1)->lost_ns += oldest->lost_ns;
	}
	if (queue->counted)
		queue->counted--;
	else
		queue->counted_ns = later_of(queue->counted_ns, oldest->event.event.ns);
	queue->first = (queue->first + 1) & (queue->capacity - 1);
	queue->count--;
}

/* Removes the intervals already used and counted. */
static void off_cpu_queue_trim(struct off_cpu_queue *queue)
{
	const size_t done = queue->used < queue->counted ? queue->used : queue->counted;

	queue->first = (queue->first + done) & (queue->capacity - 1);
	queue->count -= done;
	queue->used -= done;
	queue->counted -= done;
}

int off_cpu_queue_add(struct off_cpu_queue *queue, const struct off_cpu_interval *interval)
{
	const struct pfstat_off_cpu *event = &interval->event;
	struct off_cpu_interval *added;
	int err;

	if (queue->count == OFF_CPU_QUEUE_MAX)
		off_cpu_queue_drop(queue);
	if (queue->count == queue->capacity) {
		err = off_cpu_queue_grow(queue);
		if (err)
			return err;
	}
	added = off_cpu_queue_at(queue, queue->count++);
	*added = *interval;
	added->lost_ns = lost_before(queue, event);
	added->lost_from_ns = queue->last_ns;
	queue->last_ns = event->event.ns;
	if (event->total_ns) {
		queue->total_ns = event->total_ns;
		queue->total_unknown = false;
	}
	return 0;
}

const struct off_cpu_interval *off_cpu_queue_oldest(const struct off_cpu_queue *queue)
{
	return queue->used < queue->count ? off_cpu_queue_at(queue, queue->used) : NULL;
}

void off_cpu_queue_pop(struct off_cpu_queue *queue)
{
	queue->used++;
	off_cpu_queue_trim(queue);
}

static uint64_t overlap_of(const struct pfstat_off_cpu *event, uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t to = event->event.ns < end_ns ? event->event.ns : end_ns;

	return item_elapsed(later_of(event->off_ns, start_ns), to);
}

uint64_t off_cpu_queue_count(struct off_cpu_queue *queue, uint64_t start_ns, uint64_t end_ns,
			     bool *partial)
{
	const struct pfstat_off_cpu *event;
	uint64_t sum = 0;
	size_t i;

	*partial = start_ns < queue->counted_ns;
	for (i = queue->counted; i < queue->count; i++) {
		event = &off_cpu_queue_at(queue, i)->event;
		if (event->off_ns >= end_ns)
			break;
		sum += overlap_of(event, start_ns, end_ns);
	}
	while (queue->counted < queue->count) {
		event = &off_cpu_queue_at(queue, queue->counted)->event;
		if (event->event.ns > end_ns)
			break;
		queue->counted_ns = later_of(queue->counted_ns, event->event.ns);
		queue->counted++;
	}
	off_cpu_queue_trim(queue);
	return sum;
}

bool off_cpu_queue_has_sleep(const struct off_cpu_queue *queue, uint64_t from_ns, uint64_t to_ns)
{
	const struct pfstat_off_cpu *event;
	size_t i;

	for (i = queue->used; i < queue->count; i++) {
		event = &off_cpu_queue_at(queue, i)->event;
		if (event->off_ns < to_ns && event->event.ns > from_ns &&
		    !(event->event.flags & PFSTAT_OFF_CPU_PREEMPTED))
			return true;
	}
	return false;
}

uint64_t off_cpu_queue_unused_ns(const struct off_cpu_queue *queue)
{
	return queue->used < queue->count ?
		       off_cpu_queue_at(queue, queue->count - 1)->event.event.ns :
		       queue->dropped_ns;
}

struct sleep {
	const struct pfstat_off_cpu *event;
	enum wait_kind kind;
	const struct pfstat_block *const *requests;
	size_t nr_requests;
	uint64_t last_complete_ns; /* 0: it does not wait for a request's completion */
	uint64_t woken_ns;	   /* the end of the interval if the wake-up is not known */
};

/* No request explains the sleep, so the state in which the thread slept decides. */
static enum part part_of_sleep(const struct sleep *sleep)
{
	const struct pfstat_off_cpu *event = sleep->event;

	if (sleep->kind == WAIT_OF_HANDLER)
		return PART_HANDLER;
	/*
	 * In perf's intervals a sleep in I/O wait may be for the thread's own read, and the reason
	 * of others is known by the stack only.
	 */
	if (event->event.flags & PFSTAT_OFF_CPU_ASLEEP)
		return sleep->kind && !(event->event.flags & PFSTAT_OFF_CPU_IOWAIT) ? PART_BLOCKED :
										      PART_ASLEEP;
	if (event->event.flags & PFSTAT_OFF_CPU_IOWAIT)
		return PART_FOREIGN;
	return event->state & STATE_UNINTERRUPTIBLE || sleep->kind ? PART_BLOCKED : PART_RESIDUE;
}

/* The part for the moment starting at ns. */
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
	if (sleep->last_complete_ns && ns >= sleep->last_complete_ns)
		return PART_COMPLETION;
	return part_of_sleep(sleep);
}

static int ascending_edges(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void add_edge(uint64_t *edges, size_t *nr, const struct sleep *sleep, uint64_t ns)
{
	if (ns > sleep->event->off_ns && ns < sleep->event->event.ns)
		edges[(*nr)++] = ns;
}

static size_t find_edges(const struct sleep *sleep, uint64_t *edges)
{
	size_t nr = 0, i;

	edges[nr++] = sleep->event->off_ns;
	add_edge(edges, &nr, sleep, sleep->woken_ns);
	for (i = 0; i < sleep->nr_requests; i++) {
		add_edge(edges, &nr, sleep, sleep->requests[i]->insert_ns);
		add_edge(edges, &nr, sleep, sleep->requests[i]->issue_ns);
		add_edge(edges, &nr, sleep, sleep->requests[i]->event.ns);
	}
	qsort(edges, nr, sizeof(*edges), ascending_edges);
	edges[nr] = sleep->event->event.ns;
	return nr;
}

static uint64_t woken_at(const struct sleep *sleep)
{
	const struct pfstat_off_cpu *event = sleep->event;

	if (event->event.flags & PFSTAT_OFF_CPU_PREEMPTED)
		return event->off_ns;
	if (event->event.flags & PFSTAT_OFF_CPU_WOKEN)
		return event->woken_ns;
	/* Without the wake-up hook, the sleep lasts until the last request is complete. */
	return sleep->last_complete_ns ? sleep->last_complete_ns : event->event.ns;
}

/* A thread that waits for a page sleeps in io_schedule(). Any other sleep is for something else. */
static uint64_t last_complete_of(const struct sleep *sleep)
{
	uint64_t last_ns = 0;
	size_t i;

	if (!(sleep->event->event.flags & PFSTAT_OFF_CPU_IOWAIT))
		return 0;
	for (i = 0; i < sleep->nr_requests; i++)
		if (sleep->requests[i]->event.ns > last_ns)
			last_ns = sleep->requests[i]->event.ns;
	return last_ns;
}

size_t off_cpu_split(const struct off_cpu_interval *interval,
		     const struct pfstat_block *const *requests, size_t nr_requests,
		     struct explain_span *spans)
{
	struct sleep sleep = {
		.event = &interval->event,
		.kind = interval->kind,
		.requests = requests,
		.nr_requests = nr_requests,
	};
	uint64_t edges[OFF_CPU_SPLIT_MAX + 1];
	size_t nr_edges, nr = 0, i;
	enum part part;

	sleep.last_complete_ns = last_complete_of(&sleep);
	sleep.woken_ns = woken_at(&sleep);
	nr_edges = find_edges(&sleep, edges);
	for (i = 0; i < nr_edges; i++) {
		if (edges[i] == edges[i + 1])
			continue;
		part = part_at(&sleep, edges[i]);
		if (nr && spans[nr - 1].part == part)
			spans[nr - 1].to_ns = edges[i + 1];
		else
			spans[nr++] = (struct explain_span){ .from_ns = edges[i],
							     .to_ns = edges[i + 1],
							     .part = part };
	}
	return nr;
}

/*
 * Keeps a thread's direct reclaims from their events until the fault ends. Most threads never
 * reclaim, so the array is allocated with the first.
 */

#define FIRST_ROOM 4U

void reclaims_exit(struct reclaims *reclaims)
{
	free(reclaims->all);
	*reclaims = (struct reclaims){ 0 };
}

static void reclaims_shift(struct reclaims *reclaims, size_t dropped)
{
	reclaims->nr -= dropped;
	memmove(reclaims->all, reclaims->all + dropped, reclaims->nr * sizeof(*reclaims->all));
}

int reclaims_add(struct reclaims *reclaims, uint64_t from_ns, uint64_t to_ns)
{
	const size_t room = reclaims->room ? 2 * reclaims->room : FIRST_ROOM;
	struct reclaim_interval *grown;

	if (from_ns >= to_ns)
		return 0;
	if (reclaims->nr == RECLAIMS_MAX) {
		reclaims->dropped_ns = reclaims->all[RECLAIMS_MAX / 2 - 1].to_ns;
		reclaims_shift(reclaims, RECLAIMS_MAX / 2);
	}
	if (reclaims->nr == reclaims->room) {
		grown = reallocarray(reclaims->all, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		reclaims->all = grown;
		reclaims->room = room;
	}
	reclaims->all[reclaims->nr++] = (struct reclaim_interval){ from_ns, to_ns };
	return 0;
}

const struct reclaim_interval *reclaims_next(const struct reclaims *reclaims, uint64_t from_ns,
					     uint64_t to_ns)
{
	size_t i;

	for (i = 0; i < reclaims->nr; i++)
		if (reclaims->all[i].to_ns > from_ns)
			return reclaims->all[i].from_ns < to_ns ? &reclaims->all[i] : NULL;
	return NULL;
}

void reclaims_drop(struct reclaims *reclaims, uint64_t until_ns)
{
	size_t done = 0;

	while (done < reclaims->nr && reclaims->all[done].to_ns <= until_ns)
		done++;
	if (done)
		reclaims_shift(reclaims, done);
}
