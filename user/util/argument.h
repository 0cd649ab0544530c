/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How pfdrive reads the values of its options: by argp's parsers, of what
 * somebody typed. A value that is wrong is said on stderr with the option's
 * name, and ends pfdrive with STATUS_USAGE: none of these returns then.
 */
#ifndef PFSTAT_USER_ARGUMENT_H
#define PFSTAT_USER_ARGUMENT_H

#include <argp.h>
#include <stdint.h>

#include "util/message.h"

/* Says it and exits. */
#define usage(state, ...) argp_failure(state, STATUS_USAGE, 0, __VA_ARGS__)

/* As size_parse() reads it, from min to max. */
uint64_t argument_number(const struct argp_state *state, const char *name, const char *text,
			 uint64_t min, uint64_t max);
/* The same of bytes: the message prints the limits as sizes, "from 4K to 1G". */
uint64_t argument_size(const struct argp_state *state, const char *name, const char *text,
		       uint64_t min, uint64_t max);
/* Decimal, from min to max. The sentence says what it is not: "a number of seconds". */
double argument_decimal(const struct argp_state *state, const char *name, const char *text,
			const char *what, double min, double max);
/* Items of words, NULL at their end, separated by commas: 1U << the index of each. */
unsigned int argument_list(const struct argp_state *state, const char *name, const char *text,
			   const char *const *words);
/* Which of words, NULL at their end. */
unsigned int argument_word(const struct argp_state *state, const char *name, const char *text,
			   const char *const *words);

#endif
