// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds processes and their threads in /proc, and reads names and counters. Processes and threads
 * may exit at any time, which is reported as -ESRCH or skipped.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/processes.h"
#include "util/array.h"

/*
 * Finds processes by cgroup or by mapped file, and reads their counters from /proc.
 * Processes may exit at any time, which is reported as -ESRCH or skipped.
 */

/* Returns NULL and sets errno. The path has any length, and fopen(3) fails if it is too long. */
static FILE *open_members(const char *folder)
{
	FILE *file;
	char *path;

	if (asprintf(&path, "%s/cgroup.procs", folder) < 0)
		return NULL;
	file = fopen(path, "re");
	free(path);
	return file;
}

static int visit_members(const char *folder, process_visitor visit, void *context)
{
	FILE *file = open_members(folder);
	int pid, err = 0;

	if (!file)
		return errno == ENODEV ? -ENOENT : -errno; /* it is being removed */
	while (!err && fscanf(file, "%d", &pid) == 1)
		if (pid > 0) /* 0: in another PID namespace */
			err = visit(context, pid);
	if (!err && ferror(file))
		err = errno == ENODEV ? -ENOENT : -errno;
	fclose(file);
	return err;
}

/*
 * A group removed meanwhile had no members. In a threaded group (EOPNOTSUPP), the process is listed
 * as an ancestor's member.
 */
static int visit_subgroup(const FTSENT *entry, process_visitor visit, void *context)
{
	int err = 0;

	if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
		err = -entry->fts_errno;
	else if (entry->fts_info == FTS_D && entry->fts_level > 0)
		err = visit_members(entry->fts_path, visit, context);
	return err == -ENOENT || err == -EOPNOTSUPP ? 0 : err;
}

/* FTS_NOCHDIR keeps the working directory, so a relative path stays valid. */
int processes_in_cgroup(const char *path, process_visitor visit, void *context)
{
	char *const paths[] = { (char *)path, NULL };
	FTS *tree;
	FTSENT *entry;
	int err = 0;

	err = visit_members(path, visit, context);
	if (err)
		return err;
	tree = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	if (!tree)
		return -errno;
	do {
		errno = 0;
		entry = fts_read(tree);
		err = entry ? visit_subgroup(entry, visit, context) : -errno;
	} while (!err && entry);
	fts_close(tree);
	return err;
}

/* A file's identity in /proc/PID/maps. */
struct mapped_file {
	unsigned int dev_major, dev_minor;
	uint64_t inode;
};

/* False if the line is not a mapping. */
static bool parse_mapping(const char *line, uint64_t *address, struct mapped_file *file)
{
	return sscanf(line, "%" SCNx64 "-%*x %*s %*x %x:%x %" SCNu64, address, &file->dev_major,
		      &file->dev_minor, &file->inode) == 4;
}

static bool processes_is_same(const struct mapped_file *one, const struct mapped_file *other)
{
	return one->inode == other->inode && one->dev_major == other->dev_major &&
	       one->dev_minor == other->dev_minor;
}

static int find_own_mapping(const void *wanted, struct mapped_file *found)
{
	FILE *file = fopen("/proc/self/maps", "re");
	uint64_t address;
	char *line = NULL;
	size_t size = 0;
	int err = -ENOENT;

	if (!file)
		return -errno;
	while (err && getline(&line, &size, file) > 0)
		if (parse_mapping(line, &address, found) && address == (uintptr_t)wanted)
			err = 0;
	free(line);
	fclose(file);
	return err;
}

/*
 * stat(2) may report another device than /proc/PID/maps (btrfs), so the file is mapped for
 * a moment. The page may lie beyond the end of the file because it is never accessed.
 */
static int look_up_mapped(int fd, struct mapped_file *found)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	void *address = mmap(NULL, page, PROT_NONE, MAP_PRIVATE, fd, 0);
	int err;

	if (address == MAP_FAILED)
		return -errno;
	err = find_own_mapping(address, found);
	munmap(address, page);
	return err;
}

static bool maps_file(pid_t pid, const struct mapped_file *wanted)
{
	struct mapped_file found;
	uint64_t address;
	bool maps = false;
	char *line = NULL;
	size_t size = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!maps && getline(&line, &size, file) > 0)
		maps = parse_mapping(line, &address, &found) && processes_is_same(&found, wanted);
	free(line);
	fclose(file);
	return maps;
}

int processes_that_map(int fd, process_visitor visit, void *context)
{
	struct mapped_file wanted;
	struct dirent *entry;
	pid_t pid;
	DIR *proc;
	int err;

	err = look_up_mapped(fd, &wanted);
	if (err)
		return err;
	proc = opendir("/proc");
	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid = strtol(entry->d_name, NULL, 10);
		if (pid != getpid() && maps_file(pid, &wanted))
			err = visit(context, pid);
	}
	closedir(proc);
	return err;
}

/* The line "0::/PATH". If the cgroup was removed, " (deleted)" follows. */
char *process_cgroup(pid_t pid)
{
	char path[64], *line = NULL, *found = NULL, *end;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	errno = ENOENT;
	while (!found && getline(&line, &size, file) > 0) {
		if (strncmp(line, "0::/", strlen("0::/")))
			continue;
		line[strcspn(line, "\n")] = '\0';
		end = strstr(line, " (deleted)");
		if (end)
			*end = '\0';
		found = strdup(line + strlen("0::"));
	}
	free(line);
	fclose(file);
	return found;
}

/* Returns the part of /proc/PID/stat after the name, or NULL if the process is gone. */
static const char *read_stat(pid_t pid, char *text, size_t size)
{
	const char *end;
	char path[64];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	length = fread(text, 1, size - 1, file);
	fclose(file);
	text[length] = '\0';
	/* The name may contain any byte, also ')', so search for the last one. */
	end = strrchr(text, ')');
	return end ? end + 1 : NULL;
}

static uint64_t tick_ns(void)
{
	return 1000000000 / sysconf(_SC_CLK_TCK);
}

int process_counts(pid_t pid, struct process_counts *counts)
{
	char text[1024];
	const char *rest = read_stat(pid, text, sizeof(text));
	uint64_t utime, stime;

	if (!rest || sscanf(rest,
			    " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
			    " %" SCNu64,
			    &counts->minflt, &counts->majflt, &utime, &stime) != 4)
		return -ESRCH;
	counts->utime_ns = utime * tick_ns();
	counts->stime_ns = stime * tick_ns();
	return 0;
}

char process_state(pid_t pid)
{
	char text[1024], state;
	const char *rest = read_stat(pid, text, sizeof(text));

	return rest && sscanf(rest, " %c", &state) == 1 ? state : 0;
}

int process_birth(pid_t pid, struct process_birth *birth)
{
	char text[1024];
	const char *rest = read_stat(pid, text, sizeof(text));
	uint64_t start;

	if (!rest || sscanf(rest,
			    " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			    "%*d %*d %*d %" SCNu64,
			    &birth->parent, &start) != 2)
		return -ESRCH;
	birth->ns = start * tick_ns();
	return 0;
}

/* NSpid lists the process's id in each PID namespace it belongs to, with the innermost last. */
bool process_is_first(pid_t pid)
{
	char path[64], line[512];
	const char *last = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!last && fgets(line, sizeof(line), file))
		if (!strncmp(line, "NSpid:", strlen("NSpid:")))
			last = strrchr(line, '\t');
	fclose(file);
	return last && strtol(last, NULL, 10) == 1;
}

/*
 * Reads the thread names in a running process. eBPF reports a name when a thread forks, executes,
 * exits or is renamed, so the name of a thread older than the recording comes from here.
 */

bool thread_name_read(pid_t pid, pid_t tid, char name[THREAD_NAME_SIZE])
{
	char path[64];
	FILE *file;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	/* The name may contain any character. The last one in the file is a newline. */
	length = fread(name, 1, THREAD_NAME_SIZE, file);
	fclose(file);
	if (!length)
		return false;
	memset(name + length - 1, 0, THREAD_NAME_SIZE - length + 1);
	return true;
}

int thread_names_visit(pid_t pid, thread_name_visitor visit, void *context)
{
	char path[64], name[THREAD_NAME_SIZE];
	struct dirent *entry;
	int err = 0;
	DIR *tasks;
	pid_t tid;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
	while (!err && (entry = readdir(tasks))) {
		tid = strtol(entry->d_name, NULL, 10);
		if (tid > 0 && thread_name_read(pid, tid, name))
			err = visit(context, tid, name);
	}
	closedir(tasks);
	return err;
}

/*
 * Lists /proc/PID/task before and after the action, and starts again if a thread appeared
 * in between. At the end each thread has been visited exactly once, or the caller gets an
 * error.
 */

#define MAX_TRIES 20

struct tids {
	pid_t *ids;
	size_t count, room;
};

static int proc_threads_append(struct tids *tids, pid_t tid)
{
	if (array_reserve((void **)&tids->ids, tids->count, &tids->room, sizeof(tid)))
		return -ENOMEM;
	tids->ids[tids->count++] = tid;
	return 0;
}

/* Returns -ESRCH if the process does not exist or has exited. */
static int tids_read(struct tids *tids, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	int err = 0;
	pid_t tid;
	DIR *tasks;

	tids->count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && (entry = readdir(tasks))) {
		tid = strtol(entry->d_name, NULL, 10);
		if (tid > 0)
			err = proc_threads_append(tids, tid);
	}
	closedir(tasks);
	return err || tids->count ? err : -ESRCH;
}

static int compare(const void *a, const void *b)
{
	const pid_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static bool any_new(const struct tids *before, const struct tids *after)
{
	size_t i;

	qsort(before->ids, before->count, sizeof(*before->ids), compare);
	for (i = 0; i < after->count; i++)
		if (!bsearch(&after->ids[i], before->ids, before->count, sizeof(*before->ids),
			     compare))
			return true;
	return false;
}

static int begin_all(const struct tids *tids, const struct tids_action *action, void *context)
{
	size_t i, begun = 0;
	int err;

	for (i = 0; i < tids->count; i++) {
		err = action->begin(context, tids->ids[i]);
		if (!err)
			begun++;
		else if (err != -ESRCH)
			return err;
	}
	return begun ? 0 : -ESRCH;
}

static int try_each(pid_t pid, struct tids *before, struct tids *after,
		    const struct tids_action *action, void *context)
{
	int err = tids_read(before, pid);

	if (!err)
		err = begin_all(before, action, context);
	if (!err)
		err = tids_read(after, pid);
	return !err && any_new(before, after) ? -EAGAIN : err;
}

int proc_threads_each(pid_t pid, const struct tids_action *action, void *context)
{
	struct tids before = { 0 }, after = { 0 };
	int err = -EAGAIN, try;

	for (try = 0; try < MAX_TRIES && err == -EAGAIN; try++) {
		if (try)
			action->undo(context);
		err = try_each(pid, &before, &after, action, context);
	}
	if (err && err != -EAGAIN)
		action->undo(context);
	free(before.ids);
	free(after.ids);
	return err;
}
