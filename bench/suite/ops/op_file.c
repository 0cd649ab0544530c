// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads of 4 KiB with pread(2): from the page cache, through it from the disk, and with O_DIRECT,
 * sequentially and at random, by one process or several. The family "nfs" is the same on NFS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/suite/ops/bench_file.h"
#include "bench/suite/ops/op_registry.h"
#include "util/random.h"
#include "util/text.h"

#define BLOCK		     4096ULL
#define SMALLEST	     (1ULL << 20)
#define LARGEST		     (64ULL << 20)
#define LARGEST_QUICK	     (4ULL << 20)
#define MOST_PROCESSES	     10U /* as in the course studies */
#define MOST_PROCESSES_QUICK 4U
#define CONTENDED_BYTES	     (4ULL << 20)
#define SEED		     1

struct op_file_reader {
	int fd;
	uint64_t bytes, next;
	struct random random;
	void *block;
};

static size_t op_file_nr_sizes(const struct bench_machine *machine,
			       const struct bench_options *options)
{
	const uint64_t most = options->quick ? LARGEST_QUICK : LARGEST;
	size_t nr = 1;

	while (SMALLEST << nr <= most && SMALLEST << nr <= machine->limit_bytes)
		nr++;
	return nr;
}

static void op_file_name_size(const struct bench_machine *machine,
			      const struct bench_options *options, size_t point, char *name,
			      size_t size)
{
	(void)machine;
	(void)options;
	size_name(SMALLEST << point, name, size);
}

static int op_file_open_reader(struct bench *bench, struct op_file_reader *reader, uint64_t bytes,
			       bool direct)
{
	*reader = (struct op_file_reader){ .bytes = bytes };
	reader->random = random_begin(SEED, bytes / BLOCK);
	if (posix_memalign(&reader->block, BLOCK, BLOCK))
		return -ENOMEM;
	reader->fd = bench_file_make(bench, bytes);
	if (reader->fd < 0)
		return reader->fd;
	return direct ? bench_file_set_direct(bench, reader->fd) : 0;
}

static int op_file_open_state(struct bench *bench, bool direct)
{
	struct op_file_reader *reader = calloc(1, sizeof(*reader));

	bench->state = reader;
	if (!reader)
		return -ENOMEM;
	return op_file_open_reader(bench, reader, SMALLEST << bench->point, direct);
}

static int op_file_prepare_direct(struct bench *bench)
{
	int err = op_file_open_state(bench, true);
	struct op_file_reader *reader = bench->state;

	/* A file system may serve O_DIRECT from cached pages. */
	return err ? err : bench_file_cool(bench, reader->fd, reader->bytes);
}

static int op_file_prepare_cached(struct bench *bench)
{
	int err = op_file_open_state(bench, false);
	struct op_file_reader *reader = bench->state;

	return err ? err : bench_file_warm(bench, reader->fd, reader->bytes);
}

static int op_file_prepare_dropped(struct bench *bench)
{
	return op_file_open_state(bench, false);
}

static int op_file_read_block(const struct op_file_reader *reader, uint64_t offset)
{
	const ssize_t got = pread(reader->fd, reader->block, BLOCK, offset);

	return got == (ssize_t)BLOCK ? 0 : got < 0 ? -errno : -EIO;
}

static int op_file_read_in_order(struct op_file_reader *reader, uint64_t n)
{
	int err = 0;

	for (; n && !err; n--) {
		err = op_file_read_block(reader, reader->next);
		reader->next = (reader->next + BLOCK) % reader->bytes;
	}
	return err;
}

static int op_file_read_at_random(struct op_file_reader *reader, uint64_t n)
{
	int err = 0;

	for (; n && !err; n--)
		err = op_file_read_block(reader, random_below(&reader->random) * BLOCK);
	return err;
}

static int op_file_run_in_order(struct bench *bench, uint64_t n)
{
	int err;

	bench_start(bench);
	err = op_file_read_in_order(bench->state, n);
	bench_stop(bench);
	return err;
}

static int op_file_run_at_random(struct bench *bench, uint64_t n)
{
	int err;

	bench_start(bench);
	err = op_file_read_at_random(bench->state, n);
	bench_stop(bench);
	return err;
}

/* Drops the file from the page cache before each pass through it. */
static int op_file_run_dropped(struct bench *bench, uint64_t n)
{
	struct op_file_reader *reader = bench->state;
	uint64_t count;
	int err = 0;

	for (; n && !err; n -= count) {
		count = n < reader->bytes / BLOCK ? n : reader->bytes / BLOCK;
		err = bench_file_cool(bench, reader->fd, reader->bytes);
		if (err)
			break;
		reader->next = 0;
		bench_start(bench);
		err = op_file_read_in_order(reader, count);
		bench_stop(bench);
	}
	return err;
}

/* Processes that each read random blocks from their own file, as many as requested. */
struct op_file_crowd {
	unsigned int nr;
	int to[MOST_PROCESSES], from[MOST_PROCESSES];
};

static size_t op_file_nr_crowds(const struct bench_machine *machine,
				const struct bench_options *options)
{
	(void)machine;
	return options->quick ? MOST_PROCESSES_QUICK : MOST_PROCESSES;
}

static void op_file_name_crowd(const struct bench_machine *machine,
			       const struct bench_options *options, size_t point, char *name,
			       size_t size)
{
	(void)machine;
	(void)options;
	snprintf(name, size, "%zu", point + 1);
}

static void op_file_serve(struct op_file_reader *reader, unsigned int number, int in, int out)
{
	uint64_t n;
	int err;

	reader->random = random_begin(SEED + number, reader->bytes / BLOCK);
	while (read(in, &n, sizeof(n)) == sizeof(n)) {
		err = op_file_read_at_random(reader, n);
		if (write(out, &err, sizeof(err)) != sizeof(err))
			break;
	}
	_exit(EXIT_SUCCESS);
}

static int op_file_start_process(struct bench *bench, struct op_file_crowd *crowd,
				 unsigned int number)
{
	struct op_file_reader reader;
	int in[2], out[2], err;
	pid_t pid;

	err = op_file_open_reader(bench, &reader, CONTENDED_BYTES, true);
	if (!err)
		err = bench_file_cool(bench, reader.fd, reader.bytes);
	if (!err && (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)))
		err = -errno;
	if (err)
		return err;
	pid = bench_fork();
	if (!pid) {
		close(in[1]);
		op_file_serve(&reader, number, in[0], out[1]);
	}
	crowd->to[number] = in[1];
	crowd->from[number] = out[0];
	close(in[0]);
	close(out[1]);
	close(reader.fd);
	free(reader.block);
	return pid < 0 ? -errno : 0;
}

static int op_file_prepare_crowd(struct bench *bench)
{
	struct op_file_crowd *crowd = calloc(1, sizeof(*crowd));
	unsigned int i;
	int err = 0;

	bench->state = crowd;
	if (!crowd)
		return -ENOMEM;
	crowd->nr = bench->point + 1;
	for (i = 0; i < crowd->nr && !err; i++)
		err = op_file_start_process(bench, crowd, i);
	return err;
}

static int op_file_run_crowd(struct bench *bench, uint64_t n)
{
	const struct op_file_crowd *crowd = bench->state;
	unsigned int i;
	uint64_t share;
	int err = 0, answer = 0;

	bench_start(bench);
	for (i = 0; i < crowd->nr; i++) {
		share = n / crowd->nr + (i < n % crowd->nr);
		if (write(crowd->to[i], &share, sizeof(share)) != sizeof(share))
			err = -EIO;
	}
	for (i = 0; i < crowd->nr && !err; i++) {
		if (read(crowd->from[i], &answer, sizeof(answer)) != sizeof(answer))
			answer = -EIO;
		err = answer;
	}
	bench_stop(bench);
	return err;
}

const struct bench_operation op_file_cached = {
	.name = "file.cached",
	.title = "4 KiB pread from a cached file of that size",
	.method = "block by block, sequentially",
	.prediction = "cpu.syscall + 4096000 / memory.copy",
	.claim = { .made = true, .range = { { 0, 0 }, { 1, 1 }, { 0, 0.1 }, { 0, 0 } } },
	.nr_points = op_file_nr_sizes,
	.name_point = op_file_name_size,
	.prepare = op_file_prepare_cached,
	.run = op_file_run_in_order,
};

const struct bench_operation op_file_dropped = {
	.name = "file.dropped",
	.title = "4 KiB pread from a file of that size, dropped from the page cache first",
	.method = "block by block, sequentially, with the kernel's readahead",
	.prediction = "file.cached:1M + file.sequential:1M / 32", /* a 128 KiB read */
	.claim = { .made = true, .range = { BENCH_ANY, { 1, 1 }, { 0, 0.1 }, { 0, 0 } } },
	.nr_points = op_file_nr_sizes,
	.name_point = op_file_name_size,
	.prepare = op_file_prepare_dropped,
	.run = op_file_run_dropped,
};

const struct bench_operation op_file_sequential = {
	.name = "file.sequential",
	.title = "4 KiB pread from the disk, sequential, in a file of that size",
	.method = "O_DIRECT, block by block",
	.claim = { .made = true, .range = { BENCH_ANY, { 1, 1 }, { 0, 0.1 }, { 0, 0 } } },
	.nr_points = op_file_nr_sizes,
	.name_point = op_file_name_size,
	.prepare = op_file_prepare_direct,
	.run = op_file_run_in_order,
};

const struct bench_operation op_file_random = {
	.name = "file.random",
	.title = "4 KiB pread from the disk, at random, in a file of that size",
	.method = "O_DIRECT, blocks in random order",
	.prediction = "file.sequential:1M", /* no seek time */
	.claim = { .made = true, .range = { BENCH_ANY, { 1, 1 }, { 0, 0.1 }, { 0, 0 } } },
	.nr_points = op_file_nr_sizes,
	.name_point = op_file_name_size,
	.prepare = op_file_prepare_direct,
	.run = op_file_run_at_random,
};

const struct bench_operation op_file_contend = {
	.name = "file.contend",
	.title = "wall time per block, with that many processes that read at random",
	.method = "O_DIRECT, 4 KiB at a time, each process in its own 4 MiB file",
	.prediction = "file.random:4M", /* one after the other */
	.claim = { .made = true, .range = { BENCH_ANY, { 0.9, 2 }, { 0, 0.1 }, { 0, 0 } } },
	.nr_points = op_file_nr_crowds,
	.name_point = op_file_name_crowd,
	.anywhere = true,
	.prepare = op_file_prepare_crowd,
	.run = op_file_run_crowd,
};

/* The server still caches what was just written, so NFS adds only the network. */
const struct bench_operation op_nfs_sequential = {
	.name = "nfs.sequential",
	.title = "4 KiB pread over NFS, sequential, in a file of that size",
	.method = "O_DIRECT, block by block; the server has them cached",
	.prediction = "file.cached:1M + peer.tcp_rtt",
	.claim = { .made = true, .range = { BENCH_ANY, { 1, 1 }, { 0, 0.1 }, { 0, 0 } } },
	.nr_points = op_file_nr_sizes,
	.name_point = op_file_name_size,
	.over_nfs = true,
	.prepare = op_file_prepare_direct,
	.run = op_file_run_in_order,
};

const struct bench_operation op_nfs_random = {
	.name = "nfs.random",
	.title = "4 KiB pread over NFS, at random, in a file of that size",
	.method = "O_DIRECT, random blocks; the server has them cached",
	.prediction = "nfs.sequential:1M",
	.claim = { .made = true, .range = { BENCH_ANY, { 1, 1 }, { 0, 0.1 }, { 0, 0 } } },
	.nr_points = op_file_nr_sizes,
	.name_point = op_file_name_size,
	.over_nfs = true,
	.prepare = op_file_prepare_direct,
	.run = op_file_run_at_random,
};

const struct bench_operation op_nfs_dropped = {
	.name = "nfs.dropped",
	.title = "4 KiB pread over NFS from a file of that size, dropped from the client's cache",
	.method = "block by block, sequentially, with the kernel's readahead",
	.prediction = "file.cached:1M + nfs.sequential:1M / 32", /* a 128 KiB read */
	.claim = { .made = true, .range = { BENCH_ANY, { 1, 1 }, { 0, 0.1 }, { 0, 0 } } },
	.nr_points = op_file_nr_sizes,
	.name_point = op_file_name_size,
	.over_nfs = true,
	.prepare = op_file_prepare_dropped,
	.run = op_file_run_dropped,
};
