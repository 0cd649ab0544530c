// SPDX-License-Identifier: GPL-2.0-only
/* Makes the definition of an object in the JSON schema from the rows of its struct. */
#include <errno.h>

#include "fields/fields.h"
#include "util/json_value.h"

static json_t *reference_type(const char *definition)
{
	return json_pack("{so}", "$ref", json_sprintf("#/$defs/%s", definition));
}

static json_t *named_type(const char *name, bool or_null)
{
	return or_null ? json_pack("{s[ss]}", "type", name, "null") :
			 json_pack("{ss}", "type", name);
}

static json_t *enum_type(const struct field *field, bool or_null)
{
	json_t *words = json_array();
	unsigned int i;

	for (i = 0; i < field->nr_words; i++)
		if (field->words[i])
			words = value_appended(words, json_string(field->words[i]));
	if (or_null)
		words = value_appended(words, json_null());
	return json_pack("{so}", "enum", words);
}

static json_t *list_type(const char *definition, bool or_null)
{
	return value_with(named_type("array", or_null), "items", reference_type(definition));
}

static json_t *object_type(const char *definition, bool or_null)
{
	json_t *reference = reference_type(definition);

	return or_null ? json_pack("{s[{ss}o]}", "oneOf", "type", "null", reference) : reference;
}

static json_t *made_type(const struct field *field, bool or_null)
{
	if (field->words)
		return enum_type(field, or_null);
	return field->definition ? object_type(field->definition, or_null) :
				   named_type("string", or_null);
}

static json_t *field_type(const struct field *field)
{
	const bool or_null = field->needs || field->known || field->or_null;

	switch (field->type) {
	case FIELD_COUNT:
		return reference_type(or_null ? "count_or_null" : "count");
	case FIELD_NONZERO:
	case FIELD_KNOWN:
		return reference_type("count_or_null");
	case FIELD_SIGNED:
		return named_type("integer", or_null);
	case FIELD_WIDE:
		return or_null ? json_pack("{s[sss]}", "type", "integer", "string", "null") :
				 json_pack("{s[ss]}", "type", "integer", "string");
	case FIELD_REAL:
		return reference_type("figure_or_null");
	case FIELD_FLAG:
		return named_type("boolean", or_null);
	case FIELD_WORD:
		return enum_type(field, or_null);
	case FIELD_ADDRESS:
	case FIELD_NAME:
	case FIELD_STRING:
		return named_type("string", or_null);
	case FIELD_TEXT:
	case FIELD_POINTER:
		return reference_type("text_or_null");
	case FIELD_OBJECT:
		return object_type(field->of->name, or_null);
	case FIELD_ROWS:
	case FIELD_ARRAY:
		return list_type(field->of->name, or_null);
	case FIELD_MADE:
		return made_type(field, or_null);
	}
	return NULL;
}

static json_t *property_of(const struct field *field)
{
	json_t *property = field_type(field);

	return field->about ? value_with(property, "description", json_string(field->about)) :
			      property;
}

static json_t *definition_of(const struct fields *fields)
{
	json_t *required = json_array(), *properties = json_object(), *definition;
	const struct field *field;
	unsigned int i;

	for (i = 0; i < fields->nr_words; i++) {
		required = value_appended(required, json_string(fields->word(i)));
		properties =
			value_with(properties, fields->word(i), reference_type(fields->definition));
	}
	for (i = 0; i < fields->nr; i++) {
		field = &fields->rows[i];
		required = value_appended(required, json_string(field->key));
		properties = value_with(properties, field->key, property_of(field));
	}
	definition = json_pack("{sssbsoso}", "type", "object", "additionalProperties", 0,
			       "required", required, "properties", properties);
	return fields->about ? value_with(definition, "description", json_string(fields->about)) :
			       definition;
}

int fields_define(const struct fields *fields, json_t *definitions)
{
	const struct fields *of;
	unsigned int i;
	int err;

	if (json_object_get(definitions, fields->name))
		return 0;
	if (json_object_set_new(definitions, fields->name, definition_of(fields)))
		return -ENOMEM;
	for (i = 0; i < fields->nr; i++) {
		of = fields->rows[i].of;
		err = of ? fields_define(of, definitions) : 0;
		if (err)
			return err;
	}
	return 0;
}
