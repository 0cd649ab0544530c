// SPDX-License-Identifier: GPL-2.0-only
/*
 *	           tail       next            limit       head
 *	            v          v               v           v
 *	 free | free | read    | peek, next    | next time  | free
 *
 * The source writes records at head and, in drop mode, does not touch those between tail and
 * head. The collector therefore reads them in place, without a copy, and publishes tail when it
 * is done with them. Of the mapped file this program writes only `tail`.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/record_ring.h"
#include "util/page_size.h"

static int record_ring_check_header(const struct pfstat_ring_header *header)
{
	if (header->version != PFSTAT_ABI_VERSION ||
	    header->record_size != sizeof(struct pfstat_record) || header->overwrite ||
	    !header->capacity || header->capacity > PTRDIFF_MAX / header->record_size)
		return -EPROTO;
	return 0;
}

static int record_ring_map(struct record_ring *ring, uint64_t bytes)
{
	void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);

	if (address == MAP_FAILED)
		return -errno;
	ring->header = address;
	ring->map_bytes = bytes;
	return 0;
}

static void record_ring_unmap(struct record_ring *ring)
{
	if (ring->header)
		munmap(ring->header, ring->map_bytes);
	ring->header = NULL;
}

/* Maps only the header page first, which holds the length of the rest. */
static int record_ring_map_all(struct record_ring *ring)
{
	uint64_t bytes;
	int err;

	err = record_ring_map(ring, page_size());
	if (err)
		return err;
	err = record_ring_check_header(ring->header);
	if (err)
		return err;
	ring->capacity = ring->header->capacity;
	record_ring_unmap(ring);

	bytes = page_size() + ring->capacity * sizeof(struct pfstat_record);
	err = record_ring_map(ring, (bytes + page_size() - 1) & ~(uint64_t)(page_size() - 1));
	if (err)
		return err;
	ring->data = (const void *)((const char *)ring->header + page_size());
	return 0;
}

int record_ring_open(struct record_ring *ring, const char *path)
{
	int err;

	*ring = (struct record_ring){ .fd = open(path, O_RDWR | O_CLOEXEC) };
	if (ring->fd < 0)
		return -errno;
	err = record_ring_map_all(ring);
	if (err) {
		record_ring_close(ring);
		return err;
	}
	ring->next = ring->header->tail;
	ring->slot = ring->next % ring->capacity;
	ring->published = ring->next;
	ring->limit = ring->next;
	return 0;
}

void record_ring_share(struct record_ring *ring, struct pfstat_ring_header *header,
		       const struct pfstat_record *data)
{
	*ring = (struct record_ring){
		.fd = -1,
		.header = header,
		.data = data,
		.capacity = header->capacity,
		.next = header->tail,
		.slot = header->tail % header->capacity,
		.published = header->tail,
		.limit = header->tail,
		.unordered = true,
	};
}

void record_ring_close(struct record_ring *ring)
{
	if (ring->map_bytes)
		record_ring_unmap(ring);
	if (ring->fd >= 0)
		close(ring->fd);
	ring->fd = -1;
}

static bool record_ring_has(const struct record_ring *ring, uint64_t number)
{
	const struct pfstat_record *record = &ring->data[number % ring->capacity];

	/* Pairs with the writer's store of the sequence: the record is complete. */
	return __atomic_load_n(&record->sequence, __ATOMIC_ACQUIRE) == number + 1;
}

void record_ring_look(struct record_ring *ring)
{
	/* Pairs with the writer's release of head: all earlier records are complete. */
	const uint64_t head = __atomic_load_n(&ring->header->head, __ATOMIC_ACQUIRE);

	if (!ring->unordered)
		ring->limit = head;
	while (ring->limit < head && record_ring_has(ring, ring->limit))
		ring->limit++;
}

const struct pfstat_record *record_ring_peek(const struct record_ring *ring, int *err)
{
	const struct pfstat_record *record;

	if (ring->next == ring->limit)
		return NULL;
	record = &ring->data[ring->slot];
	if (record->sequence != ring->next + 1) {
		*err = -EBADMSG;
		return NULL;
	}
	return record;
}

void record_ring_publish(struct record_ring *ring)
{
	if (ring->published == ring->next)
		return;
	/* Pairs with the writer's acquire of tail: all earlier records were read. */
	__atomic_store_n(&ring->header->tail, ring->next, __ATOMIC_RELEASE);
	ring->published = ring->next;
}

void record_ring_next(struct record_ring *ring)
{
	ring->next++;
	if (++ring->slot == ring->capacity)
		ring->slot = 0;
}

void record_ring_back(struct record_ring *ring)
{
	ring->next = ring->published;
	ring->slot = ring->next % ring->capacity;
}
