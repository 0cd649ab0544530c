/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile with six faults in three threads, for the tests of the model and the model's printers.
 */
#ifndef PFSTAT_TESTS_SAMPLE_PROFILE_H
#define PFSTAT_TESTS_SAMPLE_PROFILE_H

#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/analyze/profile.h"

#define CODE	0x400000ULL
#define LIBRARY 0x7f0000000000ULL
#define JIT	0x7e0000001000ULL
#define T0	5000000000ULL

static struct analysis *analysis;
static struct profile profile;
static uint64_t now_ns;

static void add(enum item_type type, const void *data)
{
	struct item item = { .type = type, .ns = now_ns };

	item.event = data;
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
	ck_assert_int_eq(profile_add_item(&profile, &item), 0);
}

static uint32_t generation; /* for the next mapping's inode */

static void map_file(uint32_t pid, uint64_t address, uint64_t inode, const char *path)
{
	struct item_map *map = calloc(1, sizeof(*map) + strlen(path) + 1);

	*map = (struct item_map){
		.address = address,
		.bytes = 0x10000,
		.inode = inode,
		.dev = 9,
		.pid = pid,
		.tid = pid,
		.generation = generation,
		.path_bytes = strlen(path) + 1,
	};
	strcpy(map->path, path);
	add(ITEM_MAP, map);
	free(map);
}

static void add_task(uint32_t flags, uint32_t pid, uint32_t tid, const char *comm)
{
	struct pfstat_task task = {
		.event = { .type = PFSTAT_EVENT_TASK,
			   .size = sizeof(task),
			   .flags = flags,
			   .pid = pid,
			   .tid = tid,
			   .ns = now_ns },
		.parent = tid,
		.parent_pid = pid,
	};

	memcpy(task.comm, comm, strlen(comm));
	add(ITEM_EVENT, &task);
}

/* ips: innermost first, ended by 0, or NULL if no stack was recorded */
static void add_fault(uint32_t pid, uint32_t tid, uint32_t kind, uint64_t duration_ns,
		      const uint64_t *ips)
{
	struct pfstat_fault fault = {
		.event = { .type = PFSTAT_EVENT_FAULT,
			   .size = sizeof(fault),
			   .flags = kind,
			   .pid = pid,
			   .tid = tid,
			   .ns = now_ns + duration_ns },
		.start_ns = now_ns,
		.address = 0x1000000 + now_ns * 4096,
		.ip = ips ? ips[0] : CODE + 0x77,
		.inode = kind == PFSTAT_FAULT_FILE ? 70 : 0,
		.dev = kind == PFSTAT_FAULT_FILE ? 9 : 0,
		.pgoff = 3,
		.fault_flags = PFSTAT_FLAG_USER,
	};
	struct pfstat_stack stack = {
		.event = { .type = PFSTAT_EVENT_STACK,
			   .size = sizeof(stack),
			   .pid = pid,
			   .tid = tid,
			   .ns = now_ns },
		.address = fault.address,
	};

	for (; ips && ips[stack.frames]; stack.frames++)
		stack.ips[stack.frames] = ips[stack.frames];
	if (ips)
		add(ITEM_EVENT, &stack);
	now_ns += duration_ns;
	add(ITEM_EVENT, &fault);
	now_ns += 100;
}

static const uint64_t from_main[] = { LIBRARY + 0x10, CODE + 0x21, 0 };
static const uint64_t from_other[] = { LIBRARY + 0x18, CODE + 0x31, 0 };
static const uint64_t from_jit[] = { JIT, CODE + 0x21, 0 };

static void name_code(const char *path, uint64_t offset, const char *symbol)
{
	ck_assert_int_eq(analysis_name_code(analysis, path, offset, symbol), 0);
}

/* Thread 10 has 2 faults on memory from main and 1 on a file, 11 has 3 others. */
static void make_profile(void)
{
	analysis = analysis_new(true, 4096, 1U << GROUP_BY_FILE);
	ck_assert_ptr_nonnull(analysis);
	ck_assert_int_eq(profile_init(&profile, analysis), 0);
	ck_assert_int_eq(analysis_listen(analysis, profile_add_fault, &profile), 0);
	now_ns = T0;
	map_file(10, CODE, 60, "/bin/program");
	map_file(10, LIBRARY, 61, "/lib/libc.so");
	map_file(10, LIBRARY + 0x100000, 70, "/data/file");
	add_task(0, 10, 10, "program");
	add_task(PFSTAT_TASK_FORK, 10, 11, "worker");
	add_fault(10, 10, PFSTAT_FAULT_ANON, 1000, from_main);
	add_fault(10, 11, PFSTAT_FAULT_ANON, 50, from_jit);
	add_fault(10, 10, PFSTAT_FAULT_FILE, 7000, from_other);
	add_fault(10, 10, PFSTAT_FAULT_ANON, 200, from_main);
	add_fault(10, 11, PFSTAT_FAULT_COW, 30, NULL);
	add_task(PFSTAT_TASK_EXIT, 10, 11, "worker");
	add_task(PFSTAT_TASK_FORK, 10, 11, "second");
	add_fault(10, 11, PFSTAT_FAULT_COW, 5, NULL);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	name_code("/lib/libc.so", 0x10, "memset+0x10");
	name_code("/lib/libc.so", 0x18, "memset+0x18");
	name_code("/bin/program", 0x20, "main+0x20");
	ck_assert_int_eq(profile_finish(&profile), 0);
}

static void free_profile(void)
{
	profile_exit(&profile);
	analysis_free(analysis);
}

#endif
