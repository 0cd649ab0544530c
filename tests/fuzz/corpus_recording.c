// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the initial corpus for fuzz_recording: a small recording with all event kinds, and the
 * recording's payloads as blocks. Usage: corpus_recording DIR
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "corpus_file.h"
#include "sample_items.h"
#include "user/recording/counters_json.h"
#include "user/recording/items.h"
#include "user/recording/recording.h"
#include "user/recording/writer.h"

static void add(void *writer, const struct item *item)
{
	if (recording_add(writer, item))
		exit(1);
}

static void write_file(const char *folder, const json_t *tail)
{
	FILE *out = create(folder, "file", 'F');
	json_t *symbols = json_pack("[{s:s, s:i, s:s}]", "path", "/bin/true", "offset", 64, "name",
				    "main+0x1f");
	struct recording_writer *writer;

	if (recording_begin(&writer, out, tail))
		exit(1);
	give_all(add, writer);
	if (recording_add_symbols(writer, symbols) || recording_end(writer, tail) || fclose(out))
		exit(1);
	json_decref(symbols);
}

static void put(FILE *out, uint8_t form, uint8_t type, const void *payload, uint16_t size)
{
	static uint8_t stored[65536];
	const uint16_t raw = size;

	if (form == 'Z') {
		size = ZSTD_compress(stored, sizeof(stored), payload, raw, 1);
		payload = stored;
	}
	fputc(type, out);
	fwrite(&size, sizeof(size), 1, out);
	fwrite(payload, 1, size, out);
	if (form == 'Z')
		fwrite(&raw, sizeof(raw), 1, out);
}

static void collect(void *items, const struct item *item)
{
	if (items_add(items, item))
		exit(1);
}

/* @form: 'B', '2' or 'Z', see fuzz_recording.c */
static void write_blocks(const char *folder, const char *name, uint8_t form, const json_t *tail)
{
	static struct items items;
	static uint8_t raw[65536];
	FILE *out = create(folder, name, form);
	char *text = json_dumps(tail, JSON_COMPACT);

	give_all(collect, &items);
	put(out, form, RECORDING_ITEMS, raw, items_encode(&items, raw));
	put(out, form, RECORDING_SYMBOLS, "[]", 2);
	put(out, form, RECORDING_TAIL, text, strlen(text));
	items_exit(&items);
	free(text);
	if (fclose(out))
		exit(1);
}

int main(int argc, char **argv)
{
	struct syscall_row row = { .number = 9, .value.count = 3 };
	struct run_counters counters;
	json_t *tail;

	if (argc != 2)
		return 2;
	run_counters_init(&counters);
	counters.have_bpf = true;
	counters.syscalls = &row;
	counters.nr_syscalls = 1;
	tail = counters_json(&counters);
	write_file(argv[1], tail);
	write_blocks(argv[1], "blocks", 'B', tail);
	write_blocks(argv[1], "blocks_2", '2', tail);
	write_blocks(argv[1], "frames", 'Z', tail);
	json_decref(tail);
	return 0;
}
