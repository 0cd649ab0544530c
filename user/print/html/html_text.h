/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts text, tables and drawings for the page. The input cannot add markup. */
#ifndef PFSTAT_USER_HTML_TEXT_H
#define PFSTAT_USER_HTML_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "figures/drawing.h"

/*
 * Escapes text for elements and quoted attributes. Invalid UTF-8 and invisible characters become
 * U+FFFD.
 */
void html_text(FILE *out, const char *text);
void html_text_part(FILE *out, const char *text, size_t bytes);

/*
 * Converts a table printer's output. Tables become HTML tables, the line before a table becomes the
 * caption, and other lines become paragraphs. Returns 0 or a negative errno.
 */
typedef int (*html_printer)(FILE *out, const void *context);
int html_tables(FILE *out, html_printer print, const void *context);

/*
 * Copies gnuplot's SVG into the page, with only drawing elements and attributes. Ids start with the
 * figure's name, and colours follow the page's theme.
 */
int html_svg(FILE *out, const struct drawing *drawing, const char *svg);

#endif
