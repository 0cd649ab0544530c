// SPDX-License-Identifier: GPL-2.0-only
/* Completes the JSON schema of a report with the definitions that rows of fields make. */
#include "fields/tables.h"
#include "print/json/json_schema.h"
#include "util/array.h"
#include "util/message.h"

static const struct fields *const tables[] = { FIELD_TABLES(TABLE_ADDRESS) };

json_t *json_schema(const char *path)
{
	json_error_t error;
	json_t *schema = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	size_t i;

	if (!schema) {
		message(0, "cannot read %s: line %d: %s", path, error.line, error.text);
		return NULL;
	}
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		if (!fields_define(tables[i], json_object_get(schema, "$defs")))
			continue;
		message(0, "cannot make the JSON schema: out of memory");
		json_decref(schema);
		return NULL;
	}
	return schema;
}
