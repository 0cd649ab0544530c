// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording with the given numbers of faults and classes, for figure tests:
 *
 *	make_classes FILE CLASSES FAULTS DECADES MS
 *
 * CLASSES: 1 to 12. The times within a class are spread over DECADES decades from 100 ns on, and
 * the faults over MS milliseconds. Two threads in different processes take turns. Slow faults sleep
 * for a read. Now and then a third process evicts the pages read.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/fault_class.h"
#include "user/print/json/json_environment.h"
#include "user/recording/counters_json.h"
#include "user/recording/writer.h"

#define DEV	 1
#define INODE	 7
#define PAGES	 5000U
#define SLOW_NS	 20000U /* a fault taking longer has slept */
#define FIRST_NS 100

static const enum fault_class made[] = {
	FAULT_DISK,	 FAULT_LONG,	FAULT_AROUND, FAULT_ANON, FAULT_COW,  FAULT_WAIT,
	FAULT_READAHEAD, FAULT_MKWRITE, FAULT_LOCK,   FAULT_FILE, FAULT_SWAP, FAULT_RACED,
};
#define NR_MADE (sizeof(made) / sizeof(made[0]))

struct maker {
	struct recording_writer *writer;
	uint64_t now_ns;
	uint64_t random;
	uint64_t calls;
};

static uint32_t next_random(struct maker *maker, uint32_t below)
{
	maker->random = maker->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (maker->random >> 33) % below;
}

static void add(struct maker *maker, enum item_type type, const void *data)
{
	struct item item = { .type = type, .ns = maker->now_ns };

	item.record = data;
	if (recording_add(maker->writer, &item)) {
		fputs("make_classes: cannot write\n", stderr);
		exit(1);
	}
}

static void add_event(struct maker *maker, void *data, size_t size, uint16_t type, uint32_t pid)
{
	struct pfstat_event *event = data;

	event->type = type;
	event->size = size;
	event->pid = pid;
	event->tid = pid;
	event->ns = maker->now_ns;
	add(maker, ITEM_EVENT, event);
}

static void begin_process(struct maker *maker, uint32_t pid)
{
	struct pfstat_task task = { .event.flags = PFSTAT_TASK_FORK, .parent = 1, .parent_pid = 1 };

	snprintf(task.comm, sizeof(task.comm), "worker");
	add_event(maker, &task, sizeof(task), PFSTAT_EVENT_TASK, pid);
}

/* The middle half of the fault is a sleep: for a read, or else waiting for a CPU. */
static void add_sleep(struct maker *maker, uint32_t pid, uint32_t page, uint64_t ns, bool read)
{
	const uint64_t start_ns = maker->now_ns;
	struct pfstat_block block = {
		.event.flags = PFSTAT_BLOCK_FILE,
		.insert_ns = start_ns + ns / 8,
		.issue_ns = start_ns + ns / 4,
		.inode = INODE,
		.fs_dev = DEV,
		.pgoff = page,
		.bytes = 8 * 4096,
		.file_bytes = 8 * 4096,
	};
	struct pfstat_off_cpu stay = {
		.event.flags = read ? PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_IOWAIT : 0,
		.off_ns = start_ns + ns / 5,
		.woken_ns = read ? start_ns + ns * 5 / 8 : 0,
		.state = read ? 2 : 0,
	};

	if (read) {
		maker->now_ns = start_ns + ns * 5 / 8;
		add_event(maker, &block, sizeof(block), PFSTAT_EVENT_BLOCK, pid);
	}
	maker->now_ns = start_ns + ns * 3 / 4;
	add_event(maker, &stay, sizeof(stay), PFSTAT_EVENT_OFF_CPU, pid);
}

static void add_call(struct maker *maker, uint32_t pid, uint32_t page, uint64_t ns,
		     enum fault_class class)
{
	const struct pfstat_record record = {
		.pid = pid,
		.tid = pid,
		.dev = DEV,
		.inode = INODE,
		.pgoff = page,
		.address = 0x100000 + page * 4096UL,
		.start_ns = maker->now_ns,
		.duration_ns = ns,
		.class = class,
		.pfn = page + 1,
		.result = PFSTAT_RESULT_LOCKED | (class == FAULT_DISK ? PFSTAT_RESULT_MAJOR : 0),
		.facts = ns > SLOW_NS ? PFSTAT_FACT_SLEPT : 0,
	};

	if (ns > SLOW_NS)
		add_sleep(maker, pid, page, ns, class <= FAULT_READAHEAD);
	maker->now_ns = record.start_ns + ns;
	add(maker, ITEM_RECORD, &record);
	maker->calls++;
}

static void add_other(struct maker *maker, uint32_t pid, uint32_t page, uint64_t ns,
		      enum fault_class class)
{
	struct pfstat_fault fault = {
		.event.flags = PFSTAT_FAULT_FILE + (class - FAULT_FIRST_OTHER),
		.start_ns = maker->now_ns,
		.address = 0x7f0000000000 + page * 4096UL,
		.pgoff = 0x7f0000000 + page,
	};

	if (ns > SLOW_NS)
		add_sleep(maker, pid, page, ns, false);
	maker->now_ns = fault.start_ns + ns;
	add_event(maker, &fault, sizeof(fault), PFSTAT_EVENT_FAULT, pid);
}

static void evict(struct maker *maker, uint32_t page)
{
	struct pfstat_page pages = { .inode = INODE, .dev = DEV, .pgoff = page, .pages = 8 };

	snprintf(pages.comm, sizeof(pages.comm), "hog");
	add_event(maker, &pages, sizeof(pages), PFSTAT_EVENT_PAGE, 103);
}

static void add_faults(struct maker *maker, unsigned int classes, unsigned int faults,
		       double decades, double ms)
{
	const double gap_ns = ms * 1e6 / faults;
	enum fault_class class;
	unsigned int i, page;
	uint64_t ns, next_ns;

	for (i = 0; i < faults; i++) {
		next_ns = 1000000 + i * gap_ns;
		maker->now_ns = next_ns > maker->now_ns ? next_ns : maker->now_ns;
		class = made[i % classes];
		page = next_random(maker, PAGES / 8) * 8;
		/* Each class has a separate part of the range, and now and then the whole range. */
		ns = FIRST_NS *
		     pow(10, decades * (i % 97 ? (i % classes + next_random(maker, 1000) / 1000.0) /
							 classes :
						 next_random(maker, 1000) / 1000.0));
		if (class < FAULT_FIRST_OTHER)
			add_call(maker, 100 + i / classes % 2, page, ns, class);
		else
			add_other(maker, 100 + i / classes % 2, page, ns, class);
		maker->now_ns += 200;
		if (i % 50 == 49)
			evict(maker, page);
	}
}

static void fill_counters(struct run_counters *counters, const struct maker *maker)
{
	run_counters_init(counters);
	counters->start_ns = 1;
	counters->end_ns = maker->now_ns;
	counters->calls = maker->calls;
	counters->lost = 0;
	counters->counts[PFSTAT_COUNT_EVENTS_LOST] = 0;
	counters->counts[PFSTAT_COUNT_SYSCALL_LOST] = 0;
	counters->have_bpf = true;
	counters->hooks = (1U << HOOK_PERF) - 1;
}

static json_t *head_of_run(void)
{
	struct report report;

	report_init(&report);
	strcpy(report.environment.kind, "record");
	report.environment.started_s = 1767312000;
	strcpy(report.environment.command, "made up");
	report.bpf.known = true;
	report.bpf.hooks = (1U << HOOK_PERF) - 1;
	return json_head(&report);
}

int main(int argc, char **argv)
{
	struct maker maker = { .now_ns = 1000 };
	struct run_counters counters;
	unsigned int classes;
	json_t *head, *tail;
	FILE *out;

	classes = argc == 6 ? strtoul(argv[2], NULL, 10) : 0;
	if (classes < 1 || classes > NR_MADE) {
		fputs("usage: make_classes FILE CLASSES FAULTS DECADES MS\n", stderr);
		return 2;
	}
	out = fopen(argv[1], "w");
	head = head_of_run();
	if (!out || !head || recording_begin(&maker.writer, out, head))
		return 1;
	begin_process(&maker, 100);
	begin_process(&maker, 101);
	add_faults(&maker, classes, strtoul(argv[3], NULL, 10), strtod(argv[4], NULL),
		   strtod(argv[5], NULL));
	fill_counters(&counters, &maker);
	tail = counters_json(&counters);
	if (!tail || recording_end(maker.writer, tail) || fclose(out))
		return 1;
	json_decref(head);
	json_decref(tail);
	return 0;
}
