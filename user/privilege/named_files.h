/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that the command line names. No output may overwrite an input or another
 * output, however the two are spelled: files are compared by device and inode, files that do
 * not exist yet by their folder and name. Standard output is one of the outputs when it is a
 * regular file. Other kinds of files (terminals, pipes, /dev/null) may be named twice.
 */
#ifndef PFSTAT_USER_NAMED_FILES_H
#define PFSTAT_USER_NAMED_FILES_H

#include <argp.h>

/*
 * For argp's parsers, after all options are read. what names the file in a message, such as
 * "--json"; it must stay valid. path: NULL if the option was not given; "-" is standard
 * input. If another file that was named is the same one, these print that and exit with
 * STATUS_USAGE.
 */
void named_files_input(const struct argp_state *state, const char *what, const char *path);
void named_files_output(const struct argp_state *state, const char *what, const char *path);
/* An output that is a recording: PATH.old, which keeps an older one, is an output, too. */
void named_files_recording(const struct argp_state *state, const char *what, const char *path);

/* The `what' under which the file at path was added, or NULL if it was not. */
const char *named_files_find(const char *path);

/* Forgets all, before another command line is parsed. */
void named_files_clear(void);

#endif
