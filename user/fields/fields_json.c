// SPDX-License-Identifier: GPL-2.0-only
/* Makes the JSON of an object from the rows of its struct. */
#include <inttypes.h>

#include "fields/fields.h"
#include "util/json_value.h"

static uint64_t load_number(const void *member, unsigned int bytes)
{
	switch (bytes) {
	case 1:
		return *(const uint8_t *)member;
	case 2:
		return *(const uint16_t *)member;
	case 4:
		return *(const uint32_t *)member;
	default:
		return *(const uint64_t *)member;
	}
}

uint64_t field_number(const struct field *field, const void *object)
{
	return load_number((const char *)object + field->offset, field->bytes);
}

static json_t *list_of(const struct field *field, const struct fields_run *run, const void *object)
{
	const char *member = (const char *)object + field->offset;
	const char *nr = (const char *)object + field->nr_offset;

	if (field->type == FIELD_ROWS)
		member = *(const char *const *)member;
	return fields_json_list(field->of, run, member, load_number(nr, field->nr_bytes));
}

static json_t *value_of(const struct field *field, const struct fields_run *run, const void *object)
{
	const void *member = (const char *)object + field->offset;

	switch (field->type) {
	case FIELD_COUNT:
		return value_count(field_number(field, object));
	case FIELD_NONZERO:
		return value_count_if(field_number(field, object), field_number(field, object));
	case FIELD_KNOWN:
		return value_known(field_number(field, object));
	case FIELD_SIGNED:
		return json_integer(*(const int64_t *)member);
	case FIELD_WIDE:
		return value_wide(field_number(field, object));
	case FIELD_ADDRESS:
		return json_sprintf("%#" PRIx64, field_number(field, object));
	case FIELD_REAL:
		return value_real(*(const double *)member);
	case FIELD_FLAG:
		return json_boolean(field_number(field, object));
	case FIELD_WORD:
		return json_string(field->words[field_number(field, object)]);
	case FIELD_TEXT:
	case FIELD_NAME:
		return value_text(member);
	case FIELD_STRING:
	case FIELD_POINTER:
		return value_text(*(const char *const *)member);
	case FIELD_OBJECT:
		return fields_json(field->of, run, member);
	case FIELD_ROWS:
	case FIELD_ARRAY:
		return list_of(field, run, object);
	case FIELD_MADE:
		return field->make(run->report, object);
	}
	return NULL;
}

static bool field_is_known(const struct field *field, const struct fields_run *run,
			   const void *object)
{
	if ((run->hooks & field->needs) != field->needs)
		return false;
	return !field->known || field->known(run->report, object);
}

json_t *fields_json(const struct fields *fields, const struct fields_run *run, const void *object)
{
	json_t *json = json_object(), *value;
	const struct field *field;
	unsigned int i;

	for (i = 0; i < fields->nr_words; i++)
		json = value_with(json, fields->word(i), fields->each(run->report, object, i));
	for (i = 0; i < fields->nr; i++) {
		field = &fields->rows[i];
		value = field_is_known(field, run, object) ? value_of(field, run, object) :
							     json_null();
		json = value_with(json, field->key, value);
	}
	return json;
}

json_t *fields_json_list(const struct fields *fields, const struct fields_run *run,
			 const void *objects, size_t nr)
{
	json_t *array = json_array();
	const char *object = objects;

	for (; nr; nr--, object += fields->bytes)
		array = value_appended(array, fields_json(fields, run, object));
	return array;
}
