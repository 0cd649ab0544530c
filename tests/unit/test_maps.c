// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watch of mappings, by perf's events of this machine. Where it has none, or gives
 * no right to them, there is nothing to test; tests/vm/test_maps.py has the rest.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "user/collect/descriptors.h"
#include "user/collect/maps.h"

#define ROUNDS 300

static struct maps *open_maps(void)
{
	struct maps *maps;
	char why[256];

	if (!maps_open(&maps, why, sizeof(why)))
		return maps;
	printf("not tested: %s\n", why);
	return NULL;
}

/* A child that does nothing, until it is killed or its parent ends. */
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
	struct maps *maps;
	bool over;
	unsigned int existing;
};

static void *drain_all_along(void *argument)
{
	struct drain *drain = argument;

	while (!__atomic_load_n(&drain->over, __ATOMIC_RELAXED))
		ck_assert_int_eq(maps_drain(drain->maps, count, &drain->existing), 0);
	return NULL;
}

START_TEST(test_who_joins_while_a_thread_drains)
{
	struct drain drain = { .maps = open_maps() };
	unsigned int of_one = 0, i;
	pthread_t thread;
	pid_t pid;

	if (!drain.maps)
		return;
	pid = idle();
	ck_assert_int_eq(maps_watch(drain.maps, pid, true), 0);
	ck_assert_int_eq(maps_drain(drain.maps, count, &of_one), 0);
	ck_assert_uint_gt(of_one, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, drain_all_along, &drain), 0);
	for (i = 0; i < ROUNDS; i++)
		ck_assert_int_eq(maps_watch(drain.maps, pid, true), 0);
	__atomic_store_n(&drain.over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ck_assert_int_eq(maps_drain(drain.maps, count, &drain.existing), 0);
	ck_assert_uint_eq(drain.existing, ROUNDS * of_one);
	end(pid);
	maps_close(drain.maps);
}
END_TEST

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
 * Of two lines: the first byte makes a child, which maps a page at the second; the child
 * made, it ends itself.
 */
static pid_t mother(int *make, int *map)
{
	int lines[2][2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe(lines[0]), 0);
	ck_assert_int_eq(pipe(lines[1]), 0);
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
	*make = lines[0][1];
	*map = lines[1][1];
	return pid;
}

/* What a task inherited is given back a moment after it has ended. */
static bool forgets_down_to(struct maps *maps, unsigned int files)
{
	unsigned int tries;

	for (tries = 0; tries < 1000; tries++) {
		maps_forget_ended(maps);
		if (open_files() == files)
			return true;
		usleep(10000);
	}
	return false;
}

START_TEST(test_the_events_of_the_dead_are_closed)
{
	struct maps *maps = open_maps();
	unsigned int none, one;
	pid_t first, second;

	if (!maps)
		return;
	first = idle();
	second = idle();
	none = open_files();
	ck_assert_int_eq(maps_watch(maps, first, false), 0);
	one = open_files();
	ck_assert_uint_gt(one, none);
	ck_assert_int_eq(maps_watch(maps, second, false), 0);
	maps_forget_ended(maps);
	ck_assert_uint_eq(open_files(), one + (one - none));
	end(first);
	ck_assert(forgets_down_to(maps, one));
	ck_assert_uint_eq(maps_lost(maps), 0);
	end(second);
	ck_assert(forgets_down_to(maps, none));
	ck_assert_uint_eq(maps_lost(maps), 0);
	maps_close(maps);
}
END_TEST

START_TEST(test_the_dead_have_children)
{
	struct maps *maps = open_maps();
	unsigned int none, one, made = 0;
	int make, map;
	pid_t pid;

	if (!maps)
		return;
	pid = mother(&make, &map);
	none = open_files();
	ck_assert_int_eq(maps_watch(maps, pid, false), 0);
	one = open_files();
	ck_assert_int_eq(write(make, "", 1), 1);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	usleep(50000);
	maps_forget_ended(maps);
	ck_assert_uint_eq(open_files(), one);
	ck_assert_int_eq(write(map, "", 1), 1);
	ck_assert(forgets_down_to(maps, none));
	ck_assert_int_eq(maps_drain(maps, count_new, &made), 0);
	ck_assert_uint_eq(made, 1);
	close(make);
	close(map);
	maps_close(maps);
}
END_TEST

/* Now and then all that is watched is looked at: who waits for a buffer must not miss it. */
START_TEST(test_no_news_is_taken_away)
{
	struct maps *maps = open_maps();
	struct pollfd polled;
	unsigned int made = 0, i;

	if (!maps)
		return;
	ck_assert_int_eq(maps_watch(maps, getpid(), false), 0);
	polled = (struct pollfd){ .fd = maps_fd(maps), .events = POLLIN };
	ck_assert_int_eq(poll(&polled, 1, 0), 0);
	/* Half a buffer, of each CPU that this may run on meanwhile. */
	for (i = 0; i < 2000U * sysconf(_SC_NPROCESSORS_CONF); i++)
		munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
	maps_forget_ended(maps);
	ck_assert_int_eq(poll(&polled, 1, 1000), 1);
	ck_assert_int_eq(maps_drain(maps, count_new, &made), 0);
	ck_assert_uint_gt(made, 0);
	ck_assert_int_eq(poll(&polled, 1, 0), 0);
	maps_close(maps);
}
END_TEST

START_TEST(test_no_descriptors_are_left)
{
	struct maps *maps = open_maps();
	unsigned int existing = 0, files;
	struct rlimit limit;
	pid_t pid;

	if (!maps)
		return;
	pid = idle();
	files = open_files();
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = files + 60;	/* fewer than are to be kept free */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(maps_watch(maps, pid, true), -EMFILE);
	ck_assert_uint_eq(open_files(), files);
	ck_assert_int_eq(maps_drain(maps, count, &existing), 0);
	ck_assert_uint_gt(existing, 0);
	descriptors_raise();
	ck_assert_int_eq(maps_watch(maps, pid, true), 0);
	end(pid);
	maps_close(maps);
}
END_TEST

RUN_TESTS("maps", test_who_joins_while_a_thread_drains, test_the_events_of_the_dead_are_closed,
	  test_the_dead_have_children, test_no_news_is_taken_away, test_no_descriptors_are_left)
