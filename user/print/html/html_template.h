/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page's fixed text, from page.html and style.css, which are embedded at build time. In
 * page.html a line "$part NAME$" starts a part, and "$NAME$" in a part is a slot for the program to
 * fill.
 */
#ifndef PFSTAT_USER_HTML_TEMPLATE_H
#define PFSTAT_USER_HTML_TEMPLATE_H

#include <stdio.h>

struct html_part {
	const char *text, *end; /* the text not printed yet */
};

/* A part or slot missing from page.html is a bug. All these functions abort in that case. */
struct html_part html_part(const char *name);
struct html_part html_template_stylesheet(void);

/* Prints the text before the next slot, which must have this name, and skips the slot. */
void html_part_to(FILE *out, struct html_part *part, const char *slot);
/* Prints the rest, which must have no slot. */
void html_part_end(FILE *out, struct html_part *part);

#endif
