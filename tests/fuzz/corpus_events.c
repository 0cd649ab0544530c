// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the initial corpus for fuzz_events: a ring with records, an empty ring that claims the
 * largest size, lines from /proc/self/maps, and a stream with all event kinds. Usage: corpus_events
 * DIR
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus_file.h"
#include "sample_items.h"
#include "user/print/report_format.h"

#define NR_RECORDS  8
#define LARGE_BYTES (1ULL << 46)

static void finish(FILE *out)
{
	if (fclose(out)) {
		perror("corpus_events");
		exit(1);
	}
}

static void write_ring(const char *folder)
{
	struct pfstat_ring_header header = {
		.version = PFSTAT_ABI_VERSION,
		.record_size = sizeof(struct pfstat_record),
		.capacity = NR_RECORDS,
		.head = NR_RECORDS + 2,
		.tail = 2,
	};
	struct pfstat_record record = { .class = PFSTAT_CLASS_LONG };
	FILE *out = create(folder, "ring", 'R');
	unsigned int i;

	fwrite(&header, sizeof(header), 1, out);
	for (i = 0; i < NR_RECORDS; i++) {
		record.sequence = i < 2 ? NR_RECORDS + 1 + i : i + 1;
		fwrite(&record, sizeof(record), 1, out);
	}
	finish(out);
}

static void write_large_ring(const char *folder)
{
	struct pfstat_ring_header header = {
		.version = PFSTAT_ABI_VERSION,
		.record_size = sizeof(struct pfstat_record),
		.capacity = LARGE_BYTES / sizeof(struct pfstat_record),
		.head = LARGE_BYTES,
		.tail = LARGE_BYTES - 1,
	};
	FILE *out = create(folder, "large_ring", 'R');

	fwrite(&header, sizeof(header), 1, out);
	finish(out);
}

static void write_lines(const char *folder)
{
	FILE *out = create(folder, "lines", 'L'), *maps = fopen("/proc/self/maps", "re");
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps))
		fputs(line, out);
	if (maps)
		fclose(maps);
	fputs("7f0000000000-7f0000001000 r-xs 00001000 08:01 12  /tmp/two\\012lines\n", out);
	finish(out);
}

static size_t bytes_of(const struct item *item)
{
	switch (item->type) {
	case ITEM_RECORD:
		return sizeof(*item->record);
	case ITEM_EVENT:
		return item->event->size;
	default:
		return sizeof(*item->map) + item->map->path_bytes;
	}
}

static void write_item(void *out, const struct item *item)
{
	const uint16_t size = bytes_of(item);

	fputc(item->type, out);
	fwrite(&size, sizeof(size), 1, out);
	fwrite(item->record, 1, size, out);
}

/* With each format. */
static void write_stream(const char *folder, enum report_format format)
{
	FILE *out;
	char name[32];

	snprintf(name, sizeof(name), "stream_%s", report_format_words[format]);
	out = create(folder, name, 'E');
	fputc(8, out);
	fputc(format, out);
	give_all(write_item, out);
	finish(out);
}

int main(int argc, char **argv)
{
	enum report_format format;

	if (argc != 2)
		return 2;
	write_ring(argv[1]);
	write_large_ring(argv[1]);
	write_lines(argv[1]);
	for (format = 0; format < NR_REPORT_FORMATS; format++)
		write_stream(argv[1], format);
	return 0;
}
