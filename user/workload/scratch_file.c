// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates an unnamed file in a folder, allocates the blocks and writes them once. The file is
 * created with the invoker's rights and has no name when scratch_file_make() returns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "privilege/invoker.h"
#include "workload/scratch_file.h"

#define CHUNK_BYTES (1U << 20)

/* Without O_TMPFILE, create a named file and unlink it at once. */
static int make_named(const char *folder)
{
	char *path;
	int fd, err;

	if (asprintf(&path, "%s/.pfdrive.XXXXXX", folder) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	err = -errno;
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd < 0 ? err : fd;
}

static int make_unnamed(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* A kernel without O_TMPFILE returns EISDIR. */
	if (errno == EOPNOTSUPP || errno == EISDIR)
		return make_named(folder);
	return -errno;
}

static int write_all(int fd, uint64_t bytes, const char *chunk, const volatile sig_atomic_t *stop)
{
	uint64_t offset = 0, left;
	ssize_t put;

	while (offset < bytes) {
		if (*stop)
			return -EINTR;
		left = bytes - offset;
		put = pwrite(fd, chunk, left < CHUNK_BYTES ? left : CHUNK_BYTES, offset);
		if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0)
			offset += put;
	}
	return fsync(fd) ? -errno : 0;
}

static int give_content(int fd, uint64_t bytes, const volatile sig_atomic_t *stop)
{
	char *chunk = malloc(CHUNK_BYTES);
	int err;

	if (!chunk)
		return -ENOMEM;
	memset(chunk, SCRATCH_BYTE, CHUNK_BYTES);
	err = write_all(fd, bytes, chunk, stop);
	free(chunk);
	return err;
}

int scratch_file_make(const char *folder, uint64_t bytes, const volatile sig_atomic_t *stop)
{
	int err = invoker_begin();
	int fd;

	if (err)
		return err;
	fd = make_unnamed(folder);
	invoker_end();
	if (fd < 0)
		return fd;
	err = -posix_fallocate(fd, 0, bytes);
	if (!err)
		err = give_content(fd, bytes, stop);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}
