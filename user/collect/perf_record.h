/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The buffers in which perf_event_open(2) delivers events, and the layout of the records in them.
 */
#ifndef PFSTAT_USER_PERF_RECORD_H
#define PFSTAT_USER_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/item.h"

/* The buffer that perf_event_open(2) maps for one CPU's events, read by one thread. */

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

/* Record layouts. The fields in a sample follow the perf_event_open(2) order. */

/*
 * The fields in each sample of the three events of a fault. They differ, so a record's size shows
 * its event: an identifier in each would take 16 bytes more per fault.
 */
#define PERF_SAMPLE_OF_START \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)
#define PERF_SAMPLE_OF_MINOR (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define PERF_SAMPLE_OF_MAJOR (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/*
 * A sample of any further event is larger than these and begins with the event's id. What follows
 * struct sample_by_id has at least 8 bytes.
 */
#define PERF_SAMPLE_BY_ID \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct sample_start {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t ns;
	uint64_t address;
};

struct sample_end {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t ns;
};

struct sample_major {
	struct sample_end end;
	uint32_t cpu, reserved;
};

struct sample_by_id {
	struct perf_event_header header;
	uint64_t id; /* the kernel's; in a drained record enum perf_sample */
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t ns;
};

/* PERF_SAMPLE_CALLCHAIN: innermost first, behind a PERF_CONTEXT_*. */
struct sample_chain {
	struct sample_by_id at;
	uint64_t nr;
	uint64_t ips[];
};

/* A start with the user's stack. */
#define PERF_SAMPLE_OF_START_CHAIN (PERF_SAMPLE_BY_ID | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN)

struct sample_start_chain {
	struct sample_by_id at;
	uint64_t address;
	uint64_t nr;
	uint64_t ips[];
};

/* PERF_SAMPLE_RAW: a tracepoint's data. */
struct sample_raw {
	struct sample_by_id at;
	uint32_t bytes;
	char data[];
};

static inline bool perf_record_has_id(const struct perf_event_header *record)
{
	return record->type == PERF_RECORD_SAMPLE && record->size > sizeof(struct sample_start);
}

/* sample_id_all: behind every other record for the first event. */
struct record_id {
	uint32_t pid, tid;
	uint64_t ns;
};

struct record_lost {
	struct perf_event_header header;
	uint64_t id, lost;
	struct record_id at;
};

struct record_switch {
	struct perf_event_header header;
	struct record_id at;
};

/* PERF_RECORD_FORK and PERF_RECORD_EXIT. */
struct record_task {
	struct perf_event_header header;
	uint32_t pid, parent_pid;
	uint32_t tid, parent_tid;
	uint64_t ns;
};

/* Up to the name. */
struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

/* Up to the path. */
struct record_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, bytes, offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char path[];
};

_Static_assert(sizeof(struct sample_start) == 40 && sizeof(struct sample_end) == 24 &&
		       sizeof(struct sample_major) == 32 &&
		       sizeof(struct sample_by_id) == sizeof(struct sample_start),
	       "each event has samples of another size");

/*
 * Describes a mapping, with the record's time. @id_bytes: behind the path, see sample_id_all. The
 * map has room for a PERF_RECORD_MAX byte path.
 */
void perf_record_map(const struct record_mmap2 *mmap2, size_t id_bytes, uint64_t page_bytes,
		     struct item_map *map);
/* A record's time in CLOCK_MONOTONIC nanoseconds. 0: it has none. */
uint64_t perf_record_ns(const struct perf_event_header *record);
/* The thread for a record with a time. */
uint32_t perf_record_tid(const struct perf_event_header *record);

#endif
