// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size.h"
#include "argument.h"

uint64_t argument_number(const struct argp_state *state, const char *name, const char *text,
			 uint64_t min, uint64_t max)
{
	uint64_t number = 0;

	if (size_parse(text, &number) || number < min || number > max)
		usage(state, "--%s: '%s' is not a number from %" PRIu64 " to %" PRIu64, name, text,
		      min, max);
	return number;
}

double argument_decimal(const struct argp_state *state, const char *name, const char *text,
			const char *what, double min, double max)
{
	char *end;
	double number = strtod(text, &end);

	/* A comparison that fails for NaN, too. */
	if (end == text || *end || !(number >= min && number <= max))
		usage(state, "--%s: '%s' is not %s from %g to %g", name, text, what, min, max);
	return number;
}

unsigned int argument_word(const struct argp_state *state, const char *name, const char *text,
			   const char *const *words)
{
	char all[256];
	size_t length = 0;
	unsigned int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	for (i = 0; words[i] && length < sizeof(all); i++)
		length += snprintf(all + length, sizeof(all) - length, "%s%s", i ? ", " : "",
				   words[i]);
	usage(state, "--%s: '%s' is not one of %s", name, text, all);
	return 0;
}

/* Where it is, through links and dots; it need not be there yet. NULL: nowhere. */
static char *place_of(const char *path)
{
	char *place = realpath(path, NULL), *copy, *folder;
	const char *slash = strrchr(path, '/');

	if (place)
		return place;
	copy = slash ? strndup(path, slash - path + 1) : strdup(".");
	folder = copy ? realpath(copy, NULL) : NULL;
	free(copy);
	if (folder && asprintf(&place, "%s/%s", folder, slash ? slash + 1 : path) < 0)
		place = NULL;
	free(folder);
	return place;
}

static bool is_one_file(const char *path, const char *other)
{
	char *place = place_of(path), *other_place = place_of(other);
	bool one = !strcmp(path, other) || (place && other_place && !strcmp(place, other_place));

	free(place);
	free(other_place);
	return one;
}

void argument_distinct(const struct argp_state *state, const char *name, const char *path,
		       const char *other_name, const char *other_path)
{
	if (path && other_path && is_one_file(path, other_path))
		usage(state, "--%s and --%s: '%s' cannot be both", name, other_name, path);
}
