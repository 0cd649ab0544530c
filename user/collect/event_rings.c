// SPDX-License-Identifier: GPL-2.0-only
/* Each online CPU has an event ring in time order, so the oldest event in all rings comes next. */
#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pfstat/event.h>

#include "collect/events.h"
#include "model/item_valid.h"

/*
 * One BPF ring buffer, read in place. libbpf's reader has one order only, ring after ring, and
 * cannot stop at a position (ring__consume_n() came with 1.5). Here the events from all CPUs are
 * merged by time. The kernel maps the data and the position read-only. The consumer position is in
 * a separate page that this reader writes. The layout comes from the kernel's <linux/bpf.h>.
 */
struct event_ring {
	int fd;
	uint64_t *consumed;	  /* the page written by the reader */
	const uint64_t *produced; /* the kernel's page, followed by the data, mapped twice */
	const char *data;
	uint64_t bytes;
	uint64_t next;	/* position of the next event to read */
	uint64_t limit; /* position when event_ring_look() was called */
};

static void event_ring_close(struct event_ring *ring)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	if (ring->consumed)
		munmap(ring->consumed, page);
	if (ring->produced)
		munmap((void *)ring->produced, page + 2 * ring->bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	*ring = (struct event_ring){ .fd = -1 };
}

/* A ring with this many bytes, a power of two in pages. A negative errno. */
static int event_ring_open(struct event_ring *ring, uint32_t bytes)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	void *pages;

	*ring = (struct event_ring){ .bytes = bytes };
	ring->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "event_ring", 0, 0, bytes, NULL);
	if (ring->fd < 0)
		return -errno;
	pages = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (pages != MAP_FAILED)
		ring->consumed = pages;
	pages = mmap(NULL, page + 2 * ring->bytes, PROT_READ, MAP_SHARED, ring->fd, page);
	if (pages != MAP_FAILED)
		ring->produced = pages;
	ring->data = (const char *)pages + page;
	if (ring->consumed && ring->produced)
		return 0;
	event_ring_close(ring);
	return -ENOMEM;
}

/* From here on event_ring_peek() returns the events that are in the ring by now. */
static void event_ring_look(struct event_ring *ring)
{
	/* Pairs with the kernel's release: the headers of all earlier events are there. */
	ring->limit = __atomic_load_n(ring->produced, __ATOMIC_ACQUIRE);
}

static const uint32_t *event_ring_header_of(const struct event_ring *ring)
{
	return (const uint32_t *)(ring->data + (ring->next & (ring->bytes - 1)));
}

/* The next entry's header. */
static uint32_t event_ring_length_of(const struct event_ring *ring)
{
	/* Pairs with the kernel's exchange: the event is complete. */
	return __atomic_load_n(event_ring_header_of(ring), __ATOMIC_ACQUIRE);
}

static void event_ring_skip(struct event_ring *ring, uint32_t length)
{
	const uint32_t bytes = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	ring->next += (bytes + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
	/* Pairs with the kernel's acquire: the event was read. */
	__atomic_store_n(ring->consumed, ring->next, __ATOMIC_RELEASE);
}

/*
 * The oldest unread event, in place: it stays until event_ring_next(). It waits for an event
 * that a program is still writing. NULL: there is none, or *err is -EPROTO and it is not an
 * event as <pfstat/event.h> has it.
 */
static const struct pfstat_event *event_ring_peek(struct event_ring *ring, int *err)
{
	const struct pfstat_event *event;
	uint32_t length;

	while (ring->next < ring->limit) {
		length = event_ring_length_of(ring);
		if (length & BPF_RINGBUF_BUSY_BIT) {
			sched_yield();
			continue;
		}
		if (length & BPF_RINGBUF_DISCARD_BIT) {
			event_ring_skip(ring, length);
			continue;
		}
		event = (const void *)(event_ring_header_of(ring) +
				       BPF_RINGBUF_HDR_SZ / sizeof(uint32_t));
		if (item_valid_event(event, length))
			return event;
		*err = -EPROTO;
		return NULL;
	}
	return NULL;
}

static void event_ring_next(struct event_ring *ring)
{
	event_ring_skip(ring, event_ring_length_of(ring));
}

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
 * A CPU coming online later shares another CPU's ring. All at once: the kernel waits for a grace
 * period after each update of such a map. Linux 5.15 cannot do that.
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
 * A program may put an event into a second ring after the first ring was checked, although the
 * event ended earlier. So all positions are read before any event, and the collector's queue keeps
 * events later than the drain.
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
