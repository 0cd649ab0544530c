/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A figure as it leaves pfdrive: data, the gnuplot script that draws it, and what is to
 * be read from it. One row of data is one mark, unless `amount` says something else.
 */
#ifndef PFSTAT_USER_DRAWING_H
#define PFSTAT_USER_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DRAWING_WIDTH  720U
#define DRAWING_HEIGHT 400U

enum drawing_text {
	DRAWING_CSV,
	DRAWING_SCRIPT,
	DRAWING_READING, /* what it shows, in sentences that were computed */
	DRAWING_AMOUNT,	 /* how many of what are in it, and what was binned or left out */
	DRAWING_ALT,	 /* what is drawn against what, for who cannot see it */
	DRAWING_MISSING, /* why it is not drawn; "": it is */
	DRAWING_NR_TEXTS
};

struct drawing {
	const char *name; /* of its files */
	const char *title;
	unsigned int height;		 /* of DRAWING_WIDTH */
	FILE *streams[DRAWING_NR_TEXTS]; /* open until drawing_end() */
	char *texts[DRAWING_NR_TEXTS];	 /* from then on */
	size_t bytes[DRAWING_NR_TEXTS];
};

/* -ENOMEM. In any case drawing_free(). */
int drawing_begin(struct drawing *drawing, const char *name, const char *title);
int drawing_end(struct drawing *drawing);
void drawing_free(struct drawing *drawing);

#define PLURAL(count) ((count) == 1 ? "" : "s")

void drawing_say(struct drawing *drawing, enum drawing_text text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static inline bool drawing_is_drawn(const struct drawing *drawing)
{
	return !drawing->bytes[DRAWING_MISSING];
}

/* Rows of the data, without the header. */
size_t drawing_rows(const struct drawing *drawing);

/*
 * A name that the user's system gave (paths, processes), as a cell of the data: in quotes,
 * one line, no quote in it. gnuplot does not know doubled quotes.
 */
void drawing_cell(FILE *csv, const char *text);

/*
 * The same as a string of the script, which gnuplot would execute parts of: letters, digits
 * and what does nothing there; a question mark for all else, also for each byte that is no
 * UTF-8, which the drawing could not hold.
 */
void drawing_label(FILE *script, const char *text);
/* Tics of a log scale of µs: axis x or y. */
void drawing_log_tics(FILE *script, char axis);

/*
 * Around what a figure sets and plots. What the script holds is pfdrive's own text: names
 * come from the data, which gnuplot never executes, or by drawing_label().
 */
void drawing_script_begin(struct drawing *drawing, unsigned int height);
void drawing_script_end(struct drawing *drawing);

#endif
