/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record layouts in the perf_sampler.h buffers. The fields in a sample follow the
 * perf_event_open(2) order.
 */
#ifndef PFSTAT_USER_PERF_RECORD_H
#define PFSTAT_USER_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "model/item.h"

/*
 * The fields in each sample. They differ, so a record's size shows its event: an identifier in each
 * would take 16 bytes more per fault.
 */
#define PERF_SAMPLE_OF_START \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)
#define PERF_SAMPLE_OF_MINOR (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define PERF_SAMPLE_OF_MAJOR (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

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
		       sizeof(struct sample_major) == 32,
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
