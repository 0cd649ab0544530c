// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files used by operations: made in the --directory or --nfs folder as the invoking user,
 * unlinked at once, then cached, dropped or switched to O_DIRECT. Nothing is left on the disk,
 * however the worker exits.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bench/suite/ops/bench_file.h"
#include "privilege/invoker.h"
#include "util/page_size.h"
#include "workload/file_cache.h"

#define BLOCK 4096ULL

static volatile sig_atomic_t never; /* file_cache polls it for signals */

static int bench_file_fill(int fd, uint64_t bytes)
{
	static char page[BLOCK];
	uint64_t offset;
	ssize_t done;

	memset(page, 'p', sizeof(page));
	for (offset = 0; offset < bytes; offset += BLOCK) {
		done = pwrite(fd, page, BLOCK, offset);
		if (done != (ssize_t)BLOCK) /* short: the disk is full */
			return done < 0 ? -errno : -ENOSPC;
	}
	return fsync(fd) ? -errno : 0;
}

static int bench_file_make_nameless(char *path)
{
	int fd = mkostemp(path, O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	if (!unlink(path))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Root may lack the right to write where the caller of sudo has it, as on NFS. */
static int bench_file_make_as_invoker(char *path)
{
	int fd = invoker_begin();

	if (fd)
		return fd;
	fd = bench_file_make_nameless(path);
	invoker_end();
	return fd;
}

int bench_file_make_in(const char *directory, uint64_t bytes)
{
	char *path;
	int fd, err;

	if (asprintf(&path, "%s/pfdrive-bench.XXXXXX", directory) < 0)
		return -ENOMEM;
	fd = bench_file_make_as_invoker(path);
	free(path);
	err = fd < 0 ? fd : bench_file_fill(fd, bytes);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

static const char *bench_file_directory(const struct bench *bench)
{
	return bench->operation->over_nfs ? bench->options->nfs : bench->options->directory;
}

static int bench_file_check_nfs(struct bench *bench)
{
	const char *directory = bench->options->nfs;
	struct statfs statfs_buffer;

	if (!directory)
		return bench_refuse(bench, -EDESTADDRREQ, "needs a folder on NFS: --nfs PATH");
	if (statfs(directory, &statfs_buffer))
		return bench_refuse(bench, -errno, "cannot stat %s: %s", directory,
				    strerror(errno));
	if (statfs_buffer.f_type != NFS_SUPER_MAGIC)
		return bench_refuse(bench, -ENODEV, "%s is not on NFS", directory);
	return 0;
}

int bench_file_make(struct bench *bench, uint64_t bytes)
{
	int fd, err = bench->operation->over_nfs ? bench_file_check_nfs(bench) : 0;

	if (err)
		return err;
	fd = bench_file_make_in(bench_file_directory(bench), bytes);
	if (fd >= 0)
		return fd;
	return bench_refuse(bench, fd, "cannot make a file in %s: %s", bench_file_directory(bench),
			    invoker_strerror(fd));
}

int bench_file_set_direct(struct bench *bench, int fd)
{
	if (!fcntl(fd, F_SETFL, O_DIRECT))
		return 0;
	return bench_refuse(bench, -errno,
			    "cannot open files in %s with O_DIRECT; name a folder "
			    "on a disk with --directory",
			    bench_file_directory(bench));
}

static struct mapping bench_file_as_mapping(int fd, uint64_t bytes)
{
	return (struct mapping){ .fd = fd, .bytes = bytes, .pages = bytes / page_size() };
}

int bench_file_cool(struct bench *bench, int fd, uint64_t bytes)
{
	const struct mapping mapping = bench_file_as_mapping(fd, bytes);
	uint64_t resident;
	int err = file_cache_make_cold(&mapping, &never, &resident);

	if (err == -EBUSY)
		return bench_refuse(bench, err,
				    "cannot drop files in %s from memory; name a "
				    "folder on a disk with --directory",
				    bench_file_directory(bench));
	return err;
}

int bench_file_warm(struct bench *bench, int fd, uint64_t bytes)
{
	char page[BLOCK];
	uint64_t offset;
	ssize_t got;

	(void)bench;
	for (offset = 0; offset < bytes; offset += BLOCK) {
		got = pread(fd, page, BLOCK, offset);
		if (got != (ssize_t)BLOCK)
			return got < 0 ? -errno : -EIO;
	}
	return 0;
}
