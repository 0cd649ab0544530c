// SPDX-License-Identifier: GPL-2.0-only
/* /proc/PID/maps lines become mappings. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runner.h"
#include "user/model/mapping_state.h"
#include "user/system/proc_maps.h"
#include "user/util/page_size.h"

/* Copies of the mappings passed to the callback. */
struct seen {
	struct item_map maps[8];
	char paths[8][64];
	unsigned int count;
};

static int see(void *context, const struct item_map *map)
{
	struct seen *seen = context;

	ck_assert_uint_eq((uintptr_t)map % 8, 0);
	ck_assert_uint_eq(map->path_bytes, strlen(map->path) + 1);
	seen->maps[seen->count] = *map;
	strcpy(seen->paths[seen->count++], map->path);
	return seen->count == 8 ? -ECANCELED : 0;
}

TEST(test_lines_become_mappings)
{
	static const char *const lines[] = {
		"7f0000000000-7f0000003000 r-xp 00020000 103:02 77 /usr/lib/libc.so.6\n",
		"55d0c0000000-55d0c0001000 rw-p 00000000 00:00 0 \n",
		"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                  [stack]\n",
		"1000-2000 ---s 00000000 08:11 18446744073709551615 /a b\\012c (deleted)",
	};
	struct proc_maps maps = { 0 };
	struct seen seen = { 0 };
	unsigned int i;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(proc_maps_add_line(&maps, 42, lines[i]), 0);
	ck_assert_int_eq(proc_maps_hand_over(&maps, see, &seen), 0);
	ck_assert_uint_eq(seen.count, 4);

	ck_assert_uint_eq(seen.maps[0].ns, 0);
	ck_assert_uint_eq(seen.maps[0].address, 0x7f0000000000);
	ck_assert_uint_eq(seen.maps[0].bytes, 0x3000);
	ck_assert_uint_eq(seen.maps[0].pgoff, 0x20000 / page_size());
	ck_assert_uint_eq(seen.maps[0].dev, 0x103 << 20 | 2);
	ck_assert_uint_eq(seen.maps[0].inode, 77);
	ck_assert_uint_eq(seen.maps[0].pid, 42);
	ck_assert_uint_eq(seen.maps[0].tid, 42);
	ck_assert_uint_eq(seen.maps[0].prot, PROT_READ | PROT_EXEC);
	ck_assert_uint_eq(seen.maps[0].flags, MAP_PRIVATE | ITEM_MAP_NO_ADVICE);
	ck_assert_uint_eq(seen.maps[1].flags, MAP_PRIVATE);
	ck_assert_str_eq(seen.paths[0], "/usr/lib/libc.so.6");
	ck_assert_str_eq(seen.paths[1], "");
	ck_assert_uint_eq(seen.maps[1].prot, PROT_READ | PROT_WRITE);
	ck_assert_str_eq(seen.paths[2], "[stack]");
	ck_assert_uint_eq(seen.maps[3].flags, MAP_SHARED | ITEM_MAP_NO_ADVICE);
	ck_assert_uint_eq(seen.maps[3].prot, 0);
	ck_assert_uint_eq(seen.maps[3].inode, UINT64_MAX);
	ck_assert_str_eq(seen.paths[3], "/a b\nc (deleted)");

	ck_assert_int_eq(proc_maps_hand_over(&maps, see, &seen), 0); /* handed over only once */
	ck_assert_uint_eq(seen.count, 4);
}

TEST(test_malformed_lines_are_refused)
{
	struct proc_maps maps = { 0 };

	ck_assert_int_eq(proc_maps_add_line(&maps, 1, ""), -EINVAL);
	ck_assert_int_eq(proc_maps_add_line(&maps, 1, "2000-1000 r--p 0 0:0 0 "), -EINVAL);
	ck_assert_int_eq(proc_maps_add_line(&maps, 1, "1000-2000 r 0 0:0 0 "), -EINVAL);
	ck_assert_int_eq(proc_maps_add_line(&maps, 1, "1000-2000 r--p"), -EINVAL);
	ck_assert_uint_eq(maps.used, 0);
	proc_maps_exit(&maps);
}

TEST(test_error_of_the_consumer_stops_the_hand_over)
{
	struct proc_maps maps = { 0 };
	struct seen seen = { 0 };
	unsigned int i;

	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(proc_maps_add_line(&maps, 1, "1000-2000 r--p 0 0:0 0 /x\n"), 0);
	ck_assert_int_eq(proc_maps_hand_over(&maps, see, &seen), -ECANCELED);
	ck_assert_uint_eq(seen.count, 8);
}

TEST(test_appended_maps_follow_the_first)
{
	struct proc_maps maps = { 0 }, more = { 0 };
	struct seen seen = { 0 };

	ck_assert_int_eq(proc_maps_append(&maps, &more), 0); /* appends nothing to nothing */
	ck_assert_int_eq(proc_maps_add_line(&more, 1, "1000-2000 r--p 0 0:0 0 /x\n"), 0);
	ck_assert_int_eq(proc_maps_append(&maps, &more), 0);
	ck_assert_ptr_null(more.bytes);
	ck_assert_int_eq(proc_maps_add_line(&more, 2, "3000-4000 r--p 0 0:0 0 /long/path\n"), 0);
	ck_assert_int_eq(proc_maps_add_line(&more, 2, "5000-6000 r--p 0 0:0 0 \n"), 0);
	ck_assert_int_eq(proc_maps_append(&maps, &more), 0);
	ck_assert_int_eq(proc_maps_hand_over(&maps, see, &seen), 0);
	ck_assert_uint_eq(seen.count, 3);
	ck_assert_str_eq(seen.paths[0], "/x");
	ck_assert_str_eq(seen.paths[1], "/long/path");
	ck_assert_uint_eq(seen.maps[2].address, 0x5000);
	ck_assert_uint_eq(seen.maps[2].pid, 2);
	proc_maps_exit(&more);
}

TEST(test_read_of_a_missing_process_fails)
{
	struct proc_maps maps = { 0 };

	ck_assert_int_eq(proc_maps_read(&maps, 1 << 23), -ESRCH);
	ck_assert_int_eq(proc_maps_read(&maps, getpid()), 0);
	ck_assert_uint_gt(maps.used, sizeof(struct item_map));
	proc_maps_exit(&maps);
}

TEST(test_flags_apply_to_the_mapping_before_them)
{
	struct proc_maps maps = { 0 };
	struct seen seen = { 0 };

	/* before the first mapping, so they belong to none */
	proc_maps_add_flags(&maps, "VmFlags: rd rr\n");
	ck_assert_int_eq(proc_maps_add_line(&maps, 42, "1000-2000 r--s 0 08:11 7 /a\n"), 0);
	proc_maps_add_flags(&maps, "VmFlags: rd sh mr mw me ms rr \n");
	ck_assert_int_eq(proc_maps_add_line(&maps, 42, "3000-4000 r--s 0 08:11 7 /a\n"), 0);
	proc_maps_add_flags(&maps, "Rss:                   4 kB\n");
	proc_maps_add_flags(&maps, "VmFlags: rd sh mr mw me ms sr \n");
	ck_assert_int_eq(proc_maps_add_line(&maps, 42, "5000-6000 r--s 0 08:11 7 /a\n"), 0);
	proc_maps_add_flags(&maps, "VmFlags: rd sh mr mw me ms \n");
	ck_assert_int_eq(proc_maps_hand_over(&maps, see, &seen), 0);
	ck_assert_uint_eq(seen.count, 3);
	ck_assert_uint_eq(seen.maps[0].flags, MAP_SHARED | ITEM_MAP_RANDOM);
	ck_assert_uint_eq(seen.maps[1].flags, MAP_SHARED | ITEM_MAP_SEQUENTIAL);
	ck_assert_uint_eq(seen.maps[2].flags, MAP_SHARED);
}

static struct pfstat_mapping state_of(uint32_t pid, uint64_t address, uint64_t bytes,
				      uint32_t advice)
{
	return (struct pfstat_mapping){
		.event.pid = pid,
		.address = address,
		.bytes = bytes,
		.advice = advice,
	};
}

TEST(test_advice_that_a_source_knows_applies_to_its_mappings)
{
	struct pfstat_mapping states[] = {
		state_of(43, 0x1000, 0x1000, MAPPING_SEQUENTIAL),
		state_of(42, 0x5000, 0x1000, MAPPING_NORMAL),
		state_of(42, 0x3000, 0x1000, MAPPING_SEQUENTIAL),
		state_of(42, 0x1000, 0x1000, MAPPING_RANDOM),
		state_of(42, 0x7000, 0x1000, MAPPING_RANDOM), /* covers only a part */
	};
	static const uint32_t expected[] = {
		MAP_SHARED | ITEM_MAP_RANDOM,	 MAP_SHARED | ITEM_MAP_SEQUENTIAL, MAP_SHARED,
		MAP_SHARED | ITEM_MAP_NO_ADVICE, MAP_SHARED | ITEM_MAP_NO_ADVICE,
	};
	static const char *const lines[] = {
		"1000-2000 r--s 0 08:11 7 /a\n", "3000-4000 r--s 0 08:11 7 /a\n",
		"5000-6000 r--s 0 08:11 7 /a\n", "7000-9000 r--s 0 08:11 7 /a\n",
		"a000-b000 r--s 0 08:11 7 /a\n",
	};
	struct proc_maps maps = { 0 };
	struct seen seen = { 0 };
	unsigned int i;

	proc_maps_set_advice(&maps, states, 5); /* for no mapping */
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(proc_maps_add_line(&maps, 42, lines[i]), 0);
	proc_maps_set_advice(&maps, NULL, 0);
	proc_maps_set_advice(&maps, states, 5);
	ck_assert_int_eq(proc_maps_hand_over(&maps, see, &seen), 0);
	ck_assert_uint_eq(seen.count, 5);
	for (i = 0; i < 5; i++)
		ck_assert_uint_eq(seen.maps[i].flags, expected[i]);
}

/* For smaps the kernel walks all page tables, and the process cannot map anything meanwhile. */
TEST(test_smaps_of_another_process_is_not_read)
{
	struct proc_maps maps = { 0 };
	const struct item_map *map;
	unsigned int unknown = 0;
	size_t at;

	ck_assert_int_eq(proc_maps_read(&maps, getppid()), 0);
	for (at = 0; at < maps.used; at += (sizeof(*map) + map->path_bytes + 7) & ~7UL) {
		map = (const void *)(maps.bytes + at);
		ck_assert(!map->inode == !(map->flags & ITEM_MAP_NO_ADVICE));
		unknown += map->flags & ITEM_MAP_NO_ADVICE ? 1 : 0;
	}
	ck_assert_uint_gt(unknown, 0);
	proc_maps_exit(&maps);
}

TEST(test_advice_of_this_process_is_read)
{
	const size_t bytes = 4 * sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct proc_maps maps = { 0 };
	const struct item_map *found;
	uint32_t flags = 0;
	size_t at;

	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_int_eq(madvise(map, bytes, MADV_RANDOM), 0);
	ck_assert_int_eq(proc_maps_read_advice(&maps, getpid()), 0);
	for (at = 0; at < maps.used; at += (sizeof(*found) + found->path_bytes + 7) & ~7UL) {
		found = (const void *)(maps.bytes + at);
		if (found->address == (uintptr_t)map)
			flags = found->flags;
	}
	ck_assert_uint_eq(flags, MAP_PRIVATE | ITEM_MAP_RANDOM);
	proc_maps_exit(&maps);
	munmap(map, bytes);
}
