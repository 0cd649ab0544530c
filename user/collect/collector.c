// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread of its own reads the rings of the fault source and of eBPF and the buffers of perf, and
 * passes their events to the sink in order of time. Each drain covers the time up to a moment that
 * is read first, so an event is never passed before an earlier one.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collect/reorder_queue.h"
#include "collect/time_heap.h"
#include "util/time_ns.h"

struct collector {
	struct collector_options options;
	struct pollfd *polled; /* the rings, the events, the maps, the stop */
	unsigned int nr_polled;
	int stop; /* eventfd */
	pthread_t thread;
	bool running;
	int err;		/* the first; the thread's until it is joined */
	struct cursor *cursors; /* of a drain, a ring each */
	struct time_heap heap;	/* of the rings that have more */
	struct queue queue;	/* events whose turn has not come */
};

/* A ring's oldest unread record. */
struct cursor {
	struct record_ring *ring;
	const struct pfstat_record *record;
	uint64_t end_ns;
};

/* The record belongs to this drain: it ended before the drain began. False: none does. */
static bool collector_cursor_load(struct cursor *cursor, uint64_t until_ns, int *err)
{
	cursor->record = record_ring_peek(cursor->ring, err);
	if (!cursor->record)
		return false;
	cursor->end_ns = cursor->record->start_ns + cursor->record->duration_ns;
	return cursor->end_ns <= until_ns;
}

static int collector_pass_events(struct collector *collector, uint64_t until_ns)
{
	struct item item;
	int err = 0;

	while (!err && queue_any(&collector->queue) &&
	       queue_next_ns(&collector->queue) <= until_ns) {
		item = queue_take(&collector->queue);
		err = collector->options.sink(collector->options.sink_context, &item);
	}
	return err;
}

static int collector_pass_record(struct collector *collector, const struct cursor *cursor)
{
	const struct item item = {
		.type = ITEM_RECORD,
		.ns = cursor->end_ns,
		.record = cursor->record,
	};

	return collector->options.sink(collector->options.sink_context, &item);
}

static int collector_merge(struct collector *collector, uint64_t until_ns)
{
	struct time_heap *heap = &collector->heap;
	struct cursor *cursor;
	unsigned int i;
	int err = 0;

	heap->count = 0;
	for (i = 0; i < collector->options.source->nr_rings; i++) {
		cursor = &collector->cursors[i];
		cursor->ring = &collector->options.source->rings[i];
		if (collector_cursor_load(cursor, until_ns, &err))
			time_heap_add(heap, cursor->end_ns, i);
	}
	while (heap->count && !err) {
		cursor = &collector->cursors[time_heap_first(heap)];
		err = collector_pass_events(collector, cursor->end_ns);
		if (err)
			break;
		err = collector_pass_record(collector, cursor);
		record_ring_next(cursor->ring);
		if (collector_cursor_load(cursor, until_ns, &err))
			time_heap_update_first(heap, cursor->end_ns);
		else
			time_heap_remove_first(heap);
	}
	return err ? err : collector_pass_events(collector, until_ns);
}

static int collector_keep_event(void *context, const struct pfstat_event *event)
{
	struct collector *collector = context;

	return queue_add(&collector->queue, ITEM_EVENT, event->ns, event, event->size);
}

static int collector_keep_map(void *context, const struct item_map *map)
{
	struct collector *collector = context;

	return queue_add(&collector->queue, ITEM_MAP, map->ns, map, sizeof(*map) + map->path_bytes);
}

static int collector_read_events(struct collector *collector)
{
	int err = 0;

	if (collector->options.events)
		err = events_drain(collector->options.events, collector_keep_event, collector);
	if (!err && collector->options.maps)
		err = perf_maps_drain(collector->options.maps, collector_keep_map, collector);
	queue_sort(&collector->queue);
	return err;
}

/*
 * Heads are read one after the other. A thread may store a record in the first ring just after its
 * head was read, migrate, and store the next in the second ring just before: that record ended
 * after until_ns, and is left for later. Events are read after the heads: all events within a call
 * whose record is in a ring have been sent by then.
 */
static int collector_drain(struct collector *collector, uint64_t until_ns)
{
	unsigned int i;
	int err;

	for (i = 0; i < collector->options.source->nr_rings; i++)
		record_ring_look(&collector->options.source->rings[i]);
	err = collector_read_events(collector);
	if (!err)
		err = collector_merge(collector, until_ns);
	for (i = 0; i < collector->options.source->nr_rings; i++)
		record_ring_publish(&collector->options.source->rings[i]);
	return err;
}

/*
 * If only mappings are due, drain only these, because their files must be opened while the
 * process lives. Faults and events stay in their rings, so that the watched program, which
 * may share the CPU with this thread, does not wait for their analysis in the middle of a
 * fault.
 */
static int collector_drain_maps(struct collector *collector)
{
	const int err = perf_maps_drain(collector->options.maps, collector_keep_map, collector);

	queue_sort(&collector->queue);
	return err;
}

static bool collector_is_stopped(const struct collector *collector)
{
	return collector->polled[collector->nr_polled - 1].revents;
}

/* Milliseconds to the next tick, as poll(2) wants them: rounded up, -1: there is none. */
static int collector_until_tick(const struct collector *collector, uint64_t next_ns)
{
	const uint64_t now = clock_monotonic_ns();

	if (collector->options.tick_ms < 0)
		return -1;
	return next_ns > now ? (next_ns - now + 999999) / 1000000 : 0;
}

/* True if perf's mappings are the only descriptors that poll(2) reported. */
static bool collector_only_maps_ready(const struct collector *collector, int ready)
{
	return ready == 1 && collector->options.maps &&
	       collector->polled[collector->nr_polled - 2].revents;
}

static void collector_tick(struct collector *collector, uint64_t *next_ns)
{
	if (collector->options.tick_drains)
		collector->err = collector_drain(collector, clock_monotonic_ns());
	collector->options.tick(collector->options.tick_context);
	*next_ns = clock_monotonic_ns() + collector->options.tick_ms * MILLISECOND;
}

static void *collector_main(void *argument)
{
	struct collector *collector = argument;
	uint64_t next_ns = clock_monotonic_ns() + collector->options.tick_ms * MILLISECOND;
	int ready;

	while (!collector->err) { /* the source counts records as lost that no longer fit */
		ready = poll(collector->polled, collector->nr_polled,
			     collector_until_tick(collector, next_ns));
		if (ready < 0 && errno != EINTR)
			collector->err = -errno;
		if (ready > 0 && collector_is_stopped(collector))
			break;
		if (collector_only_maps_ready(collector, ready))
			collector->err = collector_drain_maps(collector);
		else if (ready > 0)
			collector->err = collector_drain(collector, clock_monotonic_ns());
		if (!collector->err && collector_until_tick(collector, next_ns) == 0)
			collector_tick(collector, &next_ns);
	}
	if (collector->err && collector->options.failed)
		collector->options.failed(collector->options.failed_context);
	return NULL;
}

static int collector_allocate(struct collector *collector)
{
	const unsigned int nr_rings = collector->options.source->nr_rings;

	collector->cursors = calloc(nr_rings, sizeof(*collector->cursors));
	collector->polled = calloc(nr_rings + 3, sizeof(*collector->polled));
	if (!collector->cursors || !collector->polled || time_heap_init(&collector->heap, nr_rings))
		return -ENOMEM;
	return 0;
}

static void collector_add_polled(struct collector *collector, int fd)
{
	collector->polled[collector->nr_polled++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

static int collector_open_polled(struct collector *collector)
{
	unsigned int i;

	collector->stop = eventfd(0, EFD_CLOEXEC);
	if (collector->stop < 0)
		return -errno;
	for (i = 0; i < collector->options.source->nr_rings; i++)
		collector_add_polled(collector, collector->options.source->rings[i].fd);
	if (collector->options.events)
		collector_add_polled(collector, events_fd(collector->options.events));
	if (collector->options.maps)
		collector_add_polled(collector, perf_maps_fd(collector->options.maps));
	collector_add_polled(collector, collector->stop); /* the last, see collector_is_stopped() */
	return 0;
}

int collector_open(struct collector **opened, const struct collector_options *options)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	int err;

	*opened = NULL;
	if (!collector)
		return -ENOMEM;
	collector->options = *options;
	collector->stop = -1;
	err = collector_allocate(collector);
	if (!err)
		err = collector_open_polled(collector);
	if (err) {
		collector_close(collector);
		return err;
	}
	*opened = collector;
	return 0;
}

static void collector_join(struct collector *collector)
{
	const uint64_t one = 1;

	if (!collector->running)
		return;
	while (write(collector->stop, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(collector->thread, NULL);
	collector->running = false;
}

void collector_close(struct collector *collector)
{
	if (!collector)
		return;
	collector_join(collector);
	if (collector->stop >= 0)
		close(collector->stop);
	free(collector->cursors);
	time_heap_exit(&collector->heap);
	queue_exit(&collector->queue);
	free(collector->polled);
	free(collector);
}

int collector_start(struct collector *collector)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int err;

	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(struct cpus),
				    collector->options.cpus->sets);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&collector->thread, &attributes, collector_main, collector);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	collector->running = !err;
	return err;
}

int collector_stop(struct collector *collector)
{
	collector_join(collector);
	if (!collector->err)
		collector->err = collector_drain(collector, UINT64_MAX);
	return collector->err;
}
