// SPDX-License-Identifier: GPL-2.0-only
/* Faults made from perf records: times, files, kinds and losses. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "runner.h"
#include "user/collect/perf_stream.h"

#define PAGE 4096ULL
#define BASE 0x7f0000000000ULL

static struct perf_stream *stream;
static struct pfstat_fault faults[16];
static struct pfstat_off_cpu intervals[16];
static struct pfstat_task tasks[16];
static struct pfstat_wait waits[16];
static struct pfstat_stack stacks[16];
static struct pfstat_reclaim reclaims[16];
static size_t nr_faults, nr_intervals, nr_tasks, nr_waits, nr_stacks, nr_maps, nr_reclaims;

static int collect(void *context, const struct item *item)
{
	(void)context;
	if (item->type == ITEM_MAP)
		nr_maps++;
	else if (item->event->type == PFSTAT_EVENT_FAULT)
		faults[nr_faults++] = *(const struct pfstat_fault *)item->event;
	else if (item->event->type == PFSTAT_EVENT_OFF_CPU)
		intervals[nr_intervals++] = *(const struct pfstat_off_cpu *)item->event;
	else if (item->event->type == PFSTAT_EVENT_TASK)
		tasks[nr_tasks++] = *(const struct pfstat_task *)item->event;
	else if (item->event->type == PFSTAT_EVENT_STACK)
		stacks[nr_stacks++] = *(const struct pfstat_stack *)item->event;
	else if (item->event->type == PFSTAT_EVENT_RECLAIM)
		reclaims[nr_reclaims++] = *(const struct pfstat_reclaim *)item->event;
	else if (item->event->type == PFSTAT_EVENT_WAIT)
		waits[nr_waits++] = *(const struct pfstat_wait *)item->event;
	return 0;
}

static void setup(void)
{
	stream = perf_stream_new(PAGE, 4);
	ck_assert_ptr_nonnull(stream);
}

static void teardown(void)
{
	perf_stream_free(stream);
}

/* A record with any layout: a header, and 64-bit words. */
static void add(uint32_t type, uint16_t misc, const uint64_t *words, size_t nr)
{
	uint64_t record[32];
	struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = sizeof(header) + nr * sizeof(*words),
	};

	memcpy(record, &header, sizeof(header));
	memcpy(record + 1, words, nr * sizeof(*words));
	ck_assert_int_eq(perf_stream_add(stream, 1, (const void *)record, collect, NULL), 0);
}

static uint64_t id(uint32_t pid, uint32_t tid)
{
	return pid | (uint64_t)tid << 32;
}

static void start_at(uint32_t tid, uint64_t ns, uint64_t address)
{
	const uint64_t words[] = { 0x401000, id(1, tid), ns, address };

	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, 4);
}

static void end_minor(uint32_t tid, uint64_t ns)
{
	const uint64_t words[] = { id(1, tid), ns };

	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, 2);
}

static void end_major(uint32_t tid, uint64_t ns)
{
	const uint64_t words[] = { id(1, tid), ns, 3 };

	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, 3);
}

/* The kernel stack of a switch: a mark, and two functions. */
static void stack(uint32_t tid, uint64_t ns, uint64_t ip, uint64_t caller)
{
	const uint64_t words[] = {
		PERF_SWITCH, ip, id(1, tid), ns, 3, PERF_CONTEXT_KERNEL, ip, caller,
	};

	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, words, 8);
}

/* A tracepoint's sample. The data has a word, and as many bytes in all as to fill the record. */
static void trace(uint64_t which, uint32_t pid, uint32_t tid, uint64_t ns, uint32_t word)
{
	const uint64_t words[] = {
		which, 0xffff0010, id(pid, tid), ns, 12 | (uint64_t)word << 32, 0
	};

	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, words, 6);
}

static void reclaim_begins(enum pfstat_reclaim_kind kind, uint32_t tid, uint64_t ns)
{
	trace(PERF_TRACED + 2 * kind, 1, tid, ns, 0);
}

static void reclaim_ends(enum pfstat_reclaim_kind kind, uint32_t tid, uint64_t ns, uint32_t pages)
{
	trace(PERF_TRACED + 2 * kind + 1, 1, tid, ns, pages);
}

/* Thread 1 of process 1 is watched from time 100 on. */
static void trace_thread_1(void)
{
	struct tracepoint points[PERF_NR_TRACED] = { 0 };

	points[2 * PFSTAT_RECLAIM_DIRECT + 1].field = (struct tracepoint_field){ 0, 4 };
	points[2 * PFSTAT_RECLAIM_CGROUP + 1].field = (struct tracepoint_field){ 0, 4 };
	perf_stream_set_traced(stream, points);
	ck_assert_int_eq(perf_stream_know(stream, 1, 1, 100), 0);
}

static void switch_out(uint32_t tid, uint64_t ns, bool preempted)
{
	const uint64_t words[] = { id(1, tid), ns };

	add(PERF_RECORD_SWITCH,
	    PERF_RECORD_MISC_SWITCH_OUT | (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0),
	    words, 2);
}

static void switch_in(uint32_t tid, uint64_t ns)
{
	const uint64_t words[] = { id(1, tid), ns };

	add(PERF_RECORD_SWITCH, 0, words, 2);
}

static void lose(uint64_t count, uint64_t ns)
{
	const uint64_t words[] = { 9, count, id(1, 1), ns };

	add(PERF_RECORD_LOST, 0, words, 4);
}

static void fork_child(uint32_t pid, uint32_t tid, uint64_t ns)
{
	const uint64_t words[] = { id(pid, 1), id(tid, 1), ns, id(1, 1), ns };

	add(PERF_RECORD_FORK, 0, words, 5);
}

static void exit_thread(uint32_t tid, uint64_t ns)
{
	const uint64_t words[] = { id(1, 1), id(tid, 1), ns, id(1, tid), ns };

	add(PERF_RECORD_EXIT, 0, words, 5);
}

static void add_file_map(uint64_t address, uint64_t pages, uint64_t inode, uint64_t generation,
			 uint32_t prot, const char *path)
{
	uint64_t words[14] = {
		id(1, 1), address, pages * PAGE, 2 * PAGE, 8 | 1ULL << 32, inode, generation, prot,
	};

	strcpy((char *)(words + 8), path);
	words[12] = id(1, 1);
	words[13] = 50;
	add(PERF_RECORD_MMAP2, 0, words, 14);
}

static void add_map(uint64_t address, uint64_t pages, uint64_t inode, uint32_t prot,
		    const char *path)
{
	add_file_map(address, pages, inode, 0, prot, path);
}

TEST(test_fault_lasts_from_its_start_to_its_end)
{
	add_map(BASE, 16, 77, PROT_READ, "/data/f");
	start_at(1, 100, BASE + 3 * PAGE + 9);
	end_minor(1, 350);
	start_at(1, 400, BASE + 5 * PAGE);
	end_major(1, 9400);
	ck_assert_uint_eq(nr_faults, 2);
	ck_assert_uint_eq(faults[0].start_ns, 100);
	ck_assert_uint_eq(faults[0].event.ns, 350);
	ck_assert_uint_eq(faults[0].event.flags, PFSTAT_FAULT_FILE);
	ck_assert_uint_eq(faults[0].outcome, PFSTAT_OUTCOME_MINOR);
	ck_assert_uint_eq(faults[0].inode, 77);
	ck_assert_uint_eq(faults[0].dev, 8 << 20 | 1);
	ck_assert_uint_eq(faults[0].pgoff, 2 + 3);
	ck_assert_uint_eq(faults[0].ip, 0x401000);
	ck_assert_uint_eq(faults[0].origin, PFSTAT_ORIGIN_USER);
	ck_assert_uint_eq(faults[1].outcome, PFSTAT_OUTCOME_MAJOR);
	ck_assert_uint_eq(faults[1].event.ns - faults[1].start_ns, 9000);
}

TEST(test_stack_of_a_sleep_in_a_fault_comes_before_the_interval)
{
	start_at(1, 100, BASE);
	stack(1, 150, 0xffff0010, 0xffff0020);
	switch_out(1, 160, false);
	switch_in(1, 500);
	end_minor(1, 600);
	ck_assert_uint_eq(nr_waits, 1);
	ck_assert_uint_eq(waits[0].event.flags, PFSTAT_WAIT_OWN);
	ck_assert_uint_eq(waits[0].off_ns, 160);
	ck_assert_uint_eq(waits[0].off_ns, intervals[0].off_ns);
	ck_assert_uint_eq(waits[0].frames, 2);
	ck_assert_uint_eq(waits[0].ips[0], 0xffff0010);
	ck_assert_uint_eq(waits[0].ips[1], 0xffff0020);
	ck_assert_uint_eq(intervals[0].event.flags, PFSTAT_OFF_CPU_ASLEEP);
}

TEST(test_begin_and_end_of_a_reclaim_are_one_event)
{
	trace_thread_1();
	start_at(1, 110, BASE);
	reclaim_begins(PFSTAT_RECLAIM_CGROUP, 1, 120);
	reclaim_ends(PFSTAT_RECLAIM_CGROUP, 1, 150, 32);
	reclaim_begins(PFSTAT_RECLAIM_COMPACTION, 1, 160);
	reclaim_ends(PFSTAT_RECLAIM_COMPACTION, 1, 170, 7);
	end_minor(1, 200);
	ck_assert_uint_eq(nr_reclaims, 2);
	ck_assert_uint_eq(reclaims[0].event.flags, PFSTAT_RECLAIM_CGROUP);
	ck_assert_uint_eq(reclaims[0].event.pid, 1);
	ck_assert_uint_eq(reclaims[0].event.tid, 1);
	ck_assert_uint_eq(reclaims[0].start_ns, 120);
	ck_assert_uint_eq(reclaims[0].event.ns, 150);
	ck_assert_uint_eq(reclaims[0].pages, 32);
	ck_assert_uint_eq(reclaims[1].event.flags, PFSTAT_RECLAIM_COMPACTION);
	ck_assert_uint_eq(reclaims[1].pages, 0);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(perf_stream_counts(stream)->traced, 4);
}

TEST(test_reclaims_of_other_programs_are_counted_and_not_passed)
{
	trace_thread_1();
	reclaim_begins(PFSTAT_RECLAIM_DIRECT, 2, 120);
	reclaim_ends(PFSTAT_RECLAIM_DIRECT, 2, 150, 32);
	/* The tid of an exited thread may be another process's. */
	trace(PERF_TRACED + 2 * PFSTAT_RECLAIM_DIRECT, 5, 1, 160, 0);
	trace(PERF_TRACED + 2 * PFSTAT_RECLAIM_DIRECT + 1, 5, 1, 170, 1);
	exit_thread(1, 180);
	reclaim_begins(PFSTAT_RECLAIM_DIRECT, 1, 190);
	reclaim_ends(PFSTAT_RECLAIM_DIRECT, 1, 200, 32);
	ck_assert_uint_eq(nr_reclaims, 0);
	ck_assert_uint_eq(perf_stream_counts(stream)->traced, 6);
}

TEST(test_a_child_is_known_by_its_fork)
{
	trace_thread_1();
	fork_child(7, 7, 120);
	trace(PERF_TRACED + 2 * PFSTAT_RECLAIM_DIRECT, 7, 7, 130, 0);
	trace(PERF_TRACED + 2 * PFSTAT_RECLAIM_DIRECT + 1, 7, 7, 140, 3);
	ck_assert_uint_eq(nr_reclaims, 1);
	ck_assert_uint_eq(reclaims[0].event.pid, 7);
	ck_assert_uint_eq(reclaims[0].pages, 3);
}

TEST(test_a_reclaim_that_began_before_the_watch_is_not_passed)
{
	trace_thread_1();
	reclaim_begins(PFSTAT_RECLAIM_DIRECT, 1, 90);
	reclaim_ends(PFSTAT_RECLAIM_DIRECT, 1, 110, 32);
	ck_assert_uint_eq(nr_reclaims, 0);
}

TEST(test_a_reclaim_with_a_loss_in_between_is_not_passed)
{
	trace_thread_1();
	reclaim_begins(PFSTAT_RECLAIM_DIRECT, 1, 110);
	lose(2, 120);
	reclaim_ends(PFSTAT_RECLAIM_DIRECT, 1, 130, 32);
	reclaim_begins(PFSTAT_RECLAIM_DIRECT, 1, 140);
	reclaim_ends(PFSTAT_RECLAIM_CGROUP, 1, 150, 32);
	ck_assert_uint_eq(nr_reclaims, 0);
	reclaim_begins(PFSTAT_RECLAIM_DIRECT, 1, 160);
	reclaim_ends(PFSTAT_RECLAIM_DIRECT, 1, 170, 32);
	ck_assert_uint_eq(nr_reclaims, 1);
}

TEST(test_a_tracepoint_sample_longer_than_its_record_is_refused)
{
	const struct sample_raw sample = {
		.at = {
			.header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(sample) },
			.id = PERF_TRACED, .pid = 1, .tid = 1, .ns = 120,
		},
		.bytes = 5,
	};

	ck_assert_int_eq(perf_stream_add(stream, 1, &sample.at.header, collect, NULL), -EPROTO);
}

/* The frame of the outermost function has no return address. */
TEST(test_start_with_a_stack_is_a_start_and_a_stack)
{
	const uint64_t words[] = {
		PERF_FAULT_START,  0x401000, id(1, 1), 100, BASE + 9, 5,
		PERF_CONTEXT_USER, 0x401000, 0x402000, 0,   0x403000,
	};

	add_map(BASE, 16, 77, PROT_READ, "/data/f");
	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, 11);
	end_minor(1, 350);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(faults[0].start_ns, 100);
	ck_assert_uint_eq(faults[0].address, BASE + 9);
	ck_assert_uint_eq(faults[0].ip, 0x401000);
	ck_assert_uint_eq(faults[0].inode, 77);
	ck_assert_uint_eq(nr_stacks, 1);
	ck_assert_uint_eq(stacks[0].event.ns, 100);
	ck_assert_uint_eq(stacks[0].address, BASE + 9);
	ck_assert_uint_eq(stacks[0].frames, 2);
	ck_assert_uint_eq(stacks[0].ips[0], 0x401000);
	ck_assert_uint_eq(stacks[0].ips[1], 0x402000);
	ck_assert_uint_eq(perf_stream_counts(stream)->samples[PERF_FAULT_START], 1);
}

TEST(test_switch_outside_a_fault_or_of_a_preempted_thread_passes_no_stack)
{
	stack(1, 50, 0xffff0010, 0xffff0020);
	switch_out(1, 60, false);
	switch_in(1, 70);
	start_at(1, 100, BASE);
	stack(1, 150, 0xffff0010, 0xffff0020);
	switch_out(1, 160, true);
	switch_in(1, 500);
	/* Its stack was lost: that of the switch before does not count. */
	switch_out(1, 510, false);
	switch_in(1, 590);
	end_minor(1, 600);
	ck_assert_uint_eq(nr_intervals, 3);
	ck_assert_uint_eq(nr_waits, 0);
}

TEST(test_stack_shows_iowait)
{
	static const struct perf_function functions[PERF_NR_FUNCTIONS] = {
		[PERF_IO_SCHEDULE] = { 0xffff0100, 0xffff0110 },
	};

	ck_assert(!perf_stream_sees_throttle(stream));
	perf_stream_set_functions(stream, functions);
	ck_assert(!perf_stream_sees_throttle(stream));
	start_at(1, 100, BASE);
	stack(1, 150, 0xffff0010, 0xffff0108);
	switch_out(1, 160, false);
	switch_in(1, 500);
	stack(1, 510, 0xffff0010, 0xffff0110);
	switch_out(1, 520, false);
	switch_in(1, 590);
	end_major(1, 600);
	ck_assert_uint_eq(intervals[0].event.flags, PFSTAT_OFF_CPU_ASLEEP | PFSTAT_OFF_CPU_IOWAIT);
	ck_assert_uint_eq(intervals[1].event.flags, PFSTAT_OFF_CPU_ASLEEP);
}

TEST(test_stack_shows_a_sleep_above_memory_high)
{
	static const struct perf_function functions[PERF_NR_FUNCTIONS] = {
		[PERF_OVER_HIGH_INNER] = { 0xffff0100, 0xffff0110 },
	};
	const uint64_t deep[] = {
		PERF_SWITCH,	     0xffff0010, id(1, 1),   700,	 8,
		PERF_CONTEXT_KERNEL, 0xffff0010, 0xffff0020, 0xffff0030, 0xffff0040,
		0xffff0050,	     0xffff0060, 0xffff0104,
	};

	perf_stream_set_functions(stream, functions);
	ck_assert(perf_stream_sees_throttle(stream));
	stack(1, 150, 0xffff0010, 0xffff0104);
	switch_out(1, 160, false);
	switch_in(1, 500);
	/* Another thread had the CPU. */
	stack(1, 510, 0xffff0010, 0xffff0104);
	switch_out(1, 520, true);
	switch_in(1, 590);
	/* The function reclaims memory, and waits there. */
	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, deep, 13);
	switch_out(1, 710, false);
	switch_in(1, 800);
	/* The stack was lost. */
	switch_out(1, 900, false);
	switch_in(1, 950);
	ck_assert_uint_eq(nr_reclaims, 1);
	ck_assert_uint_eq(reclaims[0].event.flags, PFSTAT_RECLAIM_THROTTLE);
	ck_assert_uint_eq(reclaims[0].start_ns, 160);
	ck_assert_uint_eq(reclaims[0].event.ns, 500);
	ck_assert_uint_eq(nr_intervals, 4);
}

/* The count in a sample is the kernel's, but the record's size limits it. */
TEST(test_stack_ends_with_its_record)
{
	const uint64_t words[] = { PERF_SWITCH, 0, id(1, 1), 150, 100, 0xffff0010 };

	start_at(1, 100, BASE);
	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, words, 6);
	switch_out(1, 160, false);
	ck_assert_uint_eq(nr_waits, 1);
	ck_assert_uint_eq(waits[0].frames, 1);
}

TEST(test_start_without_an_end_is_a_fault_that_failed)
{
	start_at(1, 100, 0x10);
	start_at(1, 900, 0x5010);
	end_minor(1, 950);
	start_at(2, 1000, 0x10);
	exit_thread(2, 1500);
	ck_assert_uint_eq(nr_faults, 3);
	ck_assert_uint_eq(faults[0].outcome, PFSTAT_OUTCOME_ERROR);
	ck_assert_uint_eq(faults[0].start_ns, 100);
	ck_assert(faults[0].perf & PFSTAT_PERF_NO_END);
	ck_assert_uint_eq(faults[1].outcome, PFSTAT_OUTCOME_MINOR);
	ck_assert_uint_eq(faults[2].outcome, PFSTAT_OUTCOME_ERROR);
	ck_assert_uint_eq(faults[2].event.tid, 2);
	ck_assert_uint_eq(perf_stream_counts(stream)->failed, 2);
}

TEST(test_fault_open_at_the_end_has_not_failed)
{
	start_at(1, 100, 0x10);
	perf_stream_finish(stream);
	ck_assert_uint_eq(nr_faults, 0);
	ck_assert_uint_eq(perf_stream_counts(stream)->failed, 0);
	ck_assert_uint_eq(perf_stream_counts(stream)->at_edges, 1);
}

TEST(test_end_of_a_fault_that_started_before_the_watch_is_at_the_edge)
{
	end_minor(1, 100);
	ck_assert_uint_eq(perf_stream_counts(stream)->at_edges, 1);
	ck_assert_uint_eq(nr_faults, 0);
}

/* The events of starts are opened last, and the thread faults meanwhile. */
TEST(test_ends_from_before_the_watch_is_complete_are_at_the_edge)
{
	const struct perf_stream_counts *counts = perf_stream_counts(stream);

	perf_stream_settle(stream, 0, 300);
	end_minor(1, 100);
	end_minor(1, 200);
	end_minor(1, 400); /* of a fault that may have started before */
	ck_assert_uint_eq(counts->at_edges, 3);
	end_minor(1, 500);
	ck_assert_uint_eq(counts->at_edges, 3);
	ck_assert_uint_eq(counts->partial + counts->unpaired + counts->failed, 1);
	ck_assert_uint_eq(nr_faults, 0);
}

/* It was forked before its parent had the events of starts. */
TEST(test_faults_of_a_thread_without_start_events_are_counted_and_named)
{
	const struct perf_stream_counts *counts = perf_stream_counts(stream);

	fork_child(1, 7, 100);
	perf_stream_settle(stream, 0, 50);
	end_minor(7, 200);
	end_major(7, 300);
	ck_assert_uint_eq(counts->partial, 2);
	ck_assert_uint_eq(counts->partial_rows.nr, 1);
	ck_assert_uint_eq(counts->partial_rows.rows[0].tid, 7);
	ck_assert_uint_eq(counts->partial_rows.rows[0].samples, 2);
	lose(1, 400);
	end_minor(7, 500); /* perhaps its start was lost */
	ck_assert_uint_eq(counts->unpaired, 1);
	ck_assert_uint_eq(counts->partial, 2);
	ck_assert_uint_eq(nr_faults, 0);
}

TEST(test_start_and_end_from_different_tries_to_watch_are_no_fault)
{
	perf_stream_settle(stream, 150, 200);
	start_at(1, 100, BASE);
	end_minor(1, 300);
	ck_assert_uint_eq(perf_stream_counts(stream)->at_edges, 1);
	start_at(2, 100, BASE);
	start_at(2, 400, BASE);
	end_minor(2, 500);
	ck_assert_uint_eq(perf_stream_counts(stream)->at_edges, 2);
	ck_assert_uint_eq(perf_stream_counts(stream)->failed, 0);
	ck_assert_uint_eq(nr_faults, 1);
}

/* The end of the first fault and the start of the second were lost, so their times are unknown. */
TEST(test_pair_with_a_loss_in_between_is_no_fault)
{
	start_at(1, 100, BASE);
	lose(2, 500);
	end_minor(1, 600);
	ck_assert_uint_eq(nr_faults, 0);
	ck_assert_uint_eq(perf_stream_counts(stream)->unpaired, 2);
	ck_assert_uint_eq(perf_stream_counts(stream)->lost, 2);
	start_at(1, 700, BASE);
	end_minor(1, 800);
	ck_assert_uint_eq(nr_faults, 1);
}

TEST(test_loss_belongs_to_the_thread_on_both_sides_of_the_gap)
{
	const struct perf_stream_counts *counts = perf_stream_counts(stream);

	start_at(1, 100, BASE);
	lose(5, 500);
	end_minor(1, 600);
	start_at(2, 700, BASE);
	lose(9, 800); /* thread 1 wrote after the gap, thread 2 before it */
	end_minor(1, 900);
	lose(4, 950);
	ck_assert_uint_eq(counts->lost, 18);
	ck_assert_uint_eq(counts->lost_rows.nr, 1);
	ck_assert_uint_eq(counts->lost_rows.rows[0].tid, 1);
	ck_assert_uint_eq(counts->lost_rows.rows[0].samples, 9);
}

TEST(test_start_with_a_loss_after_it_has_not_failed)
{
	start_at(1, 100, BASE);
	lose(1, 500);
	start_at(1, 600, BASE + PAGE);
	end_minor(1, 700);
	ck_assert_uint_eq(nr_faults, 1);
	ck_assert_uint_eq(perf_stream_counts(stream)->failed, 0);
	ck_assert_uint_eq(perf_stream_counts(stream)->unpaired, 1);
}

TEST(test_switches_are_sleeps_or_preemptions)
{
	start_at(1, 100, BASE);
	switch_out(1, 150, false);
	switch_in(1, 250);
	switch_out(1, 260, true);
	switch_in(1, 290);
	end_minor(1, 300);
	ck_assert_uint_eq(nr_intervals, 2);
	ck_assert_uint_eq(intervals[0].off_ns, 150);
	ck_assert_uint_eq(intervals[0].event.ns, 250);
	ck_assert_uint_eq(intervals[0].event.flags, PFSTAT_OFF_CPU_ASLEEP);
	ck_assert_uint_eq(intervals[1].event.flags, PFSTAT_OFF_CPU_PREEMPTED);
	ck_assert_uint_eq(nr_faults, 1);
}

/* A thread returns to a CPU it never left: the end of this fault may be lost too. */
TEST(test_lost_switch_makes_the_fault_doubtful)
{
	start_at(1, 100, BASE);
	switch_in(1, 250);
	end_minor(1, 300);
	ck_assert_uint_eq(nr_faults, 0);
	ck_assert_uint_eq(perf_stream_counts(stream)->unpaired, 2);
}

static uint32_t kind_of_fault(uint32_t pid, uint32_t tid, uint64_t address)
{
	const uint64_t words[] = { 0x401000, id(pid, tid), 1000, address };
	const uint64_t end[] = { id(pid, tid), 1100 };

	nr_faults = 0;
	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, 4);
	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, end, 2);
	ck_assert_uint_eq(nr_faults, 1);
	return faults[0].event.flags;
}

TEST(test_kind_comes_from_the_mapping_and_from_history)
{
	add_map(BASE, 16, 77, PROT_READ, "/data/f");
	add_map(BASE + 16 * PAGE, 16, 0, PROT_READ | PROT_WRITE, "//anon");
	add_map(BASE + 64 * PAGE, 2, 0, PROT_READ, "[vvar]");
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE), PFSTAT_FAULT_FILE);
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE + 17 * PAGE), PFSTAT_FAULT_ANON);
	ck_assert(faults[0].perf & PFSTAT_PERF_WRITABLE);
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE + 17 * PAGE), PFSTAT_FAULT_AGAIN);
	ck_assert(faults[0].perf & PFSTAT_PERF_AGAIN);
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE + 64 * PAGE), PFSTAT_FAULT_FILE);
	/* mremap() may put other memory there at any time. */
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE + 99 * PAGE), PFSTAT_FAULT_OTHER);
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE + 99 * PAGE), PFSTAT_FAULT_OTHER);
}

#define PAST (PFSTAT_PERF_AGAIN | PFSTAT_PERF_OFTEN | PFSTAT_PERF_REMAPPED | PFSTAT_PERF_MAPPED)

static uint32_t past_of_fault(uint64_t address)
{
	kind_of_fault(1, 1, address);
	ck_assert(faults[0].perf & PFSTAT_PERF_HISTORY);
	return faults[0].perf & PAST;
}

TEST(test_a_fault_has_its_pages_past)
{
	add_map(BASE, 16, 0, PROT_READ | PROT_WRITE, "//anon");
	ck_assert_uint_eq(past_of_fault(BASE), 0);
	ck_assert_uint_eq(past_of_fault(BASE), PFSTAT_PERF_AGAIN);
	ck_assert_uint_eq(past_of_fault(BASE), PFSTAT_PERF_AGAIN | PFSTAT_PERF_OFTEN);
	/* munmap() and mmap() */
	add_map(BASE, 16, 0, PROT_READ | PROT_WRITE, "//anon");
	ck_assert_uint_eq(past_of_fault(BASE), PFSTAT_PERF_REMAPPED);
	ck_assert_uint_eq(past_of_fault(BASE + PAGE), 0);
	ck_assert_uint_eq(past_of_fault(BASE), PFSTAT_PERF_AGAIN);
}

TEST(test_a_fault_on_a_page_of_a_file_has_the_pages_past)
{
	add_map(BASE, 16, 77, PROT_READ, "/data/f");
	ck_assert_uint_eq(past_of_fault(BASE + 3 * PAGE), 0);
	add_map(BASE + 64 * PAGE, 16, 77, PROT_READ, "/data/f");
	ck_assert_uint_eq(past_of_fault(BASE + 67 * PAGE), PFSTAT_PERF_MAPPED);
	ck_assert_uint_eq(past_of_fault(BASE + 68 * PAGE), 0);
	ck_assert_uint_eq(past_of_fault(BASE + 68 * PAGE), PFSTAT_PERF_AGAIN);
	/* The file's pages were not memory that the process gave back. */
	add_map(BASE, 16, 0, PROT_READ | PROT_WRITE, "//anon");
	ck_assert_uint_eq(past_of_fault(BASE + 3 * PAGE), 0);
}

/* The kernel reports the mapping that the range has become a part of. */
TEST(test_mprotect_that_joins_two_mappings_leaves_the_pages)
{
	add_map(BASE, 4, 0, PROT_READ | PROT_WRITE, "//anon");
	add_map(BASE + 4 * PAGE, 4, 0, PROT_READ, "//anon");
	ck_assert_uint_eq(past_of_fault(BASE + 5 * PAGE), 0);
	add_map(BASE, 8, 0, PROT_READ | PROT_WRITE, "//anon");
	ck_assert_uint_eq(past_of_fault(BASE + 5 * PAGE), PFSTAT_PERF_AGAIN);
}

TEST(test_a_child_has_the_name_its_parent_had_before_the_watch)
{
	const char name[16] = "server";

	ck_assert_int_eq(perf_stream_name(stream, 1, 1, name, collect, NULL), 0);
	fork_child(2, 2, 100);
	ck_assert_uint_eq(nr_tasks, 2);
	ck_assert_uint_eq(tasks[0].event.tid, 1);
	ck_assert_str_eq(tasks[0].comm, "server");
	ck_assert_str_eq(tasks[1].comm, "server");
}

TEST(test_child_faults_again_on_a_page_of_its_parent)
{
	add_map(BASE, 16, 0, PROT_READ | PROT_WRITE, "//anon");
	kind_of_fault(1, 1, BASE);
	fork_child(2, 2, 1200);
	ck_assert_uint_eq(kind_of_fault(2, 2, BASE), PFSTAT_FAULT_AGAIN);
	ck_assert_uint_eq(kind_of_fault(2, 2, BASE + PAGE), PFSTAT_FAULT_ANON);
	ck_assert_uint_eq(tasks[0].event.flags, PFSTAT_TASK_FORK);
	ck_assert_uint_eq(tasks[0].parent_pid, 1);
}

TEST(test_child_faults_for_the_first_time_on_a_file_page_of_its_parent)
{
	add_map(BASE, 16, 77, PROT_READ, "/data/f");
	kind_of_fault(1, 1, BASE);
	kind_of_fault(1, 1, BASE);
	fork_child(2, 2, 1200);
	ck_assert_uint_eq(kind_of_fault(2, 2, BASE), PFSTAT_FAULT_FILE);
	ck_assert_uint_eq(kind_of_fault(2, 2, BASE), PFSTAT_FAULT_AGAIN);
	ck_assert(!(faults[0].perf & PFSTAT_PERF_OFTEN));
	/* A private page is the child's from the fork on. */
	add_map(BASE, 16, 77, PROT_READ | PROT_WRITE, "/data/f");
	kind_of_fault(1, 1, BASE);
	fork_child(3, 3, 1300);
	ck_assert_uint_eq(kind_of_fault(3, 3, BASE), PFSTAT_FAULT_AGAIN);
}

/* perf reports the whole mapping when it grows or changes protection, but never munmap(). */
TEST(test_only_new_memory_is_touched_for_the_first_time)
{
	add_map(BASE, 16, 0, PROT_READ | PROT_WRITE, "//anon");
	kind_of_fault(1, 1, BASE + PAGE);
	add_map(BASE, 32, 0, PROT_READ | PROT_WRITE, "//anon"); /* it grows */
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE + PAGE), PFSTAT_FAULT_AGAIN);
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE + 20 * PAGE), PFSTAT_FAULT_ANON);
	add_map(BASE - 16 * PAGE, 48, 0, PROT_READ | PROT_WRITE, "//anon"); /* downwards */
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE + PAGE), PFSTAT_FAULT_AGAIN);
	add_map(BASE, 16, 0, PROT_READ, "//anon"); /* mprotect() */
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE + PAGE), PFSTAT_FAULT_AGAIN);
	add_map(BASE, 16, 0, PROT_READ, "//anon"); /* munmap() and mmap() */
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE + PAGE), PFSTAT_FAULT_ANON);
}

/* The deleted file's mapping seems to have grown. */
TEST(test_a_new_file_with_the_inode_of_another_is_new_memory)
{
	add_file_map(BASE, 16, 77, 5, PROT_READ, "/data/old");
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE), PFSTAT_FAULT_FILE);
	add_file_map(BASE, 32, 77, 5, PROT_READ, "/data/old");
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE), PFSTAT_FAULT_AGAIN);
	add_file_map(BASE, 48, 77, 6, PROT_READ, "/data/new");
	ck_assert_uint_eq(kind_of_fault(1, 1, BASE), PFSTAT_FAULT_FILE);
}

TEST(test_fault_of_the_kernel_has_no_instruction_of_the_program)
{
	const uint64_t words[] = { 0xffffffff81000000, id(1, 1), 100, BASE };

	add(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, words, 4);
	end_minor(1, 200);
	ck_assert_uint_eq(faults[0].origin, PFSTAT_ORIGIN_KERNEL);
	ck_assert_uint_eq(faults[0].ip, 0);
	ck_assert_uint_eq(faults[0].fault_flags & PFSTAT_FLAG_USER, 0);
}

static void execute(uint32_t tid, uint64_t ns, const char *name)
{
	uint64_t words[5] = { id(1, tid), 0, 0, id(1, tid), ns };

	strcpy((char *)(words + 1), name);
	add(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, words, 5);
}

TEST(test_exec_without_a_mapping_shows_that_the_kernel_ended_the_events)
{
	const struct perf_stream_counts *counts = perf_stream_counts(stream);

	execute(1, 100, "shell");
	add_map(BASE, 33, 0, PROT_READ, "[stack]");
	exit_thread(1, 200);
	ck_assert_uint_eq(counts->ended, 0);
	execute(2, 300, "ping");
	exit_thread(2, 310);
	execute(3, 400, "sudo");
	exit_thread(3, 410);
	ck_assert_uint_eq(counts->ended, 2);
	ck_assert_str_eq(counts->ended_name, "ping");
}

/* The mapping may be among the lost records. */
TEST(test_exec_with_a_loss_after_it_shows_nothing)
{
	execute(1, 100, "shell");
	lose(1, 150);
	exit_thread(1, 200);
	ck_assert_uint_eq(perf_stream_counts(stream)->ended, 0);
}

TEST(test_stack_of_a_new_program_begins_with_its_arguments)
{
	const struct perf_stream_counts *counts = perf_stream_counts(stream);

	execute(1, 100, "program");
	add_map(BASE, 13, 0, PROT_READ | PROT_WRITE, "//anon"); /* Linux 6.12: mprotect() */
	add_map(BASE, 13 + 32, 0, PROT_READ | PROT_WRITE, "[stack]");
	ck_assert_uint_eq(counts->exec_pages, 13);
	add_map(BASE, 64, 0, PROT_READ | PROT_WRITE, "[stack]"); /* it grows */
	ck_assert_uint_eq(counts->exec_pages, 13);
	execute(1, 200, "other");
	add_map(BASE, 16, 77, PROT_READ, "/bin/other");
	add_map(BASE, 64, 0, PROT_READ | PROT_WRITE, "[stack]");
	ck_assert_uint_eq(counts->exec_pages, 13);
}

FIXTURE(setup, teardown);
