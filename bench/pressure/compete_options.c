// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the options of memory pressure: how much memory each competing process uses, in which
 * order, and under which limit.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/pressure/compete_options.h"
#include "bench/pressure/swap_matrix.h"
#include "util/argument.h"
#include "util/page_size.h"
#include "util/text.h"
#include "workload/mapping.h"

#define RATIO_MAX 1000

enum key {
	KEY_COMPETE = 4000,
	KEY_COMPETITORS,
	KEY_LIMIT,
	KEY_UNSAFE,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Competitors:", 4 },
	{ "compete", KEY_COMPETE, "SIZE|RATIO", 0,
	  "a competitor's memory: SIZE bytes (96M), or RATIO times the limit (default 1.5); it "
	  "accesses the pages at :random (default) or in :sequential order",
	  4 },
	{ "competitors", KEY_COMPETITORS, "N", 0, "number of competitors (default 1)", 4 },
	{ "memory-limit", KEY_LIMIT, "SIZE", 0,
	  "memory limit for the run and the competitors together (default 64M)", 4 },
	{ "unsafe", KEY_UNSAFE, NULL, 0, "compete for the whole machine's memory, without a limit",
	  4 },
	{ 0 },
};

static int compete_parse_order(const char *text, struct compete_options *options)
{
	if (*text && strcmp(text, ":random") && strcmp(text, ":sequential"))
		return -EINVAL;
	options->sequential = !strcmp(text, ":sequential");
	return 0;
}

static int compete_parse_amount(const char *text, struct compete_options *options)
{
	char *end;

	options->bytes = 0;
	options->ratio = 0;
	if (strpbrk(text, "KMG"))
		return size_parse(text, &options->bytes) || options->bytes < page_size() ||
				       options->bytes > MAPPING_MAX_BYTES ?
			       -EINVAL :
			       0;
	/* Refuses the other strtod(3) forms: signs, exponents, hexadecimal, inf. */
	if (!*text || text[strspn(text, "0123456789.")])
		return -EINVAL;
	options->ratio = strtod(text, &end);
	return *end || options->ratio <= 0 || options->ratio > RATIO_MAX ? -EINVAL : 0;
}

int compete_options_parse(const char *text, struct compete_options *options)
{
	const size_t length = strcspn(text, ":");
	char amount[32];

	if (length >= sizeof(amount))
		return -EINVAL;
	memcpy(amount, text, length);
	amount[length] = '\0';
	options->text = text;
	return compete_parse_amount(amount, options) ||
			       compete_parse_order(text + length, options) ?
		       -EINVAL :
		       0;
}

static error_t compete_parse_option(int key, char *text, struct argp_state *state)
{
	struct compete_options *options = state->input;

	switch (key) {
	case KEY_COMPETE:
		if (compete_options_parse(text, options))
			usage(state,
			      "--compete: '%s' is neither a size (96M) nor a ratio (1.5), "
			      "with or without :random or :sequential",
			      text);
		return 0;
	case KEY_COMPETITORS:
		options->nr = argument_number(state, "competitors", text, 1, COMPETITORS_MAX);
		return 0;
	case KEY_LIMIT:
		options->limit = argument_size(state, "memory-limit", text, COMPETE_LIMIT_MIN,
					       MAPPING_MAX_BYTES);
		return 0;
	case KEY_UNSAFE:
		options->unsafe = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp compete_argp = { .options = argp_options, .parser = compete_parse_option };

void compete_options_check(const struct argp_state *state, const struct compete_options *options)
{
	if (options->unsafe && options->limit)
		usage(state, "give only one of --unsafe and --memory-limit");
}
