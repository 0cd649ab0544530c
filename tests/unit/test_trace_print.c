// SPDX-License-Identifier: GPL-2.0-only
/* The trace, parsed back: the contents are correct, and a viewer can draw the trace. */
#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "perfetto_events.h"
#include "random.h"
#include "runner.h"
#include "user/analyze/analysis.h"
#include "user/print/trace/trace_print.h"

#define DISK ((8U << 20) | 1)
/* Fourteen days uptime, not a round number. */
#define T0  1234567890123457ULL
#define DAY 86400000000000ULL

static char *text;
static size_t length;
static FILE *stream;
static struct trace_writer *trace;

static void begin(void)
{
	stream = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(stream);
	ck_assert_int_eq(trace_print_begin(&trace, 4096, stream), 0);
}

static json_t *end(const char *damage)
{
	const struct trace_missing missing = {
		.damage = damage,
		.lost = 5,
		.events_lost = COUNT_NA,
	};
	json_t *root;

	ck_assert_int_eq(trace_print_end(trace, &missing), 0);
	fclose(stream);
	root = perfetto_events(text, length);
	free(text);
	return root;
}

static void feed(const void *event)
{
	const struct pfstat_event *head = event;
	const struct item item = { .type = ITEM_EVENT, .ns = head->ns, .event = head };

	ck_assert_int_eq(trace_print_item(trace, &item), 0);
}

static void feed_map(uint32_t dev, uint64_t inode, const char *path)
{
	struct item_map *map = calloc(1, sizeof(*map) + strlen(path) + 1);
	const struct item item = { .type = ITEM_MAP, .map = map };

	ck_assert_ptr_nonnull(map);
	map->pid = 10;
	map->address = 0x7f0000000000;
	map->bytes = 0x2000;
	map->dev = dev;
	map->inode = inode;
	map->path_bytes = strlen(path) + 1;
	strcpy(map->path, path);
	ck_assert_int_eq(trace_print_item(trace, &item), 0);
	free(map);
}

static struct pfstat_block request(uint64_t insert, uint64_t issue, uint64_t done, uint64_t sector)
{
	return (struct pfstat_block){
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(struct pfstat_block),
			   .flags = PFSTAT_BLOCK_FILE | PFSTAT_BLOCK_READAHEAD,
			   .pid = 10,
			   .tid = 11,
			   .ns = T0 + done },
		.insert_ns = T0 + insert,
		.issue_ns = T0 + issue,
		.sector = sector,
		.inode = 77,
		.pgoff = 5,
		.dev = DISK,
		.fs_dev = DISK,
		.bytes = 16384,
		.file_bytes = 16384,
	};
}

static struct pfstat_off_cpu stay(uint64_t off, uint64_t woken, uint64_t on)
{
	return (struct pfstat_off_cpu){
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(struct pfstat_off_cpu),
			   .flags = PFSTAT_OFF_CPU_IOWAIT | PFSTAT_OFF_CPU_WOKEN,
			   .pid = 10,
			   .tid = 11,
			   .ns = T0 + on },
		.off_ns = T0 + off,
		.woken_ns = T0 + woken,
		.state = 2,
		.waker = 12,
	};
}

/* 100 to 1100: 50 on the CPU, 150 in the queue, 600 at the device, 80 runnable, 120 on the CPU. */
static struct explained disk_fault(const struct pfstat_block *block)
{
	return (struct explained){
		.class = FAULT_DISK,
		.pid = 10,
		.tid = 11,
		.start_ns = T0 + 100,
		.end_ns = T0 + 1100,
		.handler_ns = 900,
		.parts_ns = { [PART_CPU_BEFORE] = 50,
			      [PART_QUEUE] = 150,
			      [PART_DEVICE] = 600,
			      [PART_RUNQUEUE] = 80,
			      [PART_CPU_AFTER] = 120 },
		.address = 0x7f0012345678,
		.pgoff = 5,
		.inode = 77,
		.ip = 0x401000,
		.dev = DISK,
		.result = PFSTAT_RESULT_MAJOR | PFSTAT_RESULT_LOCKED | PFSTAT_RESULT_COMPLETED,
		.attempts = 2,
		.solved = true,
		.major = true,
		.parts_known = true,
		.whole = true,
		.request = *block,
		.nr_spans = 3,
		.spans = { { T0 + 150, T0 + 300, PART_QUEUE, false, 0 },
			   { T0 + 300, T0 + 900, PART_DEVICE, false, 0 },
			   { T0 + 900, T0 + 980, PART_RUNQUEUE, false, 0 } },
	};
}

static uint64_t ns_of(const json_t *event, const char *key)
{
	const json_t *value = json_object_get(event, key);

	ck_assert_msg(json_is_integer(value), "no %s", key);
	return json_integer_value(value);
}

static uint64_t start_of(const json_t *event)
{
	return ns_of(event, "ts");
}

static uint64_t end_of(const json_t *event)
{
	return start_of(event) + ns_of(event, "dur");
}

static const char *string_of(const json_t *event, const char *key)
{
	const char *value = json_string_value(json_object_get(event, key));

	return value ? value : "";
}

static json_int_t number_of(const json_t *event, const char *key)
{
	return json_integer_value(json_object_get(event, key));
}

static json_t *args_of(const json_t *event)
{
	return json_object_get(event, "args");
}

static json_t *events_of(const json_t *root)
{
	return json_object_get(root, "events");
}

/* The only event with this phase and name. */
static json_t *find(const json_t *root, const char *phase, const char *category, const char *name)
{
	json_t *event, *found = NULL;
	size_t i;

	json_array_foreach(events_of(root), i, event) {
		if (strcmp(string_of(event, "ph"), phase) ||
		    strcmp(string_of(event, "cat"), category) ||
		    strcmp(string_of(event, "name"), name))
			continue;
		ck_assert_msg(!found, "several %s %s", category, name);
		found = event;
	}
	ck_assert_msg(found, "no %s %s %s", phase, category, name);
	return found;
}

static size_t nr_of(const json_t *root, const char *phase)
{
	json_t *event;
	size_t i, nr = 0;

	json_array_foreach(events_of(root), i, event)
		nr += !strcmp(string_of(event, "ph"), phase);
	return nr;
}

static void check_slice(const json_t *slice, uint64_t from, uint64_t to)
{
	ck_assert_uint_eq(start_of(slice), T0 + from);
	ck_assert_uint_eq(end_of(slice), T0 + to);
}

static bool same_track(const json_t *a, const json_t *b)
{
	return number_of(a, "tid") == number_of(b, "tid") &&
	       number_of(a, "pid") == number_of(b, "pid");
}

/* Any two slices on a track are disjoint or nested. */
static void check_nesting(const json_t *root)
{
	json_t *a, *b;
	size_t i, j;

	json_array_foreach(events_of(root), i, a) {
		if (strcmp(string_of(a, "ph"), "X"))
			continue;
		json_array_foreach(events_of(root), j, b) {
			if (j <= i || strcmp(string_of(b, "ph"), "X") || !same_track(a, b))
				continue;
			ck_assert_msg(end_of(a) <= start_of(b) || end_of(b) <= start_of(a) ||
					      (start_of(a) >= start_of(b) &&
					       end_of(a) <= end_of(b)) ||
					      (start_of(b) >= start_of(a) &&
					       end_of(b) <= end_of(a)),
				      "%s at %zu and %s at %zu overlap", string_of(a, "name"), i,
				      string_of(b, "name"), j);
		}
	}
}

/* A slice with this category on the arrow's track, open at the arrow's time. */
static bool arrow_meets(const json_t *root, const json_t *arrow, const char *category)
{
	const uint64_t ns = start_of(arrow);
	json_t *event;
	size_t i;

	json_array_foreach(events_of(root), i, event)
		if (!strcmp(string_of(event, "cat"), category) && same_track(event, arrow) &&
		    !strcmp(string_of(event, "ph"), "X") && start_of(event) <= ns &&
		    ns < end_of(event))
			return true;
	return false;
}

static size_t check_arrows(const json_t *root)
{
	json_t *starts = json_object(), *event, *start;
	size_t i, nr = 0;
	char id[32];

	json_array_foreach(events_of(root), i, event) {
		snprintf(id, sizeof(id), "%lld", (long long)number_of(event, "id"));
		if (!strcmp(string_of(event, "ph"), "s")) {
			ck_assert_msg(!json_object_get(starts, id), "id %s twice", id);
			ck_assert(arrow_meets(root, event, "block"));
			json_object_set(starts, id, event);
		}
		if (strcmp(string_of(event, "ph"), "f"))
			continue;
		start = json_object_get(starts, id);
		ck_assert_msg(start, "id %s ends, but did not start", id);
		ck_assert_uint_le(start_of(start), start_of(event));
		ck_assert_str_eq(string_of(event, "bp"), "e");
		ck_assert_str_eq(string_of(event, "cat"), string_of(start, "cat"));
		ck_assert_str_eq(string_of(event, "name"), string_of(start, "name"));
		ck_assert(arrow_meets(root, event, "fault"));
		json_object_del(starts, id);
		nr++;
	}
	ck_assert_uint_eq(json_object_size(starts), 0);
	json_decref(starts);
	return nr;
}

static json_t *one_fault(void)
{
	const struct pfstat_block block = request(130, 300, 900, 4096);
	const struct pfstat_off_cpu off = stay(150, 910, 980);
	const struct explained fault = disk_fault(&block);

	begin();
	feed_map(DISK, 77, "/mnt/disk/demo.bin");
	feed(&block);
	feed(&off);
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	return end(NULL);
}

static struct pfstat_task task(uint32_t flags, uint32_t pid, uint32_t tid, const char *comm)
{
	struct pfstat_task event = {
		.event = { .type = PFSTAT_EVENT_TASK,
			   .size = sizeof(event),
			   .flags = flags,
			   .pid = pid,
			   .tid = tid,
			   .ns = T0 },
	};

	memcpy(event.comm, comm, strnlen(comm, sizeof(event.comm)));
	return event;
}

TEST(test_fault_is_a_slice_with_its_facts)
{
	json_t *root = one_fault(), *slice = find(root, "X", "fault", "disk"), *args, *parts;

	check_slice(slice, 100, 1100);
	ck_assert_int_eq(number_of(slice, "pid"), 10);
	ck_assert_int_eq(number_of(slice, "tid"), 11);
	args = args_of(slice);
	ck_assert_str_eq(string_of(args, "file"), "/mnt/disk/demo.bin");
	ck_assert_str_eq(string_of(args, "address"), "0x7f0012345678");
	ck_assert_str_eq(string_of(args, "ip"), "0x401000");
	ck_assert_str_eq(string_of(args, "result"), "MAJOR|LOCKED|COMPLETED");
	ck_assert_int_eq(number_of(args, "pgoff"), 5);
	ck_assert_int_eq(number_of(args, "attempts"), 2);
	ck_assert(json_is_true(json_object_get(args, "major")));
	ck_assert_ptr_null(json_object_get(args, "solved"));
	ck_assert_ptr_null(json_object_get(args, "write"));
	parts = json_object_get(args, "parts");
	ck_assert_uint_eq(json_object_size(parts), 5);
	ck_assert_int_eq(number_of(parts, "device_ns"), 600);
	json_decref(root);
}

TEST(test_fault_of_perf_is_marked)
{
	const struct pfstat_block block = { 0 };
	struct explained fault = disk_fault(&block);
	json_t *root, *args;

	fault.perf = PFSTAT_PERF_SAMPLED;
	begin();
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	args = args_of(find(root, "X", "fault", "disk"));
	ck_assert(json_is_true(json_object_get(args, "perf")));
	ck_assert_ptr_null(json_object_get(args, "write"));
	json_decref(root);
}

TEST(test_parts_are_slices_that_fill_the_fault)
{
	json_t *root = one_fault();

	check_slice(find(root, "X", "part", "cpu_before"), 100, 150);
	check_slice(find(root, "X", "part", "queue"), 150, 300);
	check_slice(find(root, "X", "part", "device"), 300, 900);
	check_slice(find(root, "X", "part", "runqueue"), 900, 980);
	check_slice(find(root, "X", "part", "cpu_after"), 980, 1100);
	/* The off-CPU interval was cut into these parts and is not a slice itself. */
	ck_assert_uint_eq(nr_of(root, "X"), 1 + 5 + 3);
	check_nesting(root);
	json_decref(root);
}

static json_t *find_at(const json_t *root, const char *part, uint64_t start_ns)
{
	json_t *event;
	size_t i;

	json_array_foreach(events_of(root), i, event)
		if (!strcmp(string_of(event, "name"), part) && start_of(event) == T0 + start_ns)
			return event;
	ck_abort_msg("no %s at %lu", part, start_ns);
}

/* Two calls: from 120 to 150, and from 200 to 1050. The part mm is around them. */
static struct explained fault_with_mm(void)
{
	const struct pfstat_block none = { 0 };
	struct explained fault = disk_fault(&none);

	fault.calls = 2;
	fault.nr_call_spans = 2;
	fault.call_spans[0] = (struct explain_call){ T0 + 120, T0 + 150 };
	fault.call_spans[1] = (struct explain_call){ T0 + 200, T0 + 1050 };
	fault.parts_ns[PART_CPU_BEFORE] = 30;
	fault.parts_ns[PART_CPU_AFTER] = 70;
	fault.parts_ns[PART_MM] = 70;
	return fault;
}

TEST(test_time_outside_of_the_calls_has_slices)
{
	const struct explained fault = fault_with_mm();
	json_t *root;

	begin();
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	check_slice(find_at(root, "mm", 100), 100, 120);
	check_slice(find_at(root, "cpu_before", 120), 120, 150);
	check_slice(find_at(root, "cpu_after", 980), 980, 1050);
	check_slice(find_at(root, "mm", 1050), 1050, 1100);
	ck_assert_uint_eq(nr_of(root, "X"), 1 + 4 + 3);
	check_nesting(root);
	json_decref(root);
}

TEST(test_fault_without_a_sleep_has_slices_of_its_calls)
{
	struct explained fault = fault_with_mm();
	json_t *root;

	fault.nr_spans = 0;
	memset(fault.parts_ns, 0, sizeof(fault.parts_ns));
	fault.parts_ns[PART_CPU_BEFORE] = 880;
	fault.parts_ns[PART_MM] = 120;
	begin();
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	ck_assert_uint_eq(nr_of(root, "X"), 1 + 5);
	check_slice(find_at(root, "mm", 100), 100, 120);
	check_slice(find_at(root, "cpu_before", 120), 120, 150);
	check_slice(find_at(root, "mm", 150), 150, 200);
	check_slice(find_at(root, "cpu_before", 200), 200, 1050);
	check_slice(find_at(root, "mm", 1050), 1050, 1100);
	json_decref(root);
}

TEST(test_fault_with_the_time_of_its_calls_only_is_marked)
{
	const struct pfstat_block none = { 0 };
	struct explained fault = disk_fault(&none);
	json_t *root;

	fault.whole = false;
	begin();
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	ck_assert(json_is_false(json_object_get(args_of(find(root, "X", "fault", "disk")),
						"whole")));
	json_decref(root);
}

/* A double in µs would be off by nanoseconds. A sleep may last a year. */
TEST(test_times_are_exact_after_years)
{
	const uint64_t years = 1000 * DAY + 12345;
	struct pfstat_off_cpu off = stay(0, 0, 0);
	json_t *root;

	begin();
	off.off_ns = years + DAY;
	off.event.ns = years + DAY + 678;
	feed(&off);
	root = end(NULL);
	ck_assert_uint_eq(start_of(json_array_get(events_of(root), 0)), years + DAY);
	ck_assert_uint_eq(end_of(json_array_get(events_of(root), 0)), years + DAY + 678);
	json_decref(root);
	begin();
	off.off_ns = 5;
	feed(&off);
	root = end(NULL);
	ck_assert_uint_eq(start_of(json_array_get(events_of(root), 0)), 5);
	ck_assert_uint_eq(end_of(json_array_get(events_of(root), 0)), years + DAY + 678);
	json_decref(root);
}

TEST(test_request_is_a_slice_of_its_device)
{
	json_t *root = one_fault(), *slice = find(root, "X", "block", "read"), *args, *name;

	check_slice(slice, 130, 900);
	check_slice(find(root, "X", "block", "queue"), 130, 300);
	check_slice(find(root, "X", "block", "device"), 300, 900);
	args = args_of(slice);
	ck_assert_int_eq(number_of(args, "sector"), 4096);
	ck_assert_int_eq(number_of(args, "bytes"), 16384);
	ck_assert_str_eq(string_of(args, "file"), "/mnt/disk/demo.bin");
	ck_assert(json_is_true(json_object_get(args, "readahead")));
	name = find(root, "M", "", "process_name");
	ck_assert_int_eq(number_of(name, "pid"), number_of(slice, "pid"));
	ck_assert_str_eq(string_of(args_of(name), "name"), "block devices");
	name = find(root, "M", "", "thread_name");
	ck_assert(same_track(name, slice));
	ck_assert_str_eq(string_of(args_of(name), "name"), "8:1 #1");
	json_decref(root);
}

TEST(test_arrow_leads_from_the_request_to_the_fault)
{
	json_t *root = one_fault();

	ck_assert_uint_eq(check_arrows(root), 1);
	ck_assert_uint_eq(start_of(find(root, "s", "wait", "request")), T0 + 899);
	ck_assert_uint_eq(start_of(find(root, "f", "wait", "request")), T0 + 900);
	json_decref(root);
}

TEST(test_two_waiters_for_one_request_have_an_arrow_each)
{
	const struct pfstat_block block = request(130, 300, 900, 4096);
	struct explained fault = disk_fault(&block);
	json_t *root;

	begin();
	feed(&block);
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	fault.tid = 12;
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	ck_assert_uint_eq(check_arrows(root), 2);
	json_decref(root);
}

TEST(test_arrow_of_an_unknown_request_is_omitted_and_counted)
{
	const struct pfstat_block block = request(130, 300, 900, 4096);
	const struct explained fault = disk_fault(&block);
	json_t *root;

	begin();
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	ck_assert_uint_eq(check_arrows(root), 0);
	ck_assert_int_eq(number_of(json_object_get(root, "end"), "arrows_left_out"), 1);
	json_decref(root);
}

/* The request ended after the fault, because the page was ready before: the arrow stays inside. */
TEST(test_arrow_stays_in_a_fault_that_ended_first)
{
	const struct pfstat_block block = request(130, 300, 2000, 4096);
	const struct explained fault = disk_fault(&block);
	json_t *root;

	begin();
	feed(&block);
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	ck_assert_uint_eq(check_arrows(root), 1);
	ck_assert_uint_eq(start_of(find(root, "f", "wait", "request")), T0 + 1099);
	json_decref(root);
}

TEST(test_fault_with_unknown_parts_has_no_part_slices)
{
	struct pfstat_block none = { 0 };
	struct explained fault = disk_fault(&none);
	json_t *root;

	fault.parts_known = false;
	fault.nr_spans = 0;
	begin();
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	ck_assert_uint_eq(nr_of(root, "X"), 1);
	ck_assert_str_eq(string_of(args_of(find(root, "X", "fault", "disk")), "parts"), "n/a");
	json_decref(root);
}

/* Residue, or spans beyond the limit: the time between them is not reported as CPU time. */
TEST(test_gaps_of_uncertain_cpu_time_have_no_slice)
{
	const struct pfstat_block none = { 0 };
	struct explained fault = disk_fault(&none);
	json_t *root;

	fault.parts_ns[PART_CPU_AFTER] = 20;
	fault.parts_ns[PART_RESIDUE] = 100;
	begin();
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	ck_assert_uint_eq(nr_of(root, "X"), 1 + 3);
	check_slice(find(root, "X", "part", "device"), 300, 900);
	json_decref(root);
}

TEST(test_off_cpu_intervals_outside_of_faults_are_slices)
{
	const struct pfstat_block none = { 0 };
	const struct explained fault = disk_fault(&none);
	struct pfstat_off_cpu stays[] = {
		stay(10, 15, 20),	/* before the fault */
		stay(90, 101, 102),	/* before it, by a leading clock */
		stay(500, 600, 700),	/* in it */
		stay(1099, 1150, 1200), /* after it, by a lagging clock */
	};
	json_t *root;
	size_t i;

	stays[0].event.flags = PFSTAT_OFF_CPU_PREEMPTED;
	stays[3].event.flags = 0;
	stays[3].waker = 0;
	begin();
	for (i = 0; i < 4; i++)
		feed(&stays[i]);
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	/* One interval arrives after the fault but starts within it. The other is separate. */
	stays[2] = stay(1095, 1110, 1120);
	feed(&stays[2]);
	stays[2] = stay(1300, 1340, 1400);
	feed(&stays[2]);
	root = end(NULL);
	check_nesting(root);
	check_slice(find(root, "X", "off-CPU", "preempted"), 10, 20);
	ck_assert_uint_eq(nr_of(root, "X"), 1 + 5 + 5);
	json_decref(root);
}

/* A fault waiting for a retry is reported after the thread's next fault, which has another kind. */
TEST(test_fault_reported_late_still_gets_its_off_cpu_intervals)
{
	const struct pfstat_block none = { 0 };
	const struct pfstat_off_cpu before = stay(10, 15, 20), in = stay(150, 910, 980);
	struct explained fault = disk_fault(&none), next = fault;
	json_t *root;

	next.class = FAULT_ANON;
	next.start_ns = T0 + 2000;
	next.end_ns = T0 + 2100;
	next.nr_spans = 0;
	begin();
	feed(&before);
	feed(&in);
	ck_assert_int_eq(trace_print_fault(trace, &next), 0);
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	check_slice(find(root, "X", "off-CPU", "I/O wait"), 10, 20);
	json_decref(root);
}

TEST(test_off_cpu_interval_names_the_waker_and_the_runnable_time)
{
	const struct pfstat_off_cpu off = stay(10, 15, 22);
	const struct pfstat_task gone = task(PFSTAT_TASK_EXIT, 10, 11, "");
	json_t *root, *slice;

	begin();
	feed(&off);
	feed(&gone);
	root = end(NULL);
	slice = find(root, "X", "off-CPU", "I/O wait");
	check_slice(slice, 10, 22);
	ck_assert_int_eq(number_of(args_of(slice), "state"), 2);
	ck_assert_int_eq(number_of(args_of(slice), "runnable_ns"), 7);
	ck_assert_int_eq(number_of(args_of(slice), "waker"), 12);
	json_decref(root);
}

/* A thread sleeps and never faults: all off-CPU intervals are drawn, few are kept. */
TEST(test_all_off_cpu_intervals_without_a_fault_are_drawn)
{
	struct pfstat_off_cpu off;
	json_t *root;
	int i;

	begin();
	for (i = 0; i < 10000; i++) {
		off = stay(i * 10, i * 10 + 2, i * 10 + 5);
		feed(&off);
	}
	fflush(stream);
	ck_assert_uint_gt(length, 0); /* 256 KiB blocks */
	root = end(NULL);
	ck_assert_uint_eq(nr_of(root, "X"), 10000);
	json_decref(root);
}

/* Preempted, then asleep: the CPU time between the two precedes the sleep. */
TEST(test_cpu_time_between_preemption_and_sleep_is_cpu_before)
{
	const struct pfstat_block none = { 0 };
	struct explained fault = disk_fault(&none);
	json_t *root, *event;
	size_t i, nr = 0;

	fault.nr_spans = 2;
	fault.spans[0] = (struct explain_span){ .from_ns = T0 + 200,
						.to_ns = T0 + 300,
						.part = PART_RUNQUEUE };
	fault.spans[1] = (struct explain_span){ .from_ns = T0 + 400,
						.to_ns = T0 + 1000,
						.part = PART_DEVICE };
	memset(fault.parts_ns, 0, sizeof(fault.parts_ns));
	fault.parts_ns[PART_CPU_BEFORE] = 200;
	fault.parts_ns[PART_RUNQUEUE] = 100;
	fault.parts_ns[PART_DEVICE] = 600;
	fault.parts_ns[PART_CPU_AFTER] = 100;
	begin();
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	json_array_foreach(events_of(root), i, event)
		nr += !strcmp(string_of(event, "name"), "cpu_before");
	ck_assert_uint_eq(nr, 2);
	check_slice(find(root, "X", "part", "cpu_after"), 1000, 1100);
	json_decref(root);
}

static const char *track_name(const json_t *root, const char *kind, json_int_t tid)
{
	const char *name = NULL;
	json_t *event;
	size_t i;

	json_array_foreach(events_of(root), i, event)
		if (!strcmp(string_of(event, "name"), kind) && number_of(event, "tid") == tid)
			name = string_of(args_of(event), "name");
	return name;
}

TEST(test_tracks_have_the_names_of_tasks)
{
	const struct pfstat_task tasks[] = {
		task(PFSTAT_TASK_FORK, 10, 10, "sh"),
		task(PFSTAT_TASK_EXEC, 10, 10, "worker \"a\"\n\xff"),
		task(PFSTAT_TASK_FORK, 10, 11, "sixteen_bytes_xy"),
		task(PFSTAT_TASK_EXIT, 10, 10, "gone"),
	};
	json_t *root;
	size_t i;

	begin();
	for (i = 0; i < 4; i++)
		feed(&tasks[i]);
	root = end(NULL);
	/* Viewers use the last name. */
	ck_assert_str_eq(track_name(root, "process_name", 10), "worker \"a\"\n?");
	ck_assert_str_eq(track_name(root, "thread_name", 10), "worker \"a\"\n?");
	ck_assert_str_eq(track_name(root, "thread_name", 11), "sixteen_bytes_xy");
	ck_assert_ptr_null(track_name(root, "process_name", 11));
	json_decref(root);
}

TEST(test_file_without_a_map_is_named_by_inode)
{
	const struct pfstat_block none = { 0 };
	struct explained fault = disk_fault(&none);
	json_t *root;

	begin();
	feed_map(DISK + 1, 77, "/another/file");
	feed_map(DISK, 78, "/and/another");
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	ck_assert_str_eq(string_of(args_of(find(root, "X", "fault", "disk")), "file"),
			 "8:1 inode 77");
	json_decref(root);
}

/* A btrfs subvolume has another device number in /proc/PID/maps than in the file's inode. */
TEST(test_file_with_another_device_number_is_found_by_its_map)
{
	const struct pfstat_block none = { 0 };
	struct explained fault = disk_fault(&none);
	json_t *root;

	fault.address = 0x7f0000001000;
	begin();
	feed_map(DISK + 1, 77, "/btrfs/file");
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	root = end(NULL);
	ck_assert_str_eq(string_of(args_of(find(root, "X", "fault", "disk")), "file"),
			 "/btrfs/file");
	json_decref(root);
}

/* Slices still open when the recording stops are omitted. The file is complete. */
TEST(test_cut_recording_gives_a_complete_file_with_the_damage)
{
	const struct pfstat_off_cpu off = stay(150, 910, 980);
	json_t *root;

	begin();
	feed(&off);
	root = end("run.pfs ends in the middle of \"block\" 7");
	ck_assert_str_eq(string_of(json_object_get(root, "end"), "damage"),
			 "run.pfs ends in the middle of \"block\" 7");
	json_decref(root);
	begin();
	root = end(NULL);
	ck_assert_uint_eq(json_array_size(events_of(root)), 0);
	ck_assert_ptr_null(json_object_get(json_object_get(root, "end"), "damage"));
	ck_assert_int_eq(number_of(json_object_get(root, "end"), "lost"), 5);
	ck_assert_str_eq(string_of(json_object_get(root, "end"), "events_lost"), "n/a");
	json_decref(root);
}

/* Four threads, each with one request at a time. Some wait for another thread's request. */
#define NR_ROUNDS 60

static void feed_round(uint64_t base, uint64_t *state)
{
	struct pfstat_block blocks[4];
	struct explained fault;
	struct pfstat_off_cpu off;
	unsigned int i, j;

	for (i = 0; i < 4; i++)
		blocks[i] = request(base + 200 + random_next(state) % 50,
				    base + 300 + random_next(state) % 50, base + 1000 + 100 * i,
				    random_next(state) % 1000000);
	for (i = 0; i < 4; i++) {
		j = random_next(state) % (i + 1);
		off = stay(base + 260, base + 1000 + 100 * j + 10, base + 1500 + i);
		off.event.tid = 11 + i;
		fault = disk_fault(&blocks[j]);
		fault.tid = 11 + i;
		fault.start_ns = T0 + base + 150 + random_next(state) % 50;
		fault.end_ns = T0 + base + 1600 + random_next(state) % 50;
		fault.spans[0] = (struct explain_span){ .from_ns = off.off_ns,
							.to_ns = blocks[j].issue_ns,
							.part = PART_QUEUE };
		fault.spans[1] = (struct explain_span){ .from_ns = blocks[j].issue_ns,
							.to_ns = blocks[j].event.ns,
							.part = PART_DEVICE };
		fault.spans[2] = (struct explain_span){ .from_ns = blocks[j].event.ns,
							.to_ns = off.event.ns,
							.part = PART_RUNQUEUE };
		memset(fault.parts_ns, 0, sizeof(fault.parts_ns));
		for (j = 0; j < 3; j++)
			fault.parts_ns[fault.spans[j].part] =
				fault.spans[j].to_ns - fault.spans[j].from_ns;
		fault.parts_ns[PART_CPU_BEFORE] = off.off_ns - fault.start_ns;
		fault.parts_ns[PART_CPU_AFTER] = fault.end_ns - off.event.ns;
		feed(&blocks[i]);
		feed(&off);
		ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	}
}

TEST(test_concurrent_requests_and_faults_nest_on_every_track)
{
	uint64_t state = 1;
	unsigned int i;
	json_t *root;

	begin();
	for (i = 0; i < NR_ROUNDS; i++)
		feed_round(i * 2000, &state);
	root = end(NULL);
	check_nesting(root);
	ck_assert_uint_eq(check_arrows(root), 4 * NR_ROUNDS);
	/* A fault and five parts, and a request, queue time and device time. */
	ck_assert_uint_eq(nr_of(root, "X"), 9 * 4 * NR_ROUNDS);
	/* Four concurrent requests need four lanes. The process needs a name. */
	ck_assert_uint_eq(nr_of(root, "M"), 1 + 4);
	json_decref(root);
}

static void analyse(struct analysis *analysis, enum item_type type, uint64_t ns, const void *data)
{
	struct item item = { .type = type, .ns = ns };

	item.record = data;
	ck_assert_int_eq(trace_print_item(trace, &item), 0);
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

/* A cold read: a pass that maps nothing, the disk fault, the retry, with a sleep before each. */
static void analyse_cold_read(struct analysis *analysis, uint64_t base, uint64_t page)
{
	const struct pfstat_off_cpu nap = stay(base, base + 50, base + 60);
	const struct pfstat_off_cpu wait = stay(base + 400, base + 2010, base + 2100);
	struct pfstat_block block = request(base + 200, base + 300, base + 2000, 8 * page);
	struct pfstat_record record = {
		.pid = 10,
		.tid = 11,
		.inode = 77,
		.dev = DISK,
		.pgoff = page,
		.address = 0x7f0000000000 + (page << 12),
		.start_ns = T0 + base + 100,
		.duration_ns = 40,
		.op = PFSTAT_OP_MAP_PAGES,
		.class = PFSTAT_CLASS_PASS,
	};

	block.pgoff = page;
	analyse(analysis, ITEM_EVENT, nap.event.ns, &nap);
	analyse(analysis, ITEM_RECORD, T0 + base + 140, &record);
	record.op = PFSTAT_OP_FAULT;
	record.class = PFSTAT_CLASS_DISK;
	record.result = PFSTAT_RESULT_MAJOR | PFSTAT_RESULT_RETRY;
	record.facts = PFSTAT_FACT_SLEPT;
	record.earlier_ns = record.start_ns;
	record.start_ns = T0 + base + 150;
	record.duration_ns = 2000;
	analyse(analysis, ITEM_EVENT, block.event.ns, &block);
	analyse(analysis, ITEM_EVENT, wait.event.ns, &wait);
	analyse(analysis, ITEM_RECORD, T0 + base + 2150, &record);
	record.op = PFSTAT_OP_MAP_PAGES;
	record.class = PFSTAT_CLASS_SHORT;
	record.result = PFSTAT_RESULT_NOPAGE;
	record.flags = PFSTAT_FLAG_TRIED;
	record.facts = 0;
	record.earlier_ns = record.start_ns;
	record.start_ns = T0 + base + 2200;
	record.duration_ns = 30;
	analyse(analysis, ITEM_RECORD, T0 + base + 2230, &record);
}

/* The retry is missing. The fault is drawn when the thread exits, with the sleep in it. */
TEST(test_last_fault_of_a_thread_is_drawn_at_its_exit)
{
	const struct pfstat_task gone = task(PFSTAT_TASK_EXIT, 10, 11, "");
	const struct pfstat_task next = task(PFSTAT_TASK_FORK, 10, 12, "next");
	const struct pfstat_block block = request(130, 300, 900, 4096);
	const struct pfstat_off_cpu off = stay(150, 910, 980), last = stay(1200, 1210, 1230);
	struct explained fault = disk_fault(&block);
	json_t *root, *last_event;

	fault.solved = false;
	fault.major = false;
	begin();
	feed(&block);
	feed(&off);
	feed(&last);
	feed(&gone);
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	feed(&next);
	root = end(NULL);
	check_slice(find(root, "X", "off-CPU", "I/O wait"), 1200, 1230);
	last_event = json_array_get(events_of(root), json_array_size(events_of(root)) - 1);
	ck_assert_str_eq(string_of(last_event, "name"), "thread_name");
	json_decref(root);
}

/* A trace from analyzed events: the parts fill each fault to the nanosecond. */
TEST(test_analyzed_run_is_drawn_completely)
{
	enum { FAULTS = 50 };
	struct analysis *analysis = analysis_new(true, 4096, GROUP_BY_ALL);
	uint64_t in_faults = 0, in_parts = 0;
	json_t *root, *event;
	size_t i;

	ck_assert_ptr_nonnull(analysis);
	begin();
	ck_assert_int_eq(analysis_listen(analysis, trace_print_fault, trace), 0);
	for (i = 0; i < FAULTS; i++)
		analyse_cold_read(analysis, 5000 * i, i);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	root = end(NULL);
	analysis_free(analysis);
	check_nesting(root);
	ck_assert_uint_eq(check_arrows(root), FAULTS);
	json_array_foreach(events_of(root), i, event) {
		if (!strcmp(string_of(event, "cat"), "fault"))
			in_faults += ns_of(event, "dur");
		if (!strcmp(string_of(event, "cat"), "part"))
			in_parts += ns_of(event, "dur");
	}
	/* From the first attempt's start to the last one's end. */
	ck_assert_uint_eq(in_faults, FAULTS * (2230 - 100));
	ck_assert_uint_eq(in_parts, in_faults);
	/*
	 * A sleep, a fault with its parts (CPU, device, completion, run queue, CPU), and a request
	 * with two parts.
	 */
	ck_assert_uint_eq(nr_of(root, "X"), FAULTS * (1 + 6 + 3));
	json_decref(root);
}

TEST(test_consecutive_requests_share_a_lane)
{
	struct pfstat_block block;
	json_t *root;
	int i;

	begin();
	for (i = 0; i < 10; i++) {
		/* One request ends at the same time at which the next begins. */
		block = request(i * 100, i * 100 + 10, (i + 1) * 100, i);
		feed(&block);
	}
	root = end(NULL);
	check_nesting(root);
	ck_assert_uint_eq(nr_of(root, "M"), 1 + 1);
	json_decref(root);
}

TEST(test_requests_without_a_lane_are_omitted_and_counted)
{
	struct pfstat_block block;
	json_t *root;
	unsigned int i;

	begin();
	for (i = 0; i < TRACE_MAX_LANES + 3; i++) {
		block = request(100, 100, 10000 + i, i);
		feed(&block);
	}
	for (i = 0; i < TRACE_MAX_DEVICES + 2; i++) {
		block = request(20000, 20000, 20001, i);
		block.dev = DISK + i;
		feed(&block);
	}
	root = end(NULL);
	ck_assert_int_eq(number_of(json_object_get(root, "end"), "requests_left_out"), 3 + 2);
	ck_assert_uint_eq(nr_of(root, "X"), TRACE_MAX_LANES + TRACE_MAX_DEVICES);
	json_decref(root);
}

TEST(test_output_that_cannot_be_written_is_an_error)
{
	const struct pfstat_block block = request(130, 300, 900, 4096);
	const struct explained fault = disk_fault(&block);
	FILE *full = fopen("/dev/full", "w");
	int i, err = 0;

	ck_assert_ptr_nonnull(full);
	ck_assert_int_eq(trace_print_begin(&trace, 4096, full), 0);
	for (i = 0; i < 10000 && !err; i++)
		err = trace_print_fault(trace, &fault);
	ck_assert_int_eq(err, -EIO);
	ck_assert_int_lt(trace_print_end(trace, &(struct trace_missing){ 0 }), 0);
	fclose(full);
}

/* A viewer would merge the two threads. */
TEST(test_a_reused_number_is_another_track)
{
	const struct pfstat_task events[] = {
		task(PFSTAT_TASK_FORK, 100, 100, "postgres"),
		task(PFSTAT_TASK_EXIT, 100, 100, "postgres"),
		task(PFSTAT_TASK_FORK, 100, 100, "backup.sh"),
		task(PFSTAT_TASK_FORK, 100, 101, "worker"),
	};
	const json_int_t numbers[] = { 100, 100, 100 + (1 << 24), 100 + (1 << 24),
				       100 + (1 << 24) };
	const json_int_t threads[] = { 100, 100, 100 + (1 << 24), 100 + (1 << 24), 101 };
	json_t *root, *names;
	size_t i;

	begin();
	for (i = 0; i < 4; i++)
		feed(&events[i]);
	root = end(NULL);
	names = events_of(root);
	ck_assert_uint_eq(json_array_size(names), 5);
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(number_of(json_array_get(names, i), "pid"), numbers[i]);
		ck_assert_int_eq(number_of(json_array_get(names, i), "tid"), threads[i]);
	}
	ck_assert_str_eq(string_of(args_of(json_array_get(names, 3)), "name"), "backup.sh");
	json_decref(root);
}

/* A 17 KB recording can hold off-CPU intervals from 300000 threads. */
TEST(test_off_cpu_intervals_of_many_threads_take_bounded_memory)
{
	struct pfstat_off_cpu off = stay(0, 0, 10);
	size_t before = 0, bytes;
	uint32_t i;
	FILE *out = fopen("/dev/null", "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(trace_print_begin(&trace, 4096, out), 0);
	for (i = 1; i <= 100000; i++) {
		off.event.pid = i;
		off.event.tid = i;
		off.event.ns++;
		feed(&off);
		if (i == 20000)
			before = mallinfo2().uordblks;
	}
	bytes = mallinfo2().uordblks;
	ck_assert_uint_le(bytes, before + (32 << 20));
	ck_assert_int_eq(trace_print_end(trace, &(struct trace_missing){ 0 }), 0);
	fclose(out);
}

TEST(test_the_longest_faults_are_repeated_on_tracks_of_their_own)
{
	const struct pfstat_block block = request(150, 300, 900, 1);
	struct explained fault = disk_fault(&block);
	const uint64_t durations[] = { 700, 900, 100, 800 };
	const json_t *event;
	unsigned int longest = 0;
	size_t i;
	json_t *root;

	begin();
	trace_print_repeat_slowest(trace, 3);
	fault.parts_known = false;
	fault.nr_spans = 0;
	fault.request.event.size = 0;
	for (i = 0; i < 4; i++) {
		fault.start_ns = T0 + 1000 * i;
		fault.end_ns = fault.start_ns + durations[i];
		ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	}
	root = end(NULL);
	json_array_foreach(events_of(root), i, event) {
		if (strcmp(string_of(event, "cat"), "longest"))
			continue;
		longest++;
		ck_assert_int_eq(number_of(event, "pid"), TRACE_SLOWEST_PID);
		ck_assert_int_eq(number_of(event, "tid"), TRACE_SLOWEST_PID + longest);
		ck_assert_int_eq(number_of(args_of(event), "tid"), 11);
		ck_assert_int_eq(number_of(args_of(event), "pgoff"), 5);
		ck_assert_uint_eq(end_of(event) - start_of(event), 1000 - 100 * longest);
		ck_assert_str_eq(string_of(event, "name"), "disk");
	}
	ck_assert_uint_eq(longest, 3);
	json_decref(root);
}

static void analysis_feed(struct analysis *analysis, const struct pfstat_event *event)
{
	const struct item item = { .type = ITEM_EVENT, .ns = event->ns, .event = event };

	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

/* A wait for a handler and a wait for a CPU. @analysis: NULL: the waits have no names. */
static json_t *one_wait_each(const struct analysis *analysis, uint32_t task, uint64_t ran_ns)
{
	const struct explained fault = {
		.class = FAULT_ANON,
		.pid = 10,
		.tid = 11,
		.start_ns = T0 + 100,
		.end_ns = T0 + 1100,
		.parts_ns = { [PART_CPU_BEFORE] = 100,
			      [PART_HANDLER] = 400,
			      [PART_RUNQUEUE] = 500 },
		.address = 0x7f0012345678,
		.solved = true,
		.parts_known = true,
		.whole = true,
		.nr_spans = 2,
		.spans = { { T0 + 200, T0 + 600, PART_HANDLER, false, 0 },
			   { T0 + 600, T0 + 1100, PART_RUNQUEUE, .task = task,
			     .task_ran_ns = ran_ns } },
	};

	begin();
	trace_print_name_waits(trace, analysis);
	ck_assert_int_eq(trace_print_fault(trace, &fault), 0);
	return end(NULL);
}

TEST(test_the_processes_for_which_a_fault_waited_are_arguments)
{
	const struct pfstat_cpu_task task = {
		.event = { PFSTAT_EVENT_CPU_TASK, sizeof(task), 0, 10, 11, T0 + 1100 },
		.off_ns = T0 + 200,
		.ran_ns = 400,
		.task_pid = 30,
		.task_tid = 31,
		.comm = "batch_job",
	};
	const struct pfstat_userfault read = {
		.event = { PFSTAT_EVENT_USERFAULT, sizeof(read), 0, 20, 21, T0 + 300 },
		.address = 0x7f0012345000,
		.target = 10,
		.comm = "restore",
	};
	struct analysis *analysis = analysis_new(true, 4096, 0);
	json_t *root, *args;

	ck_assert_ptr_nonnull(analysis);
	root = one_wait_each(analysis, 0, 0);
	ck_assert_uint_eq(json_object_size(args_of(find(root, "X", "part", "runqueue"))), 0);
	ck_assert_uint_eq(json_object_size(args_of(find(root, "X", "part", "handler"))), 0);
	json_decref(root);
	analysis_feed(analysis, &read.event);
	analysis_feed(analysis, &task.event);
	root = one_wait_each(analysis, 1, 400);
	args = args_of(find(root, "X", "part", "runqueue"));
	ck_assert_uint_eq(json_object_size(args), 3);
	ck_assert_int_eq(number_of(args, "cpu_task"), 30);
	ck_assert_str_eq(string_of(args, "cpu_task_name"), "batch_job");
	ck_assert_int_eq(number_of(args, "cpu_task_ran_ns"), 400);
	args = args_of(find(root, "X", "part", "handler"));
	ck_assert_uint_eq(json_object_size(args), 2);
	ck_assert_int_eq(number_of(args, "handler"), 20);
	ck_assert_str_eq(string_of(args, "handler_name"), "restore");
	check_nesting(root);
	json_decref(root);
	root = one_wait_each(NULL, 1, 400);
	ck_assert_uint_eq(json_object_size(args_of(find(root, "X", "part", "runqueue"))), 0);
	json_decref(root);
	analysis_free(analysis);
}
