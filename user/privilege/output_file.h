/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that is either written whole or not at all: under a temporary name beside it, renamed
 * at the end (but see output_name_now()). A file that is not regular (a terminal, a pipe,
 * /dev/null) is written to directly. It is written with the rights of the user who called
 * sudo, and only its owner may read it: it has addresses, names of files and commands. A file
 * that is replaced passes its mode on.
 */
#ifndef PFSTAT_USER_OUTPUT_FILE_H
#define PFSTAT_USER_OUTPUT_FILE_H

#include <stdio.h>

/* The mode of a new file. */
#define OUTPUT_MODE 0600

/* The ending of what output_name_now() keeps. */
#define OUTPUT_OLDER ".old"

struct output;

/* The file is not an input: see named_files.h. */
int output_open(struct output **output, const char *path);
FILE *output_stream(struct output *output);
/*
 * For a file that is worth keeping however its writing ends: gives it its name now, and
 * output_commit() syncs it to the disk. A file of that name is kept as PATH.old. On failure
 * the file keeps its temporary name, and is not removed.
 */
int output_name_now(struct output *output);
/* The name that the file has, or will have. */
const char *output_path(const struct output *output);
/* Closes in any case. */
int output_commit(struct output *output);
/* Closes; a file that has no name of its own yet is removed. */
void output_close(struct output *output);

#endif
