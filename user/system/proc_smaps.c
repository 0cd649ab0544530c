// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills a map_list from /proc/PID/smaps, /proc/PID/task/TID/syscall and the module's file
 * `targets`. It stores values only. map_list.c classifies the lines later. On failure the list is
 * empty.
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
#include "system/module_file.h"
#include "system/proc_maps.h"
#include "system/proc_smaps.h"
#include "util/array.h"

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
