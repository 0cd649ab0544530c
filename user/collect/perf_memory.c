// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf reports mmap(2), mprotect(2) and growth, but neither munmap(2) nor madvise(2). A page counts
 * as faulted before until other memory is mapped there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analyze/pages/page_history.h"
#include "collect/perf_stream.h"

/* Each file has this range of pages in the history: 256 TiB. */
#define FILE_PAGES (1ULL << 36)

int perf_memory_init(struct perf_memory *memory, uint64_t page_bytes)
{
	*memory = (struct perf_memory){
		.spaces = address_spaces_new(page_bytes),
		.history = page_history_new(page_bytes),
		.file_pages = page_history_new(1),
		.page_bytes = page_bytes,
	};
	return memory->spaces && memory->history && memory->file_pages ? 0 : -ENOMEM;
}

void perf_memory_exit(struct perf_memory *memory)
{
	address_spaces_free(memory->spaces);
	page_history_free(memory->history);
	page_history_free(memory->file_pages);
	hash_exit(&memory->file_numbers, free);
}

static uint64_t perf_memory_file_key(uint32_t dev, uint64_t inode)
{
	const uint64_t words[] = { dev, inode };

	return hash_of(words, sizeof(words));
}

/* The file's number, from 0. Returns 0 or -ENOMEM. */
static int perf_memory_file(struct perf_memory *memory, const struct space_map *map,
			    uint64_t *number)
{
	const uint64_t key = perf_memory_file_key(map->dev, map->inode);
	uint64_t *known = hash_find(&memory->file_numbers, key);

	if (!known) {
		known = malloc(sizeof(*known));
		if (!known)
			return -ENOMEM;
		*known = memory->nr_files;
		if (hash_add(&memory->file_numbers, key, known)) {
			free(known);
			return -ENOMEM;
		}
		memory->nr_files++;
	}
	*number = *known;
	return 0;
}

/* True if the map is what mprotect(2) makes of the old one. */
static bool perf_memory_is_protected(const struct space_map *old, const struct item_map *map,
				     uint64_t end)
{
	return old && old->prot != map->prot && old->inode == map->inode && old->end >= end;
}

/*
 * The range in a mapping that has new pages. perf reports the whole mapping even if it grew, was
 * merged with a neighbour, or got another protection: the old pages are still there. perf does not
 * report munmap(2), so the same range again is new memory.
 */
static void perf_memory_new_range(const struct perf_memory *memory, const struct item_map *map,
				  uint64_t *start, uint64_t *end)
{
	const struct space_map *old;

	*start = map->address;
	*end = map->address + map->bytes;
	if (address_spaces_is_reused(memory->spaces, map))
		return; /* another file's pages */
	old = address_spaces_find(memory->spaces, map->pid, *start);
	if (perf_memory_is_protected(old, map, *end))
		*end = *start;
	else if (old && old->start == *start && old->end < *end && old->inode == map->inode &&
		 old->prot == map->prot)
		*start = old->end;
	old = address_spaces_find(memory->spaces, map->pid, *end - 1);
	if (*start < *end && old && old->end == *end && old->start > *start &&
	    old->inode == map->inode && old->prot == map->prot)
		*end = old->start;
	/* A protection that makes it equal to its neighbours. */
	if (*start < *end &&
	    perf_memory_is_protected(address_spaces_find(memory->spaces, map->pid, *start), map,
				     *end))
		*end = *start;
}

static void perf_memory_end(struct perf_memory *memory, uint32_t pid)
{
	page_history_end(memory->history, pid);
	page_history_end(memory->file_pages, pid);
}

int perf_memory_add_map(struct perf_memory *memory, const struct item_map *map)
{
	uint64_t start, end;
	int err = 0;

	if (address_spaces_is_reused(memory->spaces, map))
		free(hash_take(&memory->file_numbers, perf_memory_file_key(map->dev, map->inode)));
	if (map->bytes) {
		perf_memory_new_range(memory, map, &start, &end);
		err = page_history_remove(memory->history, map->pid, start, end);
	} else {
		perf_memory_end(memory, map->pid);
	}
	return err ? err : address_spaces_add_map(memory->spaces, map);
}

int perf_memory_add_task(struct perf_memory *memory, const struct pfstat_task *task)
{
	const uint32_t pid = task->event.pid;
	int err = 0;

	if (task->event.flags & PFSTAT_TASK_FORK && pid != task->parent_pid)
		err = page_history_fork(memory->history, task->parent_pid, pid);
	if (!err)
		err = address_spaces_add_task(memory->spaces, task);
	/* A process's maps go when the last thread has ended. */
	if (task->event.flags & PFSTAT_TASK_EXIT && !address_spaces_has(memory->spaces, pid))
		perf_memory_end(memory, pid);
	return err;
}

/* Special mappings have a file operation, but no file. */
static bool perf_memory_is_special(const struct perf_memory *memory, const struct space_map *map)
{
	return !strncmp(address_spaces_path(memory->spaces, map->path), "[v", 2);
}

/*
 * A fork copies no entries of a mapping that has no private pages, so the child faults on each page
 * anew. The history of file pages is the process's own.
 */
static bool perf_memory_is_inherited(const struct space_map *map, const struct page_past *file)
{
	return map->inode && !file->before &&
	       (map->flags & MAP_SHARED || !(map->prot & PROT_WRITE));
}

/* Adds the page as one that this process has not faulted before. */
static int perf_memory_begin_page(struct perf_memory *memory, const struct pfstat_fault *fault,
				  struct page_past *past)
{
	const uint64_t page = fault->address & -memory->page_bytes;
	const uint32_t pid = fault->event.pid;

	return page_history_remove(memory->history, pid, page, page + memory->page_bytes) ?:
		       page_history_add(memory->history, pid, page, false, past);
}

/* Adds a fault's page to both histories, and the page's past to the fault. */
static int perf_memory_add_page(struct perf_memory *memory, const struct space_map *map,
				struct pfstat_fault *fault)
{
	const uint32_t pid = fault->event.pid;
	struct page_past past, file = { 0 };
	uint64_t number;
	int err;

	err = page_history_add(memory->history, pid, fault->address,
			       fault->event.flags == PFSTAT_FAULT_ANON, &past);
	if (!err && map->inode && fault->pgoff < FILE_PAGES) {
		err = perf_memory_file(memory, map, &number);
		if (!err)
			err = page_history_add(memory->file_pages, pid,
					       number * FILE_PAGES + fault->pgoff, false, &file);
	}
	if (!err && past.before && perf_memory_is_inherited(map, &file))
		err = perf_memory_begin_page(memory, fault, &past);
	fault->perf |= (past.before ? PFSTAT_PERF_AGAIN : 0) |
		       (past.often ? PFSTAT_PERF_OFTEN : 0) |
		       (past.removed ? PFSTAT_PERF_REMAPPED : 0) |
		       (file.before && !past.before ? PFSTAT_PERF_MAPPED : 0);
	return err;
}

/* The history has no page for an unknown mapping: mremap(2) may have moved it there. */
int perf_memory_place(struct perf_memory *memory, struct pfstat_fault *fault)
{
	const uint32_t pid = fault->event.pid;
	const struct space_map *map = address_spaces_find(memory->spaces, pid, fault->address);
	int err = 0;

	fault->pgoff = fault->address / memory->page_bytes;
	fault->event.flags = PFSTAT_FAULT_OTHER;
	fault->perf |= PFSTAT_PERF_HISTORY;
	if (!map)
		return 0;
	if (map->inode) {
		fault->inode = map->inode;
		fault->dev = map->dev;
		fault->pgoff = map->pgoff + fault->pgoff - map->start / memory->page_bytes;
	}
	if (map->prot & PROT_WRITE)
		fault->perf |= PFSTAT_PERF_WRITABLE;
	fault->event.flags = map->inode || perf_memory_is_special(memory, map) ? PFSTAT_FAULT_FILE :
										 PFSTAT_FAULT_ANON;
	if (fault->outcome != PFSTAT_OUTCOME_ERROR)
		err = perf_memory_add_page(memory, map, fault);
	/* A major fault of a file stays one: it shows a read. PFSTAT_PERF_AGAIN marks it. */
	if (fault->perf & PFSTAT_PERF_AGAIN &&
	    (fault->outcome == PFSTAT_OUTCOME_MINOR || fault->event.flags != PFSTAT_FAULT_FILE))
		fault->event.flags = PFSTAT_FAULT_AGAIN;
	return err;
}
