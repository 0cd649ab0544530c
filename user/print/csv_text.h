/* SPDX-License-Identifier: GPL-2.0-only */
/* Text and numbers in CSV cells. */
#ifndef PFSTAT_USER_CSV_TEXT_H
#define PFSTAT_USER_CSV_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* Quotes the text if it must be, and shields it from spreadsheets that would run it. */
void csv_text(FILE *out, const char *text);
/* These print a number as fprintf() does with %llu and %#llx, in less time. */
void csv_text_number(FILE *out, uint64_t number);
void csv_text_address(FILE *out, uint64_t address);

#endif
