// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench_file_facts.h"
#include "bench/ops/bench_file.h"
#include "system/machine_state.h"

#define BLOCK 4096

static void read_names(struct place_facts *facts, int fd)
{
	struct environment environment = { 0 };
	struct stat stat_buffer;

	if (fstat(fd, &stat_buffer))
		return;
	environment_read_file(&environment, facts->directory, fd, stat_buffer.st_dev);
	snprintf(facts->filesystem, sizeof(facts->filesystem), "%s", environment.filesystem);
	snprintf(facts->device, sizeof(facts->device), "%s", environment.device);
}

/* Some file systems take the flag, and have no other way than through the cache. */
static int try_direct(int fd)
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

void place_facts_read(struct place_facts *facts, const char *directory)
{
	int fd, err;

	*facts = (struct place_facts){ .directory = directory };
	if (!directory)
		return;
	fd = place_make_in(directory, BLOCK);
	if (fd < 0) {
		snprintf(facts->no_direct, sizeof(facts->no_direct), "no file can be made: %s",
			 strerror(-fd));
		return;
	}
	read_names(facts, fd);
	err = try_direct(fd);
	if (err)
		snprintf(facts->no_direct, sizeof(facts->no_direct), "%s", strerror(-err));
	close(fd);
}
