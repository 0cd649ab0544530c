// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/argument.h"
#include "util/size.h"

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
