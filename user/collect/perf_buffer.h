/* SPDX-License-Identifier: GPL-2.0-only */
/* The buffer that perf_event_open(2) maps for one CPU's events, read by one thread. */
#ifndef PFSTAT_USER_PERF_BUFFER_H
#define PFSTAT_USER_PERF_BUFFER_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum perf record length: the size field has 16 bits. */
#define PERF_RECORD_MAX 65536U

struct perf_buffer {
	int fd;				   /* the caller's, -1 if the CPU is offline */
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const uint8_t *data;
	uint64_t bytes;	    /* of data: a power of two */
	uint64_t next, end; /* positions: the next record, and the end at the last look */
};

#define PERF_BUFFER_NONE ((struct perf_buffer){ .fd = -1 })

/* Maps a @bytes buffer, a power of two and at least a page, for buffer->fd. */
int perf_buffer_map(struct perf_buffer *buffer, uint64_t bytes);
/* Unmaps the buffer. The descriptor stays open. */
void perf_buffer_unmap(struct perf_buffer *buffer);

/* Finds the end of the complete records. */
void perf_buffer_look(struct perf_buffer *buffer);
/*
 * The header at a position between next and end. Records begin at multiples of 8 bytes, so neither
 * a header nor a 64-bit word is split.
 */
static inline const void *perf_buffer_at(const struct perf_buffer *buffer, uint64_t position)
{
	return buffer->data + (position & (buffer->bytes - 1));
}
/* Copies the next @size bytes, which the kernel may overwrite from now on. */
void perf_buffer_take(struct perf_buffer *buffer, void *to, size_t size);

#endif
