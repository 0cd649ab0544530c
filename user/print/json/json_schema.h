/* SPDX-License-Identifier: GPL-2.0-only */
/* The JSON schema of a report: the text by hand, and the definitions made from rows of fields. */
#ifndef PFSTAT_USER_JSON_SCHEMA_H
#define PFSTAT_USER_JSON_SCHEMA_H

#include <jansson.h>

/* Reads the part by hand, and adds the other definitions. NULL: message() has printed why. */
json_t *json_schema(const char *path);

#endif
