// SPDX-License-Identifier: GPL-2.0-only
/* A recording survives a round trip. A damaged one is read up to the damage, which is reported. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "random.h"
#include "runner.h"
#include "user/recording/blocks.h"
#include "user/recording/counters_json.h"
#include "user/recording/items.h"
#include "user/recording/reader.h"
#include "user/recording/recording.h"
#include "user/recording/writer.h"
#include "user/util/array.h"
#include "user/util/time_ns.h"
#include "util/why.h"

/* A recording in memory. */
struct file {
	char *bytes;
	size_t size;
};

/* Any item, generated from its number. */
union any {
	struct pfstat_record record;
	struct pfstat_off_cpu off_cpu;
	struct pfstat_block block;
	struct pfstat_fault fault;
	struct pfstat_page page;
	struct pfstat_task task;
	struct pfstat_stack stack;
	struct pfstat_wait wait;
	struct pfstat_mapping mapping;
	struct pfstat_call call;
	struct pfstat_userfault userfault;
	struct pfstat_cpu_task cpu_task;
	struct item_map map;
	uint8_t bytes[sizeof(struct item_map) + ITEMS_PATH_MAX];
};

static void fill(void *bytes, size_t size, uint64_t *seed)
{
	uint8_t *byte = bytes;

	while (size--)
		*byte++ = random_next(seed) >> 56;
}

#define LAST_PAGE ((1ULL << 53) - 1) /* see item_valid.c */

static void make_record(struct pfstat_record *record, uint64_t *seed)
{
	fill(record, sizeof(*record), seed);
	record->pgoff &= LAST_PAGE;
	record->op %= PFSTAT_NR_OPS;
	record->class %= PFSTAT_NR_CLASSES;
	record->before %= PFSTAT_NR_BEFORE;
	record->order %= 10;
}

static void make_event(union any *any, enum pfstat_event_type type, uint64_t *seed)
{
	static const uint16_t sizes[] = PFSTAT_EVENT_SIZES;

	fill(any, sizes[type], seed);
	any->page.event.type = type;
	any->page.event.size = sizes[type];
	if (type == PFSTAT_EVENT_TASK)
		any->task.comm[15] = '\0';
	if (type == PFSTAT_EVENT_PAGE) {
		any->page.comm[15] = '\0';
		any->page.pgoff &= LAST_PAGE;
		any->page.pages %= (1 << 18) + 1;
	}
	if (type == PFSTAT_EVENT_BLOCK)
		any->block.pgoff &= LAST_PAGE;
	if (type == PFSTAT_EVENT_WAIT) {
		any->page.event.flags = PFSTAT_WAIT_NAMED;
		any->wait.functions[PFSTAT_WAIT_BYTES - 1] = '\0';
	}
	if (type == PFSTAT_EVENT_RECLAIM)
		any->page.event.flags %= PFSTAT_NR_RECLAIM_KINDS;
	if (type == PFSTAT_EVENT_CPU_TASK)
		any->cpu_task.comm[15] = '\0';
	if (type == PFSTAT_EVENT_CALL)
		any->call.kind %= PFSTAT_NR_CALLS;
	if (type == PFSTAT_EVENT_USERFAULT)
		any->userfault.comm[15] = '\0';
	if (type == PFSTAT_EVENT_MAPPING)
		any->mapping.advice %= 3;
	if (type == PFSTAT_EVENT_FAULT) {
		any->fault.pgoff &= LAST_PAGE;
		any->fault.event.flags %= PFSTAT_NR_FAULT_KINDS;
		any->fault.origin %= PFSTAT_NR_ORIGINS;
		any->fault.outcome %= PFSTAT_NR_OUTCOMES;
	}
	if (type == PFSTAT_EVENT_STACK)
		any->stack.frames %= PFSTAT_STACK_FRAMES + 1;
}

static void make_map(struct item_map *map, size_t length, uint64_t *seed)
{
	fill(map, sizeof(*map), seed);
	map->pgoff &= LAST_PAGE;
	memset(map->path, 'p', length);
	map->path[length] = '\0';
	map->path_bytes = length + 1;
}

/* Kinds: 0 is a record, 1 … are events. The last one is a map with a path up to 100 bytes long. */
static struct item make_item(union any *any, unsigned int kind, uint64_t *seed)
{
	if (kind == 0) {
		make_record(&any->record, seed);
		return (struct item){
			.type = ITEM_RECORD,
			.ns = item_record_end_ns(&any->record),
			.record = &any->record,
		};
	}
	if (kind <= PFSTAT_NR_EVENTS) {
		/* No current writer uses the first version. */
		make_event(any,
			   kind - 1 == PFSTAT_EVENT_OFF_CPU_1 ? PFSTAT_EVENT_OFF_CPU : kind - 1,
			   seed);
		return (struct item){
			.type = ITEM_EVENT,
			.ns = any->page.event.ns,
			.event = &any->page.event,
		};
	}
	make_map(&any->map, random_next(seed) % 100, seed);
	return (struct item){ .type = ITEM_MAP, .ns = any->map.ns, .map = &any->map };
}

#define ALL_KINDS (PFSTAT_NR_EVENTS + 2)

/* Item `number` in a recording, the same each time. */
static struct item item_number(union any *any, uint64_t number, unsigned int kinds)
{
	uint64_t seed = number;

	return make_item(any, random_next(&seed) % kinds, &seed);
}

static size_t size_of(const struct item *item)
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

static void assert_equal(const struct item *read, const struct item *written)
{
	ck_assert_int_eq(read->type, written->type);
	ck_assert_uint_eq(read->ns, written->ns);
	ck_assert_uint_eq(size_of(read), size_of(written));
	ck_assert_mem_eq(read->record, written->record, size_of(written));
}

static struct file write_items(uint64_t count, unsigned int kinds)
{
	struct recording_writer *writer;
	struct file file = { 0 };
	FILE *out = open_memstream(&file.bytes, &file.size);
	json_t *head = json_pack("{s:s}", "machine", "test");
	json_t *tail = json_pack("{s:i}", "lost", 7);
	json_t *symbols = json_pack("[{s:i, s:s}]", "ip", 64, "name", "main+0x1f");
	struct item item;
	union any any;
	uint64_t i;

	ck_assert_int_eq(recording_begin(&writer, out, head), 0);
	for (i = 0; i < count; i++) {
		item = item_number(&any, i, kinds);
		item.ns = 0; /* the random times would end most blocks early */
		ck_assert_int_eq(recording_add(writer, &item), 0);
		if (i == count / 2)
			ck_assert_int_eq(recording_add_symbols(writer, symbols), 0);
	}
	ck_assert_int_eq(recording_end(writer, tail), 0);
	fclose(out);
	json_decref(head);
	json_decref(tail);
	json_decref(symbols);
	return file;
}

/* NULL if the recording cannot be opened. @why is the reason. */
static struct recording_reader *open_bytes(const char *bytes, size_t size, struct why *why)
{
	/* fmemopen() refuses size 0. */
	FILE *file = size ? fmemopen((void *)bytes, size, "r") : fopen("/dev/null", "r");
	struct recording_reader *reader;
	int err;

	why->text[0] = '\0';
	err = recording_open_file(&reader, file, "run.pfs", why);
	ck_assert((err == 0) == !!reader);
	ck_assert_int_le(err, 0);
	ck_assert((err == 0) == (why->text[0] == '\0'));
	return reader;
}

/* Reads all items and compares each with the one written. Returns their number. */
static uint64_t read_items(struct recording_reader *reader, unsigned int kinds)
{
	struct item item, written;
	uint64_t count = 0;
	union any any;
	int ret;

	for (;;) {
		ret = recording_next(reader, &item);
		ck_assert_int_ge(ret, 0);
		if (!ret)
			break;
		written = item_number(&any, count++, kinds);
		assert_equal(&item, &written);
	}
	ck_assert_int_eq(recording_next(reader, &item), 0); /* and the error persists */
	return count;
}

static void assert_round_trip(uint64_t count, unsigned int kinds)
{
	struct file file = write_items(count, kinds);
	struct recording_reader *reader;
	struct why why;

	reader = open_bytes(file.bytes, file.size, &why);
	ck_assert_msg(reader, "%s", why.text);
	ck_assert_str_eq(json_string_value(json_object_get(recording_head(reader), "machine")),
			 "test");
	ck_assert_uint_eq(read_items(reader, kinds), count);
	ck_assert_ptr_null(recording_damage(reader));
	ck_assert_int_eq(json_integer_value(json_object_get(recording_tail(reader), "lost")), 7);
	ck_assert_uint_eq(json_array_size(recording_symbols(reader)), count ? 1 : 0);
	recording_close(reader);
	free(file.bytes);
}

TEST(test_events_survive_a_round_trip)
{
	static const uint64_t counts[] = {
		0, 1, 2, 7, 8, 9, 63, 64, 65, ITEMS_FULL - 1, ITEMS_FULL, ITEMS_FULL + 1, 20000,
	};
	unsigned int i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		assert_round_trip(counts[i], 1);
		assert_round_trip(counts[i], ALL_KINDS);
	}
}

TEST(test_each_kind_survives_a_round_trip_alone)
{
	struct items items = { 0 };
	struct items_decoder *decoder = malloc(sizeof(*decoder));
	struct item item, read;
	unsigned int kind;
	uint8_t raw[4096];
	uint64_t seed;
	union any any;
	size_t size;

	for (kind = 0; kind < ALL_KINDS; kind++) {
		seed = kind;
		item = make_item(&any, kind, &seed);
		ck_assert_int_eq(items_add(&items, &item), 0);
		size = items_encode(&items, raw);
		ck_assert_uint_le(size, sizeof(raw));
		ck_assert_int_eq(items_begin(decoder, PFSTAT_ABI_VERSION, raw, size), 0);
		ck_assert_int_eq(items_next(decoder, &read), 1);
		assert_equal(&read, &item);
		ck_assert_int_eq(items_next(decoder, &read), 0);
		items_clear(&items);
	}
	items_exit(&items);
	free(decoder);
}

/* The example in Documentation/formats/recording.rst. */
TEST(test_bytes_of_a_block_match_the_documentation)
{
	static const uint8_t expected[] = {
		2, 0, 0, 0, /* items */
		4, 4,	    /* pages */
		/* type, size; pid, tid; ns; inode; pgoff; dev, pages */
		0x05, 0x11, 0x03, 0x01, 0x01, 0x11, 0x01, 0x00, 6, 0, /* type 3, folded; the same */
		128, 0,						      /* size 64 */
		200, 0,						      /* pid 100 */
		200, 0,						      /* tid 100 */
		0xd0, 20,	/* ns 1000 = 0x7d0 / 2, 10 later */
		0x07, 0, 24, 0, /* inode 12 */
		10, 3,		/* pgoff 5, 3: 2 before */
		16, 0,		/* dev 8 */
		2, 0,		/* pages 1 */
		196, 0,		/* comm "b" */
	};
	struct pfstat_page page = {
		.event = { .type = PFSTAT_EVENT_PAGE,
			   .size = sizeof(page),
			   .ns = 1000,
			   .pid = 100,
			   .tid = 100 },
		.inode = 12,
		.pgoff = 5,
		.dev = 8,
		.pages = 1,
		.comm = "b",
	};
	struct item item = { .type = ITEM_EVENT, .event = &page.event };
	struct items items = { 0 };
	uint8_t raw[256];

	ck_assert_int_eq(items_add(&items, &item), 0);
	page.event.ns = 1010;
	page.pgoff = 3;
	ck_assert_int_eq(items_add(&items, &item), 0);
	ck_assert_uint_eq(items_encode(&items, raw), sizeof(expected));
	ck_assert_mem_eq(raw, expected, sizeof(expected));
	items_exit(&items);
}

static int add_path(size_t length)
{
	struct recording_writer *writer;
	struct file file = { 0 };
	FILE *out = open_memstream(&file.bytes, &file.size);
	json_t *empty = json_object();
	struct recording_reader *reader;
	struct item item, read;
	struct why why;
	uint64_t seed = 1;
	union any *any = malloc(sizeof(*any) + 1);
	int err;

	make_map(&any->map, length, &seed);
	item = (struct item){ .type = ITEM_MAP, .ns = any->map.ns, .map = &any->map };
	ck_assert_int_eq(recording_begin(&writer, out, empty), 0);
	err = recording_add(writer, &item);
	ck_assert_int_eq(recording_end(writer, empty), err);
	fclose(out);
	if (!err) {
		reader = open_bytes(file.bytes, file.size, &why);
		ck_assert_int_eq(recording_next(reader, &read), 1);
		assert_equal(&read, &item);
		ck_assert_int_eq(recording_next(reader, &read), 0);
		ck_assert_ptr_null(recording_damage(reader));
		recording_close(reader);
	}
	free(any);
	json_decref(empty);
	free(file.bytes);
	return err;
}

TEST(test_paths_up_to_the_limit_are_accepted)
{
	ck_assert_int_eq(add_path(0), 0);
	ck_assert_int_eq(add_path(4095), 0);
	ck_assert_int_eq(add_path(ITEMS_PATH_MAX - 1), 0);
	ck_assert_int_eq(add_path(ITEMS_PATH_MAX), -ENAMETOOLONG);
}

/* Long paths fill a block before it has the full number of items. */
TEST(test_long_paths_may_fill_a_block_early)
{
	struct recording_writer *writer;
	struct recording_reader *reader;
	json_t *empty = json_object();
	struct file file = { 0 };
	FILE *out = open_memstream(&file.bytes, &file.size);
	struct item item;
	uint64_t seed = 1;
	struct why why;
	union any any;
	int i;

	make_map(&any.map, ITEMS_PATH_MAX - 1, &seed);
	item = (struct item){ .type = ITEM_MAP, .ns = any.map.ns, .map = &any.map };
	ck_assert_int_eq(recording_begin(&writer, out, empty), 0);
	for (i = 0; i < 2000; i++)
		ck_assert_int_eq(recording_add(writer, &item), 0);
	ck_assert_int_eq(recording_end(writer, empty), 0);
	fclose(out);
	reader = open_bytes(file.bytes, file.size, &why);
	for (i = 0; i < 2000; i++)
		ck_assert_int_eq(recording_next(reader, &item), 1);
	ck_assert_int_eq(recording_next(reader, &item), 0);
	ck_assert_ptr_null(recording_damage(reader));
	recording_close(reader);
	json_decref(empty);
	free(file.bytes);
}

static void add_page_at(struct recording_writer *writer, uint64_t ns)
{
	const struct pfstat_page page = {
		.event = { .type = PFSTAT_EVENT_PAGE, .size = sizeof(page), .ns = ns },
	};
	const struct item item = { .type = ITEM_EVENT, .ns = ns, .event = &page.event };

	ck_assert_int_eq(recording_add(writer, &item), 0);
}

/* Without recording_flush() and recording_end(), as if the recorder had been killed. */
TEST(test_a_killed_recorder_loses_about_a_second)
{
	const uint64_t tenth = SECOND / 10, start_ns = 7 * SECOND;
	struct recording_writer *writer;
	struct recording_reader *reader;
	json_t *empty = json_object();
	struct file file = { 0 };
	FILE *out = open_memstream(&file.bytes, &file.size);
	struct item item;
	struct why why;
	uint64_t i;

	ck_assert_int_eq(recording_begin(&writer, out, empty), 0);
	add_page_at(writer, 0); /* existed before the recording */
	for (i = 0; i <= 38; i++)
		add_page_at(writer, start_ns + i * tenth);
	recording_abandon(writer); /* also waits for the blocks that were handed on */
	fclose(out);
	reader = open_bytes(file.bytes, file.size, &why);
	ck_assert_int_eq(recording_next(reader, &item), 1);
	for (i = 0; recording_next(reader, &item) == 1; i++)
		ck_assert_uint_eq(item.ns, start_ns + i * tenth);
	ck_assert_uint_eq(i, 33); /* three blocks of a second, both ends included */
	ck_assert_str_eq(recording_damage(reader), "run.pfs was cut: it has no end");
	recording_close(reader);
	json_decref(empty);
	free(file.bytes);
}

TEST(test_malformed_event_is_not_written)
{
	struct pfstat_record record = { .class = PFSTAT_NR_CLASSES };
	struct pfstat_page page = {
		.event = { .type = PFSTAT_EVENT_PAGE, .size = sizeof(page) - 8 },
	};
	struct item_map map = { 0 }; /* a path without an end */
	struct item item = { .type = ITEM_RECORD, .record = &record };
	struct items items = { 0 };

	ck_assert_int_eq(items_add(&items, &item), -EINVAL);
	item = (struct item){ .type = ITEM_EVENT, .event = &page.event };
	ck_assert_int_eq(items_add(&items, &item), -EINVAL);
	item = (struct item){ .type = ITEM_MAP, .map = &map };
	ck_assert_int_eq(items_add(&items, &item), -EINVAL);
	item.type = ITEM_NR_TYPES;
	ck_assert_int_eq(items_add(&items, &item), -EINVAL);
	ck_assert_uint_eq(items.count, 0);
}

/* A recording cut at any byte is a recording without an end, or not a recording. */
TEST(test_recording_cut_at_any_byte_is_read_up_to_there)
{
	struct file file = write_items(50, ALL_KINDS);
	struct recording_reader *reader;
	uint64_t count, most = 0;
	struct why why;
	size_t size;

	for (size = 0; size < file.size; size++) {
		reader = open_bytes(file.bytes, size, &why);
		if (!reader) {
			if (size < sizeof(RECORDING_MAGIC) - 1)
				ck_assert_str_eq(why.text,
						 size ? "run.pfs is not a pfdrive recording" :
							"cannot read run.pfs: it is empty");
			else
				ck_assert_str_eq(why.text, "run.pfs was cut: it has no end");
			continue;
		}
		count = read_items(reader, ALL_KINDS);
		ck_assert_uint_ge(count, most);
		most = count;
		ck_assert_str_eq(recording_damage(reader), "run.pfs was cut: it has no end");
		ck_assert_ptr_null(recording_tail(reader));
		recording_close(reader);
	}
	ck_assert_uint_eq(most, 50); /* without the tail, all items are read */
	free(file.bytes);
}

/* Each changed byte is detected. */
TEST(test_any_flipped_bit_is_detected)
{
	struct file file = write_items(50, ALL_KINDS);
	struct recording_reader *reader;
	struct why why;
	size_t at;

	for (at = 0; at < file.size; at++) {
		file.bytes[at] ^= 1 << at % 8;
		reader = open_bytes(file.bytes, file.size, &why);
		if (reader) {
			ck_assert_uint_le(read_items(reader, ALL_KINDS), 50);
			ck_assert_ptr_nonnull(recording_damage(reader));
			recording_close(reader);
		}
		file.bytes[at] ^= 1 << at % 8;
	}
	free(file.bytes);
}

TEST(test_damage_reports_its_offset_and_the_events_before)
{
	struct file file = write_items(2 * ITEMS_FULL, 1);
	struct recording_reader *reader;
	char expected[256];
	struct why why;
	struct recording_block block;
	size_t at = sizeof(struct recording_header);
	unsigned int i;

	/* Head, 4096 items and one more, symbols. The next block will be damaged. */
	for (i = 0; i < 4; i++) {
		memcpy(&block, file.bytes + at, sizeof(block));
		at += sizeof(block) + block.stored;
	}
	file.bytes[at + sizeof(block) + 5] ^= 4;
	reader = open_bytes(file.bytes, file.size, &why);
	ck_assert_uint_eq(read_items(reader, 1), ITEMS_FULL + 1);
	snprintf(expected, sizeof(expected),
		 "run.pfs is damaged at byte %zu: the block checksum is wrong; 4097 items were "
		 "read before",
		 at);
	ck_assert_str_eq(recording_damage(reader), expected);
	ck_assert_uint_eq(json_array_size(recording_symbols(reader)), 1);
	recording_close(reader);
	free(file.bytes);
}

TEST(test_data_after_the_end_is_damage)
{
	struct file file = write_items(5, 1);
	struct recording_reader *reader;
	struct why why;

	/* open_memstream() appends a 0 byte. */
	reader = open_bytes(file.bytes, file.size + 1, &why);
	ck_assert_uint_eq(read_items(reader, 1), 5);
	ck_assert_ptr_nonnull(strstr(recording_damage(reader), "more data follows the end"));
	recording_close(reader);
	free(file.bytes);
}

static void assert_refused(size_t at, uint32_t number, const char *reason)
{
	struct file file = write_items(5, 1);
	struct why why;

	memcpy(file.bytes + at, &number, sizeof(number));
	ck_assert_ptr_null(open_bytes(file.bytes, file.size, &why));
	ck_assert_str_eq(why.text, reason);
	free(file.bytes);
}

/* test_old_recordings.c has a real one, with the shorter records from before version 9. */
TEST(test_records_of_older_versions_are_accepted)
{
	struct file file = write_items(5, 1);
	uint32_t abi;
	struct why why;

	for (abi = PFSTAT_ABI_OLDEST; abi <= PFSTAT_ABI_VERSION; abi++) {
		struct recording_reader *reader;

		memcpy(file.bytes + offsetof(struct recording_header, abi), &abi, sizeof(abi));
		reader = open_bytes(file.bytes, file.size, &why);
		ck_assert_msg(reader, "%s", why.text);
		recording_close(reader);
	}
	free(file.bytes);
}

TEST(test_unknown_versions_are_refused_by_name)
{
	char reason[256];

	assert_refused(
		offsetof(struct recording_header, version), 4,
		"cannot read run.pfs: it has version 4, and this pfdrive reads versions up to 3; "
		"use a newer pfdrive");
	assert_refused(offsetof(struct recording_header, version), 0,
		       "run.pfs is damaged at byte 8: there is no version 0");
	snprintf(reason, sizeof(reason),
		 "cannot read run.pfs: the records have version 1000, and this pfdrive reads "
		 "versions 4 to %d; use another pfdrive",
		 PFSTAT_ABI_VERSION);
	assert_refused(offsetof(struct recording_header, abi), 1000, reason);
	snprintf(reason, sizeof(reason),
		 "cannot read run.pfs: the records have version 3, and this pfdrive reads "
		 "versions 4 to %d; use another pfdrive",
		 PFSTAT_ABI_VERSION);
	assert_refused(offsetof(struct recording_header, abi), 3, reason);
	assert_refused(0, 0x464c457f, "run.pfs is not a pfdrive recording");
}

/* Appends a block with arbitrary contents, as an attacker would. */
static void put_block(FILE *out, uint32_t version, struct recording_block block, const void *raw,
		      size_t size)
{
	static uint8_t stored[4 << 20];
	uLongf nr_stored = sizeof(stored);

	if (version >= RECORDING_VERSION_ZSTD)
		nr_stored = ZSTD_compress(stored, sizeof(stored), raw, size, 1);
	else
		ck_assert_int_eq(compress2(stored, &nr_stored, raw, size, 1), Z_OK);
	block.magic = RECORDING_BLOCK_MAGIC;
	block.raw = block.raw ? block.raw : size;
	block.stored = block.stored ? block.stored : nr_stored;
	block.check = crc32(0, (const void *)&block, sizeof(block));
	block.check = crc32(block.check, stored, nr_stored);
	fwrite(&block, sizeof(block), 1, out);
	fwrite(stored, 1, nr_stored, out);
}

/* Appends the header and the first block of a recording in this format version. */
static void put_begin(FILE *out, uint32_t version)
{
	const struct recording_header header = {
		.magic = RECORDING_MAGIC,
		.version = version,
		.abi = PFSTAT_ABI_VERSION,
	};

	fwrite(&header, sizeof(header), 1, out);
	put_block(out, version, (struct recording_block){ .type = RECORDING_HEAD }, "{}", 2);
}

/* Asserts the reader's message for a recording with this single block after the head. */
static void assert_damage_of(uint32_t version, struct recording_block block, const void *raw,
			     size_t size, const char *expected)
{
	struct file file = { 0 };
	FILE *out = open_memstream(&file.bytes, &file.size);
	struct recording_reader *reader;
	struct item item;
	struct why why;
	int ret;

	put_begin(out, version);
	put_block(out, version, block, raw, size);
	put_block(out, version, (struct recording_block){ .type = RECORDING_TAIL }, "{}", 2);
	fclose(out);
	reader = open_bytes(file.bytes, file.size, &why);
	ck_assert_msg(reader, "%s", why.text);
	do
		ret = recording_next(reader, &item);
	while (ret == 1);
	ck_assert_int_eq(ret, 0);
	if (expected)
		ck_assert_msg(recording_damage(reader) &&
				      strstr(recording_damage(reader), expected),
			      "%s is not %s", recording_damage(reader), expected);
	else
		ck_assert_ptr_null(recording_damage(reader));
	recording_close(reader);
	free(file.bytes);
}

/* The same for each compression. */
static void assert_damage(struct recording_block block, const void *raw, size_t size,
			  const char *expected)
{
	uint32_t version;

	for (version = 1; version <= RECORDING_VERSION; version++)
		assert_damage_of(version, block, raw, size, expected);
}

/* A block of pfdrive 0.1: 48 bytes, without total_ns. Tid 3 is folded to 6. */
TEST(test_an_off_cpu_event_of_version_1_is_converted)
{
	static const uint8_t raw[] = {
		1,    0,    0, 0,   1,	   /* one item: off-CPU */
		0x05, 0x10, 1, 1,   0,	1, /* bytes for the six existing words */
		0,    96,   6, 200, 40, 4, /* type and size 48, tid 3, ns 100, off_ns 20, state 2 */
	};
	struct file file = { 0 };
	FILE *out = open_memstream(&file.bytes, &file.size);
	const struct pfstat_off_cpu *stay;
	struct recording_reader *reader;
	struct item item;
	struct why why;

	put_begin(out, 1);
	put_block(out, 1, (struct recording_block){ .type = RECORDING_ITEMS }, raw, sizeof(raw));
	put_block(out, 1, (struct recording_block){ .type = RECORDING_TAIL }, "{}", 2);
	fclose(out);
	reader = open_bytes(file.bytes, file.size, &why);
	ck_assert_msg(reader, "%s", why.text);
	ck_assert_int_eq(recording_next(reader, &item), 1);
	stay = (const void *)item.event;
	ck_assert_uint_eq(stay->event.type, PFSTAT_EVENT_OFF_CPU);
	ck_assert_uint_eq(stay->event.size, sizeof(*stay));
	ck_assert_uint_eq(stay->event.tid, 3);
	ck_assert_uint_eq(item.ns, 100);
	ck_assert_uint_eq(stay->off_ns, 20);
	ck_assert_uint_eq(stay->state, 2);
	ck_assert_uint_eq(stay->total_ns, 0);
	ck_assert_int_eq(recording_next(reader, &item), 0);
	ck_assert_ptr_null(recording_damage(reader));
	recording_close(reader);
	free(file.bytes);
}

/* Compresses each block again, as version 2 did. */
static struct file as_version_2(const struct file *file)
{
	struct recording_header header;
	struct recording_block block, again;
	struct file older = { 0 };
	FILE *out = open_memstream(&older.bytes, &older.size);
	static char raw[4 << 20];
	size_t at = sizeof(header);

	memcpy(&header, file->bytes, sizeof(header));
	header.version = 2;
	fwrite(&header, sizeof(header), 1, out);
	for (; at < file->size; at += sizeof(block) + block.stored) {
		memcpy(&block, file->bytes + at, sizeof(block));
		ck_assert_uint_le(block.raw, sizeof(raw));
		ck_assert_uint_eq(ZSTD_decompress(raw, sizeof(raw),
						  file->bytes + at + sizeof(block), block.stored),
				  block.raw);
		again = (struct recording_block){ .type = block.type };
		put_block(out, 2, again, raw, block.raw);
	}
	fclose(out);
	return older;
}

TEST(test_a_recording_of_version_2_has_the_same_items)
{
	struct file file = write_items(3 * ITEMS_FULL, ALL_KINDS), older = as_version_2(&file);
	struct recording_reader *reader;
	struct why why;

	reader = open_bytes(older.bytes, older.size, &why);
	ck_assert_msg(reader, "%s", why.text);
	ck_assert_uint_eq(read_items(reader, ALL_KINDS), 3 * ITEMS_FULL);
	ck_assert_ptr_null(recording_damage(reader));
	recording_close(reader);
	free(older.bytes);
	free(file.bytes);
}

TEST(test_a_payload_of_two_frames_is_damage)
{
	struct uncompress uncompress = { 0 };
	char frames[64], raw[4];
	size_t one, two;

	ck_assert_int_eq(uncompress_init(&uncompress, RECORDING_VERSION), 0);
	one = ZSTD_compress(frames, sizeof(frames), "ab", 2, 1);
	two = ZSTD_compress(frames + one, sizeof(frames) - one, "cd", 2, 1);
	ck_assert_int_eq(uncompress_all(&uncompress, frames, one, raw, 2), 0);
	ck_assert_int_eq(uncompress_all(&uncompress, frames, one + two, raw, 4), -EBADMSG);
	ck_assert_int_eq(uncompress_all(&uncompress, frames, one - 1, raw, 2), -EBADMSG);
	uncompress_exit(&uncompress);
}

TEST(test_impossible_block_sizes_are_refused)
{
	const struct recording_block items = { .type = RECORDING_ITEMS };
	static const uint8_t many[] = { 0xff, 0xff, 0xff, 0xff, 0, 0, 0 };
	struct recording_block block = items;

	block.raw = UINT32_MAX;
	assert_damage(block, many, sizeof(many), "a block has 4294967295 bytes");
	block.raw = RECORDING_BLOCK_MAX; /* more than the stream has */
	assert_damage(block, many, sizeof(many), "the block cannot be uncompressed");
	block.raw = 3; /* less than the stream has */
	assert_damage(block, many, sizeof(many), "the block cannot be uncompressed");
	block.raw = 0;
	block.stored = UINT32_MAX;
	assert_damage(block, many, sizeof(many), "a block has 4294967295 bytes");
	block.stored = RECORDING_BLOCK_MAX;
	assert_damage(block, many, sizeof(many), "run.pfs was cut: it has no end");
	assert_damage(items, many, sizeof(many), "the items do not fit into the block");
}

TEST(test_malformed_events_are_damage)
{
	const struct recording_block items = { .type = RECORDING_ITEMS };
	/* one item each, then a byte per word stating what follows */
	static const uint8_t unknown_kind[] = { 1, 0, 0, 0, 9 };
	static const uint8_t no_planes[] = { 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0 };
	static const uint8_t wrong_type[] = { 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 4 };
	static const uint8_t wrong_size[] = { 1, 0, 0, 0, 1, 4, 0, 0, 0, 0, 0, 4 };
	static const uint8_t too_many[] = { 0, 0, 0, 0, 0 };
	static const uint8_t no_map[] = { 1, 0, 0, 0, 15, 1, 2, 3 };
	static const uint8_t map_of_no_path[5 + sizeof(struct item_map)] = { 1, 0, 0, 0, 15 };

	assert_damage(items, unknown_kind, sizeof(unknown_kind), "do not fit");
	assert_damage(items, no_planes, sizeof(no_planes), "do not fit");
	assert_damage(items, too_many, sizeof(too_many), "do not fit");
	assert_damage(items, wrong_type, sizeof(wrong_type),
		      "the block has an invalid item; 0 items were");
	assert_damage(items, wrong_size, sizeof(wrong_size), "the block has an invalid item");
	assert_damage(items, no_map, sizeof(no_map), "the block has an invalid item");
	assert_damage(items, map_of_no_path, sizeof(map_of_no_path),
		      "the block has an invalid item");
}

TEST(test_unexpected_blocks_are_refused)
{
	assert_damage((struct recording_block){ .type = RECORDING_HEAD }, "{}", 2, "a second head");
	assert_damage((struct recording_block){ .type = RECORDING_SYMBOLS }, "{}", 2, "no");
	assert_damage((struct recording_block){ .type = RECORDING_SYMBOLS }, "[1", 2, "not JSON");
	assert_damage((struct recording_block){ .type = RECORDING_TAIL }, "[]", 2, "JSON object");
	assert_damage((struct recording_block){ .type = RECORDING_TAIL }, "{}", 2,
		      "more data follows");
	assert_damage((struct recording_block){ .type = 77 }, "x", 1, NULL); /* skipped */
}

/* A stream whose disk fails after this many bytes. */
struct failing {
	const char *bytes;
	size_t left;
	bool ends; /* the data is there until the failure */
};

static ssize_t read_some(void *context, char *bytes, size_t size)
{
	struct failing *file = context;

	if (!file->left && file->ends)
		return 0;
	if (!file->left) {
		errno = EIO;
		return -1;
	}
	if (size > file->left)
		size = file->left;
	memcpy(bytes, file->bytes, size);
	file->bytes += size;
	file->left -= size;
	return size;
}

/* Instructions for a sink, and the results. */
struct feeding {
	uint64_t taken;
	uint64_t refused, stopped; /* the item, 0 if none */
	volatile sig_atomic_t stop;
};

static int take(void *context, const struct item *item)
{
	struct feeding *feeding = context;
	struct item written;
	union any any;

	written = item_number(&any, feeding->taken++, 1);
	assert_equal(item, &written);
	if (feeding->taken == feeding->stopped)
		feeding->stop = 1;
	return feeding->taken == feeding->refused ? -ENOBUFS : 0;
}

/* Feeds @percent of a 20000-item recording. Below 100, the disk then fails. */
static int feed(struct feeding *feeding, unsigned int percent)
{
	struct file file = write_items(20000, 1);
	struct failing failing = {
		.bytes = file.bytes,
		.left = file.size * percent / 100,
		.ends = percent == 100,
	};
	FILE *in = fopencookie(&failing, "r", (cookie_io_functions_t){ .read = read_some });
	struct recording_reader *reader;
	struct why why;
	int err;

	ck_assert_int_eq(recording_open_file(&reader, in, "run.pfs", &why), 0);
	err = recording_feed(reader, take, feeding, &feeding->stop);
	recording_close(reader);
	free(file.bytes);
	return err;
}

TEST(test_all_events_are_fed)
{
	struct feeding feeding = { 0 };

	ck_assert_int_eq(feed(&feeding, 100), 0);
	ck_assert_uint_eq(feeding.taken, 20000);
}

/* The sink gets no unread item. */
TEST(test_a_disk_that_fails_is_an_error)
{
	struct feeding feeding = { 0 };

	ck_assert_int_eq(feed(&feeding, 70), -EIO);
	ck_assert_uint_gt(feeding.taken, 0);
	ck_assert_uint_lt(feeding.taken, 20000);
}

TEST(test_feeding_stops_when_the_sink_refuses)
{
	struct feeding feeding = { .refused = 5000 };

	ck_assert_int_eq(feed(&feeding, 100), -ENOBUFS);
	ck_assert_uint_eq(feeding.taken, 5000);
}

TEST(test_feeding_stops_on_a_signal)
{
	struct feeding during = { .stopped = 5000 }, before = { .stop = 1 };

	ck_assert_int_eq(feed(&during, 100), -EINTR);
	ck_assert_uint_eq(during.taken, 5000);
	ck_assert_int_eq(feed(&before, 100), -EINTR);
	ck_assert_uint_eq(before.taken, 0);
}

/* @page_bytes: a JSON value, or NULL if the head has none. 0: the recording cannot be opened. */
static uint64_t pages_of_head(const char *page_bytes, struct why *why)
{
	struct recording_writer *writer;
	struct recording_reader *reader;
	json_t *head, *tail = json_object();
	char text[128], *bytes;
	uint64_t pages = 0;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	snprintf(text, sizeof(text), "{\"environment\": {%s%s}}",
		 page_bytes ? "\"page_bytes\": " : "", page_bytes ?: "");
	head = json_loads(text, 0, NULL);
	ck_assert_int_eq(recording_begin(&writer, out, head), 0);
	ck_assert_int_eq(recording_end(writer, tail), 0);
	fclose(out);
	reader = open_bytes(bytes, size, why);
	if (reader) {
		pages = recording_page_bytes(reader);
		recording_close(reader);
	}
	json_decref(head);
	json_decref(tail);
	free(bytes);
	return pages;
}

TEST(test_a_recording_states_the_size_of_its_pages)
{
	static const struct {
		const char *text;
		uint64_t page_bytes;
	} heads[] = { { NULL, 4096 },
		      { "null", 4096 },
		      { "4096", 4096 },
		      { "16384", 16384 },
		      { "65536", 65536 } };
	static const char *const wrong[] = { "0", "5000", "-4096", "131072", "\"4096\"" };
	struct why why;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(heads); i++)
		ck_assert_uint_eq(pages_of_head(heads[i].text, &why), heads[i].page_bytes);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		ck_assert_uint_eq(pages_of_head(wrong[i], &why), 0);
		ck_assert_ptr_nonnull(strstr(why.text, "a page has an unknown size"));
	}
}

TEST(test_a_full_disk_is_an_error)
{
	json_t *head = json_object();
	struct recording_writer *writer;
	FILE *full = fopen("/dev/full", "w");

	ck_assert_int_eq(recording_begin(&writer, full, head), -ENOSPC);
	ck_assert_ptr_null(writer);
	fclose(full);
	json_decref(head);
}

/* A stream accepting this many bytes. */
static ssize_t write_some(void *left, const char *bytes, size_t size)
{
	size_t *room = left;

	(void)bytes;
	if (size > *room) {
		errno = ENOSPC;
		return 0;
	}
	*room -= size;
	return size;
}

/* Another thread detects the error. The writer reports it at most a few blocks later. */
TEST(test_full_disk_error_persists)
{
	const uint64_t many = 400000;
	json_t *head = json_object();
	size_t room = 200000;
	FILE *out = fopencookie(&room, "w", (cookie_io_functions_t){ .write = write_some });
	struct recording_writer *writer;
	struct item item;
	uint64_t i, nr_good;
	union any any;
	int err = 0;

	ck_assert_int_eq(recording_begin(&writer, out, head), 0);
	for (i = 0; i < many && !err; i++) {
		item = item_number(&any, i, 1);
		err = recording_add(writer, &item);
	}
	ck_assert_int_eq(err, -ENOSPC);
	nr_good = i;
	ck_assert_uint_lt(nr_good, many);
	room = SIZE_MAX;
	ck_assert_int_eq(recording_add(writer, &item), -ENOSPC);
	ck_assert_int_eq(recording_end(writer, head), -ENOSPC);
	fclose(out);
	json_decref(head);
}

TEST(test_open_error_names_the_file)
{
	struct recording_reader *reader;
	struct why why;

	ck_assert_int_eq(recording_open(&reader, "/nonexistent/run.pfs", &why), -ENOENT);
	ck_assert_str_eq(why.text, "cannot open /nonexistent/run.pfs: No such file or directory");
	ck_assert_ptr_null(reader);
	ck_assert_int_eq(recording_open(&reader, "/", &why), -EISDIR);
	ck_assert_str_eq(why.text, "cannot read /: Is a directory");
}

/* Each member gets a different number, so a mix-up is detected. */
static void make_counters(struct run_counters *counters)
{
	uint64_t *const members[] = {
		&counters->start_ns,
		&counters->end_ns,
		&counters->counts_start_ns,
		&counters->calls,
		&counters->lost,
		&counters->usage.utime_ns,
		&counters->usage.stime_ns,
		&counters->usage.minflt,
		&counters->usage.majflt,
		&counters->usage.inblock,
		&counters->usage.oublock,
		&counters->usage.nvcsw,
		&counters->usage.nivcsw,
		&counters->usage.maxrss_bytes,
		&counters->perf_faults,
		&counters->perf_minor,
		&counters->perf_major,
		&counters->maps_lost,
		&counters->maps_late_cpus,
		&counters->names_left_out,
		&counters->events_skipped,
		&counters->events_received,
		&counters->task_minor,
		&counters->task_major,
		&counters->call_cost_ps,
		&counters->inside_ps,
		&counters->bpf_hooked_ps,
		&counters->bpf_again_ps,
		&counters->bpf_other_ps,
		&counters->perf_exec_pages,
		&counters->perf_ended,
		&counters->faults_lost,
		&counters->faults_unwatched,
	};
	unsigned int i;

	run_counters_init(counters);
	strcpy(counters->perf_ended_name, "ping");
	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		*members[i] = 1000000007ULL * i;
	counters->have_bpf = true;
	counters->hooks = 1U << HOOK_WAKEUP | 1U << HOOK_PAGE_DELETE;
	for (i = 0; i < PFSTAT_NR_COUNTS; i++)
		counters->counts[i] = 50 + i;
	for (i = 0; i < PFSTAT_NR_FAULT_INDICES; i++)
		counters->faults[i] = (struct pfstat_fault_value){ 100 + i, 900 * i };
	counters->nr_syscalls = 3;
	counters->syscalls = calloc(3, sizeof(*counters->syscalls));
	for (i = 0; i < 3; i++) {
		counters->syscalls[i] = (struct syscall_row){
			.number = i + 9,
			.error = 11 * i,
			.value.count = 5,
			.value.total_ns = 99,
		};
		counters->syscalls[i].value.log2_ns[i] = 5;
	}
}

/* A round trip through the file's text form. */
static int counters_through_text(struct run_counters *copy, const struct run_counters *counters)
{
	json_t *json = counters_json(counters), *read;
	char *text = json_dumps(json, 0);
	int err;

	read = json_loads(text, 0, NULL);
	err = counters_json_parse(copy, read);
	free(text);
	json_decref(json);
	json_decref(read);
	return err;
}

/* The symbols that are read without the items, from a file. */
static void check_ahead(const struct file *file, const json_t *expected)
{
	char path[] = "/tmp/pfstat-ahead-XXXXXX";
	const int fd = mkstemp(path);
	json_t *symbols;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, file->bytes, file->size), file->size);
	close(fd);
	ck_assert_int_eq(recording_symbols_ahead(path, &symbols), 0);
	ck_assert(json_equal(symbols, expected));
	json_decref(symbols);
	unlink(path);
}

/* A block holds 4 MiB. Each symbol has a 24 KiB path in JSON, so 512 symbols take 12 MiB. */
TEST(test_long_symbols_span_several_blocks)
{
	struct recording_writer *writer;
	struct recording_reader *reader;
	struct file file = { 0 };
	FILE *out = open_memstream(&file.bytes, &file.size);
	json_t *empty = json_object(), *symbols = json_array();
	char path[4096];
	struct why why;
	struct item item;
	size_t i;

	memset(path, 1, sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (i = 0; i < 600; i++)
		json_array_append_new(symbols, json_pack("{ss si ss}", "path", path, "offset",
							 (int)i, "symbol", "main+0x4"));
	ck_assert_int_eq(recording_begin(&writer, out, empty), 0);
	ck_assert_int_eq(recording_add_all_symbols(writer, symbols), 0);
	ck_assert_int_eq(recording_end(writer, empty), 0);
	fclose(out);
	reader = open_bytes(file.bytes, file.size, &why);
	ck_assert_int_eq(recording_next(reader, &item), 0);
	ck_assert_ptr_null(recording_damage(reader));
	ck_assert(json_equal(recording_symbols(reader), symbols));
	recording_close(reader);
	check_ahead(&file, symbols);
	json_decref(symbols);
	json_decref(empty);
	free(file.bytes);
}

TEST(test_symbols_are_read_before_the_items)
{
	struct file file = write_items(2 * ITEMS_FULL, 1);
	struct recording_reader *reader;
	struct why why;

	reader = open_bytes(file.bytes, file.size, &why);
	read_items(reader, 1);
	ck_assert_uint_gt(json_array_size(recording_symbols(reader)), 0);
	check_ahead(&file, recording_symbols(reader));
	recording_close(reader);
	free(file.bytes);
}

/* The symbols in front of the damage are valid. */
TEST(test_symbols_before_damage_are_read)
{
	struct file file = write_items(2 * ITEMS_FULL, 1);
	struct recording_reader *reader;
	struct why why;

	reader = open_bytes(file.bytes, file.size, &why);
	read_items(reader, 1);
	file.size = file.size / 2;
	recording_close(reader);
	reader = open_bytes(file.bytes, file.size, &why);
	read_items(reader, 1);
	ck_assert_ptr_nonnull(recording_damage(reader));
	check_ahead(&file, recording_symbols(reader));
	recording_close(reader);
	free(file.bytes);
}

TEST(test_counters_survive_a_round_trip)
{
	struct run_counters counters, copy;

	make_counters(&counters);
	ck_assert_int_eq(counters_through_text(&copy, &counters), 0);
	ck_assert_uint_eq(copy.nr_syscalls, 3);
	ck_assert_mem_eq(copy.syscalls, counters.syscalls, 3 * sizeof(*counters.syscalls));
	run_counters_exit(&copy);
	free(counters.syscalls);
	counters.syscalls = NULL;
	counters.nr_syscalls = 0;
	ck_assert_mem_eq(&copy, &counters, sizeof(counters));
}

TEST(test_unknown_counters_stay_unknown)
{
	struct run_counters counters, copy, none;
	json_t *json = json_object();

	run_counters_init(&counters);
	strcpy(counters.bpf_missing, "this kernel has no BTF");
	strcpy(counters.module_faults_missing, "another tool holds handle_mm_fault()");
	ck_assert_uint_eq(counters.usage.minflt, COUNT_NA);
	ck_assert_uint_eq(counters.faults[PFSTAT_NR_FAULT_INDICES - 1].count, COUNT_NA);
	ck_assert_int_eq(counters_through_text(&copy, &counters), 0);
	ck_assert_mem_eq(&copy, &counters, sizeof(counters));
	run_counters_init(&none);
	ck_assert_int_eq(counters_json_parse(&copy, json), 0);
	ck_assert_mem_eq(&copy, &none, sizeof(none));
	json_decref(json);
}

TEST(test_malformed_counters_are_refused)
{
	static const char *const texts[] = {
		"[]",
		"{\"minflt\": -1}",
		"{\"minflt\": \"1\"}",
		"{\"minflt\": 1.5}",
		"{\"bpf\": 7}",
		"{\"bpf\": {}}",
		"{\"bpf_missing\": 3}",
		"{\"module_faults_missing\": 3}",
		"{\"bpf\": {\"hooks\": [], \"counts\": {}, \"faults\": [{}], \"syscalls\": []}}",
		"{\"bpf\": {\"hooks\": [], \"counts\": {}, \"faults\": [], \"syscalls\": [{}]}}",
		"{\"bpf\": {\"hooks\": [], \"counts\": {}, \"faults\": [], \"syscalls\": "
		"[{\"number\": 4, \"error\": 0, \"count\": 1, \"total_ns\": null, "
		"\"log2_ns\": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
		"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}]}}",
		"{\"bpf\": {\"hooks\": [], \"counts\": {}, \"faults\": [], \"syscalls\": "
		"[{\"number\": 4294967296, \"error\": 0, \"count\": 1, \"total_ns\": 1, "
		"\"log2_ns\": []}]}}",
	};
	struct run_counters counters;
	json_t *json;
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json = json_loads(texts[i], 0, NULL);
		ck_assert_ptr_nonnull(json);
		ck_assert_msg(counters_json_parse(&counters, json) == -EINVAL, "%s", texts[i]);
		ck_assert_ptr_null(counters.syscalls);
		json_decref(json);
	}
}
