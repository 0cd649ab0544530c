/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares the heads of recordings: kernel, machine, command, options, instruments. */
#ifndef PFSTAT_USER_COMPARE_HEADS_H
#define PFSTAT_USER_COMPARE_HEADS_H

#include <jansson.h>
#include <stddef.h>

/*
 * An array of {"key", "a": [texts], "b": [texts]}: each key of which not all heads have the
 * same value, with the distinct values of both sides ("n/a": none). Keys that differ in
 * equal runs too (when it started, process numbers, the command line with the name of the
 * output) are left out. NULL: no memory.
 */
json_t *compare_heads(const json_t *const *a, size_t nr_a, const json_t *const *b, size_t nr_b);

#endif
