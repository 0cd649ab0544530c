// SPDX-License-Identifier: GPL-2.0-only
/* The faults as a profile: samples, sums and names, and the formats of viewers, read back. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "protobuf_reader.h"
#include "runner.h"
#include "user/analyze/profile.h"
#include "user/print/profile/profile_formats.h"
#include "user/util/protobuf.h"

#define CODE	0x400000ULL
#define LIBRARY 0x7f0000000000ULL
#define JIT	0x7e0000001000ULL
#define T0	5000000000ULL

static struct analysis *analysis;
static struct profile profile;
static uint64_t now_ns;
static char *text;
static size_t length;

static const struct profile_head head = {
	.command = "prog \"x\"",
	.version = "1.2",
	.started_s = 1700000000,
	.missing = "LOST 5 EVENTS",
};

static void add(enum item_type type, const void *data)
{
	struct item item = { .type = type, .ns = now_ns };

	item.event = data;
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
	ck_assert_int_eq(profile_add_item(&profile, &item), 0);
}

static void map_file(uint32_t pid, uint64_t address, uint64_t inode, const char *path)
{
	struct item_map *map = calloc(1, sizeof(*map) + strlen(path) + 1);

	*map = (struct item_map){
		.address = address,
		.bytes = 0x10000,
		.inode = inode,
		.dev = 9,
		.pid = pid,
		.tid = pid,
		.path_bytes = strlen(path) + 1,
	};
	strcpy(map->path, path);
	add(ITEM_MAP, map);
	free(map);
}

static void add_task(uint32_t flags, uint32_t pid, uint32_t tid, const char *comm)
{
	struct pfstat_task task = {
		.event = { .type = PFSTAT_EVENT_TASK,
			   .size = sizeof(task),
			   .flags = flags,
			   .pid = pid,
			   .tid = tid,
			   .ns = now_ns },
		.parent = tid,
		.parent_pid = pid,
	};

	memcpy(task.comm, comm, strlen(comm));
	add(ITEM_EVENT, &task);
}

/* ips: innermost first, 0 ends them; NULL: no stack was recorded */
static void add_fault(uint32_t pid, uint32_t tid, uint32_t kind, uint64_t duration_ns,
		      const uint64_t *ips)
{
	struct pfstat_fault fault = {
		.event = { .type = PFSTAT_EVENT_FAULT,
			   .size = sizeof(fault),
			   .flags = kind,
			   .pid = pid,
			   .tid = tid,
			   .ns = now_ns + duration_ns },
		.start_ns = now_ns,
		.address = 0x1000000 + now_ns * 4096,
		.ip = ips ? ips[0] : CODE + 0x77,
		.inode = kind == PFSTAT_FAULT_FILE ? 70 : 0,
		.dev = kind == PFSTAT_FAULT_FILE ? 9 : 0,
		.pgoff = 3,
		.fault_flags = PFSTAT_FLAG_USER,
	};
	struct pfstat_stack stack = {
		.event = { .type = PFSTAT_EVENT_STACK,
			   .size = sizeof(stack),
			   .pid = pid,
			   .tid = tid,
			   .ns = now_ns },
		.address = fault.address,
	};

	for (; ips && ips[stack.frames]; stack.frames++)
		stack.ips[stack.frames] = ips[stack.frames];
	if (ips)
		add(ITEM_EVENT, &stack);
	now_ns += duration_ns;
	add(ITEM_EVENT, &fault);
	now_ns += 100;
}

static const uint64_t from_main[] = { LIBRARY + 0x10, CODE + 0x21, 0 };
static const uint64_t from_other[] = { LIBRARY + 0x18, CODE + 0x31, 0 };
static const uint64_t from_jit[] = { JIT, CODE + 0x21, 0 };

static void name_code(const char *path, uint64_t offset, const char *symbol)
{
	ck_assert_int_eq(analysis_name_code(analysis, path, offset, symbol), 0);
}

/* Thread 10 has 2 faults on memory from main and 1 on a file, 11 has 3 others. */
static void make_profile(void)
{
	analysis = analysis_new(true, 1U << GROUP_BY_FILE);
	ck_assert_ptr_nonnull(analysis);
	ck_assert_int_eq(profile_init(&profile, analysis), 0);
	ck_assert_int_eq(analysis_listen(analysis, profile_add_fault, &profile), 0);
	now_ns = T0;
	map_file(10, CODE, 60, "/bin/program");
	map_file(10, LIBRARY, 61, "/lib/libc.so");
	map_file(10, LIBRARY + 0x100000, 70, "/data/file");
	add_task(0, 10, 10, "program");
	add_task(PFSTAT_TASK_FORK, 10, 11, "worker");
	add_fault(10, 10, PFSTAT_FAULT_ANON, 1000, from_main);
	add_fault(10, 11, PFSTAT_FAULT_ANON, 50, from_jit);
	add_fault(10, 10, PFSTAT_FAULT_FILE, 7000, from_other);
	add_fault(10, 10, PFSTAT_FAULT_ANON, 200, from_main);
	add_fault(10, 11, PFSTAT_FAULT_COW, 30, NULL);
	add_task(PFSTAT_TASK_EXIT, 10, 11, "worker");
	add_task(PFSTAT_TASK_FORK, 10, 11, "second");
	add_fault(10, 11, PFSTAT_FAULT_COW, 5, NULL);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	name_code("/lib/libc.so", 0x10, "memset+0x10");
	name_code("/lib/libc.so", 0x18, "memset+0x18");
	name_code("/bin/program", 0x20, "main+0x20");
	ck_assert_int_eq(profile_finish(&profile), 0);
}

static void free_profile(void)
{
	profile_exit(&profile);
	analysis_free(analysis);
	free(text);
	text = NULL;
}

START_TEST(test_each_fault_is_a_sample_of_its_thread)
{
	const struct profile_sample *samples = profile.samples;

	ck_assert_uint_eq(profile.nr_samples, 6);
	ck_assert_uint_eq(profile.nr_threads, 3);
	ck_assert_str_eq(profile.threads[0].name, "program");
	ck_assert_uint_eq(profile.threads[0].faults, 3);
	ck_assert_uint_eq(profile.threads[0].total_ns, 8200);
	ck_assert_uint_eq(samples[0].start_ns, T0);
	ck_assert_uint_eq(samples[0].duration_ns, 1000);
	ck_assert_uint_eq(samples[1].duration_ns, 7000);
	ck_assert_uint_eq(samples[1].page, 3);
	ck_assert_uint_eq(samples[1].class, FAULT_FILE);
	ck_assert_uint_eq(samples[2].duration_ns, 200);
	ck_assert_uint_eq(samples[0].stack, samples[2].stack);
	ck_assert_uint_eq(profile.start_ns, T0);
	ck_assert_uint_eq(profile.end_ns, now_ns - 100);
}
END_TEST

/* The number 11 belongs to two threads, one after the other. */
START_TEST(test_reused_number_is_another_thread)
{
	ck_assert_uint_eq(profile.threads[1].tid, 11);
	ck_assert_uint_eq(profile.threads[2].tid, 11);
	ck_assert_str_eq(profile.threads[1].name, "worker");
	ck_assert_str_eq(profile.threads[2].name, "second");
	ck_assert_str_eq(profile.threads[2].process, "program");
	ck_assert_uint_eq(profile.threads[1].total_ns, 80);
	ck_assert_uint_eq(profile.threads[2].total_ns, 5);
}
END_TEST

START_TEST(test_equal_samples_are_summed_up)
{
	uint64_t faults = 0, total_ns = 0;
	size_t i;

	ck_assert_uint_eq(profile.nr_sums, 5);
	for (i = 0; i < profile.nr_sums; i++) {
		faults += profile.sums[i].faults;
		total_ns += profile.sums[i].total_ns;
	}
	ck_assert_uint_eq(faults, 6);
	ck_assert_uint_eq(total_ns, 8285);
	ck_assert_uint_eq(profile.sums[0].faults, 2);
	ck_assert_uint_eq(profile.sums[0].total_ns, 1200);
}
END_TEST

/* Returns "innermost<…<outermost", with the function of each frame. */
static const char *path_of(uint32_t stack)
{
	const struct profile_stack *path = &profile.stacks[stack];
	static char names[256];
	uint32_t i;

	names[0] = '\0';
	for (i = 0; i < path->depth; i++) {
		strcat(names, i ? "<" : "");
		strcat(names,
		       profile.functions[profile.frames[profile.path[path->first + i]].function]
			       .name);
	}
	return names;
}

START_TEST(test_frames_have_the_names_of_their_functions)
{
	ck_assert_str_eq(path_of(profile.samples[0].stack), "memset<main");
	ck_assert_str_eq(path_of(profile.samples[1].stack), "memset<0x30 (program)");
	ck_assert_str_eq(path_of(profile.samples[3].stack), "0x7e0000001000<main");
	/* Without a stack, the code is known. */
	ck_assert_str_eq(path_of(profile.samples[4].stack), "0x77 (program)");
	/* Two places of memset are one function of one file. */
	ck_assert_uint_eq(profile.nr_functions, 5);
	ck_assert_uint_eq(profile.nr_frames, 6);
	ck_assert_uint_eq(profile.nr_objects, 2);
	ck_assert_str_eq(profile.objects[0].path, "/lib/libc.so");
	ck_assert_uint_eq(profile.objects[0].end, 0x19);
}
END_TEST

static FILE *open_text(void)
{
	FILE *out = open_memstream(&text, &length);

	ck_assert_ptr_nonnull(out);
	return out;
}

static json_t *speedscope(void)
{
	FILE *out = open_text();
	json_t *json;

	ck_assert_int_eq(speedscope_print(out, &profile, &head), 0);
	fclose(out);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(json, "not JSON: %s", text);
	return json;
}

START_TEST(test_speedscope_has_a_profile_of_each_thread)
{
	json_t *json = speedscope(), *frames, *thread, *samples, *weights;
	const char *schema, *name, *unit;
	json_int_t start, end;

	ck_assert_int_eq(json_unpack(json, "{ss ss s{so}}", "$schema", &schema, "name", &name,
				     "shared", "frames", &frames),
			 0);
	ck_assert_str_eq(schema, "https://www.speedscope.app/file-format-schema.json");
	ck_assert_str_eq(name, "page faults of prog \"x\"; INCOMPLETE: LOST 5 EVENTS");
	ck_assert_uint_eq(json_array_size(frames), 5);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "profiles")), 3);
	thread = json_array_get(json_object_get(json, "profiles"), 0);
	ck_assert_int_eq(json_unpack(thread, "{ss ss sI sI so so}", "name", &name, "unit", &unit,
				     "startValue", &start, "endValue", &end, "samples", &samples,
				     "weights", &weights),
			 0);
	ck_assert_str_eq(name, "program (10)");
	ck_assert_str_eq(unit, "nanoseconds");
	ck_assert_int_eq(start, 0);
	ck_assert_int_eq(end, 8200);
	ck_assert_uint_eq(json_array_size(samples), 3);
	ck_assert_uint_eq(json_array_size(weights), 3);
	ck_assert_int_eq(json_integer_value(json_array_get(weights, 1)), 7000);
	/* The outermost frame is the first. */
	samples = json_array_get(samples, 0);
	ck_assert_uint_eq(json_array_size(samples), 2);
	frames = json_array_get(frames, json_integer_value(json_array_get(samples, 0)));
	ck_assert_str_eq(json_string_value(json_object_get(frames, "name")), "main");
	ck_assert_str_eq(json_string_value(json_object_get(frames, "file")), "/bin/program");
	thread = json_array_get(json_object_get(json, "profiles"), 1);
	ck_assert_str_eq(json_string_value(json_object_get(thread, "name")),
			 "worker (11) of program");
	json_decref(json);
}
END_TEST

/* Uncompresses what pprof_print() wrote. */
static struct protobuf_reader pprof(uint8_t *bytes, size_t size)
{
	FILE *out = open_text();
	z_stream zlib = { .next_out = bytes, .avail_out = size };

	ck_assert_int_eq(pprof_print(out, &profile, &head), 0);
	fclose(out);
	zlib.next_in = (uint8_t *)text;
	zlib.avail_in = length;
	ck_assert_int_eq(inflateInit2(&zlib, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&zlib, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(zlib.avail_in, 0);
	inflateEnd(&zlib);
	return protobuf_read(bytes, zlib.total_out);
}

/* The string of that index in the table, with a final 0. */
static const char *pprof_text(struct protobuf_reader message, uint64_t index)
{
	static char texts[4][64];
	static unsigned int next;
	char *found = texts[next++ % 4];

	while (protobuf_next(&message)) {
		if (message.field != 6 || index--)
			continue;
		ck_assert_uint_lt(message.bytes, sizeof(texts[0]));
		memcpy(found, message.data, message.bytes);
		found[message.bytes] = '\0';
		return found;
	}
	ck_abort_msg("no such string");
}

static void check_type(struct protobuf_reader all, const struct protobuf_reader *field,
		       const char *type, const char *unit)
{
	struct protobuf_reader inner = protobuf_inner(field);

	ck_assert_str_eq(pprof_text(all, protobuf_find(inner, 1).number), type);
	ck_assert_str_eq(pprof_text(all, protobuf_find(inner, 2).number), unit);
}

START_TEST(test_pprof_has_types_and_comments)
{
	uint8_t bytes[65536];
	struct protobuf_reader all = pprof(bytes, sizeof(bytes)), at = all;
	unsigned int types = 0, comments = 0;

	ck_assert_str_eq(pprof_text(all, 0), "");
	while (protobuf_next(&at)) {
		if (at.field == 1 && !types++)
			check_type(all, &at, "faults", "count");
		else if (at.field == 1)
			check_type(all, &at, "fault_time", "nanoseconds");
		if (at.field == 13)
			ck_assert_str_eq(pprof_text(all, at.number),
					 comments++ ? head.missing : head.command);
	}
	ck_assert_uint_eq(types, 2);
	ck_assert_uint_eq(comments, 2);
	ck_assert_uint_eq(protobuf_find(all, 9).number, 1700000000000000000);
	ck_assert_uint_eq(protobuf_find(all, 10).number, profile.end_ns - profile.start_ns);
	ck_assert_str_eq(pprof_text(all, protobuf_find(all, 14).number), "fault_time");
}
END_TEST

/* The message of that kind whose field 1, its id, has that value. */
static struct protobuf_reader pprof_by_id(struct protobuf_reader all, unsigned int kind,
					  uint64_t id)
{
	while (protobuf_next(&all))
		if (all.field == kind && protobuf_find(protobuf_inner(&all), 1).number == id)
			return protobuf_inner(&all);
	ck_abort_msg("no id %u of kind %u", (unsigned int)id, kind);
}

static const char *function_at(struct protobuf_reader all, uint64_t location_id)
{
	struct protobuf_reader location = pprof_by_id(all, 4, location_id);
	struct protobuf_reader line = protobuf_find(location, 4);
	uint64_t function = protobuf_find(protobuf_inner(&line), 1).number;

	return pprof_text(all, protobuf_find(pprof_by_id(all, 5, function), 2).number);
}

static const char *label_of(struct protobuf_reader all, struct protobuf_reader sample,
			    const char *key)
{
	struct protobuf_reader label;

	while (protobuf_next(&sample)) {
		if (sample.field != 3)
			continue;
		label = protobuf_inner(&sample);
		if (!strcmp(pprof_text(all, protobuf_find(label, 1).number), key))
			return pprof_text(all, protobuf_find(label, 2).number);
	}
	ck_abort_msg("no label %s", key);
}

START_TEST(test_pprof_has_sums_with_paths_and_labels)
{
	uint8_t bytes[65536];
	struct protobuf_reader all = pprof(bytes, sizeof(bytes)), at = all, sample, packed, found;
	uint64_t faults = 0, total_ns = 0, number, inner, outer;

	while (protobuf_next(&at)) {
		if (at.field != 2)
			continue;
		sample = protobuf_inner(&at);
		found = protobuf_find(sample, 2);
		packed = protobuf_inner(&found);
		number = protobuf_read_number(&packed);
		faults += number;
		total_ns += protobuf_read_number(&packed);
		ck_assert_ptr_eq(packed.at, packed.end);
		if (number != 2)
			continue;
		ck_assert_str_eq(label_of(all, sample, "class"), "anon");
		ck_assert_str_eq(label_of(all, sample, "thread"), "program (10)");
		ck_assert_str_eq(label_of(all, sample, "file"), "(anonymous memory)");
		found = protobuf_find(sample, 1);
		packed = protobuf_inner(&found);
		inner = protobuf_read_number(&packed);
		outer = protobuf_read_number(&packed);
		ck_assert_ptr_eq(packed.at, packed.end);
		ck_assert_str_eq(function_at(all, inner), "memset");
		ck_assert_str_eq(function_at(all, outer), "main");
	}
	ck_assert_uint_eq(faults, 6);
	ck_assert_uint_eq(total_ns, 8285);
}
END_TEST

/* pprof refuses a location outside of its mapping. */
START_TEST(test_pprof_locations_are_inside_of_their_mappings)
{
	uint8_t bytes[65536];
	struct protobuf_reader all = pprof(bytes, sizeof(bytes)), at = all, location, mapping;
	unsigned int mapped = 0, others = 0;
	uint64_t id, address;

	while (protobuf_next(&at)) {
		if (at.field != 4)
			continue;
		location = protobuf_inner(&at);
		id = protobuf_find(location, 2).number;
		address = protobuf_find(location, 3).number;
		if (!id) {
			ck_assert_uint_eq(address, JIT);
			others++;
			continue;
		}
		mapping = pprof_by_id(all, 3, id);
		ck_assert_uint_ge(address, protobuf_find(mapping, 2).number);
		ck_assert_uint_lt(address, protobuf_find(mapping, 3).number);
		mapped++;
	}
	ck_assert_uint_eq(mapped, 5);
	ck_assert_uint_eq(others, 1);
}
END_TEST

START_TEST(test_protobuf_numbers_and_texts_come_back)
{
	static const uint64_t numbers[] = { 0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX };
	struct protobuf message = { 0 };
	struct protobuf_reader at;
	size_t i;

	for (i = 0; i < 7; i++) {
		protobuf_number(&message, 1, numbers[i]);
		protobuf_fixed64(&message, 2, numbers[i]);
	}
	protobuf_text(&message, 3000, "a\xff\xc3\xa4\xc3");
	at = protobuf_read(message.bytes, message.used);
	for (i = 0; i < 14; i++) {
		ck_assert(protobuf_next(&at));
		ck_assert_uint_eq(at.field, 1 + i % 2);
		ck_assert_uint_eq(at.number, numbers[i / 2]);
	}
	ck_assert(protobuf_next(&at));
	ck_assert_uint_eq(at.field, 3000);
	ck_assert_uint_eq(at.bytes, 5);
	ck_assert_mem_eq(at.data, "a?\xc3\xa4?", 5);
	ck_assert(!protobuf_next(&at));
	protobuf_exit(&message);
}
END_TEST

START_TEST(test_output_that_cannot_be_written_is_an_error)
{
	FILE *full = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(full);
	ck_assert_int_lt(pprof_print(full, &profile, &head), 0);
	ck_assert_int_lt(speedscope_print(full, &profile, &head), 0);
	fclose(full);
}
END_TEST

RUN_TESTS_WITH("profile", make_profile, free_profile, test_each_fault_is_a_sample_of_its_thread,
	       test_reused_number_is_another_thread, test_equal_samples_are_summed_up,
	       test_frames_have_the_names_of_their_functions,
	       test_speedscope_has_a_profile_of_each_thread, test_pprof_has_types_and_comments,
	       test_pprof_has_sums_with_paths_and_labels,
	       test_pprof_locations_are_inside_of_their_mappings,
	       test_protobuf_numbers_and_texts_come_back,
	       test_output_that_cannot_be_written_is_an_error)
