// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses /proc/PID/maps and smaps into a packed sequence of struct item_map, each followed by the
 * path and padded to 8 bytes. Consumers receive them through a sink, in the order in which they
 * were read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/mapping_state.h"
#include "system/proc_maps.h"

void proc_maps_exit(struct proc_maps *maps)
{
	free(maps->bytes);
	*maps = (struct proc_maps){ 0 };
}

static size_t size_of(size_t path_bytes)
{
	return (sizeof(struct item_map) + path_bytes + 7) & ~(size_t)7;
}

/* Reserves zeroed space for a mapping without advancing `used`. NULL if out of memory. */
static struct item_map *proc_maps_make_room(struct proc_maps *maps, size_t size)
{
	size_t room = maps->room ? maps->room : 16384;
	char *grown;

	while (room < maps->used + size)
		room *= 2;
	if (room != maps->room) {
		grown = realloc(maps->bytes, room);
		if (!grown)
			return NULL;
		maps->bytes = grown;
		maps->room = room;
	}
	return memset(maps->bytes + maps->used, 0, size);
}

/* The kernel writes a newline in a path as \012, and escapes no other character. */
static void copy_path(char *path, const char *escaped, size_t length)
{
	const char *const end = escaped + length;

	while (escaped < end) {
		if (!strncmp(escaped, "\\012", 4)) {
			*path++ = '\n';
			escaped += 4;
		} else {
			*path++ = *escaped++;
		}
	}
	*path = '\0';
}

static uint32_t prot_of(const char *permissions)
{
	return (permissions[0] == 'r' ? PROT_READ : 0) | (permissions[1] == 'w' ? PROT_WRITE : 0) |
	       (permissions[2] == 'x' ? PROT_EXEC : 0);
}

int proc_maps_add_line(struct proc_maps *maps, pid_t pid, const char *line)
{
	uint64_t from, to, offset, inode;
	unsigned int dev_major, dev_minor;
	struct item_map *map;
	char permissions[5];
	int path_at = 0;
	size_t length;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &from, &to,
		   permissions, &offset, &dev_major, &dev_minor, &inode, &path_at) < 7 ||
	    strlen(permissions) < 4 || to <= from)
		return -EINVAL;
	length = strcspn(line + path_at, "\n");
	map = proc_maps_make_room(maps, size_of(length + 1));
	if (!map)
		return -ENOMEM;
	*map = (struct item_map){
		.address = from,
		.bytes = to - from,
		.pgoff = offset / sysconf(_SC_PAGESIZE),
		.inode = inode,
		.dev = dev_major << 20 | dev_minor,
		.pid = pid,
		.tid = pid,
		.prot = prot_of(permissions),
		.flags = (permissions[3] == 's' ? MAP_SHARED : MAP_PRIVATE) |
			 (inode ? ITEM_MAP_NO_ADVICE : 0),
	};
	maps->last = maps->used;
	copy_path(map->path, line + path_at, length);
	map->path_bytes = strlen(map->path) + 1;
	maps->used += size_of(map->path_bytes);
	return 0;
}

/* Each flag has two letters: "VmFlags: rd mr mw me rr". */
uint32_t proc_maps_advice(const char *line)
{
	if (strstr(line, " rr"))
		return MAPPING_RANDOM;
	return strstr(line, " sr") ? MAPPING_SEQUENTIAL : MAPPING_NORMAL;
}

static uint32_t flag_of(uint32_t advice)
{
	switch (advice) {
	case MAPPING_RANDOM:
		return ITEM_MAP_RANDOM;
	case MAPPING_SEQUENTIAL:
		return ITEM_MAP_SEQUENTIAL;
	default:
		return 0;
	}
}

void proc_maps_add_flags(struct proc_maps *maps, const char *line)
{
	static const char name[] = "VmFlags:";
	struct item_map *map = (void *)(maps->bytes + maps->last);

	if (strncmp(line, name, sizeof(name) - 1) || !maps->used)
		return;
	map->flags = (map->flags & ~ITEM_MAP_NO_ADVICE) | flag_of(proc_maps_advice(line));
}

/* A field of a mapping begins with a capital letter, a mapping with a hexadecimal digit. */
static int add_smaps_line(struct proc_maps *maps, pid_t pid, const char *line)
{
	if (*line >= 'A' && *line <= 'Z') {
		proc_maps_add_flags(maps, line);
		return 0;
	}
	return proc_maps_add_line(maps, pid, line);
}

static int by_process_and_start(const void *a, const void *b)
{
	const struct pfstat_mapping *left = a, *right = b;

	if (left->event.pid != right->event.pid)
		return left->event.pid < right->event.pid ? -1 : 1;
	return left->address < right->address ? -1 : left->address > right->address;
}

void proc_maps_set_advice(struct proc_maps *maps, struct pfstat_mapping *states, size_t nr)
{
	const struct pfstat_mapping *state;
	struct pfstat_mapping key = { 0 };
	struct item_map *map;
	size_t next;

	if (nr)
		qsort(states, nr, sizeof(*states), by_process_and_start);
	for (next = 0; nr && next < maps->used; next += size_of(map->path_bytes)) {
		map = (void *)(maps->bytes + next);
		key.event.pid = map->pid;
		key.address = map->address;
		state = bsearch(&key, states, nr, sizeof(*states), by_process_and_start);
		/* Else it was divided or extended in between. */
		if (state && state->bytes == map->bytes)
			map->flags = (map->flags & ~ITEM_MAP_NO_ADVICE) | flag_of(state->advice);
	}
}

static int proc_maps_read_file(struct proc_maps *maps, pid_t pid, const char *name)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *file;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && getline(&line, &size, file) > 0)
		err = add_smaps_line(maps, pid, line);
	/* If the process exits meanwhile, the file also ends. This is not an error. */
	free(line);
	fclose(file);
	return err;
}

int proc_maps_read(struct proc_maps *maps, pid_t pid)
{
	return proc_maps_read_file(maps, pid, "maps");
}

int proc_maps_read_self(struct proc_maps *maps)
{
	return proc_maps_read_file(maps, getpid(), "smaps");
}

int proc_maps_append(struct proc_maps *maps, struct proc_maps *more)
{
	if (!more->used)
		return 0;
	if (!proc_maps_make_room(maps, more->used))
		return -ENOMEM;
	memcpy(maps->bytes + maps->used, more->bytes, more->used);
	maps->used += more->used;
	proc_maps_exit(more);
	return 0;
}

void proc_maps_visit(const struct proc_maps *maps,
		     void (*visit)(void *context, const struct item_map *map), void *context)
{
	const struct item_map *map;
	size_t next;

	for (next = 0; next < maps->used; next += size_of(map->path_bytes)) {
		map = (const void *)(maps->bytes + next);
		visit(context, map);
	}
}

int proc_maps_hand_over(struct proc_maps *maps,
			int (*sink)(void *context, const struct item_map *map), void *context)
{
	const struct item_map *map;
	size_t next = 0;
	int err = 0;

	while (!err && next < maps->used) {
		map = (const void *)(maps->bytes + next);
		next += size_of(map->path_bytes);
		err = sink(context, map);
	}
	proc_maps_exit(maps);
	return err;
}
