// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses /tmp/perf-PID.map and looks up the names for addresses. The file belongs to the watched
 * program, so the contents are untrusted: the line length and the bytes read are bounded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "system/jit_map.h"
#include "util/text.h"

#define LINE_BYTES 4096 /* the rest of a longer line is skipped */

struct function {
	uint64_t start, bytes;
	const char *name;
};

static bool parse_line(char *line, struct function *function)
{
	int name_at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &function->start, &function->bytes,
		   &name_at) < 2 ||
	    !name_at || !line[name_at])
		return false;
	function->name = line + name_at;
	return function->start + function->bytes > function->start;
}

/* Index of the first place at or after the address. */
static size_t first_from(const struct jit_map_place *places, size_t nr, uint64_t address)
{
	size_t low = 0, high = nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (places[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int name_places(const struct function *function, struct jit_map_place *places, size_t nr)
{
	size_t i = first_from(places, nr, function->start);

	for (; i < nr && places[i].address - function->start < function->bytes; i++) {
		free(places[i].name);
		places[i].name =
			code_name_print(function->name, places[i].address - function->start);
		if (!places[i].name)
			return -ENOMEM;
	}
	return 0;
}

static void skip_line(FILE *file, size_t *left)
{
	int byte;

	do {
		byte = getc(file);
		*left -= !!*left;
	} while (byte != EOF && byte != '\n' && *left);
}

int jit_map_read(FILE *file, struct jit_map_place *places, size_t nr)
{
	size_t left = PERF_MAP_BYTES_MAX, length;
	char line[LINE_BYTES];
	struct function function;
	bool whole;
	int err = 0;

	while (!err && left && fgets(line, sizeof(line), file)) {
		length = strlen(line);
		whole = length && line[length - 1] == '\n';
		left -= length < left ? length : left;
		if (parse_line(line, &function))
			err = name_places(&function, places, nr);
		if (!whole && length == sizeof(line) - 1)
			skip_line(file, &left);
	}
	return err;
}
