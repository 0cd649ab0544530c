// SPDX-License-Identifier: GPL-2.0-only
/*
 * The perf record reader calls code_files_see() for each executable mapping. When a file is seen
 * for the first time, it is opened with openat2(2) below /proc/PID/root. If the process has ended
 * by then, pfdrive tries the roots of processes seen before, and its own. A file without a name,
 * such as a daemon whose package was updated, is opened through the process's links in /proc.
 *
 * A file is the mapped one only if it has the inode and device that perf reported and was not
 * changed after it was mapped. Overlayfs and btrfs report another device to stat(2) than to
 * perf: there the inode and the time decide.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "collect/code_files.h"
#include "system/jit_map.h"
#include "system/own_process.h"
#include "util/hash.h"
#include "util/input_file.h"
#include "util/time_ns.h"

#define FILES_MAX     512
#define ROOTS_MAX     64
#define PROCESSES_MAX 4096
#define TRIES_MAX     4 /* for a file not found */

struct code_file {
	struct code_file *next; /* with the same hash */
	uint64_t inode;
	uint32_t dev;
	int fd;	       /* -1: not found */
	uint64_t seen; /* order of the last mapping */
	unsigned int tries;
	struct timespec modified;
	off_t bytes;
	char path[];
};

struct root {
	int fd; /* O_PATH */
	uint64_t mount, inode;
};

/* A process that may compile code at run time. */
struct code_process {
	pid_t pid;
	uint64_t seen;
	int root; /* root index */
	uid_t user;
	pid_t own_pid; /* as it sees itself, in its PID namespace */
};

struct code_files {
	struct hash processes;	      /* by pid */
	struct hash files;	      /* by path and inode hash */
	struct root roots[ROOTS_MAX]; /* [0]: pfdrive's own */
	unsigned int nr_roots;
	uint64_t seen; /* files and processes so far */
};

static int code_files_root_identify(struct root *root)
{
	struct statx status;

	if (statx(root->fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &status))
		return -errno;
	root->mount = status.stx_mnt_id;
	root->inode = status.stx_ino;
	return 0;
}

/* Its index, or the number of roots. */
static unsigned int code_files_find_root(const struct code_files *files, const struct root *root)
{
	unsigned int i;

	for (i = 0; i < files->nr_roots; i++)
		if (files->roots[i].mount == root->mount && files->roots[i].inode == root->inode)
			break;
	return i;
}

/* Adds the root to the kept roots, unless already there. Returns the index, or negative. */
static int code_files_add_root(struct code_files *files, const char *path)
{
	struct root root = { .fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	unsigned int i = ROOTS_MAX;

	if (root.fd < 0)
		return -errno;
	if (!code_files_root_identify(&root) && !fd_limit_is_near(root.fd))
		i = code_files_find_root(files, &root);
	if (i == files->nr_roots && i < ROOTS_MAX) {
		files->roots[files->nr_roots++] = root;
		return i;
	}
	close(root.fd);
	return i < ROOTS_MAX ? (int)i : -EMFILE;
}

struct code_files *code_files_new(void)
{
	struct code_files *files = calloc(1, sizeof(*files));

	if (files && code_files_add_root(files, "/") < 0) {
		free(files);
		return NULL;
	}
	return files;
}

static void code_files_free_chain(void *value)
{
	struct code_file *file = value, *next;

	for (; file; file = next) {
		next = file->next;
		if (file->fd >= 0)
			close(file->fd);
		free(file);
	}
}

void code_files_free(struct code_files *files)
{
	unsigned int i;

	if (!files)
		return;
	hash_exit(&files->files, code_files_free_chain);
	hash_exit(&files->processes, free);
	for (i = 0; i < files->nr_roots; i++)
		close(files->roots[i].fd);
	free(files);
}

static uint64_t code_files_hash_of_file(const char *path, uint64_t inode)
{
	return hash_of(path, strlen(path)) ^ inode;
}

static struct code_file *code_files_find_file(const struct code_files *files, const char *path,
					      uint64_t inode)
{
	struct code_file *file = hash_find(&files->files, code_files_hash_of_file(path, inode));

	while (file && (file->inode != inode || strcmp(file->path, path)))
		file = file->next;
	return file;
}

/* Drops a file that was not found first, otherwise the file mapped longest ago. */
static bool code_file_goes_before(const struct code_file *file, const struct code_file *other)
{
	const bool is_found = file->fd >= 0, other_is_found = other->fd >= 0;

	return is_found == other_is_found ? file->seen < other->seen : other_is_found;
}

static int code_files_find_oldest(void *context, void *value)
{
	struct code_file **oldest = context, *file;

	for (file = value; file; file = file->next)
		if (!*oldest || code_file_goes_before(file, *oldest))
			*oldest = file;
	return 0;
}

static void code_files_drop_oldest(struct code_files *files)
{
	struct code_file *oldest = NULL, *before;
	uint64_t key;

	hash_visit(&files->files, code_files_find_oldest, &oldest);
	key = code_files_hash_of_file(oldest->path, oldest->inode);
	before = hash_find(&files->files, key);
	if (before != oldest) {
		while (before->next != oldest)
			before = before->next;
		before->next = oldest->next;
	} else {
		hash_take(&files->files, key);
		if (oldest->next) /* cannot fail: the slot is free */
			hash_add(&files->files, key, oldest->next);
	}
	oldest->next = NULL;
	code_files_free_chain(oldest);
}

static struct code_file *code_files_add_file(struct code_files *files, const struct item_map *map)
{
	const uint64_t key = code_files_hash_of_file(map->path, map->inode);
	struct code_file *first, *file;

	if (files->files.count >= FILES_MAX)
		code_files_drop_oldest(files);
	first = hash_find(&files->files, key);
	file = calloc(1, sizeof(*file) + map->path_bytes);
	if (!file)
		return NULL;
	file->inode = map->inode;
	file->dev = map->dev;
	file->fd = -1;
	memcpy(file->path, map->path, map->path_bytes);
	if (first) {
		file->next = first->next;
		first->next = file;
	} else if (hash_add(&files->files, key, file)) {
		free(file);
		return NULL;
	}
	return file;
}

static bool code_files_has_own_devices(int fd)
{
	struct statfs statfs;

	return !fstatfs(fd, &statfs) &&
	       (statfs.f_type == OVERLAYFS_SUPER_MAGIC || statfs.f_type == BTRFS_SUPER_MAGIC);
}

/* The wall clock time at a CLOCK_MONOTONIC moment, or now for 0. */
static uint64_t code_files_wall_ns(uint64_t ns)
{
	const uint64_t now_ns = clock_monotonic_ns(), wall = clock_read_ns(CLOCK_REALTIME);

	return wall - (ns && ns < now_ns ? now_ns - ns : 0);
}

static bool code_files_has_its_number(int fd, const struct item_map *map, struct stat *stat)
{
	if (fstat(fd, stat) || stat->st_ino != map->inode)
		return false;
	return (major(stat->st_dev) << 20 | minor(stat->st_dev)) == map->dev ||
	       code_files_has_own_devices(fd);
}

static bool code_files_is_mapped_file(int fd, const struct item_map *map, struct stat *stat)
{
	if (!code_files_has_its_number(fd, map, stat))
		return false;
	/* A later file may have the same inode number. */
	return stat->st_ctim.tv_sec * SECOND + stat->st_ctim.tv_nsec <= code_files_wall_ns(map->ns);
}

/* The path is the watched program's: it may name a device or a pipe by now. */
static int code_files_open_below(int root, const char *path, uint64_t resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
	};
	const int place = syscall(SYS_openat2, root, path, &how, sizeof(how));
	int fd;

	if (place < 0)
		return -errno;
	fd = open_regular_place(place, O_RDONLY);
	close(place);
	return fd;
}

typedef bool (*file_check)(int fd, const struct item_map *map, struct stat *stat);

/* Consumes fd, which may be negative. */
static bool code_files_take(struct code_file *file, int fd, const struct item_map *map,
			    file_check check)
{
	struct stat stat;

	if (fd < 0)
		return false;
	if (fd_limit_is_near(fd) || !check(fd, map, &stat)) {
		close(fd);
		return false;
	}
	file->fd = fd;
	file->modified = stat.st_mtim;
	file->bytes = stat.st_size;
	return true;
}

static bool code_files_try_root(struct code_file *file, int root, const struct item_map *map)
{
	return code_files_take(file, code_files_open_below(root, map->path, 0), map,
			       code_files_is_mapped_file);
}

/*
 * These links lead to the mapped inode itself, so no later file can have the same number. The last
 * change time is the removal time. The first link needs CAP_CHECKPOINT_RESTORE, which pfdrive has
 * only until the watching starts (privilege.c). The other exists only for programs.
 */
static bool code_files_try_links(struct code_file *file, const struct item_map *map)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, map->pid,
		 map->address, map->address + map->bytes);
	if (code_files_take(file, open_regular(path, O_RDONLY), map, code_files_has_its_number))
		return true;
	snprintf(path, sizeof(path), "/proc/%u/exe", map->pid);
	return code_files_take(file, open_regular(path, O_RDONLY), map, code_files_has_its_number);
}

void code_files_see(struct code_files *files, const struct item_map *map)
{
	struct code_file *file;
	char path[64];
	int own, i;

	if (!(map->prot & PROT_EXEC) || !map->inode || map->path[0] != '/')
		return;
	snprintf(path, sizeof(path), "/proc/%u/root", map->pid);
	file = code_files_find_file(files, map->path, map->inode);
	if (!file)
		file = code_files_add_file(files, map);
	if (file)
		file->seen = ++files->seen;
	if (!file || file->fd >= 0 || file->tries++ == TRIES_MAX)
		return;
	own = code_files_add_root(files, path);
	if (own >= 0 && code_files_try_root(file, files->roots[own].fd, map))
		return;
	for (i = files->nr_roots - 1; i >= 0; i--)
		if (i != own && code_files_try_root(file, files->roots[i].fd, map))
			return;
	code_files_try_links(file, map);
}

/* The last NSpid number belongs to the innermost namespace. */
static bool code_files_read_status(pid_t pid, struct code_process *process)
{
	char path[64], line[256];
	bool user = false, own = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Uid: %*u %u", &process->user) == 1)
			user = true;
		else if (!strncmp(line, "NSpid:", 6))
			own = sscanf(strrchr(line, '\t') ?: "", "%d", &process->own_pid) == 1;
	}
	fclose(file);
	return user && own;
}

static int code_files_find_oldest_process(void *context, void *value)
{
	struct code_process **oldest = context, *process = value;

	if (!*oldest || process->seen < (*oldest)->seen)
		*oldest = process;
	return 0;
}

/* If there are too many, drops the process that executed a program longest ago. */
static struct code_process *code_files_make_process(struct code_files *files)
{
	struct code_process *oldest = NULL;

	if (files->processes.count < PROCESSES_MAX)
		return malloc(sizeof(*oldest));
	hash_visit(&files->processes, code_files_find_oldest_process, &oldest);
	return hash_take(&files->processes, oldest->pid);
}

void code_files_see_process(struct code_files *files, pid_t pid)
{
	struct code_process *process = hash_take(&files->processes, pid);
	char path[64];

	if (!process)
		process = code_files_make_process(files);
	if (!process)
		return;
	process->pid = pid;
	process->seen = ++files->seen;
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	process->root = code_files_add_root(files, path);
	if (process->root < 0 || !code_files_read_status(pid, process) ||
	    hash_add(&files->processes, pid, process))
		free(process);
}

static int code_files_check_perf_map(int fd, const struct code_process *process)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return -errno;
	return stat.st_uid == process->user && stat.st_size <= PERF_MAP_BYTES_MAX ? 0 : -ENODATA;
}

int code_files_open_perf_map(const struct code_files *files, pid_t pid)
{
	const struct code_process *process = files ? hash_find(&files->processes, pid) : NULL;
	char path[64];
	int fd, err;

	if (!process)
		return -ENODATA;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", process->own_pid);
	fd = code_files_open_below(files->roots[process->root].fd, path, RESOLVE_NO_SYMLINKS);
	err = fd < 0 ? fd : code_files_check_perf_map(fd, process);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

static int code_files_open_own(const char *path, uint64_t inode)
{
	const int fd = open_regular(path, O_RDONLY);
	struct stat stat;

	if (fd < 0 || (!fstat(fd, &stat) && (!inode || stat.st_ino == inode)))
		return fd;
	close(fd);
	return -ENODATA;
}

int code_files_open(const struct code_files *files, const char *path, uint64_t inode)
{
	const struct code_file *file;
	struct stat stat;
	int fd;

	if (!files)
		return code_files_open_own(path, inode);
	file = code_files_find_file(files, path, inode);
	if (!file || file->fd < 0 || fstat(file->fd, &stat) || stat.st_size != file->bytes ||
	    stat.st_mtim.tv_sec != file->modified.tv_sec ||
	    stat.st_mtim.tv_nsec != file->modified.tv_nsec)
		return -ENODATA;
	fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}
