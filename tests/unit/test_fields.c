// SPDX-License-Identifier: GPL-2.0-only
/* Rows of fields: the JSON of an object and its definition in the JSON schema. */
#include <jansson.h>
#include <math.h>

#include "fields/fields.h"
#include "model/counters.h"
#include "runner.h"
#include "schema.h"

struct leaf {
	uint32_t id;
};

enum colour_of_sample { SAMPLE_RED, SAMPLE_BLUE };

struct sample_fields {
	uint64_t count, zero, unknown, wide;
	uint32_t pid;
	int64_t below;
	double share;
	bool flag;
	enum colour_of_sample colour;
	char text[8], name[8];
	const char *pointer, *string;
	struct leaf leaf, array[3], *rows;
	size_t nr;
	unsigned int nr_array;
};

FIELD_FUNCTION(bool, has_pid, sample_fields, it->pid)
FIELD_FUNCTION(json_t *, twice, sample_fields, json_integer(2 * it->count))

static const char *const colours[] = { [SAMPLE_RED] = "red", [SAMPLE_BLUE] = "blue" };

static const struct field leaf_rows[] = {
	FIELD(COUNT, leaf, id, NULL),
};

static const struct fields leaf_fields = FIELDS("leaf", NULL, leaf, leaf_rows);

static const char *colour_name(unsigned int i)
{
	return colours[i];
}

static json_t *colour_number(const struct report *run __attribute__((unused)), const void *object,
			     unsigned int i)
{
	return json_integer(((const struct sample_fields *)object)->count + i);
}

static const struct fields colour_fields = {
	.name = "colours",
	.nr_words = ARRAY_SIZE(colours),
	.word = colour_name,
	.each = colour_number,
	.definition = "count",
};

static const struct field sample_rows[] = {
	FIELD(COUNT, sample_fields, count, "A count."),
	FIELD(NONZERO, sample_fields, zero, NULL),
	FIELD(KNOWN, sample_fields, unknown, NULL),
	FIELD(WIDE, sample_fields, wide, NULL),
	FIELD_AS("address", ADDRESS, sample_fields, pid, NULL),
	FIELD(SIGNED, sample_fields, below, NULL),
	FIELD(REAL, sample_fields, share, NULL),
	FIELD(FLAG, sample_fields, flag, NULL),
	FIELD(WORD, sample_fields, colour, NULL, FIELD_WORDS(colours)),
	FIELD(TEXT, sample_fields, text, NULL),
	FIELD(NAME, sample_fields, name, NULL),
	FIELD(POINTER, sample_fields, pointer, NULL),
	FIELD(STRING, sample_fields, string, NULL),
	FIELD(OBJECT, sample_fields, leaf, NULL, .of = &leaf_fields),
	FIELD(ROWS, sample_fields, rows, NULL, .of = &leaf_fields, FIELD_NR(sample_fields, nr)),
	FIELD(ARRAY, sample_fields, array, NULL, .of = &leaf_fields,
	      FIELD_NR(sample_fields, nr_array)),
	FIELD_AS("if_pid", COUNT, sample_fields, count, NULL, .known = has_pid),
	FIELD_AS("object_if_pid", OBJECT, sample_fields, leaf, NULL, .known = has_pid,
		 .of = &leaf_fields),
	FIELD_AS("rows_if_pid", ROWS, sample_fields, rows, NULL, .known = has_pid,
		 .of = &leaf_fields, FIELD_NR(sample_fields, nr)),
	FIELD_AS("if_hook", COUNT, sample_fields, count, NULL, .needs = 1U << 3),
	FIELD_AS("made", MADE, sample_fields, count, NULL, .make = twice, .definition = "count"),
	FIELD_OF_ALL("by_colour", OBJECT, NULL, .of = &colour_fields),
};

static const struct fields sample_fields =
	FIELDS("sample", "A sample.", sample_fields, sample_rows);

static char *printed(const struct sample_fields *object, uint32_t hooks)
{
	const struct fields_run run = { .hooks = hooks };
	json_t *json = fields_json(&sample_fields, &run, object);
	char *text = json_dumps(json, JSON_COMPACT);

	ck_assert_ptr_nonnull(text);
	json_decref(json);
	return text;
}

TEST(test_an_object_has_the_keys_of_its_rows_in_their_order)
{
	struct leaf rows[] = { { 5 }, { 6 } };
	const struct sample_fields object = {
		.count = 1,
		.unknown = 2,
		.wide = UINT64_MAX,
		.zero = 3,
		.pid = 4,
		.below = -5,
		.share = 0.5,
		.flag = true,
		.colour = SAMPLE_BLUE,
		.text = "a",
		.name = "b",
		.pointer = "c",
		.string = "d",
		.leaf = { 4 },
		.rows = rows,
		.nr = 2,
		.array = { { 7 } },
		.nr_array = 1,
	};
	char *text = printed(&object, 1U << 3);

	ck_assert_str_eq(
		text,
		"{\"count\":1,\"zero\":3,\"unknown\":2,\"wide\":\"18446744073709551615\",\"address\":\"0x4\","
		"\"below\":-5,\"share\":0.5,\"flag\":true,\"colour\":\"blue\",\"text\":\"a\",\"name\":\"b\","
		"\"pointer\":\"c\",\"string\":\"d\",\"leaf\":{\"id\":4},\"rows\":[{\"id\":5},{\"id\":6}],"
		"\"array\":[{\"id\":7}],\"if_pid\":1,\"object_if_pid\":{\"id\":4},"
		"\"rows_if_pid\":[{\"id\":5},{\"id\":6}],\"if_hook\":1,\"made\":2,\"by_colour\":{\"red\":1,\"blue\":2}}");
	free(text);
}

TEST(test_what_is_not_known_is_null)
{
	const struct sample_fields object = {
		.count = 1, .share = NAN, .unknown = COUNT_NA, .name = "b", .string = "d"
	};
	char *text = printed(&object, 0);

	ck_assert_str_eq(
		text,
		"{\"count\":1,\"zero\":null,\"unknown\":null,\"wide\":0,\"address\":\"0\","
		"\"below\":0,\"share\":null,\"flag\":false,\"colour\":\"red\",\"text\":null,\"name\":\"b\","
		"\"pointer\":null,\"string\":\"d\",\"leaf\":{\"id\":0},\"rows\":[],\"array\":[],"
		"\"if_pid\":null,\"object_if_pid\":null,\"rows_if_pid\":null,\"if_hook\":null,"
		"\"made\":2,\"by_colour\":{\"red\":1,\"blue\":2}}");
	free(text);
}

/* The definitions that the rows refer to, and do not make. */
static struct schema sample_schema(void)
{
	json_t *root = json_pack("{s{s{ss}s{s[ss]}s{s[ss]}s{s[ss]}}ss}", "$defs", "count", "type",
				 "integer", "count_or_null", "type", "integer", "null",
				 "figure_or_null", "type", "number", "null", "text_or_null", "type",
				 "string", "null", "$ref", "#/$defs/sample");

	ck_assert_int_eq(fields_define(&sample_fields, json_object_get(root, "$defs")), 0);
	return (struct schema){ .root = root };
}

TEST(test_the_schema_of_the_rows_accepts_what_they_print)
{
	const struct sample_fields full = { .pid = 1,
					    .name = "b",
					    .string = "d",
					    .unknown = COUNT_NA,
					    .wide = UINT64_MAX },
				   empty = { .name = "b", .string = "d" };
	const struct sample_fields *const objects[] = { &full, &empty };
	struct schema schema = sample_schema();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		char *text = printed(objects[i], i);
		json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

		ck_assert_msg(schema_accepts(&schema, schema.root, json, "$"), "%s", schema.why);
		ck_assert_uint_ge(schema_check_strict(&schema, json, json), sample_fields.nr);
		json_decref(json);
		free(text);
	}
	json_decref((json_t *)schema.root);
}

TEST(test_a_field_that_is_always_known_may_not_be_null)
{
	static const struct {
		const char *key;
		bool or_null;
	} cases[] = {
		{ "count", false },	 { "zero", true },    { "unknown", true },
		{ "wide", false },	 { "share", true },   { "flag", false },
		{ "colour", false },	 { "text", true },    { "name", false },
		{ "pointer", true },	 { "string", false }, { "below", false },
		{ "leaf", false },	 { "rows", false },   { "array", false },
		{ "if_pid", true },	 { "if_hook", true }, { "object_if_pid", true },
		{ "rows_if_pid", true }, { "made", false },   { "by_colour", false },
		{ "address", false },
	};
	const struct sample_fields object = { .name = "b", .string = "d" };
	char *text = printed(&object, 0);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	struct schema schema = sample_schema();
	size_t i;

	ck_assert_uint_eq(ARRAY_SIZE(cases), sample_fields.nr);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *copy = json_copy(json);

		json_object_set_new(copy, cases[i].key, json_null());
		ck_assert_msg(schema_accepts(&schema, schema.root, copy, "$") == cases[i].or_null,
			      "%s", cases[i].key);
		json_decref(copy);
	}
	json_decref(json);
	json_decref((json_t *)schema.root);
	free(text);
}

TEST(test_the_schema_has_the_descriptions_of_the_rows)
{
	struct schema schema = sample_schema();
	const json_t *sample = json_object_get(json_object_get(schema.root, "$defs"), "sample");
	const json_t *properties = json_object_get(sample, "properties");

	ck_assert_str_eq(json_string_value(json_object_get(sample, "description")), "A sample.");
	ck_assert_str_eq(json_string_value(json_object_get(json_object_get(properties, "count"),
							   "description")),
			 "A count.");
	ck_assert_ptr_null(json_object_get(json_object_get(properties, "zero"), "description"));
	json_decref((json_t *)schema.root);
}
