// SPDX-License-Identifier: GPL-2.0-only
/* Request rows and mapping rows: their cells, and the empty cells. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runner.h"
#include "user/print/printers.h"

static char *text;
static size_t length;

/* The rows for one item, without the column line. */
static const char *row_of(const struct fault_printer *printer, const struct item *item)
{
	struct analysis *analysis = analysis_new(true, 4096, 0);
	FILE *out;
	void *data;

	free(text);
	out = open_memstream(&text, &length);
	ck_assert_int_eq(printer->open(&data, out, analysis), 0);
	ck_assert_int_eq(printer->item(data, item), 0);
	ck_assert_int_eq(printer->end(data, &(struct missing_faults){ 0 }), 0);
	fclose(out);
	analysis_free(analysis);
	return strchr(text, '\n') + 1;
}

static const char *request_row(const struct pfstat_block *block)
{
	return row_of(&requests_csv_printer,
		      &(struct item){ .type = ITEM_EVENT, .event = &block->event });
}

static const char *mapping_row(const struct item_map *map, const char *path)
{
	struct item_map *whole = calloc(1, sizeof(*whole) + strlen(path) + 1);
	const char *row;

	*whole = *map;
	strcpy(whole->path, path);
	row = row_of(&mappings_csv_printer, &(struct item){ .type = ITEM_MAP, .map = whole });
	free(whole);
	return row;
}

TEST(test_a_request_has_its_times_and_its_device)
{
	struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .pid = 10,
			   .tid = 11,
			   .ns = 900,
			   .flags = PFSTAT_BLOCK_READAHEAD },
		.insert_ns = 100,
		.issue_ns = 300,
		.sector = 8,
		.dev = 8U << 20 | 1,
		.bytes = 4096,
	};

	ck_assert_str_eq(request_row(&block), "100,800,10,11,,0,1,0,0,8:1,8,4096,200,600,,\n");
	block.event.flags = PFSTAT_BLOCK_WRITE | PFSTAT_BLOCK_ERROR | PFSTAT_BLOCK_SWAP;
	block.insert_ns = 0;
	ck_assert_str_eq(request_row(&block), "300,600,10,11,,1,0,1,1,8:1,8,4096,0,600,,\n");
}

TEST(test_a_mapping_has_its_file_and_the_known_advice)
{
	struct item_map map = {
		.address = 0x7000,
		.bytes = 8192,
		.pgoff = 2,
		.inode = 5,
		.dev = 8U << 20 | 1,
		.pid = 10,
		.tid = 11,
		.prot = PROT_READ | PROT_WRITE,
		.flags = MAP_SHARED | ITEM_MAP_RANDOM,
	};

	ck_assert_str_eq(mapping_row(&map, "/a,b"),
			 "0,10,11,0x7000,8192,1,1,0,1,random,8:1,\"/a,b\",2\n");
	map.flags = MAP_PRIVATE;
	ck_assert_str_eq(mapping_row(&map, "/a"), "0,10,11,0x7000,8192,1,1,0,0,normal,8:1,/a,2\n");
	map.ns = 9;
	map.inode = 0;
	ck_assert_str_eq(mapping_row(&map, "//anon"), "9,10,11,0x7000,8192,1,1,0,0,,,,\n");
}

TEST(test_an_exec_is_not_a_mapping)
{
	ck_assert_str_eq(mapping_row(&(struct item_map){ .pid = 10 }, ""), "");
}
