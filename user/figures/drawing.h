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

#endif
