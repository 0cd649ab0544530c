// SPDX-License-Identifier: GPL-2.0-only
/*
 * What fuzz_recording begins with: a small recording with all kinds of items, and
 * its payloads as blocks. Usage: corpus_recording DIR
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/recording/facts_json.h"
#include "user/recording/items.h"
#include "user/recording/recording.h"
#include "user/recording/writer.h"

#define NR_ROUNDS 10	/* more than a tile */

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
		.off_ns = ns - 100000, .woken_ns = ns - 2000, .state = 2,
	};
	const struct pfstat_block block = {
		.event = { PFSTAT_EVENT_BLOCK, sizeof(block), 8, 100, 101, ns },
		.insert_ns = ns - 99000, .issue_ns = ns - 98000, .sector = 4096, .bytes = 131072,
	};
	const struct pfstat_fault fault = {
		.event = { PFSTAT_EVENT_FAULT, sizeof(fault), PFSTAT_FAULT_ANON, 100, 101, ns },
		.start_ns = ns - 900, .address = 0x7f0000001000,
	};
	const struct pfstat_page page = {
		.event = { PFSTAT_EVENT_PAGE, sizeof(page), 0, 100, 101, ns },
		.inode = 12, .pgoff = ns % 97, .pages = 32,
	};
	const struct pfstat_task task = {
		.event = { PFSTAT_EVENT_TASK, sizeof(task), PFSTAT_TASK_EXEC, 100, 101, ns },
		.parent = 100, .comm = "corpus",
	};

	give(take, context, ITEM_EVENT, &off_cpu);
	give(take, context, ITEM_EVENT, &block);
	give(take, context, ITEM_EVENT, &fault);
	give(take, context, ITEM_EVENT, &page);
	give(take, context, ITEM_EVENT, &task);
}

static void give_map(taker take, void *context, uint64_t ns)
{
	static const char path[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
	struct item_map *map = calloc(1, sizeof(*map) + sizeof(path));

	*map = (struct item_map){
		.ns = ns, .address = 0x7f0000000000, .bytes = 1 << 20, .inode = 12, .pid = 100,
		.tid = 101, .prot = 5, .flags = 2, .path_bytes = sizeof(path),
	};
	memcpy(map->path, path, sizeof(path));
	give(take, context, ITEM_MAP, map);
	free(map);
}

static void give_all(taker take, void *context)
{
	struct pfstat_record record = {
		.duration_ns = 900, .address = 0x7f0000001000, .pfn = 0x1234, .inode = 12,
		.pid = 100, .tid = 101, .flags = 0x1054, .result = 0x200, .class = 4,
	};
	uint64_t i;

	for (i = 0; i < NR_ROUNDS; i++) {
		record.sequence = i + 1;
		record.start_ns = 5000000000 + i * 200000;
		record.pgoff = i * 37 % 11;
		give(take, context, ITEM_RECORD, &record);
		give_events(take, context, record.start_ns + record.duration_ns);
		give_map(take, context, record.start_ns + record.duration_ns);
	}
}

static FILE *create(const char *folder, const char *name, char first)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fputc(first, file) == EOF) {
		perror(path);
		exit(1);
	}
	return file;
}

static void add(void *writer, const struct item *item)
{
	if (recording_add(writer, item))
		exit(1);
}

static void write_file(const char *folder, const json_t *tail)
{
	FILE *out = create(folder, "file", 'F');
	json_t *symbols = json_pack("[{s:s, s:i, s:s}]", "path", "/bin/true", "offset", 64,
				    "name", "main+0x1f");
	struct recording_writer *writer;

	if (recording_begin(&writer, out, tail))
		exit(1);
	give_all(add, writer);
	if (recording_add_symbols(writer, symbols) || recording_end(writer, tail) || fclose(out))
		exit(1);
	json_decref(symbols);
}

static void put(FILE *out, uint8_t type, const void *payload, uint16_t size)
{
	fputc(type, out);
	fwrite(&size, sizeof(size), 1, out);
	fwrite(payload, 1, size, out);
}

static void collect(void *items, const struct item *item)
{
	if (items_add(items, item))
		exit(1);
}

static void write_blocks(const char *folder, const json_t *tail)
{
	static struct items items;
	static uint8_t raw[65536];
	FILE *out = create(folder, "blocks", 'B');
	char *text = json_dumps(tail, JSON_COMPACT);

	give_all(collect, &items);
	put(out, RECORDING_ITEMS, raw, items_encode(&items, raw));
	put(out, RECORDING_SYMBOLS, "[]", 2);
	put(out, RECORDING_TAIL, text, strlen(text));
	items_exit(&items);
	free(text);
	if (fclose(out))
		exit(1);
}

int main(int argc, char **argv)
{
	struct syscall_row row = { .number = 9, .value.count = 3 };
	struct facts facts;
	json_t *tail;

	if (argc != 2)
		return 2;
	facts_init(&facts);
	facts.have_bpf = true;
	facts.syscalls = &row;
	facts.nr_syscalls = 1;
	tail = facts_to_json(&facts);
	write_file(argv[1], tail);
	write_blocks(argv[1], tail);
	json_decref(tail);
	return 0;
}
