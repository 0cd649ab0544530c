/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_PRINT_VERDICT_H
#define PFSTAT_USER_PRINT_VERDICT_H

#include <stdio.h>

#include "verdict/verdict.h"

/* Prints the verdict as sentences, one in a line. */
void print_verdict(FILE *out, const struct verdict *verdict, const struct report *run);

#endif
