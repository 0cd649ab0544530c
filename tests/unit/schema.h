/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks JSON against a JSON Schema. The checker knows only the keywords used by our schemas, and
 * fails at any other keyword, so no keyword is silently ignored.
 */
#ifndef PFSTAT_TESTS_SCHEMA_H
#define PFSTAT_TESTS_SCHEMA_H

#include <check.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "print/printers.h"

struct schema {
	const json_t *root;
	char why[512]; /* the last violation found */
};

static inline bool schema_accepts(struct schema *schema, const json_t *rule, const json_t *value,
				  const char *at);

/* The schema of pfdrive's reports, with all definitions. The tests run at the top. */
static inline struct schema schema_load(void)
{
	struct schema schema = {
		.root = json_schema("Documentation/formats/pfdrive.schema.in.json")
	};

	ck_assert_ptr_nonnull(schema.root);
	return schema;
}

static inline bool schema_violation(struct schema *schema, const char *at, const char *what)
{
	snprintf(schema->why, sizeof(schema->why), "%s: %s", at, what);
	return false;
}

static inline bool schema_is_type(const json_t *value, const char *type)
{
	return (!strcmp(type, "object") && json_is_object(value)) ||
	       (!strcmp(type, "array") && json_is_array(value)) ||
	       (!strcmp(type, "string") && json_is_string(value)) ||
	       (!strcmp(type, "integer") && json_is_integer(value)) ||
	       (!strcmp(type, "number") && json_is_number(value)) ||
	       (!strcmp(type, "boolean") && json_is_boolean(value)) ||
	       (!strcmp(type, "null") && json_is_null(value));
}

static inline bool schema_type(struct schema *schema, const json_t *types, const json_t *value,
			       const char *at)
{
	const json_t *type;
	size_t i;

	if (json_is_string(types) && schema_is_type(value, json_string_value(types)))
		return true;
	json_array_foreach(types, i, type)
		if (schema_is_type(value, json_string_value(type)))
			return true;
	return schema_violation(schema, at, "type");
}

static inline bool schema_enum(struct schema *schema, const json_t *values, const json_t *value,
			       const char *at)
{
	const json_t *allowed;
	size_t i;

	json_array_foreach(values, i, allowed)
		if (json_equal(allowed, value))
			return true;
	return schema_violation(schema, at, "not one of enum");
}

static inline bool schema_ref(struct schema *schema, const json_t *ref, const json_t *value,
			      const char *at)
{
	static const char prefix[] = "#/$defs/";
	const char *name = json_string_value(ref);
	const json_t *rule;

	if (strncmp(name, prefix, strlen(prefix)))
		return schema_violation(schema, name, "not a $ref that is understood");
	rule = json_object_get(json_object_get(schema->root, "$defs"), name + strlen(prefix));
	if (!rule)
		return schema_violation(schema, name, "$ref leads nowhere");
	return schema_accepts(schema, rule, value, at);
}

static inline bool schema_one_of(struct schema *schema, const json_t *rules, const json_t *value,
				 const char *at)
{
	const json_t *rule;
	int accepted = 0;
	size_t i;

	json_array_foreach(rules, i, rule)
		accepted += schema_accepts(schema, rule, value, at);
	/* If no alternative accepts the value, why holds the last alternative's reason. */
	return accepted == 1 || (accepted && schema_violation(schema, at, "several of oneOf"));
}

static inline bool schema_items(struct schema *schema, const json_t *rule, const json_t *value,
				const char *at)
{
	const json_t *item;
	char below[256];
	size_t i;

	json_array_foreach(value, i, item) {
		snprintf(below, sizeof(below), "%s[%zu]", at, i);
		if (!schema_accepts(schema, rule, item, below))
			return false;
	}
	return true;
}

static inline bool schema_properties(struct schema *schema, const json_t *rules,
				     const json_t *value, const char *at)
{
	const char *key;
	const json_t *member, *rule;
	char below[256];

	json_object_foreach((json_t *)value, key, member) {
		snprintf(below, sizeof(below), "%s.%s", at, key);
		rule = json_object_get(rules, key);
		/* additionalProperties is always false, as schema_keyword() checks. */
		if (!rule)
			return schema_violation(schema, below, "unknown key");
		if (!schema_accepts(schema, rule, member, below))
			return false;
	}
	return true;
}

static inline bool schema_required(struct schema *schema, const json_t *keys, const json_t *value,
				   const char *at)
{
	const json_t *key;
	char below[256];
	size_t i;

	json_array_foreach(keys, i, key) {
		snprintf(below, sizeof(below), "%s.%s", at, json_string_value(key));
		if (!json_object_get(value, json_string_value(key)))
			return schema_violation(schema, below, "missing key");
	}
	return true;
}

static inline bool schema_keyword(struct schema *schema, const char *keyword, const json_t *rule,
				  const json_t *value, const char *at)
{
	if (!strcmp(keyword, "$ref"))
		return schema_ref(schema, rule, value, at);
	if (!strcmp(keyword, "oneOf"))
		return schema_one_of(schema, rule, value, at);
	if (!strcmp(keyword, "type"))
		return schema_type(schema, rule, value, at);
	if (!strcmp(keyword, "enum"))
		return schema_enum(schema, rule, value, at);
	if (!strcmp(keyword, "properties"))
		return !json_is_object(value) || schema_properties(schema, rule, value, at);
	if (!strcmp(keyword, "required"))
		return !json_is_object(value) || schema_required(schema, rule, value, at);
	if (!strcmp(keyword, "items"))
		return !json_is_array(value) || schema_items(schema, rule, value, at);
	if (!strcmp(keyword, "minimum"))
		return !json_is_number(value) ||
		       json_number_value(value) >= json_number_value(rule) ||
		       schema_violation(schema, at, "below minimum");
	if (!strcmp(keyword, "minItems"))
		return !json_is_array(value) ||
		       json_array_size(value) >= (size_t)json_integer_value(rule) ||
		       schema_violation(schema, at, "too few items");
	if (!strcmp(keyword, "maxItems"))
		return !json_is_array(value) ||
		       json_array_size(value) <= (size_t)json_integer_value(rule) ||
		       schema_violation(schema, at, "too many items");
	if (!strcmp(keyword, "additionalProperties"))
		return json_is_false(rule) || schema_violation(schema, at, "must be false");
	if (!strcmp(keyword, "$schema") || !strcmp(keyword, "$defs") || !strcmp(keyword, "title") ||
	    !strcmp(keyword, "description"))
		return true;
	return schema_violation(schema, keyword, "keyword is not known to the checker");
}

/* @at: the value's location, for the message in schema->why */
static inline bool schema_accepts(struct schema *schema, const json_t *rule, const json_t *value,
				  const char *at)
{
	const char *keyword;
	const json_t *argument;

	json_object_foreach((json_t *)rule, keyword, argument)
		if (!schema_keyword(schema, keyword, argument, value, at))
			return false;
	return true;
}

/*
 * For each object in root, reached in turn through `object`: removes each key, and adds one. The
 * schema must refuse each variant. Returns the number of keys.
 */
static inline unsigned int schema_check_strict(struct schema *schema, json_t *root, json_t *object)
{
	unsigned int found = 0;
	const char *key;
	json_t *member, *copy, *item;
	void *next;
	size_t i;

	json_array_foreach(object, i, item)
		found += schema_check_strict(schema, root, item);
	if (!json_is_object(object))
		return found;
	json_object_set_new(object, "surprise", json_integer(0));
	ck_assert(!schema_accepts(schema, schema->root, root, "$"));
	json_object_del(object, "surprise");
	copy = json_copy(object);
	json_object_foreach_safe(copy, next, key, member) {
		json_object_del(object, key);
		ck_assert_msg(!schema_accepts(schema, schema->root, root, "$"), "%s may be missing",
			      key);
		json_object_set(object, key, member);
		found += 1 + schema_check_strict(schema, root, member);
	}
	json_decref(copy);
	return found;
}

#endif
