/* SPDX-License-Identifier: GPL-2.0-only */
/* Text, tables and drawings made fit for a page: whatever it was, it cannot be markup. */
#ifndef PFSTAT_USER_HTML_TEXT_H
#define PFSTAT_USER_HTML_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "figures/drawing.h"

/* In elements and in quoted attributes. What is no UTF-8, or no character to be seen, is U+FFFD. */
void html_text(FILE *out, const char *text);
void html_text_part(FILE *out, const char *text, size_t bytes);

/*
 * What a printer of tables prints: tables as HTML's, the line before one as its caption,
 * other lines as paragraphs. 0 or a negative errno.
 */
typedef int (*html_printer)(FILE *out, const void *context);
int html_tables(FILE *out, html_printer print, const void *context);

/*
 * gnuplot's SVG as a part of the page: elements and attributes that draw, no others; ids
 * that begin with the figure's name; colours that follow the page's theme.
 */
int html_svg(FILE *out, const struct drawing *drawing, const char *svg);

#endif
