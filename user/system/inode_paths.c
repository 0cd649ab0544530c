// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks the folders on each mount whose device has a wanted inode. Directory entries have the inode
 * number, so only folders and matches are looked up. Symbolic links are never followed, and other
 * file systems are not entered.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "system/inode_paths.h"

/* Each folder level holds a descriptor. Deeper ones are skipped. */
#define DEPTH_MAX 128

struct inode_walk {
	struct inode_path *entries;
	size_t nr, missing;
	dev_t dev;
	uint32_t packed_dev;
	const volatile sig_atomic_t *stop;
	char path[PATH_MAX];
};

static int inode_walk_folder(struct inode_walk *walk, int fd, size_t length, unsigned int depth);

int inode_path_compare(const void *a, const void *b)
{
	const struct inode_path *left = a, *right = b;

	if (left->dev != right->dev)
		return left->dev < right->dev ? -1 : 1;
	return left->inode < right->inode ? -1 : left->inode > right->inode;
}

static struct inode_path *find_entry(const struct inode_walk *walk, uint64_t inode)
{
	const struct inode_path key = { .dev = walk->packed_dev, .inode = inode };

	return bsearch(&key, walk->entries, walk->nr, sizeof(key), inode_path_compare);
}

/* Number of files still missing on the device being walked. */
static size_t count_missing(const struct inode_walk *walk)
{
	size_t nr = 0, i;

	for (i = 0; i < walk->nr; i++)
		nr += walk->entries[i].dev == walk->packed_dev && !walk->entries[i].path;
	return nr;
}

static int take_file(struct inode_walk *walk, int folder, const char *name)
{
	struct inode_path *entry;
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode) ||
	    status.st_dev != walk->dev)
		return 0;
	entry = find_entry(walk, status.st_ino);
	if (!entry || entry->path)
		return 0;
	entry->path = strdup(walk->path);
	if (!entry->path)
		return -ENOMEM;
	walk->missing--;
	return 0;
}

/* A folder that cannot be read is skipped: the files in it cannot be prefetched either. */
static int enter(struct inode_walk *walk, int folder, const char *name, size_t length,
		 unsigned int depth)
{
	struct stat status;
	int fd;

	if (depth == DEPTH_MAX)
		return 0;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &status) && status.st_dev == walk->dev)
		return inode_walk_folder(walk, fd, length, depth + 1);
	close(fd);
	return 0;
}

/* @length: the folder path's length, without a final slash */
static int take_entry(struct inode_walk *walk, int folder, const struct dirent *found,
		      size_t length, unsigned int depth)
{
	const size_t name_length = strlen(found->d_name);

	if (!strcmp(found->d_name, ".") || !strcmp(found->d_name, "..") ||
	    length + name_length + 2 > sizeof(walk->path))
		return 0;
	walk->path[length] = '/';
	strcpy(walk->path + length + 1, found->d_name);
	if (found->d_type == DT_DIR)
		return enter(walk, folder, found->d_name, length + 1 + name_length, depth);
	if (found->d_type == DT_REG && find_entry(walk, found->d_ino))
		return take_file(walk, folder, found->d_name);
	if (found->d_type != DT_UNKNOWN)
		return 0;
	return take_file(walk, folder, found->d_name) ?:
		       enter(walk, folder, found->d_name, length + 1 + name_length, depth);
}

/* Closes fd. */
static int inode_walk_folder(struct inode_walk *walk, int fd, size_t length, unsigned int depth)
{
	DIR *folder = fdopendir(fd);
	const struct dirent *found;
	int err = 0;

	if (!folder) {
		close(fd);
		return 0;
	}
	while (!err && walk->missing && (found = readdir(folder)))
		err = *walk->stop ? -EINTR : take_entry(walk, fd, found, length, depth);
	closedir(folder);
	return err;
}

static int walk_mount(struct inode_walk *walk, const char *mount)
{
	const int fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;
	size_t length = strlen(mount);

	if (fd < 0)
		return 0;
	/* A btrfs file's device differs from the mount's device, so such files are not found. */
	if (fstat(fd, &status) || length >= sizeof(walk->path)) {
		close(fd);
		return 0;
	}
	walk->dev = status.st_dev;
	if ((major(status.st_dev) << 20 | minor(status.st_dev)) != walk->packed_dev) {
		close(fd);
		return 0;
	}
	strcpy(walk->path, mount);
	return inode_walk_folder(walk, fd, length == 1 ? 0 : length, 0);
}

/* Replaces \ooo in place, see proc(5). */
static void unescape(char *text)
{
	char *to = text;
	unsigned int byte;

	for (; *text; to++) {
		if (*text == '\\' && sscanf(text + 1, "%3o", &byte) == 1) {
			*to = byte;
			text += 4;
		} else {
			*to = *text++;
		}
	}
	*to = '\0';
}

static int inode_walk_mounts(struct inode_walk *walk, FILE *mounts)
{
	unsigned int major_number, minor_number;
	char *line = NULL, mount[PATH_MAX];
	size_t size = 0;
	int err = 0;

	while (!err && getline(&line, &size, mounts) > 0) {
		if (sscanf(line, "%*d %*d %u:%u %*s %4095s", &major_number, &minor_number, mount) !=
		    3)
			continue;
		unescape(mount);
		walk->packed_dev = major_number << 20 | minor_number;
		walk->missing = count_missing(walk);
		if (walk->missing)
			err = walk_mount(walk, mount);
	}
	free(line);
	return err;
}

int inode_paths_find(struct inode_path *entries, size_t nr, const volatile sig_atomic_t *stop)
{
	struct inode_walk *walk = calloc(1, sizeof(*walk));
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	int err;

	if (!mounts || !walk) {
		err = mounts ? -ENOMEM : -errno;
	} else {
		qsort(entries, nr, sizeof(*entries), inode_path_compare);
		walk->entries = entries;
		walk->nr = nr;
		walk->stop = stop;
		err = inode_walk_mounts(walk, mounts);
	}
	free(walk);
	if (mounts)
		fclose(mounts);
	return err;
}
