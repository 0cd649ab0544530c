/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of files and processes may hold any bytes, but pages and drawings are UTF-8. */
#ifndef PFSTAT_USER_UTF8_H
#define PFSTAT_USER_UTF8_H

#include <stddef.h>
#include <stdio.h>

/* Length of the first character of @string, which is not empty; 0 if it is invalid. */
size_t utf8_character(const char *string, size_t bytes);
/*
 * Like utf8_character(), but also 0 for characters that a terminal obeys (it treats U+009B
 * as ESC [) and for characters that reverse the text after them.
 */
size_t utf8_printable(const char *string, size_t bytes);
/* Prints text on one line, with a '?' for each byte of a character that is not printable. */
void utf8_print(FILE *out, const char *text);
/* Prints text on several lines in this way; newlines and tabs are kept. */
void utf8_print_lines(FILE *out, const char *text);
/* Prints JSON with \uXXXX for characters that are not printable, which keeps its meaning. */
void utf8_print_json(FILE *out, const char *json);
/* Replaces each character that would reverse the text after it by a '?'. */
void utf8_hide_bidi(char *text);

#endif
