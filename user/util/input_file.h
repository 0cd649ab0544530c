/* SPDX-License-Identifier: GPL-2.0-only */
/* Opens untrusted paths, and reads files that have a single value. */
#ifndef PFSTAT_USER_INPUT_FILE_H
#define PFSTAT_USER_INPUT_FILE_H

#include <stddef.h>

/*
 * Opens an untrusted path, but only if it is a regular file: opening a device may have side
 * effects and opening a FIFO blocks.
 */

/*
 * Returns a descriptor, -EISDIR, -EMEDIUMTYPE if it is not a regular file, -ELOOP for a symbolic
 * link with O_NOFOLLOW, or an error from open(2).
 * @flags: as for open(2), with O_CLOEXEC and O_NOCTTY added
 */
int open_regular(const char *path, int flags);
/* Like open_regular(), for a file open with O_PATH. */
int open_regular_place(int place, int flags);

/* A file's first line, without the newline, cut to fit, or "" if it cannot be read. */
void first_line_read(const char *path, char *line, size_t size);

#endif
