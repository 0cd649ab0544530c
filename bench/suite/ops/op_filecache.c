// SPDX-License-Identifier: GPL-2.0-only
/*
 * The largest file that can be read again without the disk. A file is read sequentially, step by
 * step, until a previously read page has left the page cache.
 *
 *	|XXXXXXXXXXXXXXXX|+|          |XX.XXXXXXXXXXXXXX|+|
 *	 all resident: go on           one page is missing: the limit
 *
 * The file has no blocks: the kernel fills the file's pages with zeros, which occupy the page cache
 * like any file's pages, at no disk cost. All memory may pass through the page cache in this way
 * and evict other programs' pages. With --quick the worker enters a memory cgroup small enough to
 * fill within seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/suite/ops/bench_file.h"
#include "bench/suite/ops/op_registry.h"
#include "system/cgroups.h"
#include "util/page_size.h"
#include "util/text.h"
#include "util/time_ns.h"
#include "util/why.h"
#include "workload/file_cache.h"

#define AT_ONCE	   (256ULL << 10)
#define STEPS	   64		  /* up to the predicted size */
#define TOLERATED  1000		  /* one page in this many may be in migration */
#define LONGEST_NS 50000000000ULL /* over all runs */

struct op_filecache_filler {
	int fd;
	uint64_t step, most;
	uint64_t end_ns;
	char *buffer;
	struct memory_cgroup group; /* --quick */
};

static int op_filecache_limit_memory(struct bench *bench)
{
	struct op_filecache_filler *filler = bench->state;
	struct why why;
	int err;

	if (!bench->options->quick)
		return 0;
	err = memory_cgroup_enter(&filler->group, FILECACHE_QUICK_BYTES,
				  "leave --quick out to use all memory", &why);
	return err ? bench_refuse(bench, err, "--quick needs a separate memory cgroup: %s",
				  why.text) :
		     0;
}

static uint64_t op_filecache_step(uint64_t expected_bytes)
{
	const uint64_t step = expected_bytes / STEPS / AT_ONCE * AT_ONCE;

	return step ? step : AT_ONCE;
}

static int op_filecache_prepare(struct bench *bench)
{
	const uint64_t expected = bench->machine->available_bytes;
	struct op_filecache_filler *filler = calloc(1, sizeof(*filler));
	int err;

	bench->state = filler;
	if (!filler)
		return -ENOMEM;
	filler->group = MEMORY_GROUP_NONE;
	err = op_filecache_limit_memory(bench);
	if (err)
		return err;
	filler->end_ns = clock_monotonic_ns() + LONGEST_NS;
	filler->step = op_filecache_step(expected);
	filler->most = bench->options->quick ? 2 * expected : bench->machine->memory_bytes;
	filler->buffer = malloc(AT_ONCE);
	if (!filler->buffer)
		return -ENOMEM;
	filler->fd = bench_file_make(bench, 0);
	if (filler->fd < 0)
		return filler->fd;
	return ftruncate(filler->fd, filler->most) ? -errno : 0;
}

static int op_filecache_read_step(const struct op_filecache_filler *filler, uint64_t from,
				  uint64_t to)
{
	ssize_t got;

	for (; from < to; from += AT_ONCE) {
		got = pread(filler->fd, filler->buffer, AT_ONCE, from);
		if (got != (ssize_t)AT_ONCE)
			return got < 0 ? -errno : -EIO;
	}
	return 0;
}

/* 1, 0, or a negative errno. */
static int op_filecache_is_resident(const struct op_filecache_filler *filler, uint64_t bytes)
{
	const struct mapping mapping = {
		.fd = filler->fd,
		.bytes = bytes,
		.pages = bytes / page_size(),
	};
	uint64_t resident;
	int err = file_cache_resident(&mapping, &resident);

	return err ?: resident + mapping.pages / TOLERATED >= mapping.pages;
}

static int op_filecache_refuse_more(struct bench *bench, uint64_t bytes, const char *why)
{
	char size[32];

	size_name(bytes, size, sizeof(size));
	return bench_refuse(bench, -ERANGE, "at least %s: %s", size, why);
}

static int op_filecache_run(struct bench *bench, uint64_t n)
{
	const struct op_filecache_filler *filler = bench->state;
	uint64_t bytes = 0;
	int err, there = 1;

	(void)n;
	err = bench_file_cool(bench, filler->fd, filler->most);
	while (!err) {
		bench->bytes = bytes;
		if (bytes + filler->step > filler->most)
			return op_filecache_refuse_more(bench, bytes, "no larger size is tried");
		if (clock_monotonic_ns() > filler->end_ns)
			return op_filecache_refuse_more(bench, bytes, "the time limit is reached");
		err = op_filecache_read_step(filler, bytes, bytes + filler->step);
		bytes += filler->step;
		there = err ?: op_filecache_is_resident(filler, bytes);
		if (there <= 0)
			break;
	}
	if (!there && !bench->bytes)
		return bench_refuse(bench, -ENODATA,
				    "files read in %s are not kept in the page "
				    "cache; name a folder on a disk with --directory",
				    bench->options->directory);
	return err ?: there;
}

/* If the process is killed, a helper process removes the cgroup. */
static void op_filecache_finish(struct bench *bench)
{
	struct op_filecache_filler *filler = bench->state;

	if (filler)
		memory_cgroup_leave(&filler->group);
}

const struct bench_operation op_file_cache_size = {
	.name = "file.cache_size",
	.unit = BENCH_BYTES,
	.title = "the largest file that stays in the page cache as a whole",
	.method = "read a 64th of the prediction at a time, until mincore(2) misses a page; "
		  "--quick: in a 32 MiB memory cgroup",
	.prediction = "memory_available",
	.prepare = op_filecache_prepare,
	.run = op_filecache_run,
	.finish = op_filecache_finish,
};
