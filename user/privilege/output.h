/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that is written either completely or not at all: it has a temporary name in the
 * same folder and is renamed at the end (but see output_name_now()). A file that is not
 * regular (a terminal, a pipe, /dev/null) is written directly. Files are written with the
 * rights of the invoker. Only the owner may read a new file, because it contains addresses,
 * file names and commands. A replaced file passes on its mode only if it belongs to the owner
 * of the new one and has one name.
 */
#ifndef PFSTAT_USER_OUTPUT_H
#define PFSTAT_USER_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Mode of a new file. */
#define OUTPUT_MODE 0600

/* Suffix of the older file that output_name_now() keeps. */
#define OUTPUT_OLDER ".old"

struct output;

/*
 * The file must not be an input, see named_files.h. Returns 0 or a negative errno. -EACCES is also
 * the answer to a link or a pipe of another user in a folder where every user may create files.
 */
int output_open(struct output **output, const char *path);
FILE *output_stream(struct output *output);
/*
 * For a file that is useful even if it is incomplete: renames it to its final name now, and
 * output_commit() syncs it to disk. An existing file is kept as PATH.old. On failure the
 * file keeps its temporary name and is not removed.
 */
int output_name_now(struct output *output);
/* False only for a new file, of mode OUTPUT_MODE: no older file passed on its mode. */
bool output_keeps_mode(const struct output *output);
/* The name that the file has or will have. */
const char *output_path(const struct output *output);
/* Closes the file even if it fails. */
int output_commit(struct output *output);
/* Closes the file, and removes it if it still has its temporary name. */
void output_close(struct output *output);

#endif
