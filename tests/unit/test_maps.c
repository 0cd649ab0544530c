// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watch of mappings, by perf's events of this machine. Where it has none, or gives
 * no right to them, there is nothing to test; tests/vm/test_maps.py has the rest.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
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

RUN_TESTS("maps", test_who_joins_while_a_thread_drains)
