// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps every mapping of a file that a recording has, so that the replay can map the same ranges.
 * A later mapping hides an earlier one at the same address.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "advise/recorded_mappings.h"
#include "util/array.h"

/* Indices of the mappings of one process, oldest first. */
struct process_mappings {
	uint32_t *indices;
	size_t nr, capacity;
};

static struct process_mappings *process_of(struct recorded_accesses *accesses, uint32_t pid)
{
	struct process_mappings *process = hash_find(&accesses->processes, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (process && hash_add(&accesses->processes, pid, process)) {
		free(process);
		return NULL;
	}
	return process;
}

static int add_file(struct recorded_accesses *accesses, const struct item_map *map)
{
	struct accessed_file *file;

	if (array_reserve((void **)&accesses->files, accesses->nr_files, &accesses->file_capacity,
			  sizeof(*accesses->files)))
		return -ENOMEM;
	file = &accesses->files[accesses->nr_files];
	*file = (struct accessed_file){ .path = strdup(map->path), .inode = map->inode };
	if (!file->path)
		return -ENOMEM;
	accesses->nr_files++;
	/* A second path of the same file is found by its mappings. */
	if (hash_find(&accesses->by_inode, map->inode))
		return 0;
	return hash_add(&accesses->by_inode, map->inode, (void *)(uintptr_t)accesses->nr_files);
}

static bool is_file(const struct accessed_file *file, const struct item_map *map)
{
	return file->inode == map->inode && !strcmp(file->path, map->path);
}

/* Index of the file; -ENOMEM. */
static int recorded_mappings_file_index(struct recorded_accesses *accesses,
					const struct item_map *map)
{
	const size_t first = (uintptr_t)hash_find(&accesses->by_inode, map->inode);
	size_t i;

	for (i = first ? first - 1 : accesses->nr_files; i < accesses->nr_files; i++)
		if (is_file(&accesses->files[i], map))
			return i;
	return add_file(accesses, map) ?: (int)accesses->nr_files - 1;
}

static int add_mapping(struct recorded_accesses *accesses, const struct accessed_mapping *mapping)
{
	struct process_mappings *process = process_of(accesses, mapping->pid);

	if (!process ||
	    array_reserve((void **)&accesses->mappings, accesses->nr_mappings,
			  &accesses->mapping_capacity, sizeof(*accesses->mappings)) ||
	    array_reserve((void **)&process->indices, process->nr, &process->capacity,
			  sizeof(*process->indices)))
		return -ENOMEM;
	process->indices[process->nr++] = accesses->nr_mappings;
	accesses->mappings[accesses->nr_mappings++] = *mapping;
	return 0;
}

static int initial_advice_of(const struct item_map *map)
{
	if (map->ns)
		return -1;
	if (map->flags & ITEM_MAP_RANDOM)
		return MADV_RANDOM;
	return map->flags & ITEM_MAP_SEQUENTIAL ? MADV_SEQUENTIAL : -1;
}

int recorded_mappings_add(struct recorded_accesses *accesses, const struct item_map *map)
{
	int file;

	if (!map->inode || map->path[0] != '/' || !map->bytes)
		return 0;
	file = recorded_mappings_file_index(accesses, map);
	if (file < 0)
		return file;
	accesses->files[file].executable |= map->prot & PROT_EXEC ? true : false;
	return add_mapping(accesses, &(struct accessed_mapping){
					     .address = map->address,
					     .bytes = map->bytes,
					     .pgoff = map->pgoff,
					     .pid = map->pid,
					     .file = file,
					     .shared = map->flags & MAP_SHARED,
					     .before = !map->ns,
					     .initial_advice = initial_advice_of(map),
					     .no_advice = map->flags & ITEM_MAP_NO_ADVICE,
				     });
}

int recorded_mappings_inherit(struct recorded_accesses *accesses, uint32_t child, uint32_t parent)
{
	const struct process_mappings *from = hash_find(&accesses->processes, parent);
	struct process_mappings *to = hash_find(&accesses->processes, child);
	struct accessed_mapping copy;
	size_t i;
	int err = 0;

	if (to)
		to->nr = 0; /* the number is used again */
	for (i = 0; from && i < from->nr && !err; i++) {
		copy = accesses->mappings[from->indices[i]];
		copy.pid = child;
		copy.inherited = true;
		copy.used = false;
		err = add_mapping(accesses, &copy);
	}
	return err;
}

static bool covers(const struct accessed_mapping *mapping, uint64_t address)
{
	return address >= mapping->address && address - mapping->address < mapping->bytes;
}

struct accessed_mapping *recorded_mappings_find(struct recorded_accesses *accesses, uint32_t pid,
						uint64_t address, uint64_t inode)
{
	const struct process_mappings *process = hash_find(&accesses->processes, pid);
	struct accessed_mapping *mapping;
	size_t i;

	for (i = process ? process->nr : 0; i; i--) {
		mapping = &accesses->mappings[process->indices[i - 1]];
		if (covers(mapping, address) && accesses->files[mapping->file].inode == inode)
			return mapping;
	}
	return NULL;
}

struct accessed_mapping *recorded_mappings_at(struct recorded_accesses *accesses, uint32_t pid,
					      uint64_t address)
{
	const struct process_mappings *process = hash_find(&accesses->processes, pid);
	struct accessed_mapping *mapping;
	size_t i;

	for (i = process ? process->nr : 0; i; i--) {
		mapping = &accesses->mappings[process->indices[i - 1]];
		if (covers(mapping, address))
			return mapping;
	}
	return NULL;
}

struct accessed_file *recorded_mappings_file(struct recorded_accesses *accesses, uint64_t inode)
{
	const size_t number = (uintptr_t)hash_find(&accesses->by_inode, inode);

	return number ? &accesses->files[number - 1] : NULL;
}

static void process_free(void *process)
{
	free(((struct process_mappings *)process)->indices);
	free(process);
}

void recorded_mappings_exit(struct recorded_accesses *accesses)
{
	size_t i;

	for (i = 0; i < accesses->nr_files; i++)
		free(accesses->files[i].path);
	free(accesses->files);
	free(accesses->mappings);
	hash_exit(&accesses->processes, process_free);
	hash_exit(&accesses->by_inode, NULL);
}
