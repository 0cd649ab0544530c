// SPDX-License-Identifier: GPL-2.0-only
/* The kept part of a recording: nothing recent is missing, and the past is bounded. */
#include <errno.h>
#include <string.h>

#include "runner.h"
#include "user/analyze/groups/address_spaces.h"
#include "user/keep/record_keep.h"
#include "user/model/counters.h"
#include "user/util/page_size.h"
#include "user/util/time_ns.h"

#define KEEP  (10 * SECOND)
#define START (1000 * SECOND)

static struct recent_items *recent;
static uint64_t lost_so_far;

/* What recent_feed() passed. */
static struct {
	uint64_t items, records, first_ns, last_ns, maps_before, names_before;
	bool in_order;
	struct spaces *spaces; /* with all mappings and tasks */
} fed;

static void read_lost(void *context, uint64_t *records, uint64_t *events)
{
	(void)context;
	*records = lost_so_far;
	*events = 2 * lost_so_far;
}

static void open_recent(uint64_t bytes)
{
	const struct recent_options options = { .keep_ns = KEEP,
						.bytes = bytes,
						.lost = read_lost };

	lost_so_far = 0;
	ck_assert_int_eq(recent_open(&recent, &options), 0);
}

static void forget(void)
{
	recent = NULL;
}

static void close_recent(void)
{
	recent_close(recent);
	address_spaces_free(fed.spaces);
}

static int add_record(uint64_t ns)
{
	/* Numbers zstd cannot shorten much. */
	const uint64_t noise = ns * 0x9e3779b97f4a7c15;
	const struct pfstat_record record = {
		.pid = 1,
		.tid = 1,
		.start_ns = ns - 500,
		.duration_ns = 500,
		.address = noise,
		.inode = noise ^ noise >> 7,
		.ip = noise ^ noise >> 13,
	};
	const struct item item = { .type = ITEM_RECORD, .ns = ns, .record = &record };

	return recent_add(recent, &item);
}

static int add_map(uint64_t ns, uint32_t pid, uint64_t address, uint64_t bytes)
{
	struct {
		struct item_map map;
		char path[16];
	} named = { {
			    .ns = ns,
			    .address = address,
			    .bytes = bytes,
			    .pid = pid,
			    .tid = pid,
			    .inode = 7,
			    .dev = 8,
			    .pgoff = 9,
			    .prot = 5,
			    .flags = 2,
			    .path_bytes = sizeof("/lib/a.so"),
		    },
		    "/lib/a.so" };
	const struct item item = { .type = ITEM_MAP, .ns = ns, .map = &named.map };

	memcpy(named.map.path, "/lib/a.so", sizeof("/lib/a.so"));
	return recent_add(recent, &item);
}

static int add_task(uint64_t ns, uint32_t pid, uint32_t flags, const char *comm)
{
	struct pfstat_task task = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(task), .flags = flags,
			.pid = pid, .tid = pid, .ns = ns,
		},
		.parent = pid, .parent_pid = 1,
	};
	const struct item item = { .type = ITEM_EVENT, .ns = ns, .event = &task.event };

	strcpy(task.comm, comm);
	return recent_add(recent, &item);
}

static int take(void *context, const struct item *item)
{
	(void)context;
	fed.items++;
	fed.records += item->type == ITEM_RECORD;
	if (item->ns) {
		fed.in_order &= item->ns >= fed.last_ns;
		fed.first_ns = fed.first_ns ?: item->ns;
		fed.last_ns = item->ns;
	}
	if (item->type == ITEM_MAP) {
		fed.maps_before += !item->ns;
		ck_assert_int_eq(address_spaces_add_map(fed.spaces, item->map), 0);
	} else if (item->type == ITEM_EVENT) {
		fed.names_before += !item->ns;
		ck_assert_int_eq(address_spaces_add_task(fed.spaces, (const void *)item->event), 0);
	}
	return 0;
}

static struct recent_part feed(void)
{
	struct recent_part part;

	address_spaces_free(fed.spaces);
	memset(&fed, 0, sizeof(fed));
	fed.in_order = true;
	fed.spaces = address_spaces_new(4096);
	ck_assert_int_eq(recent_feed(recent, take, NULL, &part), 0);
	ck_assert(fed.in_order);
	return part;
}

/* A record each 10 ms. */
static void add_seconds(uint64_t from_s, uint64_t to_s)
{
	uint64_t ns;

	for (ns = START + from_s * SECOND + 1; ns < START + to_s * SECOND; ns += SECOND / 100)
		ck_assert_int_eq(add_record(ns), 0);
}

TEST(test_a_short_recording_is_kept_whole)
{
	struct recent_part part;

	open_recent(64 << 20);
	add_map(0, 1, 0x1000, 0x1000);
	add_task(0, 1, 0, "main");
	add_seconds(0, 5);
	part = feed();
	ck_assert_uint_eq(part.from_ns, 0);
	ck_assert_uint_eq(part.records, 500);
	ck_assert_uint_eq(part.items, 502);
	ck_assert_uint_eq(fed.items, 502);
	ck_assert_uint_eq(fed.first_ns, START + 1);
	ck_assert_uint_eq(fed.maps_before, 1);
}

TEST(test_the_kept_time_is_there_and_little_more)
{
	struct recent_part part;

	open_recent(64 << 20);
	add_seconds(0, 100);
	part = feed();
	ck_assert_uint_le(fed.first_ns, START + 90 * SECOND);
	ck_assert_uint_gt(fed.first_ns, START + 86 * SECOND);
	ck_assert_uint_eq(part.from_ns, fed.first_ns);
	ck_assert_uint_eq(fed.records, part.records);
	ck_assert_uint_eq(fed.records, (START + 100 * SECOND - fed.first_ns) / (SECOND / 100) + 1);
}

TEST(test_it_goes_on_after_it_was_read)
{
	open_recent(64 << 20);
	add_seconds(0, 20);
	feed();
	add_seconds(20, 21);
	feed();
	ck_assert_uint_le(fed.first_ns, START + 11 * SECOND);
	ck_assert_uint_eq(fed.records, (START + 21 * SECOND - fed.first_ns) / (SECOND / 100) + 1);
	ck_assert_uint_eq(fed.last_ns, START + 21 * SECOND - SECOND / 100 + 1);
	add_seconds(21, 60);
	feed();
	ck_assert_uint_gt(fed.first_ns, START + 46 * SECOND);
}

TEST(test_mappings_and_names_of_the_past_are_kept)
{
	const struct space_map *map;

	open_recent(64 << 20);
	add_map(0, 1, 0x1000, 0x4000);
	add_task(0, 1, 0, "main");
	add_task(START + 1, 2, PFSTAT_TASK_FORK, "child");
	add_map(START + 2, 2, 0x8000, 0x1000);
	add_task(START + 3, 3, PFSTAT_TASK_FORK, "gone");
	add_task(START + 4, 3, PFSTAT_TASK_EXIT, "gone");
	add_task(START + 5, 4, PFSTAT_TASK_FORK, "other");
	add_map(START + 6, 4, 0, 0); /* it executes a program */
	add_seconds(1, 100);
	feed();
	ck_assert_uint_eq(fed.maps_before, 3);
	ck_assert_uint_eq(fed.names_before, 3);
	map = address_spaces_find(fed.spaces, 2, 0x2000);
	ck_assert_ptr_nonnull(map);
	ck_assert_str_eq(address_spaces_path(fed.spaces, map->path), "/lib/a.so");
	ck_assert_uint_eq(map->pgoff, 9);
	ck_assert_uint_eq(map->prot, 5);
	ck_assert_uint_eq(map->flags, 2);
	ck_assert_ptr_nonnull(address_spaces_find(fed.spaces, 2, 0x8000));
	ck_assert_ptr_null(address_spaces_find(fed.spaces, 3, 0x2000));
	ck_assert_ptr_null(address_spaces_find(fed.spaces, 4, 0x2000));
	ck_assert_str_eq(address_spaces_comm(fed.spaces, 2), "child");
	ck_assert_str_eq(address_spaces_comm(fed.spaces, 3), "");
}

TEST(test_a_mapping_that_covers_another_replaces_it)
{
	open_recent(64 << 20);
	add_map(START + 1, 1, 0x1000, 0x4000);
	add_map(START + 2, 1, 0x2000, 0x1000);
	add_seconds(1, 100);
	feed();
	ck_assert_uint_eq(fed.maps_before, 3);
	ck_assert_uint_eq(address_spaces_find(fed.spaces, 1, 0x3000)->pgoff,
			  9 + 0x2000 / page_size());
}

TEST(test_memory_limits_the_kept_time)
{
	struct recent_part part;
	uint64_t i;

	open_recent(2 << 20);
	for (i = 1; i <= 300000; i++)
		ck_assert_int_eq(add_record(START + 1000 * i), 0);
	part = feed();
	ck_assert_uint_gt(part.from_ns, START + 100000 * 1000);
	ck_assert_uint_eq(fed.last_ns, START + 300000 * 1000);
	ck_assert_uint_gt(fed.records, 10000);
}

TEST(test_only_losses_of_the_kept_part_are_its_own)
{
	struct recent_part part;

	open_recent(64 << 20);
	add_seconds(0, 10);
	lost_so_far = 5;
	add_seconds(10, 50);
	part = feed();
	ck_assert_uint_eq(part.lost_records, 0);
	lost_so_far = 8;
	add_seconds(50, 51);
	part = feed();
	ck_assert_uint_eq(part.lost_records, 3);
	ck_assert_uint_eq(part.lost_events, 6);
	lost_so_far = COUNT_NA;
	part = feed();
	ck_assert_uint_eq(part.lost_records, COUNT_NA);
}

static int refuse(void *context, const struct item *item)
{
	(void)context;
	(void)item;
	return -ENOSPC;
}

TEST(test_an_error_of_the_reader_loses_nothing)
{
	struct recent_part part;

	open_recent(64 << 20);
	add_seconds(0, 5);
	ck_assert_int_eq(recent_feed(recent, refuse, NULL, &part), -ENOSPC);
	feed();
	ck_assert_uint_eq(fed.records, 500);
}

FIXTURE(forget, close_recent);
