// SPDX-License-Identifier: GPL-2.0-only
/*
 * A small recording for page tests, with something for each figure, and with names containing
 * markup, a formula and a command:
 *
 *	make_run FILE [bare]	bare: without eBPF
 *
 * Two processes read a file with PAGES pages, with a read-ahead of eight pages. The second process
 * evicts the first process's pages, and the first process reads them again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/print/json/json_environment.h"
#include "user/recording/counters_json.h"
#include "user/recording/writer.h"

#define PAGES	800U
#define WINDOW	8U
#define DEV	1
#define INODE	7
#define EVICTED 80U /* page offset of the file's first window */

static const char evil_path[] = "/tmp/<script>alert(1)</script>&\"'`rm -rf x`";
static const char *const evil_comms[] = { "<b>\"x'&`id`", "=1+$(id)\\" };

struct maker {
	struct recording_writer *writer;
	uint64_t now_ns;
	bool bare;
};

static void add(struct maker *maker, enum item_type type, const void *data)
{
	struct item item = { .type = type, .ns = maker->now_ns };

	item.record = data;
	if (recording_add(maker->writer, &item)) {
		fputs("make_run: cannot write\n", stderr);
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
	if (!maker->bare)
		add(maker, ITEM_EVENT, event);
}

static void begin_process(struct maker *maker, uint32_t pid)
{
	struct pfstat_task task = { .event.flags = PFSTAT_TASK_FORK, .parent = 1, .parent_pid = 1 };
	struct item_map *map = calloc(1, sizeof(*map) + sizeof(evil_path));

	if (!map)
		exit(1);
	snprintf(task.comm, sizeof(task.comm), "%s", evil_comms[pid % 2]);
	add_event(maker, &task, sizeof(task), PFSTAT_EVENT_TASK, pid);
	map->ns = maker->now_ns;
	map->address = 0x100000;
	map->bytes = PAGES * 4096UL;
	map->inode = INODE;
	map->dev = DEV;
	map->pid = pid;
	map->tid = pid;
	map->path_bytes = sizeof(evil_path);
	memcpy(map->path, evil_path, sizeof(evil_path));
	add(maker, ITEM_MAP, map);
	free(map);
}

static void add_request(struct maker *maker, uint32_t pid, uint32_t page)
{
	struct pfstat_block block = {
		.event.flags = PFSTAT_BLOCK_FILE,
		.insert_ns = maker->now_ns - 95000,
		.issue_ns = maker->now_ns - 90000,
		.inode = INODE,
		.fs_dev = DEV,
		.pgoff = page,
		.bytes = WINDOW * 4096,
		.file_bytes = WINDOW * 4096,
	};
	struct pfstat_off_cpu stay = {
		.event.flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_IOWAIT,
		.off_ns = maker->now_ns - 92000,
		.woken_ns = maker->now_ns + 1000,
		.state = 2,
	};

	add_event(maker, &block, sizeof(block), PFSTAT_EVENT_BLOCK, pid);
	maker->now_ns += 3000;
	add_event(maker, &stay, sizeof(stay), PFSTAT_EVENT_OFF_CPU, pid);
}

static void add_fault(struct maker *maker, uint32_t pid, uint32_t page, bool disk)
{
	struct pfstat_record record = {
		.pid = pid,
		.tid = pid,
		.dev = DEV,
		.inode = INODE,
		.pgoff = page,
		.address = 0x100000 + page * 4096UL,
		.start_ns = maker->now_ns,
		.duration_ns = disk ? 110000 : 400 + page % 7 * 30,
		.class = disk ? PFSTAT_CLASS_DISK : PFSTAT_CLASS_LONG,
		.pfn = page,
		.result = PFSTAT_RESULT_LOCKED | (disk ? PFSTAT_RESULT_MAJOR : 0),
		.facts = disk && !maker->bare ? PFSTAT_FACT_SLEPT : 0,
	};

	if (disk) {
		maker->now_ns += 100000;
		add_request(maker, pid, page);
	}
	maker->now_ns = record.start_ns + record.duration_ns;
	add(maker, ITEM_RECORD, &record);
	maker->now_ns += 500;
}

/* The second half of the last window is never touched. */
static void read_file(struct maker *maker, uint32_t pid, uint32_t pages)
{
	uint32_t page;

	for (page = 0; page < pages; page++)
		if (page < PAGES - WINDOW / 2)
			add_fault(maker, pid, page, page % WINDOW == 0);
}

static void evict(struct maker *maker, uint32_t pid)
{
	struct pfstat_page page = { .inode = INODE, .dev = DEV, .pages = EVICTED };

	snprintf(page.comm, sizeof(page.comm), "%s", evil_comms[pid % 2]);
	add_event(maker, &page, sizeof(page), PFSTAT_EVENT_PAGE, pid);
}

static void fill_counters(struct run_counters *counters, const struct maker *maker, uint64_t calls)
{
	run_counters_init(counters);
	counters->start_ns = 1;
	counters->end_ns = maker->now_ns;
	counters->calls = calls;
	counters->lost = 0;
	counters->counts[PFSTAT_COUNT_EVENTS_LOST] = 0;
	counters->counts[PFSTAT_COUNT_SYSCALL_LOST] = 0;
	counters->have_bpf = !maker->bare;
	counters->hooks = maker->bare ? 0 : (1U << HOOK_PERF) - 1;
}

static void fill_head(struct report *report, bool bare)
{
	report_init(report);
	strcpy(report->environment.kind, "record");
	report->environment.started_s = 1767225600;
	strcpy(report->environment.command, "<img src=x onerror=alert(2)> \xff & \"more\"");
	strcpy(report->environment.invocation, "pfdrive record -o run.pfs -- '<img src=x>'");
	strcpy(report->environment.machine, "<b>made up</b>");
	report->bpf.known = !bare;
	report->bpf.hooks = bare ? 0 : (1U << HOOK_PERF) - 1;
}

int main(int argc, char **argv)
{
	struct maker maker = { .now_ns = 1000, .bare = argc > 2 };
	FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
	json_t *head, *tail;
	struct report report;
	struct run_counters counters;

	if (!out)
		return 2;
	fill_head(&report, maker.bare);
	head = json_head(&report);
	if (!head || recording_begin(&maker.writer, out, head))
		return 1;
	begin_process(&maker, 100);
	begin_process(&maker, 101);
	read_file(&maker, 100, PAGES);
	evict(&maker, 101);
	read_file(&maker, 100, EVICTED);
	fill_counters(&counters, &maker, PAGES - WINDOW / 2 + EVICTED);
	tail = counters_json(&counters);
	if (!tail || recording_end(maker.writer, tail) || fclose(out))
		return 1;
	json_decref(head);
	json_decref(tail);
	return 0;
}
