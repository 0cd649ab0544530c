// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describes the folders of --directory and --nfs for the results: file system, disk, and whether
 * O_DIRECT works, found with a nameless file that is removed again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/suite/bench_folder.h"
#include "bench/suite/ops/bench_file.h"
#include "system/machine.h"

#define BLOCK 4096

static void bench_folder_read_names(struct bench_folder *facts, int fd)
{
	struct environment environment = { 0 };
	struct stat stat_buffer;

	if (fstat(fd, &stat_buffer))
		return;
	machine_state_read_file(&environment, facts->directory, fd, stat_buffer.st_dev);
	snprintf(facts->filesystem, sizeof(facts->filesystem), "%s", environment.filesystem);
	snprintf(facts->device, sizeof(facts->device), "%s", environment.device);
}

/* Reads a block, since some file systems accept the flag but cannot read with it. */
static int bench_folder_try_direct(int fd)
{
	void *block;
	int err = 0;

	if (fcntl(fd, F_SETFL, O_DIRECT))
		return -errno;
	if (posix_memalign(&block, BLOCK, BLOCK))
		return -ENOMEM;
	if (pread(fd, block, BLOCK, 0) != BLOCK)
		err = errno ? -errno : -EIO;
	free(block);
	return err;
}

void bench_folder_read(struct bench_folder *facts, const char *directory)
{
	int fd, err;

	*facts = (struct bench_folder){ .directory = directory };
	if (!directory)
		return;
	fd = bench_file_make_in(directory, BLOCK);
	if (fd < 0) {
		why_set(&facts->no_direct, "cannot make a file: %s", strerror(-fd));
		return;
	}
	bench_folder_read_names(facts, fd);
	err = bench_folder_try_direct(fd);
	if (err)
		why_set(&facts->no_direct, "%s", strerror(-err));
	close(fd);
}
