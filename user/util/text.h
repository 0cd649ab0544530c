/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Forms of text: sizes in command line notation, untrusted names, wrapped lines, shell words and
 * code addresses.
 */
#ifndef PFSTAT_USER_TEXT_H
#define PFSTAT_USER_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Sizes and numbers in command line notation. */

/* Decimal digits and an optional K, M or G (powers of 1024). Returns 0, -EINVAL or -ERANGE. */
int size_parse(const char *text, uint64_t *size);

/* The exact text size_parse() reads back: "48K", "4M", "96". */
void size_name(uint64_t bytes, char *name, size_t size);

/* Names of files and processes may hold any bytes, but pages and drawings are UTF-8. */

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

/* Text lines wrapped between words. */

/*
 * Prints the lines of a text, none wider than the columns unless one word is. The rest of a long
 * line is indented by two columns. A number and a % after it stay together.
 */
void wrap_text(FILE *out, const char *text, size_t columns);

/* Prints one command line word, with quotes if a shell needs them. */
void shell_quote(FILE *out, const char *word);

/* An address within a function, "name+0x1f": at most 255 bytes, longer names are truncated. NULL: no memory. */
char *code_name_print(const char *name, uint64_t offset);

#endif
