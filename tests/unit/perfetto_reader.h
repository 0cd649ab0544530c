/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a Perfetto format trace back, like Perfetto's viewer. A malformed trace fails the test. */
#ifndef PFSTAT_TESTS_PERFETTO_READER_H
#define PFSTAT_TESTS_PERFETTO_READER_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "protobuf_reader.h"

/* Fields in InternedData, each the index of a table. */
enum { CATEGORIES = 1, NAMES = 2, KEYS = 3, STRINGS = 29, NR_TABLES = 30 };
enum { BEGIN = 1, END = 2, INSTANT = 3 };

struct trace_event {
	uint64_t ns, type, uuid, id; /* @id: for an arrow */
	char name[64], category[64], phase;
	bool enclosing; /* the end of an arrow is bound to the open slice */
	struct protobuf_reader message;
};

/* The state of a viewer. */
static uint8_t packets[32 << 20];
static size_t packets_bytes;
static struct protobuf_reader packets_at, tables[NR_TABLES][9000];
static uint64_t clock_ns;
static unsigned int nr_starts, nr_absolute;

static void viewer_open(const char *text, size_t length)
{
	struct protobuf_reader file = protobuf_read(text, length), block;
	uLongf bytes;

	packets_bytes = 0;
	while (protobuf_next(&file)) {
		ck_assert_uint_eq(file.field, 1);
		block = protobuf_find(protobuf_inner(&file), 50);
		bytes = sizeof(packets) - packets_bytes;
		ck_assert_int_eq(uncompress(packets + packets_bytes, &bytes, block.data,
					    block.bytes),
				 Z_OK);
		packets_bytes += bytes;
	}
	packets_at = protobuf_read(packets, packets_bytes);
	nr_starts = 0;
	nr_absolute = 0;
}

static bool viewer_has(struct protobuf_reader message, unsigned int field,
		       struct protobuf_reader *found)
{
	while (protobuf_next(&message)) {
		if (message.field != field)
			continue;
		*found = message;
		return true;
	}
	return false;
}

static uint64_t viewer_number(struct protobuf_reader message, unsigned int field)
{
	struct protobuf_reader found;

	return viewer_has(message, field, &found) ? found.number : 0;
}

static const char *viewer_text(unsigned int table, uint64_t iid)
{
	static char texts[4][256];
	static unsigned int nr;
	char *copy = texts[nr++ % 4];
	const struct protobuf_reader *found;

	ck_assert_uint_lt(iid, 9000);
	found = &tables[table][iid];
	ck_assert_msg(found->data, "no string %u of table %u", (unsigned int)iid, table);
	ck_assert_uint_lt(found->bytes, sizeof(texts[0]));
	memcpy(copy, found->data, found->bytes);
	copy[found->bytes] = '\0';
	return copy;
}

static void add_strings(struct protobuf_reader all)
{
	struct protobuf_reader entry;
	uint64_t iid;

	while (protobuf_next(&all)) {
		entry = protobuf_inner(&all);
		iid = protobuf_find(entry, 1).number;
		ck_assert(all.field < NR_TABLES && iid < 9000);
		ck_assert_ptr_null(tables[all.field][iid].data);
		tables[all.field][iid] = protobuf_find(entry, 2);
	}
}

static void start_sequence(struct protobuf_reader packet)
{
	struct protobuf_reader found = protobuf_find(packet, 59), snapshot, entry;
	unsigned int clocks = 0;

	memset(tables, 0, sizeof(tables));
	nr_starts++;
	ck_assert_uint_eq(protobuf_find(protobuf_inner(&found), 58).number, 64);
	found = protobuf_find(packet, 6);
	snapshot = protobuf_inner(&found);
	ck_assert_uint_eq(protobuf_find(snapshot, 2).number, 3); /* CLOCK_MONOTONIC */
	while (protobuf_next(&snapshot)) {
		if (snapshot.field != 1)
			continue;
		entry = protobuf_inner(&snapshot);
		clock_ns = protobuf_find(entry, 2).number;
		ck_assert_uint_eq(protobuf_find(entry, 1).number, clocks++ ? 64 : 3);
	}
	ck_assert_uint_eq(clocks, 2);
}

static uint64_t time_of(struct protobuf_reader packet)
{
	const uint64_t ns = protobuf_find(packet, 8).number;

	if (!viewer_number(packet, 58)) {
		clock_ns += ns;
		return clock_ns;
	}
	ck_assert_uint_eq(viewer_number(packet, 58), 3);
	nr_absolute++;
	return ns;
}

static void fill_event(struct trace_event *event, struct protobuf_reader message)
{
	struct protobuf_reader found, legacy;

	event->message = message;
	event->type = viewer_number(message, 9);
	event->uuid = protobuf_find(message, 11).number;
	event->name[0] = '\0';
	event->category[0] = '\0';
	event->phase = '\0';
	event->enclosing = false;
	if (viewer_has(message, 10, &found))
		strcpy(event->name, viewer_text(NAMES, found.number));
	if (viewer_has(message, 3, &found))
		strcpy(event->category, viewer_text(CATEGORIES, found.number));
	if (!viewer_has(message, 6, &found))
		return;
	legacy = protobuf_inner(&found);
	event->phase = protobuf_find(legacy, 2).number;
	event->id = protobuf_find(legacy, 6).number;
	event->enclosing = viewer_number(legacy, 12);
}

enum viewer_step { VIEWER_END, VIEWER_TRACK, VIEWER_EVENT };

/* The next track descriptor, or the next event, in file order. */
static enum viewer_step viewer_step(struct trace_event *event, struct protobuf_reader *track)
{
	struct protobuf_reader packet, found;

	while (protobuf_next(&packets_at)) {
		packet = protobuf_inner(&packets_at);
		ck_assert_uint_eq(protobuf_find(packet, 10).number, 1);
		if (viewer_number(packet, 13) == 1)
			start_sequence(packet);
		if (viewer_has(packet, 12, &found))
			add_strings(protobuf_inner(&found));
		if (viewer_has(packet, 60, &found)) {
			*track = protobuf_inner(&found);
			return VIEWER_TRACK;
		}
		if (!viewer_has(packet, 11, &found))
			continue;
		ck_assert_uint_eq(viewer_number(packet, 13), 2);
		event->ns = time_of(packet);
		fill_event(event, protobuf_inner(&found));
		return VIEWER_EVENT;
	}
	return VIEWER_END;
}

#endif
