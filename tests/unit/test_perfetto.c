// SPDX-License-Identifier: GPL-2.0-only
/* A trace in Perfetto's format, read back as a viewer reads it. */
#include <stdio.h>
#include <string.h>

#include "perfetto_reader.h"
#include "runner.h"
#include "user/print/trace/trace_print.h"

#define T0 1234567890123457ULL

static char *text;
static size_t length;
static FILE *stream;
static struct perfetto *perfetto;

static void begin(void)
{
	stream = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(stream);
	perfetto = perfetto_new(stream);
	ck_assert_ptr_nonnull(perfetto);
}

static void end(void)
{
	const struct trace_missing missing = {
		.damage = "cut",
		.lost = 5,
		.events_lost = COUNT_NA,
		.arrows_left_out = 7,
	};

	perfetto_finish(perfetto, &missing);
	ck_assert_int_eq(perfetto_state(perfetto), 0);
	perfetto_free(perfetto);
	fclose(stream);
	viewer_open(text, length);
	free(text);
}

/* The next event in file order. False if there is none. */
static bool viewer_next(struct trace_event *event)
{
	struct protobuf_reader track;
	enum viewer_step step;

	do {
		step = viewer_step(event, &track);
	} while (step == VIEWER_TRACK);
	return step == VIEWER_EVENT;
}

/* The argument with this key, in an event or (field 11) in another argument. */
static struct protobuf_reader viewer_argument(struct protobuf_reader message, unsigned int field,
					      const char *key)
{
	struct protobuf_reader inner;

	while (protobuf_next(&message)) {
		if (message.field != field)
			continue;
		inner = protobuf_inner(&message);
		if (!strcmp(viewer_text(KEYS, protobuf_find(inner, 1).number), key))
			return inner;
	}
	ck_abort_msg("no argument %s", key);
}

/* A track's last descriptor. */
static struct protobuf_reader viewer_track(uint64_t uuid)
{
	struct protobuf_reader all = protobuf_read(packets, packets_bytes), found, last = { 0 };

	while (protobuf_next(&all))
		if (viewer_has(protobuf_inner(&all), 60, &found) &&
		    protobuf_find(protobuf_inner(&found), 1).number == uuid)
			last = protobuf_inner(&found);
	ck_assert_msg(last.at, "no track %u", (unsigned int)uuid);
	return last;
}

static struct trace_event expect(uint64_t type, uint64_t ns, const char *name)
{
	struct trace_event event;

	ck_assert(viewer_next(&event));
	ck_assert_uint_eq(event.type, type);
	ck_assert_uint_eq(event.ns, ns);
	ck_assert_str_eq(event.name, name);
	return event;
}

static uint64_t number_of(const struct trace_event *event, const char *key)
{
	return protobuf_find(viewer_argument(event->message, 4, key), 3).number;
}

static const char *text_of(const struct trace_event *event, const char *key)
{
	return viewer_text(STRINGS,
			   protobuf_find(viewer_argument(event->message, 4, key), 17).number);
}

static void check_text(struct protobuf_reader message, unsigned int field, const char *expected)
{
	const struct protobuf_reader found = protobuf_find(message, field);

	ck_assert_uint_eq(found.bytes, strlen(expected));
	ck_assert_mem_eq(found.data, expected, found.bytes);
}

static void check_thread(uint64_t uuid, uint64_t pid, uint64_t tid)
{
	struct protobuf_reader found = protobuf_find(viewer_track(uuid), 4);
	struct protobuf_reader thread = protobuf_inner(&found);

	ck_assert_uint_eq(protobuf_find(thread, 1).number, pid);
	ck_assert_uint_eq(protobuf_find(thread, 2).number, tid);
}

static const struct trace_track thread_11 = { 10, 11, false };

static void slice(struct trace_track on, const char *name, uint64_t from_ns, uint64_t to_ns)
{
	perfetto_slice(perfetto, on, "test", name, T0 + from_ns);
	perfetto_args_end(perfetto);
	perfetto_slice_end(perfetto, on, T0 + to_ns);
}

TEST(test_a_fault_has_exact_times_arguments_and_parts)
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

	stream = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(stream);
	ck_assert_int_eq(trace_print_begin(&trace, 4096, stream), 0);
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	ck_assert_int_eq(trace_print_end(trace, &(struct trace_missing){ 0 }), 0);
	fclose(stream);
	viewer_open(text, length);
	event = expect(BEGIN, T0 + 100, "disk");
	ck_assert_str_eq(event.category, "fault");
	check_thread(event.uuid, 10, 11);
	ck_assert_uint_eq(protobuf_find(viewer_argument(event.message, 4, "address"), 7).number,
			  fault.address);
	ck_assert_str_eq(text_of(&event, "file"), "8:1 inode 77");
	ck_assert_uint_eq(number_of(&event, "pgoff"), 5);
	ck_assert_uint_eq(number_of(&event, "attempts"), 2);
	ck_assert_uint_eq(protobuf_find(viewer_argument(event.message, 4, "solved"), 2).number, 0);
	ck_assert_str_eq(text_of(&event, "result"), "MAJOR|LOCKED");
	parts = viewer_argument(event.message, 4, "parts");
	ck_assert_uint_eq(protobuf_find(viewer_argument(parts, 11, "cpu_before_ns"), 3).number, 50);
	ck_assert_uint_eq(protobuf_find(viewer_argument(parts, 11, "device_ns"), 3).number, 950);
	/* The parts are inside the fault, in file order. */
	expect(BEGIN, T0 + 100, "cpu_before");
	expect(END, T0 + 150, "");
	expect(BEGIN, T0 + 150, "device");
	expect(END, T0 + 1100, "");
	event = expect(END, T0 + 1100, "");
	check_thread(event.uuid, 10, 11);
	expect(INSTANT, T0 + 1100, "end of the recording");
	ck_assert(!viewer_next(&event));
	free(text);
}

TEST(test_an_earlier_event_has_its_absolute_time)
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
	/* The difference is relative to the last time on this clock. */
	expect(BEGIN, T0 + 2000, "later");
	expect(END, T0 + 2500, "");
	ck_assert_uint_eq(nr_absolute, 2);
}

TEST(test_the_end_states_what_the_trace_lacks)
{
	struct trace_event event;

	begin();
	slice(thread_11, "slice", 0, 10);
	end();
	expect(BEGIN, T0, "slice");
	expect(END, T0 + 10, "");
	event = expect(INSTANT, T0 + 10, "end of the recording");
	check_text(viewer_track(event.uuid), 2, "pfstat");
	ck_assert_uint_eq(number_of(&event, "lost"), 5);
	ck_assert_uint_eq(number_of(&event, "arrows_left_out"), 7);
	ck_assert_str_eq(text_of(&event, "events_lost"), "n/a");
	ck_assert_str_eq(text_of(&event, "damage"), "cut");
}

TEST(test_an_empty_recording_still_has_its_end)
{
	struct trace_event event;

	begin();
	end();
	event = expect(INSTANT, 0, "end of the recording");
	ck_assert(!viewer_next(&event));
}

/* Otherwise the end of an interval could close a fault that starts at this time. */
TEST(test_off_cpu_intervals_have_a_track_below_their_thread)
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
	ck_assert_uint_eq(protobuf_find(viewer_track(interval.uuid), 5).number, fault.uuid);
	check_text(viewer_track(interval.uuid), 2, "off-CPU");
}

TEST(test_a_reused_number_is_another_track)
{
	struct trace_event first, second;

	begin();
	perfetto_name_thread(perfetto, thread_11, "one");
	slice(thread_11, "slice", 0, 10);
	perfetto_end_thread(perfetto, 11);
	perfetto_begin_thread(perfetto, 11);
	slice(thread_11, "slice", 20, 30);
	end();
	first = expect(BEGIN, T0, "slice");
	expect(END, T0 + 10, "");
	second = expect(BEGIN, T0 + 20, "slice");
	check_thread(first.uuid, 10, 11);
	check_thread(second.uuid, 10, 11 + TRACE_NEXT_OWNER);
}

TEST(test_an_arrow_has_one_id_at_both_ends)
{
	const struct trace_track lane = { TRACE_DEVICES_PID, TRACE_DEVICES_PID + 1, false };
	struct trace_event from, to;

	begin();
	perfetto_name_thread(perfetto, lane, "8:1 #1");
	slice(lane, "read", 0, 100);
	slice(thread_11, "disk", 0, 200);
	perfetto_arrow(perfetto, 's', lane, 3, T0 + 99);
	perfetto_arrow(perfetto, 'f', thread_11, 3, T0 + 100);
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

/* A recording may name any number of files. */
TEST(test_many_strings_take_bounded_memory)
{
	enum { FILES = 8500 };
	struct trace_event event;
	char file[64];
	unsigned int i;

	begin();
	for (i = 0; i < FILES; i++) {
		snprintf(file, sizeof(file), "/data/%u", i);
		perfetto_slice(perfetto, thread_11, "fault", "disk", T0 + i);
		perfetto_text(perfetto, "file", file);
		perfetto_args_end(perfetto);
		perfetto_slice_end(perfetto, thread_11, T0 + i);
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

TEST(test_output_that_cannot_be_written_is_an_error)
{
	FILE *full = fopen("/dev/full", "w");
	struct trace_writer *trace;

	ck_assert_ptr_nonnull(full);
	ck_assert_int_eq(trace_print_begin(&trace, 4096, full), 0);
	ck_assert_int_lt(trace_print_end(trace, &(struct trace_missing){ 0 }), 0);
	fclose(full);
}
