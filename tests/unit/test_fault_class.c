// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON schemas list the classes from the tables in record.h and event.h, in the same order: a
 * new class missing from a schema fails here.
 */
#include <check.h>
#include <jansson.h>
#include <string.h>

#include "model/counters.h"
#include "model/fault_class.h"
#include "runner.h"
#include "schema.h"

static json_t *schema_definition(const json_t *schema, const char *name)
{
	json_t *definition = json_object_get(json_object_get(schema, "$defs"), name);

	ck_assert_msg(definition, "the schema does not define %s", name);
	return definition;
}

static void check_classes(const json_t *schema, const char *name, size_t nr)
{
	json_t *definition = schema_definition(schema, name);
	json_t *required = json_object_get(definition, "required");
	json_t *properties = json_object_get(definition, "properties");
	size_t i;

	ck_assert_uint_eq(json_array_size(required), nr);
	ck_assert_uint_eq(json_object_size(properties), nr);
	for (i = 0; i < nr; i++) {
		ck_assert_str_eq(json_string_value(json_array_get(required, i)),
				 fault_class_name(i));
		ck_assert_msg(json_object_get(properties, fault_class_name(i)), "%s: no %s", name,
			      fault_class_name(i));
	}
}

TEST(test_schema_names_the_classes_of_the_tables)
{
	struct schema schema = schema_load();

	check_classes(schema.root, "classes", PFSTAT_NR_CLASSES);
	check_classes(schema.root, "fault_classes", NR_FAULT_CLASSES);
	check_classes(schema.root, "group_classes", NR_FAULT_CLASSES);
	json_decref((json_t *)schema.root);
}

TEST(test_rows_and_layers_hold_each_class_once)
{
	unsigned int rows = 0, layers = 0;
	size_t i;

	for (i = 0; i < NR_FAULT_CLASSES; i++) {
		rows |= 1U << fault_class_rows[i];
		layers |= 1U << fault_class_layers[i];
	}
	ck_assert_uint_eq(rows, (1U << NR_FAULT_CLASSES) - 1);
	ck_assert_uint_eq(layers, (1U << NR_FAULT_CLASSES) - 1);
}

/* A reader knows a class in a figure by the title, mark and line. */
TEST(test_each_class_has_a_title_a_mark_and_a_line_of_its_own)
{
	const struct fault_class_traits *one, *other;

	for (one = fault_classes; one < fault_classes + NR_FAULT_CLASSES; one++) {
		ck_assert_ptr_nonnull(one->title);
		for (other = fault_classes; other < one; other++) {
			ck_assert_str_ne(one->title, other->title);
			ck_assert_msg(one->rgb != other->rgb || one->point != other->point,
				      "%s: the mark of %s", one->title, other->title);
			ck_assert_msg(one->rgb != other->rgb || strcmp(one->dash, other->dash),
				      "%s: the line of %s", one->title, other->title);
		}
	}
}

TEST(test_a_class_is_found_by_its_name)
{
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		ck_assert_int_eq(fault_class_find(fault_class_name(class)), class);
	ck_assert_int_eq(fault_class_find("all"), NR_FAULT_CLASSES);
}

/* So a replay that was recorded with the same source compares all faults. */
TEST(test_each_source_has_the_classes_that_it_reports)
{
	const uint32_t perf = 1U << HOOK_FAULT | 1U << HOOK_PERF;

	ck_assert(fault_class_known(FAULT_DISK, 0));
	ck_assert(!fault_class_known(FAULT_ANON, 0));
	ck_assert(fault_class_known(FAULT_DISK, BPF_HOOKS));
	ck_assert(fault_class_known(FAULT_COW, BPF_HOOKS));
	ck_assert(!fault_class_known(FAULT_COW, BPF_HOOKS & ~(1U << HOOK_WP)));
	ck_assert(!fault_class_known(FAULT_AGAIN, BPF_HOOKS));
	ck_assert(!fault_class_known(FAULT_DISK, perf));
	ck_assert(!fault_class_known(FAULT_SWAP, perf));
	ck_assert(fault_class_known(FAULT_ANON, perf));
	ck_assert(fault_class_known(FAULT_AGAIN, perf));
}
