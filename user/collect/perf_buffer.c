// SPDX-License-Identifier: GPL-2.0-only
/* Maps and reads one perf buffer. The kernel writes data_head, the reader data_tail. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/perf_buffer.h"
#include "util/page_size.h"

int perf_buffer_map(struct perf_buffer *buffer, uint64_t bytes)
{
	void *address =
		mmap(NULL, page_size() + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);

	if (address == MAP_FAILED)
		return -errno;
	buffer->page = address;
	buffer->data = (const uint8_t *)address + page_size();
	buffer->bytes = bytes;
	return 0;
}

void perf_buffer_unmap(struct perf_buffer *buffer)
{
	if (buffer->page)
		munmap(buffer->page, page_size() + buffer->bytes);
	buffer->page = NULL;
}

void perf_buffer_look(struct perf_buffer *buffer)
{
	/* Pairs with the kernel's release of data_head: all earlier records are complete. */
	buffer->end = __atomic_load_n(&buffer->page->data_head, __ATOMIC_ACQUIRE);
}

void perf_buffer_take(struct perf_buffer *buffer, void *to, size_t size)
{
	const size_t first = buffer->next & (buffer->bytes - 1);
	const size_t before_end = size < buffer->bytes - first ? size : buffer->bytes - first;

	memcpy(to, buffer->data + first, before_end);
	memcpy((uint8_t *)to + before_end, buffer->data, size - before_end);
	buffer->next += size;
	/* Pairs with the kernel's acquire of data_tail: all earlier bytes were read. */
	__atomic_store_n(&buffer->page->data_tail, buffer->next, __ATOMIC_RELEASE);
}
