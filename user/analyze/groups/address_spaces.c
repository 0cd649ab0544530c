// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks the mappings of each process and the names of files and tasks. Mappings and tasks come
 * from analysis.c; groups and stacks look up addresses and names. The mappings of a process never
 * overlap, and all memory is bounded, because recordings are not trusted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/address_spaces.h"
#include "util/hash.h"

/* Limit on distinct names, and on files. */
#define PATHS_MAX ADDRESS_SPACES_OTHERS
/* Limit on mappings of one process: the default of vm.max_map_count. */
#define MAPS_MAX 65530U
/* Limit on the mappings of all processes, some 200 MB: a recording of a few KB may have many. */
#define ALL_MAPS_MAX (1U << 22)
/* Limit on simultaneous processes, and on names of threads: some 30 MB each. */
#define ADDRESS_SPACES_MAX (1U << 18)

/*
 * A fork takes a few bytes of a recording, and its maps may take 3 MB. Therefore parent and child
 * share them until one of them changes.
 */
struct space {
	uint32_t pid;
	struct space_map *maps; /* ordered by address, without overlaps */
	size_t nr_maps, capacity;
	unsigned int *owners; /* number of spaces that share maps; NULL: one */
	size_t last;	      /* index of the mapping found last */
	uint32_t threads;     /* known threads, not counting the first */
	bool first_ended;
};

struct name {
	uint32_t tid;
	char comm[16];
};

struct path {
	uint32_t number;
	uint64_t inode;	   /* 0: not known; ADDRESS_SPACES_INODES_DIFFER */
	struct path *next; /* another path with the same hash */
	char text[];
};

struct file_path {
	uint32_t dev, path;
	uint64_t inode;
};

struct spaces {
	uint64_t page_bytes;
	struct hash spaces;	/* by pid */
	struct hash names;	/* by tid */
	struct hash paths;	/* by hash of the text */
	struct hash files;	/* by dev and inode */
	struct path **numbered; /* [0] is unused, [ADDRESS_SPACES_OTHERS] is all others */
	uint32_t nr_paths, max_paths;
	size_t capacity;  /* sum over all spaces; shared maps count once */
	uint64_t dropped; /* mappings and names that did not fit */
	uint32_t last_pid;
	struct space *last;
};

/* Removes all maps of the space, and returns the capacity that becomes free. */
static size_t release_maps(struct space *space)
{
	size_t freed = space->capacity;

	if (space->owners && --*space->owners) {
		freed = 0;
	} else {
		free(space->maps);
		free(space->owners);
	}
	space->maps = NULL;
	space->owners = NULL;
	space->nr_maps = 0;
	space->capacity = 0;
	space->last = 0;
	return freed;
}

static void space_free(void *value)
{
	struct space *space = value;

	release_maps(space);
	free(space);
}

static void path_free(void *value)
{
	struct path *path = value, *next;

	for (; path; path = next) {
		next = path->next;
		free(path);
	}
}

void address_spaces_free(struct spaces *spaces)
{
	if (!spaces)
		return;
	hash_exit(&spaces->spaces, space_free);
	hash_exit(&spaces->names, free);
	hash_exit(&spaces->paths, path_free);
	hash_exit(&spaces->files, free);
	if (spaces->numbered)
		free(spaces->numbered[ADDRESS_SPACES_OTHERS]);
	free(spaces->numbered);
	free(spaces);
}

static struct path *path_new(struct spaces *spaces, const char *text, uint32_t number)
{
	const size_t bytes = strlen(text) + 1;
	struct path *path = calloc(1, sizeof(*path) + bytes);

	if (!path)
		return NULL;
	memcpy(path->text, text, bytes);
	path->number = number;
	spaces->numbered[number] = path;
	return path;
}

struct spaces *address_spaces_new(uint64_t page_bytes)
{
	struct spaces *spaces = calloc(1, sizeof(*spaces));

	if (!spaces)
		return NULL;
	spaces->page_bytes = page_bytes;
	spaces->nr_paths = 1;
	spaces->max_paths = PATHS_MAX;
	spaces->numbered = calloc(ADDRESS_SPACES_OTHERS + 1, sizeof(struct path *));
	if (!spaces->numbered || !path_new(spaces, "(other files)", ADDRESS_SPACES_OTHERS)) {
		address_spaces_free(spaces);
		return NULL;
	}
	return spaces;
}

void address_spaces_limit_names(struct spaces *spaces, uint32_t max)
{
	spaces->max_paths = max < PATHS_MAX ? max : PATHS_MAX;
}

static uint64_t path_key(const char *text)
{
	return hash_of(text, strlen(text));
}

static struct path *find_path(struct path *path, const char *text)
{
	while (path && strcmp(path->text, text))
		path = path->next;
	return path;
}

uint32_t address_spaces_path_number(const struct spaces *spaces, const char *text)
{
	const struct path *path = find_path(hash_find(&spaces->paths, path_key(text)), text);

	return path ? path->number : 0;
}

/* Looks the path's number up, and adds the path if it is new. 0: no path. */
static int address_spaces_number_of(struct spaces *spaces, const char *text, uint32_t *number)
{
	const uint64_t key = path_key(text);
	struct path *first = hash_find(&spaces->paths, key), *path = find_path(first, text);

	*number = path ? path->number : *text ? ADDRESS_SPACES_OTHERS : 0;
	if (path || !*text || spaces->nr_paths == spaces->max_paths)
		return 0;
	path = path_new(spaces, text, spaces->nr_paths);
	if (!path)
		return -ENOMEM;
	if (first) {
		path->next = first->next;
		first->next = path;
	} else if (hash_add(&spaces->paths, key, path)) {
		free(path);
		return -ENOMEM;
	}
	*number = spaces->nr_paths++;
	return 0;
}

/* Another file may have the same name later, or in another mount namespace. */
static void note_inode(struct path *path, uint64_t inode)
{
	if (!path->inode)
		path->inode = inode;
	else if (path->inode != inode)
		path->inode = ADDRESS_SPACES_INODES_DIFFER;
}

static uint64_t file_key(uint32_t dev, uint64_t inode)
{
	const uint64_t file[] = { dev, inode };

	return hash_of(file, sizeof(file));
}

/* Sets a file's latest name. If two files have the same hash, the first one keeps it. */
static int name_file(struct spaces *spaces, uint32_t dev, uint64_t inode, uint32_t path)
{
	struct file_path *file = hash_find(&spaces->files, file_key(dev, inode));

	if (file) {
		if (file->dev == dev && file->inode == inode)
			file->path = path;
		return 0;
	}
	if (spaces->files.count >= spaces->max_paths)
		return 0;
	file = malloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	*file = (struct file_path){ .dev = dev, .path = path, .inode = inode };
	if (!hash_add(&spaces->files, file_key(dev, inode), file))
		return 0;
	free(file);
	return -ENOMEM;
}

static struct space *space_find(struct spaces *spaces, uint32_t pid)
{
	if (!spaces->last || spaces->last_pid != pid) {
		spaces->last = hash_find(&spaces->spaces, pid);
		spaces->last_pid = pid;
	}
	return spaces->last;
}

/* Adds the space if it is new. *found NULL: too many spaces. Returns 0 or -ENOMEM. */
static int space_get(struct spaces *spaces, uint32_t pid, struct space **found)
{
	struct space *space = space_find(spaces, pid);

	*found = space;
	if (space)
		return 0;
	if (spaces->spaces.count >= ADDRESS_SPACES_MAX) {
		spaces->dropped++;
		return 0;
	}
	space = calloc(1, sizeof(*space));
	if (space)
		space->pid = pid;
	if (!space || hash_add(&spaces->spaces, pid, space)) {
		free(space);
		return -ENOMEM;
	}
	spaces->last = space;
	*found = space;
	return 0;
}

/* Returns the index of the first map that ends after the address. */
static size_t first_after(const struct space *space, uint64_t address)
{
	size_t low = 0, high = space->nr_maps, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (space->maps[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Copies shared maps, or drops them if there are too many. Returns 0 or -ENOMEM. */
static int own_maps(struct spaces *spaces, struct space *space)
{
	const struct space shared = *space;
	struct space_map *maps;

	if (!shared.owners || *shared.owners == 1)
		return 0;
	if (spaces->capacity + shared.capacity > ALL_MAPS_MAX) {
		spaces->dropped += shared.nr_maps;
		release_maps(space);
		return 0;
	}
	maps = reallocarray(NULL, shared.capacity, sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	memcpy(maps, shared.maps, shared.nr_maps * sizeof(*maps));
	release_maps(space);
	space->maps = maps;
	space->nr_maps = shared.nr_maps;
	space->capacity = shared.capacity;
	spaces->capacity += shared.capacity;
	return 0;
}

/* Makes room for nr maps, within the limit of all spaces. Returns 0 or -ENOMEM. */
static int address_spaces_make_room(struct spaces *spaces, struct space *space, size_t nr)
{
	size_t capacity = space->capacity ?: 16;
	struct space_map *maps;

	while (capacity < nr)
		capacity *= 2;
	if (nr <= space->capacity || spaces->capacity + capacity - space->capacity > ALL_MAPS_MAX)
		return 0;
	maps = reallocarray(space->maps, capacity, sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	spaces->capacity += capacity - space->capacity;
	space->maps = maps;
	space->capacity = capacity;
	return 0;
}

static bool address_spaces_is_full(const struct space *space)
{
	return space->nr_maps == MAPS_MAX || space->nr_maps == space->capacity;
}

static void insert_at(struct space *space, size_t at, const struct space_map *map)
{
	memmove(&space->maps[at + 1], &space->maps[at],
		(space->nr_maps - at) * sizeof(*space->maps));
	space->maps[at] = *map;
	space->nr_maps++;
}

static void cut_front(struct space_map *map, uint64_t start, uint64_t page_bytes)
{
	if (map->inode)
		map->pgoff += (start - map->start) / page_bytes;
	map->start = start;
}

/*
 * Removes the mapped ranges between start and end. Maps that are cut keep their other ends. The
 * caller made room for two more.
 */
static void make_hole(struct space *space, uint64_t start, uint64_t end, uint64_t page_bytes)
{
	size_t at = first_after(space, start), until;
	struct space_map rest;

	if (at < space->nr_maps && space->maps[at].start < start) {
		rest = space->maps[at];
		space->maps[at].end = start;
		at++;
		/* In a full space the rest stays without a name, rather than with a wrong one. */
		if (rest.end > end && !address_spaces_is_full(space)) {
			cut_front(&rest, end, page_bytes);
			insert_at(space, at, &rest);
		}
	}
	for (until = at; until < space->nr_maps && space->maps[until].end <= end; until++)
		;
	if (until < space->nr_maps && space->maps[until].start < end)
		cut_front(&space->maps[until], end, page_bytes);
	memmove(&space->maps[at], &space->maps[until],
		(space->nr_maps - until) * sizeof(*space->maps));
	space->nr_maps -= until - at;
}

static int address_spaces_insert(struct spaces *spaces, struct space *space,
				 const struct space_map *map)
{
	int err = own_maps(spaces, space);

	/* The new map may cut another one in two. */
	err = err ? err : address_spaces_make_room(spaces, space, space->nr_maps + 2);
	if (err)
		return err;
	if (!space->capacity) {
		spaces->dropped++;
		return 0;
	}
	/* The old mapping is gone, even if the new one does not fit. */
	make_hole(space, map->start, map->end, spaces->page_bytes);
	if (!address_spaces_is_full(space))
		insert_at(space, first_after(space, map->start), map);
	else
		spaces->dropped++;
	space->last = 0;
	return 0;
}

int address_spaces_add_map(struct spaces *spaces, const struct item_map *map)
{
	struct space *space;
	struct space_map added = {
		.start = map->address,
		.end = map->address + map->bytes,
		.pgoff = map->pgoff,
		.inode = map->inode,
		.dev = map->dev,
		.prot = map->prot,
		.flags = map->flags,
	};
	int err = space_get(spaces, map->pid, &space);

	if (err || !space)
		return err;
	if (!map->bytes) {
		spaces->capacity -= release_maps(space);
		return 0;
	}
	if (added.end <= added.start)
		return 0;
	err = address_spaces_number_of(spaces, map->path, &added.path);
	if (!err && space_map_has_file(&added)) {
		note_inode(spaces->numbered[added.path], map->inode);
		err = name_file(spaces, map->dev, map->inode, added.path);
	}
	return err ? err : address_spaces_insert(spaces, space, &added);
}

static int copy_space(struct spaces *spaces, uint32_t from, uint32_t to)
{
	struct space *parent = hash_find(&spaces->spaces, from), *child;
	int err;

	if (!parent || from == to)
		return 0;
	err = space_get(spaces, to, &child);
	if (err || !child)
		return err;
	spaces->capacity -= release_maps(child);
	child->threads = 0;
	child->first_ended = false;
	if (!parent->nr_maps)
		return 0;
	if (!parent->owners) {
		parent->owners = malloc(sizeof(*parent->owners));
		if (!parent->owners)
			return -ENOMEM;
		*parent->owners = 1;
	}
	++*parent->owners;
	child->owners = parent->owners;
	child->maps = parent->maps;
	child->nr_maps = parent->nr_maps;
	child->capacity = parent->capacity;
	return 0;
}

static void forget_space(struct spaces *spaces, uint32_t pid)
{
	struct space *space = hash_take(&spaces->spaces, pid);

	if (!space)
		return;
	spaces->last = NULL;
	spaces->capacity -= release_maps(space);
	free(space);
}

static int set_name(struct spaces *spaces, uint32_t tid, const char *comm)
{
	struct name *name = hash_find(&spaces->names, tid);

	if (!name && spaces->names.count >= ADDRESS_SPACES_MAX) {
		spaces->dropped++;
		return 0;
	}
	if (!name) {
		name = calloc(1, sizeof(*name));
		if (name)
			name->tid = tid;
		if (!name || hash_add(&spaces->names, tid, name)) {
			free(name);
			return -ENOMEM;
		}
	}
	memcpy(name->comm, comm, sizeof(name->comm));
	name->comm[sizeof(name->comm) - 1] = '\0';
	return 0;
}

/* A process outlives its first thread until its last thread exits. */
static void end_task(struct spaces *spaces, uint32_t pid, uint32_t tid)
{
	struct space *space = space_find(spaces, pid);

	free(hash_take(&spaces->names, tid));
	if (!space)
		return;
	if (tid == pid)
		space->first_ended = true;
	else if (space->threads)
		space->threads--;
	if (space->first_ended && !space->threads)
		forget_space(spaces, pid);
}

static int begin_thread(struct spaces *spaces, uint32_t pid)
{
	struct space *space;
	int err = space_get(spaces, pid, &space);

	if (!err && space)
		space->threads++;
	return err;
}

/* The thread that executes the program becomes the first and only thread. */
static void begin_program(struct spaces *spaces, const struct pfstat_task *task)
{
	struct space *space = space_find(spaces, task->event.pid);

	if (task->parent != task->event.tid)
		free(hash_take(&spaces->names, task->parent));
	if (!space)
		return;
	space->threads = 0;
	space->first_ended = false;
}

int address_spaces_add_task(struct spaces *spaces, const struct pfstat_task *task)
{
	const uint32_t pid = task->event.pid, tid = task->event.tid;
	int err;

	if (task->event.flags & PFSTAT_TASK_EXIT) {
		end_task(spaces, pid, tid);
		return 0;
	}
	if (task->event.flags & PFSTAT_TASK_EXEC)
		begin_program(spaces, task);
	err = set_name(spaces, tid, task->comm);
	if (err || !(task->event.flags & PFSTAT_TASK_FORK))
		return err;
	/* A process inherits the maps of its parent's process. */
	return pid == tid ? copy_space(spaces, task->parent_pid, pid) : begin_thread(spaces, pid);
}

struct spaces_visit {
	const struct spaces *spaces;
	item_sink sink;
	void *context;
	struct item_map *map; /* with room for a path of room bytes */
	size_t room;
};

static int visit_make_room(struct spaces_visit *visit, size_t bytes)
{
	struct item_map *map;

	if (visit->map && bytes <= visit->room)
		return 0;
	map = realloc(visit->map, sizeof(*map) + bytes);
	if (!map)
		return -ENOMEM;
	visit->map = map;
	visit->room = bytes;
	return 0;
}

static int visit_map(struct spaces_visit *visit, uint32_t pid, const struct space_map *map)
{
	const char *path = address_spaces_path(visit->spaces, map->path);
	const size_t bytes = strlen(path) + 1;
	struct item item = { .type = ITEM_MAP };

	if (visit_make_room(visit, bytes))
		return -ENOMEM;
	item.map = visit->map;
	*visit->map = (struct item_map){
		.address = map->start,
		.bytes = map->end - map->start,
		.pgoff = map->pgoff,
		.inode = map->inode,
		.dev = map->dev,
		.pid = pid,
		.tid = pid,
		.prot = map->prot,
		.flags = map->flags,
		.path_bytes = bytes,
	};
	memcpy(visit->map->path, path, bytes);
	return visit->sink(visit->context, &item);
}

static int visit_space(void *context, void *value)
{
	const struct space *space = value;
	size_t i;
	int err = 0;

	for (i = 0; i < space->nr_maps && !err; i++)
		err = visit_map(context, space->pid, &space->maps[i]);
	return err;
}

static int visit_name(void *context, void *value)
{
	const struct spaces_visit *visit = context;
	const struct name *name = value;
	struct pfstat_task task = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(task),
			.pid = name->tid, .tid = name->tid,
		},
	};
	const struct item item = { .type = ITEM_EVENT, .event = &task.event };

	memcpy(task.comm, name->comm, sizeof(task.comm));
	return visit->sink(visit->context, &item);
}

int address_spaces_visit(const struct spaces *spaces, item_sink sink, void *context)
{
	struct spaces_visit visit = { .spaces = spaces, .sink = sink, .context = context };
	int err = hash_visit_sorted(&spaces->spaces, visit_space, &visit);

	if (!err)
		err = hash_visit_sorted(&spaces->names, visit_name, &visit);
	free(visit.map);
	return err;
}

const struct space_map *address_spaces_find(struct spaces *spaces, uint32_t pid, uint64_t address)
{
	struct space *space = space_find(spaces, pid);
	const struct space_map *map;

	if (!space || !space->nr_maps)
		return NULL;
	map = &space->maps[space->last];
	if (address < map->start || address >= map->end) {
		space->last = first_after(space, address);
		if (space->last == space->nr_maps)
			space->last = 0;
		map = &space->maps[space->last];
	}
	return address >= map->start && address < map->end ? map : NULL;
}

bool address_spaces_has(struct spaces *spaces, uint32_t pid)
{
	return space_find(spaces, pid);
}

uint64_t address_spaces_page_bytes(const struct spaces *spaces)
{
	return spaces->page_bytes;
}

uint64_t address_spaces_offset(const struct spaces *spaces, const struct space_map *map,
			       uint64_t address)
{
	return address - map->start + map->pgoff * spaces->page_bytes;
}

bool space_map_has_file(const struct space_map *map)
{
	return map->inode && map->path && map->path != ADDRESS_SPACES_OTHERS;
}

const char *address_spaces_path(const struct spaces *spaces, uint32_t path)
{
	return path ? spaces->numbered[path]->text : "";
}

uint64_t address_spaces_path_inode(const struct spaces *spaces, uint32_t path)
{
	return path ? spaces->numbered[path]->inode : 0;
}

uint32_t address_spaces_file_path(const struct spaces *spaces, uint32_t dev, uint64_t inode)
{
	const struct file_path *file = hash_find(&spaces->files, file_key(dev, inode));

	return file && file->dev == dev && file->inode == inode ? file->path : 0;
}

uint64_t address_spaces_dropped(const struct spaces *spaces)
{
	return spaces->dropped;
}

const char *address_spaces_comm(const struct spaces *spaces, uint32_t tid)
{
	const struct name *name = hash_find(&spaces->names, tid);

	return name ? name->comm : "";
}
