/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams to which text is printed: what the reader's terminal can show, and compression by gzip.
 */
#ifndef PFSTAT_USER_OUTPUT_STREAM_H
#define PFSTAT_USER_OUTPUT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What the reader's terminal can show. */

/* Columns of the terminal, or COLUMNS if it is set. 0: the stream is not a terminal. */
size_t terminal_columns(FILE *out);
/* The user's locale, not pfdrive's, has UTF-8. Without a locale there is none. */
bool terminal_has_unicode(void);
/* The user chose a locale that is not UTF-8. */
bool terminal_lacks_unicode(void);

/* A stream that is compressed by gzip while it is written to another one. */

/*
 * fclose() on the result writes the end, flushes out, and leaves it open. NULL if there is no
 * memory. The gzip head has neither a time nor a name, so equal contents give equal files.
 */
FILE *gzip_stream_open(FILE *out);

#endif
