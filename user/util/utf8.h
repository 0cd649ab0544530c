/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of files and processes may hold any bytes, but pages and drawings are UTF-8. */
#ifndef PFSTAT_USER_UTF8_H
#define PFSTAT_USER_UTF8_H

#include <stddef.h>
#include <stdio.h>

/*
 * Length of the first character in @string, which is not empty, or 0 if the character is invalid.
 */
size_t utf8_character(const char *string, size_t bytes);
/*
 * Like utf8_character(), but also 0 for characters obeyed by a terminal (it treats U+009B as ESC [)
 * and for characters reversing the text after them.
 */
size_t utf8_printable(const char *string, size_t bytes);
/* Prints text on one line, with a '?' for each byte of an unprintable character. */
void utf8_print(FILE *out, const char *text);
/* Prints text on several lines in this way, and keeps newlines and tabs. */
void utf8_print_lines(FILE *out, const char *text);
/* The same, with ASCII for the characters in pfdrive's own text: us for µs. */
void utf8_print_ascii_lines(FILE *out, const char *text);
/* Prints JSON with \uXXXX for unprintable characters, which does not change the meaning. */
void utf8_print_json(FILE *out, const char *json);
/* Replaces each character that would reverse the text after it by a '?'. */
void utf8_hide_bidi(char *text);

#endif
