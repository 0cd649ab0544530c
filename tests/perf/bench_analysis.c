// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures analysis speed and memory, with generated events from four threads and 100 files. One
 * fault in fifty is from disk, with an off-CPU interval and a request.
 *
 *	bench_analysis [MILLIONS]	default 10
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/unit/random.h"
#include "user/analyze/analysis.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void add(struct analysis *analysis, enum item_type type, const void *data)
{
	struct item item = { .type = type };

	item.record = data;
	if (analysis_add(analysis, &item)) {
		fprintf(stderr, "bench_analysis: out of memory\n");
		exit(1);
	}
}

static void add_disk(struct analysis *analysis, struct pfstat_record *record)
{
	const struct pfstat_block block = {
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(block), .tid = record->tid,
			.flags = PFSTAT_BLOCK_FILE, .ns = record->start_ns + 105000,
		},
		.insert_ns = record->start_ns + 2000, .issue_ns = record->start_ns + 3000,
		.inode = record->inode, .fs_dev = record->dev, .pgoff = record->pgoff,
		.bytes = 131072, .file_bytes = 131072,
	};
	const struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = record->tid,
			.flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_IOWAIT,
			.ns = record->start_ns + 108000,
		},
		.off_ns = record->start_ns + 5000, .woken_ns = record->start_ns + 106000,
	};

	add(analysis, ITEM_EVENT, &block);
	add(analysis, ITEM_EVENT, &stay);
	record->class = PFSTAT_CLASS_DISK;
	record->duration_ns = 110000;
	record->facts = PFSTAT_FACT_SLEPT;
}

int main(int argc, char **argv)
{
	const uint64_t records = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000;
	struct analysis *analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	struct pfstat_record record;
	uint64_t i, state = 1, random, time_ns = 0;
	struct rusage rusage;
	double start = now();

	for (i = 0; i < records; i++) {
		random = random_next(&state);
		record = (struct pfstat_record){
			.class = PFSTAT_CLASS_LONG,
			.op = PFSTAT_OP_FAULT,
			.pid = 1,
			.tid = 1 + (i >> 6 & 3),
			.inode = 1 + (i >> 8) % 100,
			.dev = 1,
			.pgoff = random & 0xffff,
			.address = random & 0xffff000,
			.start_ns = time_ns,
			.duration_ns = 300 + (random >> 32 & 255),
			.result = PFSTAT_RESULT_LOCKED,
			.ip = 0x400000 + (random >> 50 & 63),
		};
		if (i % 50 == 0)
			add_disk(analysis, &record);
		add(analysis, ITEM_RECORD, &record);
		time_ns += record.duration_ns + 100;
	}
	analysis_finish(analysis);
	getrusage(RUSAGE_SELF, &rusage);
	printf("%.1f million records a second, %ld MiB resident at most\n",
	       records / (now() - start) / 1e6, rusage.ru_maxrss / 1024);
	analysis_free(analysis);
	return 0;
}
