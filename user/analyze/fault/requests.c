// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring of the requests that eBPF saw complete, of all threads. A thread waits for a request if
 * it moves the page of its fault, or if the thread itself submitted it within the fault.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/fault/requests.h"
#include "analyze/pages/page_chunks.h"

void requests_exit(struct requests *requests)
{
	free(requests->ring);
	*requests = (struct requests){ 0 };
}

int requests_add(struct requests *requests, const struct pfstat_block *request)
{
	if (!requests->ring) {
		requests->ring = calloc(REQUESTS_MAX, sizeof(*requests->ring));
		if (!requests->ring)
			return -ENOMEM;
	}
	requests->ring[requests->count++ % REQUESTS_MAX] = *request;
	return 0;
}

static bool moves_page(const struct requests *requests, const struct pfstat_block *request,
		       const struct requests_wait *wait)
{
	return wait->inode && request->inode == wait->inode && request->fs_dev == wait->dev &&
	       wait->pgoff >= request->pgoff &&
	       wait->pgoff - request->pgoff < page_chunks_moved_by(request, requests->page_bytes);
}

static bool is_by_thread(const struct pfstat_block *request, const struct requests_wait *wait)
{
	return request->event.tid == wait->tid && request->insert_ns >= wait->start_ns;
}

size_t requests_match(const struct requests *requests, const struct requests_wait *wait,
		      const struct pfstat_block **matches)
{
	const uint64_t oldest = requests->count > REQUESTS_MAX ? requests->count - REQUESTS_MAX : 0;
	const struct pfstat_block *request;
	size_t found = 0;
	uint64_t i;

	for (i = requests->count; i > oldest && found < REQUESTS_MATCHES; i--) {
		request = &requests->ring[(i - 1) % REQUESTS_MAX];
		if (request->event.ns <= wait->from_ns)
			break;
		if (moves_page(requests, request, wait) || is_by_thread(request, wait))
			matches[found++] = request;
	}
	return found;
}

uint64_t requests_bytes_read(const struct requests *requests, uint32_t tid, uint64_t start_ns,
			     uint64_t end_ns)
{
	const uint64_t oldest = requests->count > REQUESTS_MAX ? requests->count - REQUESTS_MAX : 0;
	const struct pfstat_block *request;
	uint64_t i, bytes = 0;

	for (i = requests->count; i > oldest; i--) {
		request = &requests->ring[(i - 1) % REQUESTS_MAX];
		if (request->event.ns <= start_ns)
			break;
		if (request->event.tid == tid && request->insert_ns >= start_ns &&
		    request->event.ns <= end_ns &&
		    !(request->event.flags & (PFSTAT_BLOCK_WRITE | PFSTAT_BLOCK_ERROR)))
			bytes += request->bytes;
	}
	return bytes;
}
