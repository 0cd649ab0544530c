/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of processes sampled by perf: the mappings, and the pages faulted so far, by address
 * and by file. A fault's file, kind and history come from it. Pure.
 */
#ifndef PFSTAT_USER_PERF_MEMORY_H
#define PFSTAT_USER_PERF_MEMORY_H

#include <stdint.h>

#include "analyze/groups/address_spaces.h"
#include "analyze/pages/page_history.h"
#include "model/item.h"
#include "util/hash.h"

struct perf_memory {
	struct spaces *spaces;
	struct page_history *history;	 /* by address */
	struct page_history *file_pages; /* by page in all files, see file_numbers */
	struct hash file_numbers;	 /* of uint64_t *, by device and inode */
	uint64_t nr_files;
	uint64_t page_bytes;
};

/* 0 or -ENOMEM, like all the following. */
int perf_memory_init(struct perf_memory *memory, uint64_t page_bytes);
void perf_memory_exit(struct perf_memory *memory);

/* A new mapping, or with bytes 0 a program that is executed: the old mappings are gone. */
int perf_memory_add_map(struct perf_memory *memory, const struct item_map *map);
/* A fork, exec, exit, or a thread name. */
int perf_memory_add_task(struct perf_memory *memory, const struct pfstat_task *task);
/* Fills the file and the kind of a fault. A failed one has mapped no page. */
int perf_memory_place(struct perf_memory *memory, struct pfstat_fault *fault);

#endif
