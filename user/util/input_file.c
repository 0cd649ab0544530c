// SPDX-License-Identifier: GPL-2.0-only
/* Opens untrusted paths, and reads files that have a single value. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/input_file.h"

/*
 * Opens untrusted paths. An O_PATH descriptor is checked first, and then the same inode is
 * opened through /proc/self/fd, so that the path cannot be replaced in between.
 */

static int open_regular_check_kind(int fd)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return -errno;
	if (S_ISDIR(stat.st_mode))
		return -EISDIR;
	if (S_ISLNK(stat.st_mode))
		return -ELOOP;
	return S_ISREG(stat.st_mode) ? 0 : -EMEDIUMTYPE;
}

/* Opens the inode at @place, which cannot be replaced meanwhile. */
static int open_again(int place, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int open_regular_place(int place, int flags)
{
	int err = open_regular_check_kind(place);

	return err ?: open_again(place, flags & ~O_NOFOLLOW);
}

int open_regular(const char *path, int flags)
{
	const int place = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
	int fd;

	if (place < 0)
		return -errno;
	fd = open_regular_place(place, flags);
	close(place);
	return fd;
}

/* Reads kernel files that have a single value. A missing file is not an error. */

void first_line_read(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (!file)
		return;
	if (!fgets(line, size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}
