/* SPDX-License-Identifier: GPL-2.0-only */
/* The study's two figures, drawn in a terminal. */
#ifndef PFSTAT_USER_ASCII_PLOT_H
#define PFSTAT_USER_ASCII_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "figures/drawing.h"

/*
 * Reads the data of `order` or `cost` and draws it `width` columns wide. @unicode: the terminal
 * can show UTF-8. 0 or -ENOMEM.
 */
int ascii_plot_print(FILE *out, const struct drawing *drawing, unsigned int width, bool unicode);

#endif
