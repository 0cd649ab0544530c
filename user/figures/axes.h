/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges and tics of axes, computed here and not by gnuplot: a count has no fractions, no label is
 * in exponential form or twice, and times have units.
 */
#ifndef PFSTAT_USER_AXES_H
#define PFSTAT_USER_AXES_H

#include <stdint.h>
#include <stdio.h>

/* @axis: x or y, in all functions. Sets the range @from … @to of whole numbers. */
void axes_whole(FILE *script, char axis, uint64_t from, uint64_t to);
/* The same with space around the marks: the range ends at tics. */
void axes_whole_around(FILE *script, char axis, uint64_t from, uint64_t to);

/*
 * Sets the x axis 0 … @last_ms and the label "NAME (UNIT)". Returns the factor from milliseconds to
 * this unit.
 */
double axes_time(FILE *script, const char *name, double last_ms);

/*
 * Sets a logarithmic x axis for ratios, @low … @high. Labels are in per cent if the range is short:
 * −10 %, =, +10 %. Otherwise they are ÷2, =, ×2.
 */
void axes_ratio(FILE *script, double low, double high);

/* Set a logarithmic axis that covers the range, from decade to decade. Times are in µs. */
void axes_log_time(FILE *script, char axis, double from_us, double to_us);
/* Starts below 1, so a count of 1 is above the axis end. */
void axes_log_count(FILE *script, char axis, uint64_t most);
/* The axis end set by axes_log_count(). */
#define AXES_LOG_COUNT_END "0.5"

#endif
