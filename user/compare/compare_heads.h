/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares recording heads: kernel, machine, command, options, instruments. */
#ifndef PFSTAT_USER_COMPARE_HEADS_H
#define PFSTAT_USER_COMPARE_HEADS_H

#include <jansson.h>
#include <stddef.h>

/*
 * Returns an array of {"key", "a": [texts], "b": [texts]}, one object for each key whose value is
 * not the same in all heads. The object holds the distinct values on both sides ("n/a" if the key
 * is missing). Keys that differ in equal runs too are left out: start time, process numbers, and
 * the command line, which contains the output name. NULL: no memory.
 */
json_t *compare_heads(const json_t *const *a, size_t nr_a, const json_t *const *b, size_t nr_b);

#endif
