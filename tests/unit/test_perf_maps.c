// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks mappings with the host's perf events. Without these events, or without the privilege to
 * use them, nothing is tested here. tests/vm/test_maps.py covers the rest.
 */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "user/collect/perf_maps.h"
#include "util/why.h"

#define ROUNDS 300

static struct perf_maps *open_maps(void)
{
	struct perf_maps *maps;
	struct why why;

	if (!perf_maps_open(&maps, &why))
		return maps;
	printf("not tested: %s\n", why.text);
	return NULL;
}

/* A child sleeping until it is killed or the parent exits. */
static pid_t idle(void)
{
	int line[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe(line), 0);
	pid = fork();
	if (!pid) {
		close(line[1]);
		_exit(read(line[0], &byte, 1));
	}
	close(line[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static int count(void *context, const struct item_map *map)
{
	if (!map->ns)
		++*(unsigned int *)context;
	return 0;
}

struct drain {
	struct perf_maps *maps;
	bool over;
	unsigned int existing;
};

static void *drain_all_along(void *argument)
{
	struct drain *drain = argument;

	while (!__atomic_load_n(&drain->over, __ATOMIC_RELAXED))
		ck_assert_int_eq(perf_maps_drain(drain->maps, count, &drain->existing), 0);
	return NULL;
}

TEST(test_process_can_be_added_while_a_thread_drains)
{
	struct drain drain = { .maps = open_maps() };
	unsigned int of_one = 0, i;
	pthread_t thread;
	pid_t pid;

	if (!drain.maps)
		return;
	pid = idle();
	ck_assert_int_eq(perf_maps_watch(drain.maps, pid, true), 0);
	ck_assert_int_eq(perf_maps_drain(drain.maps, count, &of_one), 0);
	ck_assert_uint_gt(of_one, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, drain_all_along, &drain), 0);
	for (i = 0; i < ROUNDS; i++)
		ck_assert_int_eq(perf_maps_watch(drain.maps, pid, true), 0);
	__atomic_store_n(&drain.over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ck_assert_int_eq(perf_maps_drain(drain.maps, count, &drain.existing), 0);
	ck_assert_uint_eq(drain.existing, ROUNDS * of_one);
	end(pid);
	perf_maps_close(drain.maps);
}

static unsigned int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned int nr = 0;

	while (readdir(folder))
		nr++;
	closedir(folder);
	return nr;
}

static int count_new(void *context, const struct item_map *map)
{
	if (map->ns)
		++*(unsigned int *)context;
	return 0;
}

/*
 * After a byte on the first pipe, the process forks a child and exits. After a byte on the second,
 * the child maps a page and exits, which closes the third pipe.
 */
static pid_t mother(int *make, int *map, int *over)
{
	int lines[3][2], i;
	pid_t pid;
	char byte;

	for (i = 0; i < 3; i++)
		ck_assert_int_eq(pipe(lines[i]), 0);
	pid = fork();
	if (!pid) {
		close(lines[0][1]);
		close(lines[1][1]);
		if (read(lines[0][0], &byte, 1) != 1 || fork())
			_exit(0);
		if (read(lines[1][0], &byte, 1) == 1)
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		_exit(0);
	}
	close(lines[0][0]);
	close(lines[1][0]);
	close(lines[2][1]);
	*make = lines[0][1];
	*map = lines[1][1];
	*over = lines[2][0];
	return pid;
}

TEST(test_watching_a_process_takes_no_descriptor)
{
	struct perf_maps *maps = open_maps();
	unsigned int before;
	pid_t pid;

	if (!maps)
		return;
	pid = idle();
	before = open_files();
	ck_assert_int_eq(perf_maps_watch(maps, pid, true), 0);
	ck_assert_uint_eq(open_files(), before);
	ck_assert_uint_eq(perf_maps_lost(maps), 0);
	end(pid);
	perf_maps_close(maps);
}

TEST(test_children_of_an_exited_process_are_watched)
{
	struct perf_maps *maps = open_maps();
	unsigned int made = 0;
	int make, map, end;
	char byte;
	pid_t pid;

	if (!maps)
		return;
	pid = mother(&make, &map, &end);
	ck_assert_int_eq(perf_maps_watch(maps, pid, false), 0);
	ck_assert_int_eq(write(make, "", 1), 1);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(perf_maps_drain(maps, count_new, &made), 0);
	ck_assert_int_eq(write(map, "", 1), 1);
	ck_assert_int_eq(read(end, &byte, 1), 0);
	perf_maps_stop(maps);
	ck_assert_int_eq(perf_maps_drain(maps, count_new, &made), 0);
	ck_assert_uint_eq(made, 1);
	close(make);
	close(map);
	close(end);
	perf_maps_close(maps);
}

static int find_other(void *context, const struct item_map *map)
{
	const pid_t *watched = context;

	ck_assert_int_eq(map->pid, *watched);
	return 0;
}

TEST(test_only_mappings_of_watched_processes_are_reported)
{
	struct perf_maps *maps = open_maps();
	unsigned int i;
	pid_t pid;

	if (!maps)
		return;
	pid = idle();
	ck_assert_int_eq(perf_maps_watch(maps, pid, true), 0);
	for (i = 0; i < 10; i++)
		munmap(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		       4096);
	ck_assert_int_eq(perf_maps_drain(maps, find_other, &pid), 0);
	end(pid);
	perf_maps_close(maps);
}

/* A process that is added between two mappings: the first mapping is not reported. */
TEST(test_mappings_from_before_the_watch_are_not_new)
{
	struct perf_maps *maps = open_maps();
	const unsigned int executable = PROT_READ | PROT_EXEC;
	unsigned int made = 0;
	pid_t other;

	if (!maps)
		return;
	other = idle();
	ck_assert_int_eq(perf_maps_watch(maps, other, false), 0);
	munmap(mmap(NULL, 4096, executable, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
	ck_assert_int_eq(perf_maps_watch(maps, getpid(), false), 0);
	munmap(mmap(NULL, 4096, executable, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
	perf_maps_stop(maps);
	ck_assert_int_eq(perf_maps_drain(maps, count_new, &made), 0);
	ck_assert_uint_eq(made, 1);
	end(other);
	perf_maps_close(maps);
}

/* Files of code must be opened while their process lives, so even a few records wake the reader. */
TEST(test_each_batch_of_records_wakes_the_reader)
{
	struct perf_maps *maps = open_maps();
	struct pollfd polled;
	unsigned int made = 0, i;

	if (!maps)
		return;
	polled = (struct pollfd){ .fd = perf_maps_fd(maps), .events = POLLIN };
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(poll(&polled, 1, 10000), 1);
		ck_assert_int_eq(perf_maps_drain(maps, count_new, &made), 0);
	}
	perf_maps_close(maps);
}
