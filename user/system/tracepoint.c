// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the descriptions in tracefs: a line "ID: number", and a line for each field:
 *
 *	field:unsigned long nr_reclaimed;	offset:8;	size:8;	signed:0;
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "system/perf.h"
#include "util/array.h"

/* A description's expressions for printing may be longer: they come last. */
#define TEXT_BYTES 8192

/* True if the declaration, such as "unsigned long nr_reclaimed", ends with the name. */
static bool declares(const char *declaration, const char *name)
{
	const char *last = strrchr(declaration, ' ');

	return last && !strcmp(last + 1, name);
}

static int find_field(struct tracepoint_field *field, const char *text, const char *name)
{
	char declaration[128];

	while ((text = strstr(text, "\tfield:"))) {
		text += strlen("\tfield:");
		if (sscanf(text, "%127[^;];\toffset:%u;\tsize:%u;", declaration, &field->offset,
			   &field->size) == 3 &&
		    declares(declaration, name))
			return field->size == 4 || field->size == 8 ? 0 : -EPROTO;
	}
	return -EPROTO;
}

int tracepoint_parse(struct tracepoint *point, const char *text, const char *field)
{
	const char *id = strstr(text, "\nID: ");

	*point = (struct tracepoint){ 0 };
	if (!id || sscanf(id, "\nID: %" SCNu64, &point->id) != 1)
		return -EPROTO;
	return field ? find_field(&point->field, text, field) : 0;
}

static int tracepoint_load(const char *folder, const char *name, char text[TEXT_BYTES])
{
	char path[256];
	size_t bytes;
	FILE *file;

	snprintf(path, sizeof(path), "%s/events/%s/format", folder, name);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	bytes = fread(text, 1, TEXT_BYTES - 1, file);
	text[bytes] = '\0';
	fclose(file);
	return 0;
}

int tracepoint_read(struct tracepoint *point, const char *name, const char *field)
{
	/* The second one is a mount of its own, made at the first access. */
	static const char *const folders[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char text[TEXT_BYTES];
	int err = -ENOENT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(folders) && err == -ENOENT; i++)
		err = tracepoint_load(folders[i], name, text);
	return err ? err : tracepoint_parse(point, text, field);
}

uint64_t tracepoint_value(const struct tracepoint *point, const void *data, size_t bytes)
{
	const struct tracepoint_field *field = &point->field;
	const uint8_t *at = (const uint8_t *)data + field->offset;
	uint64_t wide;
	uint32_t narrow;

	if (!field->size || (uint64_t)field->offset + field->size > bytes)
		return 0;
	if (field->size == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}
