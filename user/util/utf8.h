/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of files and processes may be any bytes; pages and drawings are UTF-8. */
#ifndef PFSTAT_USER_UTF8_H
#define PFSTAT_USER_UTF8_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the character that the string, of one byte or more, begins with; 0: it is none. */
size_t utf8_character(const char *string, size_t bytes);
/*
 * The same; 0 also for characters that a terminal obeys (U+009B is to it what ESC [ is) and
 * for those that reverse the text after them.
 */
size_t utf8_printable(const char *string, size_t bytes);
/* On one line, a question mark for each byte of a character that is not printable. */
void utf8_print(FILE *out, const char *text);
/* The same of several lines. */
void utf8_print_lines(FILE *out, const char *text);
/* A JSON text: escapes \uXXXX for what is not printable, so that it still says the same. */
void utf8_print_json(FILE *out, const char *json);
/* Puts a question mark in place of each character that would reverse the text after it. */
void utf8_hide_bidi(char *text);

#endif
