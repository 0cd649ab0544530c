/* SPDX-License-Identifier: GPL-2.0-only */
/* Text in a CSV cell. */
#ifndef PFSTAT_USER_CSV_TEXT_H
#define PFSTAT_USER_CSV_TEXT_H

#include <stdio.h>

/* Quotes the text if it must be, and shields it from spreadsheets that would run it. */
void csv_text(FILE *out, const char *text);

#endif
