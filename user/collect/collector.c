// SPDX-License-Identifier: GPL-2.0-only
/*
 * A separate thread reads the fault source's and eBPF's rings and the perf buffers, and passes
 * their events to the sink in time order. Each drain covers the time up to a moment that is read
 * first, so an event is never passed before an earlier one.
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

#include "collect/instruments_open.h"
#include "collect/perf_maps.h"
#include "collect/time_order.h"
#include "util/time_ns.h"

struct collector {
	struct collector_options options;
	struct pollfd *polled; /* the rings, the events, the maps, the stop */
	unsigned int nr_polled;
	int stop; /* eventfd */
	pthread_t thread;
	bool running;
	int err;	 /* the first error, owned by the thread until it is joined */
	uint64_t faults; /* PFSTAT_OP_MM_FAULT records */
	struct record_merge merge;
	struct reorder_queue queue; /* events whose turn has not come */
};

static int collector_pass_events(struct collector *collector, uint64_t until_ns)
{
	struct item item;
	int err = 0;

	while (!err && reorder_queue_any(&collector->queue) &&
	       reorder_queue_next_ns(&collector->queue) <= until_ns) {
		item = reorder_queue_take(&collector->queue);
		err = collector->options.sink(collector->options.sink_context, &item);
	}
	return err;
}

/* eBPF sends such a fault as an event, so it is one from here on. */
static int collector_pass_fault(struct collector *collector, const struct merged_record *merged)
{
	const struct pfstat_record *record = merged->record;
	const struct pfstat_fault fault = {
		.event = {
			.type = PFSTAT_EVENT_FAULT,
			.size = sizeof(fault),
			.flags = PFSTAT_FAULT_FLAGS(record->class, record->around_before),
			.pid = record->pid,
			.tid = record->tid,
			.ns = merged->ns,
		},
		.start_ns = record->start_ns,
		.address = record->address,
		.ip = record->ip,
		.pgoff = record->pgoff,
		.inode = record->inode,
		.dev = record->dev,
		.fault_flags = record->flags,
		.result = record->result,
		.origin = record->before,
		.outcome = record->order,
		.page = record->page,
	};
	const struct item item = {
		.type = ITEM_EVENT,
		.ns = merged->ns,
		.event = &fault.event,
	};

	collector->faults++;
	return collector->options.sink(collector->options.sink_context, &item);
}

/* Passes the events before the record, then the record. */
static int collector_pass_record(void *context, const struct merged_record *merged)
{
	struct collector *collector = context;
	const struct item item = {
		.type = ITEM_RECORD,
		.ns = merged->ns,
		.record = merged->record,
	};
	int err = collector_pass_events(collector, merged->ns);

	if (err)
		return err;
	return merged->record->op == PFSTAT_OP_MM_FAULT ?
		       collector_pass_fault(collector, merged) :
		       collector->options.sink(collector->options.sink_context, &item);
}

static int collector_merge(struct collector *collector, uint64_t until_ns)
{
	int err = record_merge_pass(&collector->merge, until_ns, collector_pass_record, collector);

	return err ? err : collector_pass_events(collector, until_ns);
}

static int collector_keep_event(void *context, const struct pfstat_event *event)
{
	struct collector *collector = context;

	return reorder_queue_add(&collector->queue, ITEM_EVENT, event->ns, event, event->size);
}

static int collector_keep_map(void *context, const struct item_map *map)
{
	struct collector *collector = context;

	return reorder_queue_add(&collector->queue, ITEM_MAP, map->ns, map,
				 sizeof(*map) + map->path_bytes);
}

static int collector_read_events(struct collector *collector)
{
	int err = 0;

	if (collector->options.events)
		err = events_drain(collector->options.events, collector_keep_event, collector);
	if (!err && collector->options.maps)
		err = perf_maps_drain(collector->options.maps, collector_keep_map, collector);
	reorder_queue_sort(&collector->queue);
	return err;
}

/*
 * Heads are read one after the other. A thread may store a record in the first ring just after this
 * ring's head was read, migrate, and store the next in the second ring just before. The next record
 * ended after until_ns, and is left for later. Events are read after the heads: all events within a
 * call whose record is in a ring have been sent by then.
 */
static int collector_drain(struct collector *collector, uint64_t until_ns)
{
	struct fault_source *source = collector->options.source;
	unsigned int i;
	int err;

	if (source->ops->stream)
		return source->ops->stream->drain(source, until_ns, collector->options.sink,
						  collector->options.sink_context);
	for (i = 0; i < collector->options.source->nr_rings; i++)
		record_ring_look(&collector->options.source->rings[i]);
	err = collector_read_events(collector);
	return err ? err : collector_merge(collector, until_ns);
}

/*
 * If only mappings are due, drain only these, because their files must be opened while the process
 * lives. Faults and events stay in their rings, so the watched program, which may share the CPU
 * with this thread, does not wait for their analysis in the middle of a fault.
 */
static int collector_drain_maps(struct collector *collector)
{
	const int err = perf_maps_drain(collector->options.maps, collector_keep_map, collector);

	reorder_queue_sort(&collector->queue);
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

/* True if poll(2) reported only perf's mapping descriptors. */
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
	while (!collector->err) { /* the source counts records as lost if they no longer fit */
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

	collector->polled = calloc(nr_rings + 3, sizeof(*collector->polled));
	if (!collector->polled)
		return -ENOMEM;
	/* A source without rings has no records to merge. */
	return nr_rings ? record_merge_init(&collector->merge, collector->options.source->rings,
					    nr_rings) :
			  0;
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
	if (collector->options.source->ops->stream)
		collector_add_polled(collector, collector->options.source->ops->stream
							->fd(collector->options.source));
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
	record_merge_exit(&collector->merge);
	reorder_queue_exit(&collector->queue);
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

uint64_t collector_faults(const struct collector *collector)
{
	return collector->faults;
}

int collector_stop(struct collector *collector)
{
	collector_join(collector);
	if (!collector->err)
		collector->err = collector_drain(collector, UINT64_MAX);
	return collector->err;
}
