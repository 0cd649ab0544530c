/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files named on the command line. No output may overwrite an input or another output,
 * regardless of how the paths are spelled: existing files are compared by device and inode, new
 * ones by folder and name. Standard output counts as an output if it is a regular file. Other kinds
 * of files (terminals, pipes, /dev/null) may be named twice.
 */
#ifndef PFSTAT_USER_NAMED_FILES_H
#define PFSTAT_USER_NAMED_FILES_H

#include <argp.h>

/*
 * For argp's parsers, after all options have been read. If the same file has been named
 * before, they print an error and exit with STATUS_USAGE.
 * @what: the file's name in messages, such as "--json", which must stay valid
 * @path: NULL if the option was not given; "-" is standard input
 */
void named_files_input(const struct argp_state *state, const char *what, const char *path);
void named_files_output(const struct argp_state *state, const char *what, const char *path);
/*
 * An output that is a recording. PATH.old, which keeps the previous recording, is also an
 * output.
 */
void named_files_recording(const struct argp_state *state, const char *what, const char *path);

/* The @what under which the file at @path was added, or NULL if it was not added. */
const char *named_files_find(const char *path);

/* Removes all files, before another command line is parsed. */
void named_files_clear(void);

#endif
