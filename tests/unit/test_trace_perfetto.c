// SPDX-License-Identifier: GPL-2.0-only
/* A trace in Perfetto's format, read back as a viewer reads it. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "protobuf_reader.h"
#include "runner.h"
#include "user/print/trace/trace_perfetto.h"
#include "user/print/trace/trace_print.h"

#define T0 1234567890123457ULL

/* Fields of InternedData; the index of a table. */
enum { CATEGORIES = 1, NAMES = 2, KEYS = 3, STRINGS = 29, NR_TABLES = 30 };
enum { BEGIN = 1, END = 2, INSTANT = 3 };

struct trace_event {
	uint64_t ns, type, uuid, id; /* @id: of an arrow */
	char name[64], category[64], phase;
	struct protobuf_reader message;
};

static char *text;
static size_t length;
static FILE *stream;
static struct trace_sink *sink;

/* The state of a viewer. */
static uint8_t packets[32 << 20];
static size_t packets_bytes;
static struct protobuf_reader packets_at, tables[NR_TABLES][9000];
static uint64_t clock_ns;
static unsigned int nr_starts, nr_absolute;

static void begin(void)
{
	stream = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(stream);
	sink = trace_perfetto_new(stream);
	ck_assert_ptr_nonnull(sink);
}

static void uncompress_blocks(void)
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

static void end(void)
{
	const struct trace_missing missing = {
		.damage = "cut",
		.lost = 5,
		.events_lost = COUNT_NA,
		.arrows_left_out = 7,
	};

	sink->ops->finish(sink, &missing);
	ck_assert_int_eq(trace_sink_state(sink), 0);
	sink->ops->free(sink);
	fclose(stream);
	uncompress_blocks();
	free(text);
}

static bool has(struct protobuf_reader message, unsigned int field, struct protobuf_reader *found)
{
	while (protobuf_next(&message)) {
		if (message.field != field)
			continue;
		*found = message;
		return true;
	}
	return false;
}

static uint64_t number_in(struct protobuf_reader message, unsigned int field)
{
	struct protobuf_reader found;

	return has(message, field, &found) ? found.number : 0;
}

static const char *interned(unsigned int table, uint64_t iid)
{
	static char texts[4][64];
	static unsigned int next;
	char *copy = texts[next++ % 4];
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

	if (!number_in(packet, 58)) {
		clock_ns += ns;
		return clock_ns;
	}
	ck_assert_uint_eq(number_in(packet, 58), 3);
	nr_absolute++;
	return ns;
}

static void fill_event(struct trace_event *event, struct protobuf_reader message)
{
	struct protobuf_reader found, legacy;

	event->message = message;
	event->type = number_in(message, 9);
	event->uuid = protobuf_find(message, 11).number;
	event->name[0] = '\0';
	event->category[0] = '\0';
	event->phase = '\0';
	if (has(message, 10, &found))
		strcpy(event->name, interned(NAMES, found.number));
	if (has(message, 3, &found))
		strcpy(event->category, interned(CATEGORIES, found.number));
	if (!has(message, 6, &found))
		return;
	legacy = protobuf_inner(&found);
	event->phase = protobuf_find(legacy, 2).number;
	event->id = protobuf_find(legacy, 6).number;
}

/* The next event in the order of the file. False: there is none. */
static bool next(struct trace_event *event)
{
	struct protobuf_reader packet, found;

	while (protobuf_next(&packets_at)) {
		packet = protobuf_inner(&packets_at);
		ck_assert_uint_eq(protobuf_find(packet, 10).number, 1);
		if (number_in(packet, 13) == 1)
			start_sequence(packet);
		if (has(packet, 12, &found))
			add_strings(protobuf_inner(&found));
		if (!has(packet, 11, &found))
			continue;
		ck_assert_uint_eq(number_in(packet, 13), 2);
		event->ns = time_of(packet);
		fill_event(event, protobuf_inner(&found));
		return true;
	}
	return false;
}

static struct trace_event expect(uint64_t type, uint64_t ns, const char *name)
{
	struct trace_event event;

	ck_assert(next(&event));
	ck_assert_uint_eq(event.type, type);
	ck_assert_uint_eq(event.ns, ns);
	ck_assert_str_eq(event.name, name);
	return event;
}

/* The argument of that key, in an event or (field 11) in another argument. */
static struct protobuf_reader argument(struct protobuf_reader message, unsigned int field,
				       const char *key)
{
	struct protobuf_reader inner;

	while (protobuf_next(&message)) {
		if (message.field != field)
			continue;
		inner = protobuf_inner(&message);
		if (!strcmp(interned(KEYS, protobuf_find(inner, 1).number), key))
			return inner;
	}
	ck_abort_msg("no argument %s", key);
}

static uint64_t number_of(const struct trace_event *event, const char *key)
{
	return protobuf_find(argument(event->message, 4, key), 3).number;
}

static const char *text_of(const struct trace_event *event, const char *key)
{
	return interned(STRINGS, protobuf_find(argument(event->message, 4, key), 17).number);
}

/* The last descriptor of a track. */
static struct protobuf_reader track(uint64_t uuid)
{
	struct protobuf_reader all = protobuf_read(packets, packets_bytes), found, last = { 0 };

	while (protobuf_next(&all))
		if (has(protobuf_inner(&all), 60, &found) &&
		    protobuf_find(protobuf_inner(&found), 1).number == uuid)
			last = protobuf_inner(&found);
	ck_assert_msg(last.at, "no track %u", (unsigned int)uuid);
	return last;
}

static void check_text(struct protobuf_reader message, unsigned int field, const char *expected)
{
	const struct protobuf_reader found = protobuf_find(message, field);

	ck_assert_uint_eq(found.bytes, strlen(expected));
	ck_assert_mem_eq(found.data, expected, found.bytes);
}

static void check_thread(uint64_t uuid, uint64_t pid, uint64_t tid)
{
	struct protobuf_reader found = protobuf_find(track(uuid), 4);
	struct protobuf_reader thread = protobuf_inner(&found);

	ck_assert_uint_eq(protobuf_find(thread, 1).number, pid);
	ck_assert_uint_eq(protobuf_find(thread, 2).number, tid);
}

static const struct trace_track thread_11 = { 10, 11, false };

static void slice(struct trace_track on, const char *name, uint64_t from_ns, uint64_t to_ns)
{
	sink->ops->slice(sink, on, "test", name, T0 + from_ns, T0 + to_ns);
	sink->ops->args_end(sink);
	sink->ops->slice_end(sink, on, T0 + to_ns);
}

START_TEST(test_a_fault_has_exact_times_arguments_and_parts)
{
	const struct explained fault = {
		.class = FAULT_DISK,
		.pid = 10,
		.tid = 11,
		.start_ns = T0 + 100,
		.end_ns = T0 + 1100,
		.parts_ns = { [PART_CPU_BEFORE] = 50, [PART_DEVICE] = 950 },
		.address = 0xfffff0012345678,
		.pgoff = 5,
		.inode = 77,
		.dev = (8U << 20) | 1,
		.result = PFSTAT_RESULT_MAJOR | PFSTAT_RESULT_LOCKED,
		.attempts = 2,
		.solved = false,
		.parts_known = true,
		.whole = true,
		.nr_spans = 1,
		.spans = { { T0 + 150, T0 + 1100, PART_DEVICE, false } },
	};
	struct trace_writer *trace;
	struct trace_event event;
	struct protobuf_reader parts;

	begin();
	ck_assert_int_eq(trace_begin(&trace, 4096, sink), 0);
	ck_assert_int_eq(trace_fault(trace, &fault), 0);
	ck_assert_int_eq(trace_end(trace, &(struct trace_missing){ 0 }), 0);
	fclose(stream);
	uncompress_blocks();
	event = expect(BEGIN, T0 + 100, "disk");
	ck_assert_str_eq(event.category, "fault");
	check_thread(event.uuid, 10, 11);
	ck_assert_uint_eq(protobuf_find(argument(event.message, 4, "address"), 7).number,
			  fault.address);
	ck_assert_str_eq(text_of(&event, "file"), "8:1 inode 77");
	ck_assert_uint_eq(number_of(&event, "pgoff"), 5);
	ck_assert_uint_eq(number_of(&event, "attempts"), 2);
	ck_assert_uint_eq(protobuf_find(argument(event.message, 4, "solved"), 2).number, 0);
	ck_assert_str_eq(text_of(&event, "result"), "MAJOR|LOCKED");
	parts = argument(event.message, 4, "parts");
	ck_assert_uint_eq(protobuf_find(argument(parts, 11, "cpu_before_ns"), 3).number, 50);
	ck_assert_uint_eq(protobuf_find(argument(parts, 11, "device_ns"), 3).number, 950);
	/* The parts are inside of the fault, in the order of the file. */
	expect(BEGIN, T0 + 100, "cpu_before");
	expect(END, T0 + 150, "");
	expect(BEGIN, T0 + 150, "device");
	expect(END, T0 + 1100, "");
	event = expect(END, T0 + 1100, "");
	check_thread(event.uuid, 10, 11);
	expect(INSTANT, T0 + 1100, "end of the recording");
	ck_assert(!next(&event));
	free(text);
}
END_TEST

START_TEST(test_an_earlier_event_has_its_absolute_time)
{
	begin();
	slice(thread_11, "first", 1000, 2000);
	slice(thread_11, "earlier", 500, 900);
	slice(thread_11, "later", 2000, 2500);
	end();
	expect(BEGIN, T0 + 1000, "first");
	expect(END, T0 + 2000, "");
	ck_assert_uint_eq(nr_absolute, 0);
	expect(BEGIN, T0 + 500, "earlier");
	expect(END, T0 + 900, "");
	ck_assert_uint_eq(nr_absolute, 2);
	/* The difference is to the last time of that clock. */
	expect(BEGIN, T0 + 2000, "later");
	expect(END, T0 + 2500, "");
	ck_assert_uint_eq(nr_absolute, 2);
}
END_TEST

START_TEST(test_the_end_states_what_the_trace_lacks)
{
	struct trace_event event;

	begin();
	slice(thread_11, "slice", 0, 10);
	end();
	expect(BEGIN, T0, "slice");
	expect(END, T0 + 10, "");
	event = expect(INSTANT, T0 + 10, "end of the recording");
	check_text(track(event.uuid), 2, "pfstat");
	ck_assert_uint_eq(number_of(&event, "lost"), 5);
	ck_assert_uint_eq(number_of(&event, "arrows_left_out"), 7);
	ck_assert_str_eq(text_of(&event, "events_lost"), "n/a");
	ck_assert_str_eq(text_of(&event, "damage"), "cut");
}
END_TEST

START_TEST(test_an_empty_recording_still_has_its_end)
{
	struct trace_event event;

	begin();
	end();
	event = expect(INSTANT, 0, "end of the recording");
	ck_assert(!next(&event));
}
END_TEST

/* Else the end of an interval could close a fault that begins at that time. */
START_TEST(test_off_cpu_intervals_have_a_track_below_their_thread)
{
	struct trace_event fault, interval;
	struct trace_track off_cpu = thread_11;

	off_cpu.off_cpu = true;
	begin();
	slice(thread_11, "fault", 100, 200);
	slice(off_cpu, "sleep", 0, 100);
	end();
	fault = expect(BEGIN, T0 + 100, "fault");
	expect(END, T0 + 200, "");
	interval = expect(BEGIN, T0, "sleep");
	ck_assert_uint_ne(interval.uuid, fault.uuid);
	ck_assert_uint_eq(protobuf_find(track(interval.uuid), 5).number, fault.uuid);
	check_text(track(interval.uuid), 2, "off-CPU");
}
END_TEST

START_TEST(test_a_reused_number_is_another_track)
{
	struct trace_event first, second;

	begin();
	sink->ops->name(sink, TRACE_NAMED_THREAD, thread_11, "one");
	slice(thread_11, "slice", 0, 10);
	trace_sink_end_thread(sink, 11);
	trace_sink_begin_thread(sink, 11);
	slice(thread_11, "slice", 20, 30);
	end();
	first = expect(BEGIN, T0, "slice");
	expect(END, T0 + 10, "");
	second = expect(BEGIN, T0 + 20, "slice");
	check_thread(first.uuid, 10, 11);
	check_thread(second.uuid, 10, 11 + TRACE_NEXT_OWNER);
}
END_TEST

START_TEST(test_an_arrow_has_one_id_at_both_ends)
{
	const struct trace_track lane = { TRACE_DEVICES_PID, TRACE_DEVICES_PID + 1, false };
	struct trace_event from, to;

	begin();
	sink->ops->name(sink, TRACE_NAMED_THREAD, lane, "8:1 #1");
	slice(lane, "read", 0, 100);
	slice(thread_11, "disk", 0, 200);
	sink->ops->arrow(sink, 's', lane, 3, T0 + 99);
	sink->ops->arrow(sink, 'f', thread_11, 3, T0 + 100);
	end();
	expect(BEGIN, T0, "read");
	expect(END, T0 + 100, "");
	expect(BEGIN, T0, "disk");
	expect(END, T0 + 200, "");
	from = expect(0, T0 + 99, "request");
	to = expect(0, T0 + 100, "request");
	ck_assert_int_eq(from.phase, 's');
	ck_assert_int_eq(to.phase, 'f');
	ck_assert_uint_eq(from.id, 3);
	ck_assert_uint_eq(to.id, 3);
	check_thread(from.uuid, TRACE_DEVICES_PID, TRACE_DEVICES_PID + 1);
	check_thread(to.uuid, 10, 11);
}
END_TEST

/* A recording may name any number of files. */
START_TEST(test_many_strings_take_bounded_memory)
{
	enum { FILES = 8500 };
	struct trace_event event;
	char file[64];
	unsigned int i;

	begin();
	for (i = 0; i < FILES; i++) {
		snprintf(file, sizeof(file), "/data/%u", i);
		sink->ops->slice(sink, thread_11, "fault", "disk", T0 + i, T0 + i);
		sink->ops->text(sink, "file", file);
		sink->ops->args_end(sink);
		sink->ops->slice_end(sink, thread_11, T0 + i);
	}
	end();
	for (i = 0; i < FILES; i++) {
		snprintf(file, sizeof(file), "/data/%u", i);
		event = expect(BEGIN, T0 + i, "disk");
		ck_assert_str_eq(text_of(&event, "file"), file);
		expect(END, T0 + i, "");
	}
	ck_assert_uint_eq(nr_starts, 2);
}
END_TEST

START_TEST(test_output_that_cannot_be_written_is_an_error)
{
	FILE *full = fopen("/dev/full", "w");
	struct trace_writer *trace;

	ck_assert_ptr_nonnull(full);
	ck_assert_int_eq(trace_begin(&trace, 4096, trace_perfetto_new(full)), 0);
	ck_assert_int_lt(trace_end(trace, &(struct trace_missing){ 0 }), 0);
	fclose(full);
}
END_TEST

RUN_TESTS("perfetto", test_a_fault_has_exact_times_arguments_and_parts,
	  test_an_earlier_event_has_its_absolute_time, test_the_end_states_what_the_trace_lacks,
	  test_an_empty_recording_still_has_its_end,
	  test_off_cpu_intervals_have_a_track_below_their_thread,
	  test_a_reused_number_is_another_track, test_an_arrow_has_one_id_at_both_ends,
	  test_many_strings_take_bounded_memory, test_output_that_cannot_be_written_is_an_error)
