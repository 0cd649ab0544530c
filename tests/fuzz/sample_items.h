/* SPDX-License-Identifier: GPL-2.0-only */
/* Some items of every kind, in sequence, for the initial corpora. */
#ifndef PFSTAT_TESTS_SAMPLE_ITEMS_H
#define PFSTAT_TESTS_SAMPLE_ITEMS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/item.h"

#define SAMPLE_ROUNDS 10 /* more than a tile */

typedef void (*taker)(void *context, const struct item *item);

static void give(taker take, void *context, enum item_type type, const void *data)
{
	const struct item item = { .type = type, .event = data };

	take(context, &item);
}

static void give_events(taker take, void *context, uint64_t ns)
{
	const struct pfstat_off_cpu off_cpu = {
		.event = { PFSTAT_EVENT_OFF_CPU, sizeof(off_cpu), 6, 100, 101, ns },
		.off_ns = ns - 100000,
		.woken_ns = ns - 2000,
		.state = 2,
	};
	const struct pfstat_block block = {
		.event = { PFSTAT_EVENT_BLOCK, sizeof(block), 8, 100, 101, ns },
		.insert_ns = ns - 99000,
		.issue_ns = ns - 98000,
		.sector = 4096,
		.bytes = 131072,
	};
	const struct pfstat_fault fault = {
		.event = { PFSTAT_EVENT_FAULT, sizeof(fault), PFSTAT_FAULT_ANON, 100, 101, ns },
		.start_ns = ns - 900,
		.address = 0x7f0000001000,
	};
	const struct pfstat_fault span = {
		.event = { PFSTAT_EVENT_FAULT, sizeof(span), PFSTAT_FAULT_HOOKED, 100, 101, ns },
		.start_ns = ns - 1300,
		.address = 0x7f0000001000,
		.fault_flags = 0x1054,
	};
	const struct pfstat_page page = {
		.event = { PFSTAT_EVENT_PAGE, sizeof(page), 0, 100, 101, ns },
		.inode = 12,
		.pgoff = ns % 97,
		.pages = 32,
	};
	const struct pfstat_task task = {
		.event = { PFSTAT_EVENT_TASK, sizeof(task), PFSTAT_TASK_EXEC, 100, 101, ns },
		.parent = 100,
		.comm = "corpus",
	};
	const struct pfstat_stack stack = {
		.event = { PFSTAT_EVENT_STACK, sizeof(stack), 0, 100, 101, ns },
		.address = 0x7f0000001000,
		.frames = 2,
		.ips = { 0x7f0000000010, 0x7f0000000040 },
	};
	const struct pfstat_advice advice = {
		.event = { PFSTAT_EVENT_ADVICE, sizeof(advice), 0, 100, 101, ns },
		.start_ns = ns - 900,
		.address = 0x7f0000000000,
		.bytes = 8192,
		.advice = 1,
	};
	const struct pfstat_reclaim reclaim = {
		.event = { PFSTAT_EVENT_RECLAIM, sizeof(reclaim), PFSTAT_RECLAIM_CGROUP, 100, 101,
			   ns },
		.start_ns = ns - 500,
		.pages = 32,
	};
	const struct pfstat_wait wait = {
		.event = { PFSTAT_EVENT_WAIT, sizeof(wait), PFSTAT_WAIT_NAMED, 100, 101, ns },
		.off_ns = ns - 100000,
		.functions = "folio_wait_bit_common<filemap_fault",
	};
	const struct pfstat_mapping mapping = {
		.event = { PFSTAT_EVENT_MAPPING, sizeof(mapping), 0, 100, 101, ns },
		.address = 0x7f0000000000,
		.bytes = 8192,
		.advice = 1,
		.ra_pages = 32,
	};
	const struct pfstat_call call = {
		.event = { PFSTAT_EVENT_CALL, sizeof(call), 0, 100, 101, ns },
		.start_ns = ns - 900,
		.args = { 0x7f0000000000, 8192, 1 },
		.caller = 0x7f0000000040,
		.kind = PFSTAT_CALL_MADVISE,
	};
	const struct pfstat_cpu_task cpu_task = {
		.event = { PFSTAT_EVENT_CPU_TASK, sizeof(cpu_task), 0, 100, 101, ns },
		.off_ns = ns - 100000,
		.ran_ns = 50000,
		.task_pid = 77,
		.task_tid = 78,
		.comm = "other",
	};
	const struct pfstat_userfault userfault = {
		.event = { PFSTAT_EVENT_USERFAULT, sizeof(userfault), 0, 200, 201, ns },
		.address = 0x7f0000001000,
		.target = 100,
		.comm = "restore",
	};
	const struct pfstat_fork fork = {
		.event = { PFSTAT_EVENT_FORK, sizeof(fork), PFSTAT_FORK_PAGES, 100, 101, ns },
		.pages = 4096,
		.table_bytes = 65536,
		.child = 300,
	};

	give(take, context, ITEM_EVENT, &fork);
	give(take, context, ITEM_EVENT, &cpu_task);
	give(take, context, ITEM_EVENT, &off_cpu);
	give(take, context, ITEM_EVENT, &block);
	give(take, context, ITEM_EVENT, &span);
	give(take, context, ITEM_EVENT, &fault);
	give(take, context, ITEM_EVENT, &page);
	give(take, context, ITEM_EVENT, &task);
	give(take, context, ITEM_EVENT, &stack);
	give(take, context, ITEM_EVENT, &advice);
	give(take, context, ITEM_EVENT, &reclaim);
	give(take, context, ITEM_EVENT, &wait);
	give(take, context, ITEM_EVENT, &mapping);
	give(take, context, ITEM_EVENT, &call);
	give(take, context, ITEM_EVENT, &userfault);
}

static void give_map(taker take, void *context, uint64_t ns)
{
	static const char path[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
	struct item_map *map = calloc(1, sizeof(*map) + sizeof(path));

	*map = (struct item_map){
		.ns = ns,
		.address = 0x7f0000000000,
		.bytes = 1 << 20,
		.inode = 12,
		.pid = 100,
		.tid = 101,
		.prot = 5,
		.flags = 2,
		.path_bytes = sizeof(path),
	};
	memcpy(map->path, path, sizeof(path));
	give(take, context, ITEM_MAP, map);
	free(map);
}

/* In time order, except for stacks, which precede their fault. */
static void give_all(taker take, void *context)
{
	struct pfstat_record record = {
		.duration_ns = 900,
		.address = 0x7f0000001000,
		.pfn = 0x1234,
		.inode = 12,
		.pid = 100,
		.tid = 101,
		.flags = 0x1054,
		.result = 0x200,
		.class = 4,
	};
	uint64_t i;

	for (i = 0; i < SAMPLE_ROUNDS; i++) {
		record.sequence = i + 1;
		record.start_ns = 5000000000 + i * 200000;
		record.pgoff = i * 37 % 11;
		record.before_ns = i % 2 ? 200 : 0;
		record.fault_ns = i % 2 ? 1300 : 0;
		give(take, context, ITEM_RECORD, &record);
		give_events(take, context, item_record_end_ns(&record));
		give_map(take, context, item_record_end_ns(&record));
	}
}

#endif
