// SPDX-License-Identifier: GPL-2.0-only
/* Address spaces: the file at an address, through mmap, fork, exec and exit. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "runner.h"
#include "user/analyze/groups/address_spaces.h"

static struct spaces *spaces;

static void add_map(uint32_t pid, uint64_t address, uint64_t bytes, uint64_t pgoff, uint64_t inode,
		    const char *path)
{
	struct item_map *map = calloc(1, sizeof(*map) + strlen(path) + 1);

	*map = (struct item_map){
		.address = address,
		.bytes = bytes,
		.pgoff = pgoff,
		.inode = inode,
		.dev = 3,
		.pid = pid,
		.tid = pid,
		.path_bytes = strlen(path) + 1,
	};
	strcpy(map->path, path);
	ck_assert_int_eq(address_spaces_add_map(spaces, map), 0);
	free(map);
}

static void add_task(uint32_t flags, uint32_t pid, uint32_t tid, uint32_t parent_pid,
		     const char *comm)
{
	struct pfstat_task task = {
		.event = { .flags = flags, .pid = pid, .tid = tid },
		.parent_pid = parent_pid,
	};

	strcpy(task.comm, comm);
	ck_assert_int_eq(address_spaces_add_task(spaces, &task), 0);
}

static void check(uint32_t pid, uint64_t address, const char *path, uint64_t pgoff)
{
	const struct space_map *map = address_spaces_find(spaces, pid, address);

	if (!path) {
		ck_assert_msg(!map, "%lx of %u is mapped", address, pid);
		return;
	}
	ck_assert_msg(map, "%lx of %u is not mapped", address, pid);
	ck_assert_str_eq(address_spaces_path(spaces, map->path), path);
	ck_assert_uint_eq(map->pgoff + ((address - map->start) >> 12), pgoff);
}

TEST(test_addresses_map_to_their_mapping_up_to_its_edges)
{
	spaces = address_spaces_new(4096);
	check(1, 0x1000, NULL, 0);
	add_map(1, 0x1000, 0x2000, 7, 10, "/a");
	add_map(1, 0x4000, 0x1000, 0, 11, "/b");
	check(1, 0xfff, NULL, 0);
	check(1, 0x1000, "/a", 7);
	check(1, 0x2fff, "/a", 8);
	check(1, 0x3000, NULL, 0);
	check(1, 0x4fff, "/b", 0);
	check(1, 0x5000, NULL, 0);
	check(2, 0x1000, NULL, 0);
	address_spaces_free(spaces);
}

TEST(test_a_new_map_replaces_the_overlapped_parts)
{
	spaces = address_spaces_new(4096);
	add_map(1, 0x10000, 0x10000, 0, 10, "/a");
	add_map(1, 0x14000, 0x2000, 0, 11, "/b"); /* a hole in the middle */
	check(1, 0x13000, "/a", 3);
	check(1, 0x14000, "/b", 0);
	check(1, 0x16000, "/a", 6);
	add_map(1, 0x12000, 0x3000, 0, 12, "/c"); /* across the boundary between two */
	check(1, 0x11000, "/a", 1);
	check(1, 0x12000, "/c", 0);
	check(1, 0x14fff, "/c", 2);
	check(1, 0x15000, "/b", 1);
	add_map(1, 0x10000, 0x20000, 0, 13, "/d"); /* over all mappings */
	check(1, 0x1ffff, "/d", 15);
	check(1, 0x2f000, "/d", 31);
	check(1, 0x15000, "/d", 5);
	address_spaces_free(spaces);
}

TEST(test_fork_copies_mappings_and_exec_drops_them)
{
	spaces = address_spaces_new(4096);
	add_map(1, 0x1000, 0x1000, 0, 10, "/a");
	add_task(PFSTAT_TASK_FORK, 2, 2, 1, "child");
	check(2, 0x1000, "/a", 0);
	add_map(2, 0x1000, 0, 0, 0, ""); /* the process executes another program */
	check(2, 0x1000, NULL, 0);
	check(1, 0x1000, "/a", 0);
	add_map(2, 0x1000, 0x1000, 5, 11, "/b");
	check(2, 0x1000, "/b", 5);
	add_task(PFSTAT_TASK_FORK, 2, 3, 2, "thread");
	ck_assert_str_eq(address_spaces_comm(spaces, 3), "thread");
	add_task(PFSTAT_TASK_EXEC, 2, 2, 2, "b");
	ck_assert_str_eq(address_spaces_comm(spaces, 2), "b");
	add_task(PFSTAT_TASK_EXIT, 2, 3, 0, "thread");
	ck_assert_str_eq(address_spaces_comm(spaces, 3), "");
	check(2, 0x1000, "/b", 5);
	add_task(PFSTAT_TASK_EXIT, 2, 2, 0, "b");
	check(2, 0x1000, NULL, 0);
	ck_assert_str_eq(address_spaces_path(spaces, address_spaces_file_path(spaces, 3, 11)),
			 "/b");
	ck_assert_uint_eq(address_spaces_file_path(spaces, 4, 11), 0);
	ck_assert_uint_eq(address_spaces_path_number(spaces, "/c"), 0);
	address_spaces_free(spaces);
}

TEST(test_a_fork_without_a_name_has_the_creators_name)
{
	struct pfstat_task fork = {
		.event = { .flags = PFSTAT_TASK_FORK, .pid = 1, .tid = 5 },
		.parent = 4,
		.parent_pid = 1,
	};

	spaces = address_spaces_new(4096);
	add_task(0, 1, 1, 0, "first");
	add_task(0, 1, 4, 0, "creator");
	ck_assert_int_eq(address_spaces_add_task(spaces, &fork), 0);
	ck_assert_str_eq(address_spaces_comm(spaces, 5), "creator");
	add_task(PFSTAT_TASK_RENAME, 1, 5, 0, "worker");
	ck_assert_str_eq(address_spaces_comm(spaces, 5), "worker");
	ck_assert_str_eq(address_spaces_comm(spaces, 4), "creator");
	address_spaces_free(spaces);
}

TEST(test_a_process_outlives_its_first_thread)
{
	spaces = address_spaces_new(4096);
	add_map(2, 0x1000, 0x1000, 0, 10, "/a");
	add_task(PFSTAT_TASK_FORK, 2, 3, 2, "worker");
	add_task(PFSTAT_TASK_FORK, 2, 4, 2, "worker");
	add_task(PFSTAT_TASK_EXIT, 2, 2, 0, "main");
	add_task(PFSTAT_TASK_EXIT, 2, 3, 0, "worker");
	check(2, 0x1000, "/a", 0);
	add_task(PFSTAT_TASK_EXIT, 2, 4, 0, "worker");
	check(2, 0x1000, NULL, 0);
	address_spaces_free(spaces);
}

TEST(test_exec_ends_the_other_threads)
{
	spaces = address_spaces_new(4096);
	add_map(2, 0x1000, 0x1000, 0, 10, "/a");
	add_task(PFSTAT_TASK_FORK, 2, 3, 2, "worker");
	add_task(PFSTAT_TASK_FORK, 2, 4, 2, "worker");
	add_task(PFSTAT_TASK_EXIT, 2, 2, 0, "main");
	add_task(PFSTAT_TASK_EXIT, 2, 4, 0, "worker");
	/* Thread 3 calls exec and takes over the first thread's id. */
	address_spaces_add_task(spaces,
				&(struct pfstat_task){
					.event = { .flags = PFSTAT_TASK_EXEC, .pid = 2, .tid = 2 },
					.parent = 3,
					.comm = "program",
				});
	ck_assert_str_eq(address_spaces_comm(spaces, 2), "program");
	ck_assert_str_eq(address_spaces_comm(spaces, 3), "");
	add_map(2, 0x1000, 0x1000, 0, 11, "/b");
	add_task(PFSTAT_TASK_EXIT, 2, 2, 0, "program");
	check(2, 0x1000, NULL, 0);
	address_spaces_free(spaces);
}

/* The exit event was lost, and another process has the same pid now. */
TEST(test_a_reused_pid_has_no_mappings_of_the_former_process)
{
	uint64_t i;

	spaces = address_spaces_new(4096);
	add_map(1, 0x1000, 0x1000, 0, 10, "/a");
	for (i = 0; i < 40; i++)
		add_map(2, 0x100000 + 0x1000 * i, 0x1000, 0, 11, "/b");
	check(2, 0x100000 + 0x1000 * 39, "/b", 0);
	add_task(PFSTAT_TASK_FORK, 2, 2, 1, "child");
	check(2, 0x100000, NULL, 0);
	check(2, 0x1000, "/a", 0);
	address_spaces_free(spaces);
}

TEST(test_a_path_has_the_inode_of_its_last_mapping)
{
	spaces = address_spaces_new(4096);
	add_map(1, 0x1000, 0x1000, 0, 10, "/a");
	add_map(2, 0x1000, 0x1000, 0, 10, "/a");
	add_map(1, 0x3000, 0x1000, 0, 0, "[heap]");
	ck_assert_uint_eq(address_spaces_path_inode(spaces,
						    address_spaces_path_number(spaces, "/a")),
			  10);
	ck_assert_uint_eq(address_spaces_path_inode(spaces,
						    address_spaces_path_number(spaces, "[heap]")),
			  0);
	ck_assert_uint_eq(address_spaces_path_inode(spaces, 0), 0);
	add_map(3, 0x1000, 0x1000, 0, 11, "/a"); /* recreated, or in another mount namespace */
	add_map(4, 0x1000, 0x1000, 0, 10, "/a");
	ck_assert_uint_eq(address_spaces_path_inode(spaces,
						    address_spaces_path_number(spaces, "/a")),
			  ADDRESS_SPACES_INODES_DIFFER);
	address_spaces_free(spaces);
}

TEST(test_malformed_map_events_are_ignored)
{
	spaces = address_spaces_new(4096);
	add_map(1, ~0ULL - 4096, 8192, 0, 1, "/wraps");
	check(1, 0, NULL, 0);
	address_spaces_free(spaces);
	address_spaces_free(NULL);
}

/* A new mapping finds the table full. The mappings that it replaced must be gone all the same. */
TEST(test_a_full_table_gives_no_wrong_names)
{
	uint64_t i;

	spaces = address_spaces_new(4096);
	address_spaces_limit_maps(spaces, 64);
	for (i = 1; i <= 64; i++)
		add_map(1, i << 13, 0x2000, 0, 10, "/old");
	check(1, 5 << 13, "/old", 0);
	add_map(1, (5 << 13) + 0x1000, 0x1000, 0, 11, "/new");
	check(1, 5 << 13, "/old", 0);
	add_map(1, 1ULL << 40, 0x1000, 0, 11, "/new");
	check(1, 1ULL << 40, NULL, 0);
	check(1, (5 << 13) + 0x1000, NULL, 0);
	address_spaces_free(spaces);
}

/* A process's maps equal an array with each page's file, in any order of arrival. */
TEST(test_maps_equal_a_file_for_each_page)
{
	static uint16_t files[4096];
	uint64_t state = 3, random;
	const struct space_map *map;
	uint32_t i, at, pages, page;

	spaces = address_spaces_new(4096);
	memset(files, 0, sizeof(files));
	for (i = 0; i < 20000; i++) {
		random = random_next(&state);
		pages = random % 16 ? 1 + (random >> 8) % 4 : 1 + (random >> 8) % 400;
		at = (random >> 32) % (4096 - pages);
		add_map(1, (uint64_t)at << 12, (uint64_t)pages << 12, at, 1 + i % 5000, "/f");
		for (page = at; page < at + pages; page++)
			files[page] = 1 + i % 5000;
		if (i % 100)
			continue;
		for (page = 1; page < 4096; page++) {
			map = address_spaces_find(spaces, 1, (uint64_t)page << 12);
			ck_assert_uint_eq(map ? map->inode : 0, files[page]);
			ck_assert(!map || map->pgoff == map->start >> 12);
		}
	}
	address_spaces_free(spaces);
}

/* The kernel places mappings downwards. vm.max_map_count may be a million. */
TEST(test_a_process_may_have_many_mappings)
{
	const uint64_t nr = 1000000;
	uint64_t i;

	spaces = address_spaces_new(4096);
	for (i = nr; i; i--)
		add_map(1, i << 13, 0x1000, 0, i, "/f");
	for (i = 1; i <= nr; i += 7)
		ck_assert_uint_eq(address_spaces_find(spaces, 1, i << 13)->inode, i);
	ck_assert_uint_eq(address_spaces_dropped(spaces), 0);
	address_spaces_free(spaces);
}

/* One process's table may take 3 MB. */
static void fill_first(void)
{
	uint32_t i;

	spaces = address_spaces_new(4096);
	for (i = 1; i <= 65530; i++)
		add_map(1, (uint64_t)i << 13, 0x2000, 0, 10, "/old");
}

TEST(test_children_share_maps_until_one_changes)
{
	size_t before;
	uint32_t i;

	fill_first();
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	for (i = 2; i <= 10000; i++)
		add_task(PFSTAT_TASK_FORK, i, i, 1, "child");
	ck_assert_uint_le(mallinfo2().uordblks + mallinfo2().hblkhd, before + (4 << 20));
	add_map(2, 5 << 13, 0x2000, 0, 11, "/children");
	add_map(1, 7 << 13, 0x2000, 0, 11, "/parents");
	add_task(PFSTAT_TASK_FORK, 10001, 10001, 2, "grandchild");
	check(1, 5 << 13, "/old", 0);
	check(1, 7 << 13, "/parents", 0);
	check(2, 5 << 13, "/children", 0);
	check(2, 7 << 13, "/old", 0);
	check(10000, 5 << 13, "/old", 0);
	check(10000, 7 << 13, "/old", 0);
	check(10001, 5 << 13, "/children", 0);
	add_task(PFSTAT_TASK_EXIT, 1, 1, 0, "parent");
	add_map(10000, 9 << 13, 0, 0, 0, ""); /* the process executes another program */
	check(10000, 5 << 13, NULL, 0);
	check(9999, 65530 << 13, "/old", 0);
	ck_assert_uint_eq(address_spaces_dropped(spaces), 0);
	address_spaces_free(spaces);
}

TEST(test_total_size_of_all_tables_is_bounded)
{
	uint32_t i;

	fill_first();
	for (i = 2; i <= 80; i++) {
		add_task(PFSTAT_TASK_FORK, i, i, 1, "child");
		add_map(i, 7 << 13, 0x2000, 0, 11, "/own");
	}
	check(2, 5 << 13, "/old", 0);
	check(2, 7 << 13, "/own", 0);
	check(80, 5 << 13, NULL, 0); /* no name instead of a wrong one */
	ck_assert_uint_ge(address_spaces_dropped(spaces), 65530);
	add_map(80, 5 << 13, 0x2000, 0, 11, "/new");
	check(80, 5 << 13, NULL, 0);
	add_task(PFSTAT_TASK_EXIT, 2, 2, 1, "child");
	add_map(80, 5 << 13, 0x2000, 0, 11, "/new");
	check(80, 5 << 13, "/new", 0);
	add_task(PFSTAT_TASK_FORK, 81, 81, 80, "child");
	check(81, 5 << 13, "/new", 0);
	address_spaces_free(spaces);
}

TEST(test_number_of_processes_and_names_is_bounded)
{
	size_t before = 0;
	uint32_t i;

	spaces = address_spaces_new(4096);
	add_map(1, 0x1000, 0x1000, 0, 10, "/a");
	for (i = 2; i <= 500000; i++) {
		add_task(PFSTAT_TASK_FORK, i, i, 1, "child");
		if (i == 300000)
			before = mallinfo2().uordblks + mallinfo2().hblkhd;
	}
	ck_assert_uint_le(mallinfo2().uordblks + mallinfo2().hblkhd, before);
	check(2, 0x1000, "/a", 0);
	check(500000, 0x1000, NULL, 0);
	ck_assert_str_eq(address_spaces_comm(spaces, 500000), "");
	ck_assert_uint_gt(address_spaces_dropped(spaces), 200000);
	address_spaces_free(spaces);
}

TEST(test_names_beyond_the_limit_are_dropped)
{
	const struct space_map *map;
	char path[16];
	uint32_t i;

	spaces = address_spaces_new(4096);
	for (i = 1; i <= 65536; i++) {
		snprintf(path, sizeof(path), "/%u", i);
		add_map(1, 0x1000 + ((uint64_t)i % 4 << 13), 0x2000, 0, i, path);
	}
	check(1, 0x1000 + (0 << 13), "(other files)", 0); /* 65536 */
	check(1, 0x1000 + (2 << 13), "/65534", 0);
	map = address_spaces_find(spaces, 1, 0x1000);
	ck_assert(!space_map_has_file(map));
	ck_assert_uint_eq(address_spaces_file_path(spaces, 3, 65536), 0); /* no other path */
	add_map(1, 0x1000, 0x2000, 0, 0, "");
	ck_assert_str_eq(address_spaces_path(spaces, address_spaces_find(spaces, 1, 0x1000)->path),
			 "");
	address_spaces_free(spaces);
}
