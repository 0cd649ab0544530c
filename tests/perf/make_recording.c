// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a recording for measurements of `pfdrive report': generated events from four threads and
 * 100 files. One fault in fifty is from disk, with an off-CPU interval and a request.
 *
 *	make_recording FILE [MILLIONS [SEED]]	default 10 and 1
 *	make_recording FILE MILLIONS SEED THREADS FILES MAPPINGS
 *
 * In the second form each fault has any of the threads, files and mappings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/random.h"
#include "user/print/json/json_environment.h"
#include "user/recording/counters_json.h"
#include "user/recording/writer.h"

static void add(struct recording_writer *writer, enum item_type type, uint64_t ns, const void *data)
{
	struct item item = { .type = type, .ns = ns };

	item.record = data;
	if (recording_add(writer, &item)) {
		fprintf(stderr, "make_recording: cannot write\n");
		exit(1);
	}
}

static void add_disk(struct recording_writer *writer, struct pfstat_record *record)
{
	const uint64_t start_ns = record->start_ns;
	const struct pfstat_block block = {
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(block), .pid = 1,
			.tid = record->tid, .flags = PFSTAT_BLOCK_FILE, .ns = start_ns + 105000,
		},
		.insert_ns = start_ns + 2000, .issue_ns = start_ns + 3000,
		.inode = record->inode, .fs_dev = record->dev, .pgoff = record->pgoff,
		.bytes = 4096, .file_bytes = 4096,
	};
	const struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .pid = 1,
			.tid = record->tid, .ns = start_ns + 108000,
			.flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_IOWAIT,
		},
		.off_ns = start_ns + 5000, .woken_ns = start_ns + 106000, .state = 2,
	};

	add(writer, ITEM_EVENT, block.event.ns, &block);
	add(writer, ITEM_EVENT, stay.event.ns, &stay);
	record->class = PFSTAT_CLASS_DISK;
	record->duration_ns = 110000;
	record->facts = PFSTAT_FACT_SLEPT;
}

/* As many as the arguments ask for. 0: the first form. */
struct made {
	uint32_t threads, files, mappings;
};

#define FIRST_ADDRESS 0x7f0000000000ULL
#define MAPPING_BYTES 0x10000ULL

static void add_mappings(struct recording_writer *writer, const struct made *made)
{
	struct {
		struct item_map map;
		char path[32];
	} entry;
	uint32_t i;

	for (i = 0; i < made->mappings; i++) {
		memset(&entry, 0, sizeof(entry));
		entry.map.ns = 1;
		entry.map.pid = 1;
		entry.map.tid = 1;
		entry.map.address = FIRST_ADDRESS + i * MAPPING_BYTES;
		entry.map.bytes = MAPPING_BYTES / 2;
		entry.map.inode = 1 + i % made->files;
		entry.map.dev = 1;
		entry.map.prot = 1;
		entry.map.flags = 1;
		entry.map.path_bytes = 1 + sprintf(entry.map.path, "/data/%07u", i % made->files);
		add(writer, ITEM_MAP, entry.map.ns, &entry);
	}
}

static void scatter(struct pfstat_record *record, const struct made *made, uint64_t random)
{
	record->tid = 1 + random % made->threads;
	record->inode = 1 + (random >> 8) % made->files;
	record->address = FIRST_ADDRESS + (random >> 10) % made->mappings * MAPPING_BYTES +
			  (random >> 40 & 7) * 4096;
}

static void add_faults(struct recording_writer *writer, uint64_t records, uint64_t seed,
		       const struct made *made)
{
	uint64_t state = seed, now_ns = 1, random, i;
	struct pfstat_record record;

	for (i = 0; i < records; i++) {
		random = random_next(&state);
		record = (struct pfstat_record){
			.sequence = i + 1,
			.class = PFSTAT_CLASS_LONG,
			.pid = 1,
			.tid = 1 + (i >> 6 & 3),
			.inode = 1 + (i >> 8) % 100,
			.dev = 1,
			.pgoff = random & 0xffff,
			.address = random & 0xffff000,
			.start_ns = now_ns,
			.duration_ns = 300 + (random >> 32 & 255),
			.result = PFSTAT_RESULT_LOCKED,
			.ip = 0x400000 + (random >> 50 & 63),
			.pfn = random >> 40,
		};
		if (made->threads)
			scatter(&record, made, random);
		if (i % 50 == 0)
			add_disk(writer, &record);
		now_ns += record.duration_ns;
		add(writer, ITEM_RECORD, now_ns, &record);
		now_ns += 100;
	}
}

int main(int argc, char **argv)
{
	const uint64_t records = (argc > 2 ? strtod(argv[2], NULL) : 10) * 1000000;
	const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	struct made made = { 0 };
	FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
	struct recording_writer *writer;
	struct report report;
	struct run_counters counters;
	json_t *head, *tail;

	if (argc == 7)
		made = (struct made){ atoi(argv[4]), atoi(argv[5]), atoi(argv[6]) };
	if (!out || (argc > 4 && (!made.threads || !made.files || !made.mappings)))
		return 2;
	report_init(&report);
	strcpy(report.environment.kind, "record");
	strcpy(report.environment.command, "made up");
	report.bpf.known = true;
	run_counters_init(&counters);
	counters.calls = records;
	counters.lost = 0;
	head = json_head(&report);
	tail = counters_json(&counters);
	if (recording_begin(&writer, out, head))
		return 1;
	add_mappings(writer, &made);
	add_faults(writer, records, seed, &made);
	if (recording_end(writer, tail) || fclose(out))
		return 1;
	json_decref(head);
	json_decref(tail);
	return 0;
}
