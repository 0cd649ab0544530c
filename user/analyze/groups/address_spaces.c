// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks each process's mappings and the names of files and tasks. Mappings and tasks come from
 * analysis.c. Groups and stacks look up addresses and names. A process's mappings never overlap,
 * and all memory is bounded, because recordings are not trusted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/address_spaces.h"
#include "util/hash.h"

/* Limit on distinct names, and on files. */
#define PATHS_MAX ADDRESS_SPACES_OTHERS
/* Limit on mappings in all processes, some 200 MB: a recording of a few KB may have many. */
#define ALL_MAPS_MAX (1U << 22)
/* Limit on simultaneous processes, and on thread names: some 30 MB each. */
#define ADDRESS_SPACES_MAX (1U << 18)

/*
 * A fork takes a few bytes in a recording, and the maps may take 3 MB. Therefore parent and child
 * share them until one changes.
 */
struct space {
	uint32_t pid;
	struct space_maps *maps; /* NULL: none */
	/* The last maps found, or NULL: a fault looks up the address, then the instruction. */
	const struct space_map *last[2];
	uint32_t threads; /* known threads, not counting the first */
	bool first_ended;
};

struct name {
	uint32_t tid;
	char comm[16];
};

struct path {
	uint32_t number;
	uint64_t inode;	   /* 0 if not known, or ADDRESS_SPACES_INODES_DIFFER */
	struct path *next; /* another path with the same hash */
	char text[];
};

struct spaces {
	uint64_t page_bytes;
	struct hash spaces; /* by pid */
	struct hash names;  /* by tid */
	struct hash paths;  /* by text hash */
	struct file_names files;
	struct path **numbered; /* [0] is unused, [ADDRESS_SPACES_OTHERS] is all others */
	uint32_t nr_paths, max_paths;
	size_t capacity; /* sum over all spaces, shared maps count once */
	size_t max_capacity;
	uint64_t dropped; /* mappings and names without room */
	uint32_t last_pid;
	struct space *last;
};

static void space_forget_last(struct space *space)
{
	space->last[0] = NULL;
	space->last[1] = NULL;
}

/* Removes all maps in the space, and returns the capacity freed. */
static size_t release_maps(struct space *space)
{
	const size_t freed = space_maps_put(space->maps);

	space->maps = NULL;
	space_forget_last(space);
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
	file_names_exit(&spaces->files);
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
	spaces->max_capacity = ALL_MAPS_MAX;
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

void address_spaces_limit_maps(struct spaces *spaces, size_t max)
{
	spaces->max_capacity = max < ALL_MAPS_MAX ? max : ALL_MAPS_MAX;
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

/* Gives the space separate maps, or drops shared ones if there are too many. 0 or -ENOMEM. */
static int own_maps(struct spaces *spaces, struct space *space)
{
	struct space_maps *maps;

	if (space->maps && space->maps->owners == 1)
		return 0;
	if (space->maps && spaces->capacity + space->maps->capacity > spaces->max_capacity) {
		spaces->dropped += space->maps->nr;
		release_maps(space);
	}
	maps = space->maps ? space_maps_copy(space->maps) : space_maps_new();
	if (!maps)
		return -ENOMEM;
	release_maps(space);
	space->maps = maps;
	spaces->capacity += maps->capacity;
	return 0;
}

static int address_spaces_insert(struct spaces *spaces, struct space *space,
				 const struct space_map *map)
{
	int err = own_maps(spaces, space);
	size_t before;

	if (err)
		return err;
	before = space->maps->capacity;
	space_forget_last(space);
	err = space_maps_replace(space->maps, map, spaces->page_bytes,
				 spaces->max_capacity - spaces->capacity + before);
	spaces->capacity += space->maps->capacity - before;
	if (err != -ENOSPC)
		return err;
	spaces->dropped++;
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
		.pid = map->pid,
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
	/* perf calls memory without a file "//anon". /proc/PID/maps has no name for it. */
	err = address_spaces_number_of(spaces,
				       !map->inode && !strcmp(map->path, "//anon") ? "" : map->path,
				       &added.path);
	if (!err && space_map_has_file(&added)) {
		note_inode(spaces->numbered[added.path], map->inode);
		err = file_names_set(&spaces->files, map, added.path, spaces->max_paths);
	}
	return err ? err : address_spaces_insert(spaces, space, &added);
}

bool address_spaces_is_reused(const struct spaces *spaces, const struct item_map *map)
{
	return file_names_is_reused(&spaces->files, map);
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
	if (parent->maps) {
		parent->maps->owners++;
		child->maps = parent->maps;
	}
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

/* A process outlives the first thread until the last thread exits. */
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

/* The thread executing the program becomes the first and only thread. */
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

/* A thread has the creator's name until it gets another. perf's fork records have no name. */
static int name_task(struct spaces *spaces, const struct pfstat_task *task)
{
	const struct name *creator = NULL;

	if (task->event.flags & PFSTAT_TASK_FORK && !task->comm[0])
		creator = hash_find(&spaces->names, task->parent);
	return set_name(spaces, task->event.tid, creator ? creator->comm : task->comm);
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
	err = name_task(spaces, task);
	if (err || !(task->event.flags & PFSTAT_TASK_FORK))
		return err;
	/* A process inherits the maps of the parent's process. */
	return pid == tid ? copy_space(spaces, task->parent_pid, pid) : begin_thread(spaces, pid);
}

struct spaces_visit {
	const struct spaces *spaces;
	item_sink sink;
	void *context;
	uint32_t pid;
	struct item_map *map; /* with space for a path of room bytes */
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

static int visit_map(void *context, const struct space_map *map)
{
	struct spaces_visit *visit = context;
	const char *path = address_spaces_path(visit->spaces, map->path);
	const struct file_name *file = file_names_find(&visit->spaces->files, map->dev, map->inode);
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
		.pid = visit->pid,
		.tid = visit->pid,
		.prot = map->prot,
		.generation = file ? file->generation : 0,
		.flags = map->flags,
		.path_bytes = bytes,
	};
	memcpy(visit->map->path, path, bytes);
	return visit->sink(visit->context, &item);
}

static int visit_space(void *context, void *value)
{
	struct spaces_visit *visit = context;
	const struct space *space = value;

	visit->pid = space->pid;
	return space->maps ? space_maps_visit(space->maps, visit_map, visit) : 0;
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
	unsigned int i;

	if (!space || !space->maps)
		return NULL;
	for (i = 0; i < 2; i++) {
		map = space->last[i];
		if (map && address >= map->start && address < map->end)
			return map;
	}
	map = space_maps_first_after(space->maps, address);
	space->last[1] = space->last[0];
	space->last[0] = map;
	return map && address >= map->start ? map : NULL;
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
	const struct file_name *file = file_names_find(&spaces->files, dev, inode);

	return file ? file->path : 0;
}

uint32_t address_spaces_file_now(const struct spaces *spaces, uint32_t dev, uint64_t inode,
				 const char **path)
{
	const struct file_name *file = file_names_find(&spaces->files, dev, inode);

	*path = address_spaces_path(spaces, file ? file->path : 0);
	return file ? file->generation : 0;
}

bool address_spaces_file_was_reused(const struct spaces *spaces, uint32_t dev, uint64_t inode)
{
	const struct file_name *file = file_names_find(&spaces->files, dev, inode);

	return file && file->was_reused;
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
