/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of files and processes may be any bytes; pages and drawings are UTF-8. */
#ifndef PFSTAT_USER_UTF8_H
#define PFSTAT_USER_UTF8_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the character that the string, of one byte or more, begins with; 0: it is none. */
size_t utf8_character(const char *string, size_t bytes);
/* The same; 0 also for what a terminal obeys: U+009B is to it what ESC [ is. */
size_t utf8_printable(const char *string, size_t bytes);
/* On one line, a question mark for each byte of what is not printable. */
void utf8_print(FILE *out, const char *text);

#endif
