/* SPDX-License-Identifier: GPL-2.0-only */
/* A stream that is compressed by gzip while it is written to another one. */
#ifndef PFSTAT_USER_GZIP_STREAM_H
#define PFSTAT_USER_GZIP_STREAM_H

#include <stdio.h>

/*
 * fclose() on the result writes the end, flushes out, and leaves it open. NULL if there is no
 * memory. The gzip head has neither a time nor a name, so equal contents give equal files.
 */
FILE *gzip_stream_open(FILE *out);

#endif
