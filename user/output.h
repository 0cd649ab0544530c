/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that is either written whole or not at all: under a temporary name
 * beside it, renamed at the end. What is not a regular file (a terminal, a
 * pipe, /dev/null) is written to directly. It is written with the rights of the user
 * who called sudo, and is for its owner alone: it tells addresses, names of files and
 * what was run. One that was there keeps the mode that it had.
 */
#ifndef PFSTAT_USER_OUTPUT_H
#define PFSTAT_USER_OUTPUT_H

#include <stdio.h>

/* Of a file that was not there. */
#define OUTPUT_MODE 0600

struct output;

/* The file is not an input: see named_files.h. */
int output_open(struct output **output, const char *path);
FILE *output_stream(struct output *output);
/* Closes in any case. */
int output_commit(struct output *output);
/* Closes, and leaves nothing. */
void output_close(struct output *output);

#endif
