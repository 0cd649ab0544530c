// SPDX-License-Identifier: GPL-2.0-only
/* Events that break the contracts in the headers are refused, whatever their source. */
#include <string.h>

#include "runner.h"
#include "user/model/item_valid.h"

static union {
	struct pfstat_event event;
	struct pfstat_fault fault;
	struct pfstat_block block;
	struct pfstat_page page;
	struct pfstat_task task;
	struct pfstat_stack stack;
	struct pfstat_wait wait;
	struct pfstat_mapping mapping;
	struct pfstat_call call;
	struct pfstat_userfault userfault;
	struct pfstat_cpu_task cpu_task;
} any;

static void make(enum pfstat_event_type type, size_t size)
{
	memset(&any, 0, sizeof(any));
	any.event.type = type;
	any.event.size = size;
}

TEST(test_each_event_has_its_size)
{
	static const size_t sizes[] = PFSTAT_EVENT_SIZES;
	enum pfstat_event_type type;

	for (type = 0; type < PFSTAT_NR_EVENTS; type++) {
		make(type, sizes[type]);
		ck_assert(item_valid_event(&any.event, sizes[type]));
		ck_assert(item_valid_event(&any.event, sizes[type] + 8));
		ck_assert(!item_valid_event(&any.event, sizes[type] - 1));
		any.event.size--;
		ck_assert(!item_valid_event(&any.event, sizes[type]));
		any.event.size += 2;
		ck_assert(!item_valid_event(&any.event, sizes[type] + 8));
	}
	make(PFSTAT_NR_EVENTS, 48);
	ck_assert(!item_valid_event(&any.event, 48));
	make(0, 48);
	ck_assert(!item_valid_event(&any.event, 0));
}

TEST(test_array_indexes_out_of_bounds_are_refused)
{
	struct pfstat_record record = { 0 };

	ck_assert(item_valid_record(&record));
	record.op = PFSTAT_NR_OPS;
	ck_assert(!item_valid_record(&record));
	record = (struct pfstat_record){ .class = PFSTAT_NR_CLASSES };
	ck_assert(!item_valid_record(&record));
	record = (struct pfstat_record){ .before = PFSTAT_NR_BEFORE };
	ck_assert(!item_valid_record(&record));

	make(PFSTAT_EVENT_FAULT, sizeof(any.fault));
	any.event.flags = PFSTAT_NR_FAULT_KINDS;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_FAULT, sizeof(any.fault));
	any.fault.outcome = PFSTAT_NR_OUTCOMES;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_WAIT, sizeof(struct pfstat_wait));
	any.wait.frames = PFSTAT_WAIT_FRAMES + 1;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_RECLAIM, sizeof(struct pfstat_reclaim));
	any.event.flags = PFSTAT_NR_RECLAIM_KINDS;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_MAPPING, sizeof(any.mapping));
	any.mapping.advice = 3;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_CALL, sizeof(any.call));
	any.call.kind = PFSTAT_NR_CALLS;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_STACK, sizeof(any.stack));
	any.stack.frames = PFSTAT_STACK_FRAMES + 1;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
}

TEST(test_names_without_an_end_are_refused)
{
	make(PFSTAT_EVENT_TASK, sizeof(any.task));
	memset(any.task.comm, 'x', sizeof(any.task.comm));
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_USERFAULT, sizeof(any.userfault));
	memset(any.userfault.comm, 'x', sizeof(any.userfault.comm));
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_WAIT, sizeof(any.wait));
	memset(any.wait.functions, 'x', sizeof(any.wait.functions));
	ck_assert(item_valid_event(&any.event, sizeof(any))); /* addresses */
	any.event.flags = PFSTAT_WAIT_NAMED;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_CPU_TASK, sizeof(any.cpu_task));
	memset(any.cpu_task.comm, 'x', sizeof(any.cpu_task.comm));
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_PAGE, sizeof(any.page));
	memset(any.page.comm, 'x', sizeof(any.page.comm));
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
}

/* fuzz_events found this: a loop over the pages took a minute. */
TEST(test_no_folio_has_more_pages_than_a_huge_page)
{
	struct pfstat_record record = { .order = 18 };

	ck_assert(item_valid_record(&record));
	record.order = 19;
	ck_assert(!item_valid_record(&record));
	make(PFSTAT_EVENT_PAGE, sizeof(any.page));
	any.page.pages = 1 << 18;
	ck_assert(item_valid_event(&any.event, sizeof(any)));
	any.page.pages++;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	any.page.pages = UINT32_MAX;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
}

/* A figure's axis counted pages in a double, which cannot count beyond 2^53. */
TEST(test_page_numbers_are_those_of_a_64_bit_offset_and_a_64_bit_mapping)
{
	const uint64_t last = (1ULL << 53) - 1;
	struct pfstat_record record = { .pgoff = last };
	struct item_map map = { .pgoff = last + 1, .path_bytes = 1 };

	ck_assert(item_valid_record(&record));
	record.pgoff++;
	ck_assert(!item_valid_record(&record));
	make(PFSTAT_EVENT_FAULT, sizeof(any.fault));
	any.fault.pgoff = last;
	ck_assert(item_valid_event(&any.event, sizeof(any)));
	any.fault.pgoff++;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_BLOCK, sizeof(any.block));
	any.block.pgoff = last;
	ck_assert(item_valid_event(&any.event, sizeof(any)));
	any.block.pgoff++;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	make(PFSTAT_EVENT_PAGE, sizeof(any.page));
	any.page.pgoff = last;
	ck_assert(item_valid_event(&any.event, sizeof(any)));
	any.page.pgoff++;
	ck_assert(!item_valid_event(&any.event, sizeof(any)));
	ck_assert(!item_valid_map(&map));
}

TEST(test_path_must_end_at_its_size)
{
	union {
		struct item_map map;
		char bytes[sizeof(struct item_map) + 8];
	} map = { 0 };

	ck_assert(!item_valid_map(&map.map));
	map.map.path_bytes = 1;
	ck_assert(item_valid_map(&map.map));
	map.map.path_bytes = 2;
	ck_assert(!item_valid_map(&map.map));
	map.bytes[sizeof(struct item_map)] = 'x';
	ck_assert(item_valid_map(&map.map));
	map.bytes[sizeof(struct item_map) + 1] = 'x';
	ck_assert(!item_valid_map(&map.map));
}
