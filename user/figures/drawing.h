/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A figure as pfdrive emits it: the data, the gnuplot script to draw it, and sentences describing
 * it. One data row is one mark, unless `amount` states otherwise.
 */
#ifndef PFSTAT_USER_DRAWING_H
#define PFSTAT_USER_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/colour.h"

#define DRAWING_WIDTH  720U
#define DRAWING_HEIGHT 360U /* without the key */

enum drawing_text {
	DRAWING_CSV,
	DRAWING_SCRIPT,
	DRAWING_READING, /* sentences about the result, computed from the data */
	DRAWING_AMOUNT,	 /* how many points and marks; points binned or discarded */
	DRAWING_ALT,	 /* the axes in words, for readers who cannot see the figure */
	DRAWING_MISSING, /* why the figure is not drawn, "" if it is drawn */
	DRAWING_NR_TEXTS
};

struct drawing {
	const char *name; /* file name stem */
	const char *title;
	unsigned int height;		     /* in pixels; the width is DRAWING_WIDTH */
	unsigned int key_entries, key_width; /* see drawing_key(), width in characters */
	FILE *streams[DRAWING_NR_TEXTS];     /* open until drawing_end() */
	char *texts[DRAWING_NR_TEXTS];	     /* valid after drawing_end() */
	size_t bytes[DRAWING_NR_TEXTS];
};

/* -ENOMEM. Call drawing_free() in any case. */
int drawing_begin(struct drawing *drawing, const char *name, const char *title);
int drawing_end(struct drawing *drawing);
void drawing_free(struct drawing *drawing);

#define PLURAL(count) ((count) == 1 ? "" : "s")

/* A time in a sentence, with its unit: 123 ns, 4.56 µs, 78.9 ms, 1234 s. */
struct drawing_time {
	char text[32];
};
struct drawing_time drawing_time(double ns);

void drawing_say(struct drawing *drawing, enum drawing_text text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static inline bool drawing_is_drawn(const struct drawing *drawing)
{
	return !drawing->bytes[DRAWING_MISSING];
}

/* Number of data rows without the header. */
size_t drawing_rows(const struct drawing *drawing);

/*
 * Prints a name from the user's system (path, process) as a cell of the data: in quotes, on one
 * line, and without quotes inside, because gnuplot does not parse doubled quotes.
 */
void drawing_cell(FILE *csv, const char *text);

/*
 * Prints the same name as a script string, where gnuplot would execute some characters. Letters,
 * digits and harmless characters are kept. All others become question marks, and so does each byte
 * that is not UTF-8, which an SVG cannot contain.
 */
void drawing_label(FILE *script, const char *text);
/* Call before drawing_script_begin(): an entry in the key, with space above the plot. */
void drawing_key(struct drawing *drawing, const char *title);

/*
 * Print the start and the end of a script, around a figure's commands. The script holds only
 * pfdrive's own text. Names come from the data, which gnuplot never executes, or from
 * drawing_label().
 */
void drawing_script_begin(struct drawing *drawing, unsigned int height);
void drawing_script_end(struct drawing *drawing);

/*
 * Ranges and tics of axes, computed here and not by gnuplot: a count has no fractions, no label is
 * in exponential form or twice, and times have units.
 */

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

/* In a page each colour is a variable, so that it follows the page's theme. */

struct palette_colour {
	const char *variable; /* CSS variable, with its dashes */
	uint32_t light, dark; /* 0xRRGGBB */
};

extern const struct palette_colour palette[];
extern const size_t palette_nr;

/* Returns NULL if the palette has no such colour. @rgb: the light colour, as drawn. */
const struct palette_colour *palette_find(uint32_t rgb);

/* A darker level is a higher count. */
#define PALETTE_LEVELS 6
extern const uint32_t palette_levels[PALETTE_LEVELS];
/* Level 0 … PALETTE_LEVELS - 1 for a count from 1 to most, on a scale of powers. */
unsigned int palette_level(uint64_t count, uint64_t most);

#endif
