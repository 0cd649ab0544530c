// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads one CPU's BPF ring buffer. The kernel maps the data and its position read-only; the
 * consumer position is in a separate page that this reader writes.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/event_ring.h"
#include "model/item_valid.h"

int event_ring_open(struct event_ring *ring, uint32_t bytes)
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

void event_ring_close(struct event_ring *ring)
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

void event_ring_look(struct event_ring *ring)
{
	/* Pairs with the kernel's release: the headers of the events before it are there. */
	ring->limit = __atomic_load_n(ring->produced, __ATOMIC_ACQUIRE);
}

static const uint32_t *event_ring_header_of(const struct event_ring *ring)
{
	return (const uint32_t *)(ring->data + (ring->next & (ring->bytes - 1)));
}

/* The header of the next entry. */
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

const struct pfstat_event *event_ring_peek(struct event_ring *ring, int *err)
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

void event_ring_next(struct event_ring *ring)
{
	event_ring_skip(ring, event_ring_length_of(ring));
}
