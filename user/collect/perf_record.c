// SPDX-License-Identifier: GPL-2.0-only
/* Time and thread of perf's records. All but samples and losses end with both (sample_id_all). */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/perf_record.h"
#include "util/page_size.h"

/* Maps and reads one perf buffer. The kernel writes data_head, the reader data_tail. */

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

void perf_record_map(const struct record_mmap2 *mmap2, size_t id_bytes, uint64_t page_bytes,
		     struct item_map *map)
{
	const size_t path_room = mmap2->header.size - id_bytes - sizeof(*mmap2);
	const size_t path_bytes = strnlen(mmap2->path, path_room) + 1;

	*map = (struct item_map){
		.ns = perf_record_ns(&mmap2->header),
		.address = mmap2->address,
		.bytes = mmap2->bytes,
		.pgoff = mmap2->offset / page_bytes,
		.inode = mmap2->inode,
		.dev = mmap2->dev_major << 20 | mmap2->dev_minor,
		.pid = mmap2->pid,
		.tid = mmap2->tid,
		.prot = mmap2->prot,
		.generation = item_generation(mmap2->generation),
		.flags = mmap2->flags,
		.path_bytes = path_bytes,
	};
	memcpy(map->path, mmap2->path, path_bytes - 1);
	map->path[path_bytes - 1] = '\0';
}

static uint64_t sample_ns(const struct perf_event_header *record)
{
	if (perf_record_has_id(record))
		return ((const struct sample_by_id *)record)->ns;
	return record->size == sizeof(struct sample_start) ?
		       ((const struct sample_start *)record)->ns :
		       ((const struct sample_end *)record)->ns;
}

static uint32_t sample_tid(const struct perf_event_header *record)
{
	if (perf_record_has_id(record))
		return ((const struct sample_by_id *)record)->tid;
	return record->size == sizeof(struct sample_start) ?
		       ((const struct sample_start *)record)->tid :
		       ((const struct sample_end *)record)->tid;
}

uint64_t perf_record_ns(const struct perf_event_header *record)
{
	const size_t last = record->size / 8 - 1;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return sample_ns(record);
	case PERF_RECORD_LOST:
		return record->size >= sizeof(struct record_lost) ?
			       ((const struct record_lost *)record)->at.ns :
			       0;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_COMM:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_SWITCH:
		return ((const uint64_t *)record)[last];
	default:
		return 0;
	}
}

uint32_t perf_record_tid(const struct perf_event_header *record)
{
	const struct record_id *last = (const void *)((const char *)record + record->size);

	if (record->type == PERF_RECORD_SAMPLE)
		return sample_tid(record);
	return record->type == PERF_RECORD_LOST ? ((const struct record_lost *)record)->at.tid :
						  last[-1].tid;
}
