/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the results of pfdrive prefetch. */
#ifndef PFSTAT_USER_PREFETCH_REPORT_H
#define PFSTAT_USER_PREFETCH_REPORT_H

#include <stdio.h>

#include "prefetch/prefetch_make.h"
#include "prefetch/prefetch_read.h"

/* @path: the list's path. Returns 0 or a negative errno. */
int prefetch_report_made(FILE *out, const struct prefetch_made *made, const char *path);
int prefetch_report_read(FILE *out, const struct prefetch_result *result);

#endif
