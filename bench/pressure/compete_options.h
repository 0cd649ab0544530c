/* SPDX-License-Identifier: GPL-2.0-only */
/* The options for competing processes. */
#ifndef PFSTAT_USER_COMPETE_OPTIONS_H
#define PFSTAT_USER_COMPETE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/* For all competitors together, unless noted otherwise. */
#define COMPETE_LIMIT	  (64ULL << 20)
#define COMPETE_LIMIT_MIN (8ULL << 20)

#define COMPETE_DEFAULT "1.5"

struct compete_options {
	const char *text; /* as given, or NULL without competition */
	uint64_t bytes;	  /* per competitor, or if 0: */
	double ratio;	  /* ratio to the limit, or to the machine's memory */
	bool sequential;
	unsigned int nr; /* 0: not given, one */
	uint64_t limit;	 /* bytes, or 0 if not given */
	bool unsafe;
};

extern const struct argp compete_argp; /* input: a struct compete_options */

/* SIZE (with K, M or G) or RATIO, each with or without :random or :sequential. -EINVAL. */
int compete_options_parse(const char *text, struct compete_options *options);

/*
 * Checks that the options fit together and with the run's. Otherwise exits with a message and
 * STATUS_USAGE.
 */
void compete_options_check(const struct argp_state *state, const struct compete_options *options);

#endif
