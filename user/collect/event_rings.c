// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each online CPU has a ring of events. Its events are in the order of time, so the oldest event of
 * all rings comes next.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "collect/event_rings.h"

static int event_rings_add(const struct event_rings *rings, const struct event_ring *ring)
{
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(rings->epoll, EPOLL_CTL_ADD, ring->fd, &edge) ? -errno : 0;
}

int event_rings_open(struct event_rings *rings, unsigned int nr, uint32_t bytes)
{
	int err;

	rings->rings = calloc(nr, sizeof(*rings->rings));
	if (!rings->rings)
		return -ENOMEM;
	rings->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (rings->epoll < 0)
		return -errno;
	err = time_heap_init(&rings->heap, nr);
	while (!err && rings->nr < nr) {
		err = event_ring_open(&rings->rings[rings->nr], bytes);
		if (!err)
			err = event_rings_add(rings, &rings->rings[rings->nr++]);
	}
	return err;
}

void event_rings_close(struct event_rings *rings)
{
	unsigned int i;

	for (i = 0; i < rings->nr; i++)
		event_ring_close(&rings->rings[i]);
	free(rings->rings);
	time_heap_exit(&rings->heap);
	if (rings->epoll >= 0)
		close(rings->epoll);
	*rings = EVENT_RINGS_NONE;
}

/* The kernel's own number, for which there is no name in <errno.h>. */
#define KERNEL_ENOTSUPP 524

static int event_rings_assign_each(int map, const __u32 *cpus, const __u32 *fds, __u32 nr)
{
	__u32 i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = bpf_map_update_elem(map, &cpus[i], &fds[i], BPF_ANY);
	return err;
}

/*
 * A CPU that comes online later shares the ring of another. All at once: the kernel waits for a
 * grace period after each update of such a map. Linux 5.15 cannot do that.
 */
int event_rings_assign(const struct event_rings *rings, int map, uint32_t nr_cpus)
{
	__u32 *cpus = calloc(nr_cpus, sizeof(*cpus)), *fds = calloc(nr_cpus, sizeof(*fds));
	__u32 cpu, nr = nr_cpus;
	int err = -ENOMEM;

	for (cpu = 0; cpus && fds && cpu < nr_cpus; cpu++) {
		cpus[cpu] = cpu;
		fds[cpu] = rings->rings[cpu % rings->nr].fd;
	}
	if (cpus && fds)
		err = bpf_map_update_batch(map, cpus, fds, &nr, NULL);
	if (err == -KERNEL_ENOTSUPP)
		err = event_rings_assign_each(map, cpus, fds, nr_cpus);
	free(cpus);
	free(fds);
	return err;
}

/*
 * A program may put an event into a second ring after the first ring was checked, although
 * the event ended earlier. So all positions are read before any event, and the queue of the
 * collector keeps events that are later than its drain.
 */
static int event_rings_look(struct event_rings *rings)
{
	const struct pfstat_event *event;
	struct epoll_event edge;
	unsigned int i;
	int err = 0;

	/* Clear the edges before their causes are read. */
	while (epoll_wait(rings->epoll, &edge, 1, 0) == 1)
		;
	for (i = 0; i < rings->nr; i++)
		event_ring_look(&rings->rings[i]);
	rings->heap.count = 0;
	for (i = 0; i < rings->nr; i++) {
		event = event_ring_peek(&rings->rings[i], &err);
		if (event)
			time_heap_add(&rings->heap, event->ns, i);
	}
	return err;
}

int event_rings_drain(struct event_rings *rings, event_rings_sink sink, void *context)
{
	const struct pfstat_event *event;
	struct event_ring *ring;
	int err = event_rings_look(rings);

	while (!err && rings->heap.count) {
		ring = &rings->rings[time_heap_first(&rings->heap)];
		event = event_ring_peek(ring, &err);
		if (!event)
			return err;
		err = sink(context, event);
		event_ring_next(ring);
		if (err)
			return err;
		event = event_ring_peek(ring, &err);
		if (event)
			time_heap_update_first(&rings->heap, event->ns);
		else
			time_heap_remove_first(&rings->heap);
	}
	return err;
}
