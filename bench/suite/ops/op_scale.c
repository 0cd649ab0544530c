// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults by several threads at once, each on a separate CPU, in one shared mapping or in
 * separate mappings. If the threads do not contend, twice as many need half the time.
 *
 *	shared:  |---- thread 0 ----|---- thread 1 ----|	one VMA
 *	own:     |---- thread 0 ----| |--- thread 1 ---|	two VMAs
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/suite/ops/bench_file.h"
#include "bench/suite/ops/op_registry.h"
#include "util/page_size.h"

#define AROUND		 (64ULL << 10)
#define ANON_BYTES	 (16ULL << 20)
#define FILE_BYTES	 (64ULL << 20)
#define FILE_BYTES_QUICK (8ULL << 20)
#define MOST_THREADS	 64U

struct op_scale_crew;

struct op_scale_member {
	struct op_scale_crew *crew;
	unsigned int number;
	volatile char *data; /* the member's part of the memory in this round */
	uint64_t touches;    /* faults in this round */
};

struct op_scale_crew {
	struct op_scale_member members[MOST_THREADS];
	unsigned int nr;
	pthread_barrier_t barrier; /* for all members and the main thread */
	int fd;			   /* -1: anonymous */
	bool own;		   /* each member has a separate mapping */
	uint64_t step, share;	   /* bytes between accesses, and bytes per member */
	char *data[MOST_THREADS];
};

/* One to eight, then powers of two, then all. */
static unsigned int op_scale_threads(size_t point, unsigned int most)
{
	unsigned int threads = point + 1;

	if (point >= 8)
		threads = 8U << (point - 7);
	return threads < most ? threads : most;
}

static unsigned int op_scale_most_threads(const struct bench_machine *machine)
{
	return machine->nr_cpus < MOST_THREADS ? machine->nr_cpus : MOST_THREADS;
}

static size_t op_scale_nr_points(const struct bench_machine *machine,
				 const struct bench_options *options)
{
	const unsigned int most = op_scale_most_threads(machine);
	size_t nr = 1;

	(void)options;
	while (op_scale_threads(nr - 1, most) < most)
		nr++;
	return nr;
}

static void op_scale_name_point(const struct bench_machine *machine,
				const struct bench_options *options, size_t point, char *name,
				size_t size)
{
	(void)options;
	snprintf(name, size, "%u", op_scale_threads(point, op_scale_most_threads(machine)));
}

static void op_scale_touch(const struct op_scale_member *member)
{
	const struct op_scale_crew *crew = member->crew;
	uint64_t i;

	if (crew->fd < 0)
		for (i = 0; i < member->touches; i++)
			member->data[i * crew->step] = 1;
	else
		for (i = 0; i < member->touches; i++)
			(void)member->data[i * crew->step];
}

/* A member: runs until the worker exits. */
static void *op_scale_work(void *argument)
{
	const struct op_scale_member *member = argument;

	for (;;) {
		pthread_barrier_wait(&member->crew->barrier);
		op_scale_touch(member);
		pthread_barrier_wait(&member->crew->barrier);
	}
	return NULL;
}

static int op_scale_nth_cpu(const struct cpus *cpus, unsigned int n)
{
	int cpu;

	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		if (cpus_has(cpus, cpu) && !n--)
			return cpu;
	return 0;
}

static int op_scale_start_member(const struct bench *bench, struct op_scale_crew *crew,
				 unsigned int number)
{
	struct op_scale_member *member = &crew->members[number];
	pthread_attr_t attributes;
	pthread_t thread;
	struct cpus one;
	int err;

	*member = (struct op_scale_member){ .crew = crew, .number = number };
	one = cpus_only(op_scale_nth_cpu(&bench->machine->cpus, number));
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(one.sets), one.sets);
	err = -pthread_create(&thread, &attributes, op_scale_work, member);
	pthread_attr_destroy(&attributes);
	return err;
}

static int op_scale_prepare(struct bench *bench, uint64_t bytes, uint64_t step, bool file, bool own)
{
	struct op_scale_crew *crew = calloc(1, sizeof(*crew));
	unsigned int i;
	int err = 0;

	bench->state = crew;
	if (!crew)
		return -ENOMEM;
	if (bytes > bench->machine->limit_bytes)
		return bench_refuse(bench, -ENOMEM, "too little free memory");
	crew->nr = op_scale_threads(bench->point, op_scale_most_threads(bench->machine));
	crew->own = own;
	crew->step = step;
	crew->share = bytes / crew->nr / step * step;
	crew->fd = -1;
	if (file) {
		crew->fd = bench_file_make(bench, bytes);
		err = crew->fd < 0 ? crew->fd : bench_file_warm(bench, crew->fd, bytes);
	}
	if (!err)
		err = -pthread_barrier_init(&crew->barrier, NULL, crew->nr + 1);
	for (i = 0; i < crew->nr && !err; i++)
		err = op_scale_start_member(bench, crew, i);
	return err;
}

static uint64_t op_scale_file_bytes(const struct bench *bench)
{
	return bench->options->quick ? FILE_BYTES_QUICK : FILE_BYTES;
}

static int op_scale_prepare_anon_shared(struct bench *bench)
{
	return op_scale_prepare(bench, ANON_BYTES, page_size(), false, false);
}

static int op_scale_prepare_anon_own(struct bench *bench)
{
	return op_scale_prepare(bench, ANON_BYTES, page_size(), false, true);
}

static int op_scale_prepare_cached_shared(struct bench *bench)
{
	return op_scale_prepare(bench, op_scale_file_bytes(bench), AROUND, true, false);
}

static int op_scale_prepare_cached_own(struct bench *bench)
{
	return op_scale_prepare(bench, op_scale_file_bytes(bench), AROUND, true, true);
}

static char *op_scale_map(const struct op_scale_crew *crew, uint64_t bytes, uint64_t offset)
{
	const bool file = crew->fd >= 0;
	char *data = mmap(NULL, bytes, file ? PROT_READ : PROT_READ | PROT_WRITE,
			  file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, crew->fd,
			  file ? offset : 0);

	if (data == MAP_FAILED)
		return NULL;
	if (!file)
		madvise(data, bytes, MADV_NOHUGEPAGE);
	/* Neighbours get different advice, so that the kernel does not merge their VMAs. */
	if (crew->own && offset / bytes % 2)
		madvise(data, bytes, MADV_DONTFORK);
	return data;
}

static int op_scale_map_all(struct op_scale_crew *crew)
{
	unsigned int i;

	if (!crew->own)
		crew->data[0] = op_scale_map(crew, crew->nr * crew->share, 0);
	for (i = 0; i < crew->nr; i++) {
		if (crew->own)
			crew->data[i] = op_scale_map(crew, crew->share, i * crew->share);
		if (!crew->data[crew->own ? i : 0])
			return -errno;
		crew->members[i].data = crew->own ? crew->data[i] : crew->data[0] + i * crew->share;
	}
	return 0;
}

static void op_scale_unmap_all(struct op_scale_crew *crew)
{
	unsigned int i;

	if (!crew->own)
		munmap(crew->data[0], crew->nr * crew->share);
	for (i = 0; i < crew->nr && crew->own; i++)
		munmap(crew->data[i], crew->share);
}

/* Distributes the faults evenly. Returns how many this round makes. */
static uint64_t op_scale_distribute(struct op_scale_crew *crew, uint64_t left)
{
	const uint64_t most = crew->nr * (crew->share / crew->step);
	const uint64_t all = left < most ? left : most;
	unsigned int i;

	for (i = 0; i < crew->nr; i++)
		crew->members[i].touches = all / crew->nr + (i < all % crew->nr);
	return all;
}

static int op_scale_run(struct bench *bench, uint64_t n)
{
	struct op_scale_crew *crew = bench->state;
	uint64_t count;
	int err;

	for (; n; n -= count) {
		err = op_scale_map_all(crew);
		if (err)
			return err;
		count = op_scale_distribute(crew, n);
		bench_start(bench);
		pthread_barrier_wait(&crew->barrier);
		pthread_barrier_wait(&crew->barrier);
		bench_stop(bench);
		op_scale_unmap_all(crew);
	}
	return 0;
}

#define ONE_FAULT                                                                      \
	{                                                                              \
		.made = true, .range = { BENCH_ANY, BENCH_ANY, { 1, 1.05 }, { 0, 0 } } \
	}

const struct bench_operation op_scale_anon_shared = {
	.name = "scale.anon_shared",
	.title = "wall time per fault, with that many threads in one anonymous mapping",
	.method = "a byte in each page of 16 MiB, one part per thread, each on its own CPU",
	.prediction = "scale.anon_shared:1 / point",
	.claim = ONE_FAULT,
	.nr_points = op_scale_nr_points,
	.name_point = op_scale_name_point,
	.anywhere = true,
	.of_faults = true,
	.prepare = op_scale_prepare_anon_shared,
	.run = op_scale_run,
};

const struct bench_operation op_scale_anon_own = {
	.name = "scale.anon_own",
	.title = "wall time per fault, with that many threads, each in its own anonymous mapping",
	.method = "a byte in each page of 16 MiB in total, each thread on its own CPU",
	.prediction = "scale.anon_own:1 / point",
	.claim = ONE_FAULT,
	.nr_points = op_scale_nr_points,
	.name_point = op_scale_name_point,
	.anywhere = true,
	.of_faults = true,
	.prepare = op_scale_prepare_anon_own,
	.run = op_scale_run,
};

const struct bench_operation op_scale_cached_shared = {
	.name = "scale.cached_shared",
	.title = "wall time per fault, with that many threads in one mapping of a cached file",
	.method = "a byte every 64 KiB, one file part per thread",
	.prediction = "scale.cached_shared:1 / point",
	.claim = ONE_FAULT,
	.nr_points = op_scale_nr_points,
	.name_point = op_scale_name_point,
	.anywhere = true,
	.of_faults = true,
	.prepare = op_scale_prepare_cached_shared,
	.run = op_scale_run,
};

const struct bench_operation op_scale_cached_own = {
	.name = "scale.cached_own",
	.title = "wall time per fault, with that many threads, each with its own file mapping",
	.method = "a byte every 64 KiB, one file part per thread",
	.prediction = "scale.cached_own:1 / point",
	.claim = ONE_FAULT,
	.nr_points = op_scale_nr_points,
	.name_point = op_scale_name_point,
	.anywhere = true,
	.of_faults = true,
	.prepare = op_scale_prepare_cached_own,
	.run = op_scale_run,
};
