/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FIRST_LINE_H
#define FIRST_LINE_H

#include <stddef.h>

/* A file's first line, without the newline, cut to fit, or "" if it cannot be read. */
void first_line_read(const char *path, char *line, size_t size);

#endif
