/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page's fixed text, from page.html and style.css, which are embedded at build time.
 * A line "$part NAME$" of page.html begins a part; "$NAME$" in a part is a slot that the
 * program fills.
 */
#ifndef PFSTAT_USER_HTML_TEMPLATE_H
#define PFSTAT_USER_HTML_TEMPLATE_H

#include <stdio.h>

struct html_part {
	const char *text, *end; /* not printed yet */
};

/* A part or slot that page.html lacks is an error of the program: all of these abort then. */
struct html_part html_part(const char *name);
struct html_part html_stylesheet(void);

/* Prints the text before the next slot, which must have this name, and skips the slot. */
void html_part_to(FILE *out, struct html_part *part, const char *slot);
/* Prints the rest, which must have no slot. */
void html_part_end(FILE *out, struct html_part *part);

#endif
