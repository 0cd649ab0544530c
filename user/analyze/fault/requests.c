// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring of the requests eBPF saw complete, from all threads. A thread waits for a request if it
 * moves the faulting page, or if the thread itself submitted it within the fault.
 *
 * Requests are linked by thread and by page, from the latest to the earliest. A link leading out of
 * the ring is the end, so nothing is unlinked when a request is overwritten.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/fault/requests.h"
#include "model/block_pages.h"
#include "util/hash.h"

/* Requests are found by the range of their pages. One with more pages is found from all ranges. */
#define RANGE_SHIFT 9
#define RANGE_PAGES (1U << RANGE_SHIFT)
#define RANGES	    2 /* for a request with at most RANGE_PAGES */

/* A serial number counts from 1. 0 ends a list. */
struct request_slot {
	struct pfstat_block block;
	uint64_t of_thread;	   /* the previous request's serial, for threads with this hash */
	uint64_t of_range[RANGES]; /* link to the previous one, for ranges with this hash */
	uint64_t large;		   /* the previous serial among requests with many pages */
};

struct requests_heads {
	uint64_t of_thread, of_range;
};

void requests_exit(struct requests *requests)
{
	free(requests->ring);
	free(requests->heads);
	*requests = (struct requests){ 0 };
}

static uint64_t *requests_of_thread(const struct requests *requests, uint32_t tid)
{
	return &requests->heads[hash_of(&tid, sizeof(tid)) % requests->max].of_thread;
}

static uint64_t *requests_of_range(const struct requests *requests, uint32_t dev, uint64_t inode,
				   uint64_t range)
{
	const uint64_t key[] = { dev, inode, range };

	return &requests->heads[hash_of(key, sizeof(key)) % requests->max].of_range;
}

/* NULL: the request was overwritten, or the list has ended. */
static struct request_slot *requests_slot(const struct requests *requests, uint64_t serial)
{
	const uint64_t oldest = requests->count > requests->max ? requests->count - requests->max :
								  0;

	return serial > oldest ? &requests->ring[(serial - 1) % requests->max] : NULL;
}

static void requests_link(uint64_t *head, uint64_t *link, uint64_t to)
{
	*link = *head;
	*head = to;
}

static void requests_link_pages(struct requests *requests, struct request_slot *slot,
				uint64_t serial)
{
	const struct pfstat_block *block = &slot->block;
	const uint64_t pages = block_pages_moved(block, requests->page_bytes);
	const uint64_t last = (block->pgoff + pages - 1) >> RANGE_SHIFT;
	uint64_t range = block->pgoff >> RANGE_SHIFT;
	unsigned int i;

	if (!pages)
		return;
	if (pages > RANGE_PAGES || last < range) {
		requests_link(&requests->large, &slot->large, serial);
		return;
	}
	for (i = 0; range <= last; range++, i++)
		requests_link(requests_of_range(requests, block->fs_dev, block->inode, range),
			      &slot->of_range[i], serial * RANGES + i);
}

int requests_add(struct requests *requests, const struct pfstat_block *request)
{
	struct request_slot *slot;

	if (!requests->ring) {
		requests->max = requests->max ?: REQUESTS_MAX;
		requests->ring = calloc(requests->max, sizeof(*requests->ring));
		requests->heads = calloc(requests->max, sizeof(*requests->heads));
		if (!requests->ring || !requests->heads) {
			requests_exit(requests);
			return -ENOMEM;
		}
	}
	slot = &requests->ring[requests->count++ % requests->max];
	*slot = (struct request_slot){ .block = *request };
	requests_link(requests_of_thread(requests, request->event.tid), &slot->of_thread,
		      requests->count);
	requests_link_pages(requests, slot, requests->count);
	return 0;
}

static bool moves_page(const struct requests *requests, const struct pfstat_block *request,
		       const struct requests_wait *wait)
{
	return wait->inode && request->inode == wait->inode && request->fs_dev == wait->dev &&
	       wait->pgoff >= request->pgoff &&
	       wait->pgoff - request->pgoff < block_pages_moved(request, requests->page_bytes);
}

static bool is_by_thread(const struct pfstat_block *request, const struct requests_wait *wait)
{
	return request->event.tid == wait->tid && request->insert_ns >= wait->start_ns &&
	       (wait->in_iowait || !(request->event.flags & PFSTAT_BLOCK_READAHEAD));
}

/* The latest unvisited request on each list. */
struct requests_walk {
	uint64_t of_thread, large; /* serials */
	uint64_t of_range;	   /* a link */
};

static uint64_t requests_latest(const struct requests_walk *walk)
{
	const uint64_t of_range = walk->of_range / RANGES;
	const uint64_t of_pages = of_range > walk->large ? of_range : walk->large;

	return of_pages > walk->of_thread ? of_pages : walk->of_thread;
}

/* A request may be in several lists, and twice in one. */
static void requests_go_on(struct requests_walk *walk, const struct request_slot *slot,
			   uint64_t serial)
{
	if (walk->of_thread == serial)
		walk->of_thread = slot->of_thread;
	if (walk->large == serial)
		walk->large = slot->large;
	while (walk->of_range / RANGES == serial)
		walk->of_range = slot->of_range[walk->of_range % RANGES];
}

size_t requests_match(const struct requests *requests, const struct requests_wait *wait,
		      const struct pfstat_block **matches)
{
	struct requests_walk walk = { 0 };
	const struct request_slot *slot;
	uint64_t serial;
	size_t found = 0;

	if (!requests->count)
		return 0;
	walk.of_thread = *requests_of_thread(requests, wait->tid);
	if (wait->inode) {
		walk.of_range = *requests_of_range(requests, wait->dev, wait->inode,
						   wait->pgoff >> RANGE_SHIFT);
		walk.large = requests->large;
	}
	while (found < REQUESTS_MATCHES) {
		serial = requests_latest(&walk);
		slot = requests_slot(requests, serial);
		if (!slot || slot->block.event.ns <= wait->from_ns)
			break;
		if (moves_page(requests, &slot->block, wait) || is_by_thread(&slot->block, wait))
			matches[found++] = &slot->block;
		requests_go_on(&walk, slot, serial);
	}
	return found;
}

uint64_t requests_bytes_read(const struct requests *requests, uint32_t tid, uint64_t start_ns,
			     uint64_t end_ns)
{
	const struct pfstat_block *request;
	const struct request_slot *slot;
	uint64_t serial, bytes = 0;

	if (!requests->count)
		return 0;
	for (serial = *requests_of_thread(requests, tid); (slot = requests_slot(requests, serial));
	     serial = slot->of_thread) {
		request = &slot->block;
		if (request->event.ns <= start_ns)
			break;
		if (request->event.tid == tid && request->insert_ns >= start_ns &&
		    request->event.ns <= end_ns &&
		    !(request->event.flags & (PFSTAT_BLOCK_WRITE | PFSTAT_BLOCK_ERROR)))
			bytes += request->bytes;
	}
	return bytes;
}
