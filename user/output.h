/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that is either written whole or not at all: under a temporary name
 * beside it, renamed at the end. What is not a regular file (a terminal, a
 * pipe, /dev/null) is written to directly.
 */
#ifndef PFSTAT_USER_OUTPUT_H
#define PFSTAT_USER_OUTPUT_H

#include <stdio.h>

struct output;

/* -EEXIST: it is the file `not` (an open descriptor), which must not be written. */
int output_open(struct output **output, const char *path, int not);
FILE *output_stream(struct output *output);
/* Closes in any case. */
int output_commit(struct output *output);
/* Closes, and leaves nothing. */
void output_close(struct output *output);

#endif
