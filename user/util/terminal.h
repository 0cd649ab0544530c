/* SPDX-License-Identifier: GPL-2.0-only */
/* What the reader's terminal can show. */
#ifndef PFSTAT_USER_TERMINAL_H
#define PFSTAT_USER_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal, or COLUMNS if it is set. 0: the stream is not a terminal. */
size_t terminal_columns(FILE *out);
/* The user's locale, not pfdrive's, has UTF-8. Without a locale there is none. */
bool terminal_has_unicode(void);
/* The user chose a locale that is not UTF-8. */
bool terminal_lacks_unicode(void);

#endif
