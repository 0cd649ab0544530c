/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_SHELL_QUOTE_H
#define PFSTAT_USER_SHELL_QUOTE_H

#include <stdio.h>

/* Prints one command line word, with quotes if a shell needs them. */
void shell_quote(FILE *out, const char *word);

#endif
