/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the values of pfdrive's options, for argp's parsers. On a wrong value, a function prints
 * the option's name and the reason to stderr and exits with STATUS_USAGE. It does not return.
 */
#ifndef PFSTAT_USER_ARGUMENT_H
#define PFSTAT_USER_ARGUMENT_H

#include <argp.h>
#include <stdint.h>

#include "util/message.h"

/* Prints the message and exits. */
#define usage(state, ...) argp_failure(state, STATUS_USAGE, 0, __VA_ARGS__)

/* A number from @min to @max, in size_parse() format. */
uint64_t argument_number(const struct argp_state *state, const char *name, const char *text,
			 uint64_t min, uint64_t max);
/* Like argument_number(), in bytes. The message prints the limits as sizes, "from 4K to 1G". */
uint64_t argument_size(const struct argp_state *state, const char *name, const char *text,
		       uint64_t min, uint64_t max);
/* A decimal number from @min to @max. @what: the expected value, "a number of seconds" */
double argument_decimal(const struct argp_state *state, const char *name, const char *text,
			const char *what, double min, double max);
/* A duration with a unit (s, ms, us or ns), in nanoseconds: "1.5s", "200ms". */
uint64_t argument_time(const struct argp_state *state, const char *name, const char *text);
/* A comma-separated list of @words (NULL-terminated). Returns 1U << index for each word, ORed. */
unsigned int argument_list(const struct argp_state *state, const char *name, const char *text,
			   const char *const *words);
/* The value's index in @words (NULL-terminated). */
unsigned int argument_word(const struct argp_state *state, const char *name, const char *text,
			   const char *const *words);

#endif
