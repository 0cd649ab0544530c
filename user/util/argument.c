// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the values of command-line options for argp. A wrong value prints a message and
 * exits, so callers never see one.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/argument.h"
#include "util/array.h"
#include "util/text.h"

uint64_t argument_number(const struct argp_state *state, const char *name, const char *text,
			 uint64_t min, uint64_t max)
{
	uint64_t number = 0;

	if (size_parse(text, &number) || number < min || number > max) {
		if (max == UINT64_MAX)
			usage(state, "--%s: '%s' is not a whole number of at least %" PRIu64, name,
			      text, min);
		usage(state, "--%s: '%s' is not a whole number from %" PRIu64 " to %" PRIu64, name,
		      text, min, max);
	}
	return number;
}

uint64_t argument_size(const struct argp_state *state, const char *name, const char *text,
		       uint64_t min, uint64_t max)
{
	char least[32], most[32];
	uint64_t size = 0;

	size_name(min, least, sizeof(least));
	size_name(max, most, sizeof(most));
	if (size_parse(text, &size) || size < min || size > max)
		usage(state, "--%s: '%s' is not a size from %s to %s; use the suffixes K, M and G",
		      name, text, least, most);
	return size;
}

double argument_decimal(const struct argp_state *state, const char *name, const char *text,
			const char *what, double min, double max)
{
	char *end;
	double number = strtod(text, &end);

	/* This form also rejects NaN. */
	if (end == text || *end || !(number >= min && number <= max))
		usage(state, "--%s: '%s' is not %s from %.10g to %.10g", name, text, what, min,
		      max);
	return number;
}

uint64_t argument_time(const struct argp_state *state, const char *name, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "µs", 1e3 }, { "ns", 1 } };
	char *end;
	const double number = strtod(text, &end);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		/* A double has nanoseconds for 104 days. This form also rejects NaN. */
		if (end != text && !strcmp(end, units[i].name) && number >= 0 &&
		    number * units[i].ns < 1e18)
			return llround(number * units[i].ns);
	usage(state, "--%s: '%s' is not a time; give a number with a unit, as 1.5s, 200ms or 30us",
	      name, text);
	return 0;
}

/* Index of the word equal to the first @length bytes in @text. */
static unsigned int find_word(const struct argp_state *state, const char *name, const char *text,
			      size_t length, const char *const *words)
{
	char all[256];
	size_t used = 0;
	unsigned int i;

	for (i = 0; words[i]; i++)
		if (strlen(words[i]) == length && !strncmp(text, words[i], length))
			return i;
	for (i = 0; words[i] && used < sizeof(all); i++)
		used += snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", words[i]);
	usage(state, "--%s: '%.*s' is not one of %s", name, (int)length, text, all);
	return 0;
}

unsigned int argument_word(const struct argp_state *state, const char *name, const char *text,
			   const char *const *words)
{
	return find_word(state, name, text, strlen(text), words);
}

unsigned int argument_list(const struct argp_state *state, const char *name, const char *text,
			   const char *const *words)
{
	unsigned int items = 0;
	size_t length;

	for (;; text += length + 1) {
		length = strcspn(text, ",");
		items |= 1U << find_word(state, name, text, length, words);
		if (!text[length])
			return items;
	}
}
