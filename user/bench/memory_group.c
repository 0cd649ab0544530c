// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "memory_group.h"

#define TOP "/sys/fs/cgroup"
#define PATH_BYTES 512
#define TRIES 50
#define TRY_NS 10000000L

static void name_group(pid_t pid, char *path)
{
	snprintf(path, PATH_BYTES, TOP "/pfdrive-bench.%d", pid);
}

static int write_file(const char *directory, const char *name, const char *text)
{
	char path[2 * PATH_BYTES];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

int memory_group_enter(uint64_t limit_bytes)
{
	char path[PATH_BYTES], number[32];
	struct statfs statfs_buffer;
	int err;

	if (statfs(TOP, &statfs_buffer) || statfs_buffer.f_type != CGROUP2_SUPER_MAGIC)
		return -ENOTSUP;
	name_group(getpid(), path);
	if (mkdir(path, 0755))
		return -errno;
	write_file(TOP, "cgroup.subtree_control", "+memory");	/* what fails shows below */
	snprintf(number, sizeof(number), "%" PRIu64, limit_bytes);
	err = write_file(path, "memory.max", number);
	if (!err)
		err = write_file(path, "cgroup.procs", "0");
	if (err)
		rmdir(path);
	return err;
}

/* A process that has just ended may still be in it for a moment. */
void memory_group_remove(pid_t pid)
{
	const struct timespec rest = { .tv_nsec = TRY_NS };
	char path[PATH_BYTES];
	int i;

	name_group(pid, path);
	for (i = 0; i < TRIES && rmdir(path) && errno == EBUSY; i++)
		nanosleep(&rest, NULL);
}

/* "max" is none. */
static uint64_t limit_of(const char *directory)
{
	char path[2 * PATH_BYTES];
	uint64_t limit = UINT64_MAX;
	FILE *file;

	snprintf(path, sizeof(path), "%s/memory.max", directory);
	file = fopen(path, "re");
	if (!file)
		return UINT64_MAX;
	if (fscanf(file, "%" SCNu64, &limit) != 1)
		limit = UINT64_MAX;
	fclose(file);
	return limit;
}

/* In /proc/self/cgroup v2's line is "0::/the/group". */
static void read_own_group(char *path)
{
	char line[PATH_BYTES - sizeof(TOP)];
	FILE *file = fopen("/proc/self/cgroup", "re");

	strcpy(path, TOP);
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "0::/", 4))
			snprintf(path, PATH_BYTES, TOP "%s", line + 3);
	}
	if (file)
		fclose(file);
}

uint64_t memory_group_limit(void)
{
	uint64_t least = UINT64_MAX, limit;
	char path[PATH_BYTES];

	read_own_group(path);
	for (;;) {
		limit = limit_of(path);
		least = limit < least ? limit : least;
		if (strlen(path) <= strlen(TOP))
			return least;
		*strrchr(path, '/') = '\0';
	}
}
