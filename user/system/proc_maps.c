// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the mappings of a process, from /proc/PID/maps for the analysis and from /proc/PID/smaps
 * for a list that shows the state of each.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pfstat/control.h>

#include "model/counters.h"
#include "model/mapping_state.h"
#include "system/module_file.h"
#include "system/proc_maps.h"
#include "util/array.h"

/*
 * Parses /proc/PID/maps and smaps into a packed sequence of struct item_map, each followed by the
 * path and padded to 8 bytes. Consumers receive them through a sink, in the order in which they
 * were read.
 */

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

/*
 * The advice in a VmFlags line: enum mapping_advice.
 * Each flag has two letters: "VmFlags: rd mr mw me rr".
 */
static uint32_t proc_maps_advice(const char *line)
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

int proc_maps_read_advice(struct proc_maps *maps, pid_t pid)
{
	return proc_maps_read_file(maps, pid, "smaps");
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

/*
 * Fills a map_list from /proc/PID/smaps, /proc/PID/task/TID/syscall and the module's file
 * `targets`. It stores values only. map_list.c classifies the lines later. On failure the list is
 * empty.
 */

static int proc_smaps_append(void *context, const struct item_map *map)
{
	struct map_list *list = context;
	char *path;

	if (array_reserve((void **)&list->lines, list->nr_lines, &list->room, sizeof(*list->lines)))
		return -ENOMEM;
	path = strdup(map->path);
	if (!path)
		return -ENOMEM;
	list->lines[list->nr_lines++] = (struct map_line){
		.start = map->address,
		.end = map->address + map->bytes,
		.offset = map->pgoff * sysconf(_SC_PAGESIZE),
		.inode = map->inode,
		.dev = map->dev,
		.prot = map->prot,
		.shared = map->flags & MAP_SHARED,
		.path = path,
		.resident = COUNT_NA,
		.pss = COUNT_NA,
		.dirty = COUNT_NA,
		.anonymous = COUNT_NA,
		.swapped = COUNT_NA,
	};
	return 0;
}

static void add_to(uint64_t *sum, uint64_t bytes)
{
	*sum = *sum == COUNT_NA ? bytes : *sum + bytes;
}

/* A field is "Rss:   12 kB" or "VmFlags: rd ex"; one without a unit is not a size. */
static int add_figure(struct map_list *list, const char *line)
{
	struct map_line *last = &list->lines[list->nr_lines - 1];
	char name[32], unit[4];
	uint64_t kilobytes;

	if (!strncmp(line, "VmFlags:", strlen("VmFlags:"))) {
		last->advice = proc_maps_advice(line);
		last->advice_known = true;
	}
	if (sscanf(line, "%31[A-Za-z_]: %" SCNu64 " %3s", name, &kilobytes, unit) < 3 ||
	    strcmp(unit, "kB"))
		return strchr(line, ':') ? 0 : -EPROTO;
	if (!strcmp(name, "Rss"))
		last->resident = kilobytes * 1024;
	else if (!strcmp(name, "Pss"))
		last->pss = kilobytes * 1024;
	else if (!strcmp(name, "Shared_Dirty") || !strcmp(name, "Private_Dirty"))
		add_to(&last->dirty, kilobytes * 1024);
	else if (!strcmp(name, "Anonymous"))
		last->anonymous = kilobytes * 1024;
	else if (!strcmp(name, "Swap"))
		last->swapped = kilobytes * 1024;
	return 0;
}

int proc_smaps_add_line(struct map_list *list, const char *line)
{
	struct proc_maps one = { 0 };
	int err = proc_maps_add_line(&one, list->pid, line);

	if (err == -EINVAL)
		return list->nr_lines ? add_figure(list, line) : -EPROTO;
	if (err)
		return err;
	return proc_maps_hand_over(&one, proc_smaps_append, list);
}

/* The line holds the system call number, six arguments, stack pointer and program counter. */
int proc_smaps_add_thread(struct map_list *list, pid_t tid, const char *line)
{
	struct map_thread *grown;
	uint64_t stack_pointer;

	/*
	 * The first thread is skipped because the stack has a name. A thread blocked outside a
	 * system call has "-1 SP PC".
	 */
	if (tid == list->pid ||
	    (sscanf(line, "%*d %*x %*x %*x %*x %*x %*x %" SCNx64 " %*x", &stack_pointer) != 1 &&
	     sscanf(line, "-1 %" SCNx64 " %*x", &stack_pointer) != 1))
		return 0;
	grown = reallocarray(list->threads, list->nr_threads + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->threads = grown;
	grown[list->nr_threads++] = (struct map_thread){ tid, stack_pointer };
	return 0;
}

int proc_smaps_add_target(struct map_list *list, const char *line)
{
	struct hooked_mapping mapping, *grown;

	if (!hooked_mapping_parse(&mapping, line) || mapping.pid != list->pid)
		return 0;
	grown = reallocarray(list->hooked, list->nr_hooked + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->hooked = grown;
	grown[list->nr_hooked++] = mapping;
	return 0;
}

static int read_lines(struct map_list *list, const char *path,
		      int (*add)(struct map_list *list, const char *line))
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	if (!file)
		return -errno;
	errno = 0;
	while (!err && getline(&line, &size, file) > 0)
		err = add(list, line);
	if (!err && ferror(file))
		err = errno ? -errno : -EIO;
	free(line);
	fclose(file);
	return err;
}

/* Skips threads exiting meanwhile. */
static int read_threads(struct map_list *list)
{
	struct dirent *entry;
	char path[320], line[256];
	FILE *file;
	int err = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", list->pid);
	tasks = opendir(path);
	if (!tasks)
		return 0;
	while (!err && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", list->pid, entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file))
			err = proc_smaps_add_thread(list, strtol(entry->d_name, NULL, 10), line);
		fclose(file);
	}
	closedir(tasks);
	return err;
}

static void read_program(struct map_list *list)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", list->pid);
	length = readlink(path, list->program, sizeof(list->program) - 1);
	list->program[length > 0 ? length : 0] = '\0';
}

static int read_targets(struct map_list *list)
{
	char path[MODULE_FILE_PATH_SIZE];
	int err;

	module_file_path(path, PFSTAT_FILE_TARGETS);
	err = read_lines(list, path, proc_smaps_add_target);
	list->hooks_known = !err;
	return err == -ENOMEM ? err : 0;
}

int proc_smaps_read(struct map_list *list, pid_t pid)
{
	char path[64];
	int err;

	*list = (struct map_list){ .pid = pid };
	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	err = read_lines(list, path, proc_smaps_add_line);
	if (err == -ENOENT)
		err = -ESRCH;
	if (!err && !list->nr_lines)
		err = -ENODATA;
	if (!err)
		err = read_threads(list);
	if (!err)
		err = read_targets(list);
	if (err) {
		map_list_exit(list);
		return err;
	}
	read_program(list);
	return 0;
}
