/* SPDX-License-Identifier: GPL-2.0-only */
/* Text lines wrapped between words. */
#ifndef PFSTAT_USER_WRAP_TEXT_H
#define PFSTAT_USER_WRAP_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Prints the lines of a text, none wider than the columns unless one word is. The rest of a long
 * line is indented by two columns. A number and a % after it stay together.
 */
void wrap_text(FILE *out, const char *text, size_t columns);

#endif
