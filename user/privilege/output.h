/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file written either completely or not at all: it has a temporary name in the same folder and is
 * renamed at the end (but see output_name_now()). A file that is not regular (a terminal, a pipe,
 * /dev/null) is written directly. Files are written with the invoker's rights. Only the owner may
 * read a new file, because it contains addresses, file names and commands. A replaced file passes
 * on its mode only if it belongs to the new file's owner and has one name.
 */
#ifndef PFSTAT_USER_OUTPUT_H
#define PFSTAT_USER_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* A new file's mode. */
#define OUTPUT_MODE 0600

/* Suffix for the older file kept by output_name_now(). */
#define OUTPUT_OLDER ".old"

struct output;

/*
 * The file must not be an input, see named_files.h. Returns 0 or a negative errno. -EACCES is also
 * the answer to a link or a pipe of another user in a folder where every user may create files, and
 * -EBUSY to a file that another output has named and still writes.
 */
int output_open(struct output **output, const char *path);
FILE *output_stream(struct output *output);
/*
 * For a file that is useful even if incomplete: renames it to the final name now, and
 * output_commit() syncs it to disk. An existing file is kept as PATH.old. On failure the file keeps
 * the temporary name and is not removed.
 */
int output_name_now(struct output *output);
/* False only for a new file, with mode OUTPUT_MODE: no older file passed on a mode. */
bool output_keeps_mode(const struct output *output);
/* The name the file has or will have. */
const char *output_path(const struct output *output);
/* Closes the file even if it fails. */
int output_commit(struct output *output);
/* Closes the file, and removes it if it still has the temporary name. */
void output_close(struct output *output);

#endif
