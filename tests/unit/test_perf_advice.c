// SPDX-License-Identifier: GPL-2.0-only
/* The advice of a process's mappings: when it is looked at, and what is found. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "user/collect/perf_sampler.h"
#include "user/model/mapping_state.h"
#include "user/util/time_ns.h"

#define READ_NS 1000000000ULL /* long enough for a look at any process */

struct seen {
	uint64_t address;	       /* of a mapping */
	unsigned int nr;	       /* of all states */
	struct pfstat_mapping mapping; /* the state of this one */
};

static int see(void *context, const struct item *item)
{
	const struct pfstat_mapping *mapping = (const void *)item->event;
	struct seen *seen = context;

	ck_assert_int_eq(item->type, ITEM_EVENT);
	ck_assert_int_eq(item->event->type, PFSTAT_EVENT_MAPPING);
	ck_assert_uint_eq(item->ns, item->event->ns);
	seen->nr++;
	if (mapping->address == seen->address)
		seen->mapping = *mapping;
	return 0;
}

static int add_read(struct perf_advice *advice, pid_t pid, uint64_t ns)
{
	const struct pfstat_fault fault = {
		.event = { .type = PFSTAT_EVENT_FAULT, .pid = pid, .ns = READ_NS + ns },
		.start_ns = READ_NS,
		.inode = 5,
		.result = PFSTAT_RESULT_MAJOR,
	};

	return perf_advice_add(advice, &fault.event);
}

/* Returns a mapping of this program's file, and in a child of it that has paused. */
static char *map_own_file(size_t bytes, int advice, pid_t *child)
{
	char *map;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(map, MAP_FAILED);
	close(fd);
	ck_assert_int_eq(madvise(map, bytes, advice), 0);
	*child = fork();
	ck_assert_int_ge(*child, 0);
	while (!*child)
		pause();
	return map;
}

TEST(test_advice_of_a_process_that_reads_much)
{
	const size_t bytes = 4 * sysconf(_SC_PAGESIZE);
	struct perf_advice advice = { 0 };
	struct seen seen = { 0 };
	uint64_t before_ns;
	pid_t child;
	char *map = map_own_file(bytes, MADV_RANDOM, &child);

	seen.address = (uintptr_t)map;
	/* Reads that took less than a look are not worth it. */
	ck_assert_int_eq(add_read(&advice, child, 1000), 0);
	ck_assert_int_eq(perf_advice_pass(&advice, UINT64_MAX, see, &seen), 0);
	ck_assert_uint_eq(seen.nr, 0);
	before_ns = clock_monotonic_ns();
	ck_assert_int_eq(add_read(&advice, child, READ_NS), 0);
	/* Items that come before the look are passed before it. */
	ck_assert_int_eq(perf_advice_pass(&advice, before_ns, see, &seen), 0);
	ck_assert_uint_eq(seen.nr, 0);
	ck_assert_int_eq(perf_advice_pass(&advice, UINT64_MAX, see, &seen), 0);
	ck_assert_uint_eq(seen.mapping.event.pid, child);
	ck_assert_uint_eq(seen.mapping.bytes, bytes);
	ck_assert_uint_eq(seen.mapping.advice, MAPPING_RANDOM);
	ck_assert_uint_eq(seen.mapping.ra_pages, PFSTAT_MAPPING_UNKNOWN);
	ck_assert_uint_ge(seen.mapping.event.ns, before_ns);
	/* Each is passed once, and the next look is due when the reads took twice as long. */
	seen.nr = 0;
	ck_assert_int_eq(add_read(&advice, child, 1000), 0);
	ck_assert_int_eq(perf_advice_pass(&advice, UINT64_MAX, see, &seen), 0);
	ck_assert_uint_eq(seen.nr, 0);
	ck_assert_int_eq(add_read(&advice, child, 60 * READ_NS), 0);
	ck_assert_int_eq(perf_advice_pass(&advice, UINT64_MAX, see, &seen), 0);
	ck_assert_uint_gt(seen.nr, 0);
	/* Of a process that has ended nothing is kept. */
	ck_assert_uint_eq(advice.readers.count, 1);
	ck_assert_int_eq(perf_advice_add(&advice,
					 &(struct pfstat_event){
						 .type = PFSTAT_EVENT_TASK,
						 .flags = PFSTAT_TASK_EXIT,
						 .pid = child,
						 .tid = child,
					 }),
			 0);
	ck_assert_uint_eq(advice.readers.count, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(map, bytes);
	perf_advice_exit(&advice);
}

TEST(test_advice_of_a_process_that_is_gone)
{
	struct perf_advice advice = { 0 };
	struct seen seen = { 0 };
	const pid_t child = fork();

	if (!child)
		_exit(0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(add_read(&advice, child, READ_NS), 0);
	ck_assert_int_eq(perf_advice_pass(&advice, UINT64_MAX, see, &seen), 0);
	ck_assert_uint_eq(seen.nr, 0);
	perf_advice_exit(&advice);
}
