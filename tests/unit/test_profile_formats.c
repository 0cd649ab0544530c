// SPDX-License-Identifier: GPL-2.0-only
/* The profile in viewer formats, read back. */
#include <jansson.h>
#include <stdio.h>
#include <zlib.h>

#include "protobuf_reader.h"
#include "sample_profile.h"
#include "user/print/printers.h"
#include "user/util/protobuf.h"

static const struct profile_head head = {
	.command = "prog \"x\"",
	.version = "1.2",
	.started_s = 1700000000,
	.origin_ns = T0 - 2000000,
	.missing = "LOST 5 EVENTS",
};

static char *text;
static size_t length;

static FILE *open_text(void)
{
	FILE *out = open_memstream(&text, &length);

	ck_assert_ptr_nonnull(out);
	return out;
}

static json_t *firefox(void)
{
	FILE *out = open_text();
	json_t *json;

	ck_assert_int_eq(firefox_print(out, &profile, &head), 0);
	fclose(out);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(json, "not JSON: %s", text);
	return json;
}

/* A table column must have as many values as the table's length. */
static json_t *column(json_t *table, const char *name)
{
	json_t *values = json_object_get(table, name);

	ck_assert_msg(json_is_array(values), "no column %s", name);
	ck_assert_uint_eq(json_array_size(values),
			  json_integer_value(json_object_get(table, "length")));
	return values;
}

static json_int_t cell(json_t *table, const char *name, size_t row)
{
	return json_integer_value(json_array_get(column(table, name), row));
}

static const char *string_at(json_t *shared, json_int_t index)
{
	return json_string_value(json_array_get(json_object_get(shared, "stringArray"), index));
}

/* The function name for a stack's frame. */
static const char *firefox_function(json_t *shared, json_int_t stack)
{
	const json_int_t frame = cell(json_object_get(shared, "stackTable"), "frame", stack);
	const json_int_t func = cell(json_object_get(shared, "frameTable"), "func", frame);

	return string_at(shared, cell(json_object_get(shared, "funcTable"), "name", func));
}

TEST(test_firefox_tables_have_columns_of_equal_length)
{
	static const char *const tables[] = { "stackTable",    "frameTable",	"funcTable",
					      "resourceTable", "nativeSymbols", "sources" };
	json_t *json = firefox(), *shared = json_object_get(json, "shared"), *table, *value;
	const char *name;
	size_t i;

	for (i = 0; i < 6; i++) {
		table = json_object_get(shared, tables[i]);
		ck_assert_uint_ge(json_object_size(table), 3);
		json_object_foreach(table, name, value)
			if (strcmp(name, "length"))
				column(table, name);
	}
	table = json_object_get(shared, "stackTable");
	ck_assert_int_eq(json_integer_value(json_object_get(table, "length")), 6);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "libs")), 2);
	json_decref(json);
}

TEST(test_firefox_has_a_weighted_sample_and_a_marker_of_each_fault)
{
	json_t *json = firefox(), *shared = json_object_get(json, "shared");
	json_t *thread = json_array_get(json_object_get(json, "threads"), 0), *data;
	json_t *samples = json_object_get(thread, "samples");
	json_t *markers = json_object_get(thread, "markers");
	json_int_t stack;

	ck_assert_uint_eq(json_array_size(json_object_get(json, "threads")), 3);
	ck_assert_str_eq(json_string_value(json_object_get(thread, "name")), "program (10)");
	ck_assert_str_eq(json_string_value(json_object_get(samples, "weightType")), "tracing-ms");
	ck_assert_ptr_nonnull(strstr(text, "\"INCOMPLETE\",\"format\":\"string\","
					   "\"value\":\"LOST 5 EVENTS\""));
	data = json_array_get(json_object_get(json, "threads"), 1);
	ck_assert_str_eq(json_string_value(json_object_get(data, "name")), "worker (11)");
	ck_assert_str_eq(json_string_value(json_object_get(data, "processName")), "program");
	ck_assert_uint_eq(json_array_size(column(samples, "stack")), 3);
	stack = cell(samples, "stack", 0);
	ck_assert_str_eq(firefox_function(shared, stack), "memset");
	stack = cell(json_object_get(shared, "stackTable"), "prefix", stack);
	ck_assert_str_eq(firefox_function(shared, stack), "main");
	ck_assert(json_is_null(json_array_get(column(json_object_get(shared, "stackTable"),
						     "prefix"),
					      stack)));
	/* 1000 ns, starting 2 ms after the start of the recording */
	ck_assert_ptr_nonnull(strstr(text, "\"weight\":[0.001000,0.007000,0.000200],"));
	ck_assert_ptr_nonnull(strstr(text, "\"startTime\":[2.000000,"));
	ck_assert_ptr_nonnull(strstr(text, "\"endTime\":[2.001000,"));
	ck_assert_str_eq(string_at(shared, cell(markers, "name", 1)), "file");
	data = json_array_get(column(markers, "data"), 1);
	ck_assert_str_eq(string_at(shared, json_integer_value(json_object_get(data, "file"))),
			 "/data/file");
	ck_assert_int_eq(json_integer_value(json_object_get(data, "page")), 3);
	data = json_array_get(column(markers, "data"), 0);
	ck_assert_ptr_null(json_object_get(data, "page"));
	json_decref(json);
}

TEST(test_firefox_names_no_access_of_a_fault_of_perf)
{
	size_t i;

	for (i = 0; i < profile.nr_samples; i++)
		profile.samples[i].by_perf = true;
	json_decref(firefox());
	ck_assert_ptr_nonnull(strstr(text, "\"access\":\"by the "));
	ck_assert_ptr_null(strstr(text, "\"access\":\"read"));
	ck_assert_ptr_null(strstr(text, "\"access\":\"write"));
}

/* Without a time, a command and a start: a recording of an older version, or a cut one. */
TEST(test_profiles_need_no_facts_of_the_recording)
{
	const struct profile_head none = { .command = "", .version = "1.2", .missing = "" };
	FILE *out = open_text();
	json_t *json;

	ck_assert_int_eq(firefox_print(out, &profile, &none), 0);
	fclose(out);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(json, "not JSON: %s", text);
	ck_assert_ptr_nonnull(strstr(text, "\"startTime\":0,"));
	/* The first fault is at time 0. */
	ck_assert_ptr_nonnull(strstr(text, "\"startTime\":[0.000000,"));
	json_decref(json);
}

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

/* The table's string at this index, with a final 0. */
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

TEST(test_pprof_has_types_and_comments)
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

/* The message of this kind whose field 1, the id, has this value. */
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

TEST(test_pprof_has_sums_with_paths_and_labels)
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

/* pprof refuses a location outside the mapping. */
TEST(test_pprof_locations_are_inside_of_their_mappings)
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

TEST(test_protobuf_numbers_and_texts_come_back)
{
	static const uint64_t numbers[] = { 0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX };
	struct protobuf message = { 0 };
	struct protobuf_reader at;
	size_t i;

	for (i = 0; i < 7; i++)
		protobuf_number(&message, 1, numbers[i]);
	protobuf_text(&message, 3000, "a\xff\xc3\xa4\xc3");
	at = protobuf_read(message.bytes, message.used);
	for (i = 0; i < 7; i++) {
		ck_assert(protobuf_next(&at));
		ck_assert_uint_eq(at.field, 1);
		ck_assert_uint_eq(at.number, numbers[i]);
	}
	ck_assert(protobuf_next(&at));
	ck_assert_uint_eq(at.field, 3000);
	ck_assert_uint_eq(at.bytes, 5);
	ck_assert_mem_eq(at.data, "a?\xc3\xa4?", 5);
	ck_assert(!protobuf_next(&at));
	protobuf_exit(&message);
}

TEST(test_output_that_cannot_be_written_is_an_error)
{
	FILE *full = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(full);
	ck_assert_int_lt(pprof_print(full, &profile, &head), 0);
	ck_assert_int_lt(firefox_print(full, &profile, &head), 0);
	fclose(full);
}

static void free_all(void)
{
	free(text);
	text = NULL;
	free_profile();
}

FIXTURE(make_profile, free_all);
