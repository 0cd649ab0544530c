// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds the data, the script and the sentences of a figure in memory. Names from recordings go
 * only into data cells and labels, and are escaped there, because gnuplot executes the script.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "figures/drawing.h"
#include "util/array.h"
#include "util/text.h"

int drawing_begin(struct drawing *drawing, const char *name, const char *title)
{
	unsigned int i;

	*drawing = (struct drawing){ .name = name, .title = title };
	for (i = 0; i < DRAWING_NR_TEXTS; i++) {
		drawing->streams[i] = open_memstream(&drawing->texts[i], &drawing->bytes[i]);
		if (!drawing->streams[i])
			return -ENOMEM;
	}
	return 0;
}

int drawing_end(struct drawing *drawing)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < DRAWING_NR_TEXTS; i++) {
		if (!drawing->streams[i] || fclose(drawing->streams[i]))
			err = -ENOMEM;
		drawing->streams[i] = NULL;
	}
	return err;
}

void drawing_free(struct drawing *drawing)
{
	unsigned int i;

	drawing_end(drawing);
	for (i = 0; i < DRAWING_NR_TEXTS; i++) {
		free(drawing->texts[i]);
		drawing->texts[i] = NULL;
	}
}

void drawing_say(struct drawing *drawing, enum drawing_text text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(drawing->streams[text], format, arguments);
	va_end(arguments);
}

struct drawing_time drawing_time(double ns)
{
	static const char *const units[] = { "ns", "µs", "ms", "s" };
	struct drawing_time time;
	unsigned int unit = 0;

	for (; ns >= 999.5 && unit + 1 < ARRAY_SIZE(units); unit++)
		ns /= 1000;
	snprintf(time.text, sizeof(time.text), "%.*f %s",
		 !unit || ns >= 99.95 ? 0 :
		 ns >= 9.995	      ? 1 :
					2,
		 ns, units[unit]);
	return time;
}

size_t drawing_rows(const struct drawing *drawing)
{
	const char *at = drawing->texts[DRAWING_CSV];
	size_t lines = 0;

	for (at = strchr(at, '\n'); at; at = strchr(at + 1, '\n'))
		lines++;
	return lines ? lines - 1 : 0;
}

void drawing_cell(FILE *csv, const char *text)
{
	fputc('"', csv);
	for (; *text; text++)
		if (*text == '"')
			fputc('\'', csv);
		else
			fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, csv);
	fputc('"', csv);
}

static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || strchr(" ._:/+()-,[]", c);
}

void drawing_label(FILE *script, const char *text)
{
	size_t length;

	fputc('\'', script);
	for (; *text; text += length) {
		length = utf8_printable(text, strlen(text));
		if (length > 1 || (length && is_plain(*text))) {
			fwrite(text, 1, length, script);
		} else {
			fputc('?', script);
			length = 1;
		}
	}
	fputc('\'', script);
}

void drawing_key(struct drawing *drawing, const char *title)
{
	unsigned int width = 0;

	/* Bytes beginning a character. */
	for (; *title; title++)
		width += (*title & 0xc0) != 0x80;
	drawing->key_entries++;
	if (width > drawing->key_width)
		drawing->key_width = width;
}

/*
 * Key sizes in pixels, as gnuplot computes them for this font. gnuplot would divide the key into as
 * many columns as fit the plot's width, but the figure's whole width is free above the plot.
 */
#define KEY_FONT      12
#define KEY_CHARACTER 7.2
#define KEY_SAMPLE    78
#define KEY_ROW	      18
#define KEY_SPACE     16 /* above and below it */

static unsigned int key_rows(const struct drawing *drawing)
{
	const double width = KEY_SAMPLE + KEY_CHARACTER * drawing->key_width;
	const unsigned int columns = fmax(DRAWING_WIDTH / width, 1);

	return (drawing->key_entries + columns - 1) / columns;
}

void drawing_script_begin(struct drawing *drawing, unsigned int height)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	const unsigned int rows = key_rows(drawing), space = KEY_SPACE + KEY_ROW * rows;
	const char *name = drawing->name;

	drawing->height = height + space;
	fprintf(script,
		"# %s: draws %s.svg and %s.png from %s.csv. In this folder:\n"
		"#\tgnuplot %s.gnuplot\n\n",
		drawing->title, name, name, name, name);
	fprintf(script,
		"set terminal svg size %u,%u dynamic noenhanced font 'sans-serif,14' "
		"background '#ffffff'\nset output '%s.svg'\n",
		DRAWING_WIDTH, drawing->height, name);
	fputs("set datafile separator comma\n"
	      "set encoding utf8\n"
	      "set tics nomirror out\n"
	      "set border 3\n"
	      "set grid ytics lc rgb '#c0c0c0' lw 0.5 dt solid\n"
	      "set style fill solid noborder\n"
	      "set rmargin 5\n",
	      script);
	fprintf(script,
		"set tmargin at screen %.4f\nset key at screen 0.5,screen %.4f center top vertical "
		"Left reverse samplen 1.5 maxrows %u font ',%d'\n",
		1 - (double)space / drawing->height, 1 - KEY_SPACE / 3.0 / drawing->height, rows,
		KEY_FONT);
}

void drawing_script_end(struct drawing *drawing)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];

	fprintf(script,
		"\n# The same once more, for where only pixels are taken.\n"
		"if (!exists('only_svg')) {\n\tset terminal pngcairo size %u,%u noenhanced "
		"font 'sans,20' linewidth 2 pointscale 1.6\n\tset key font ',17'\n"
		"\tset output '%s.png'\n\treplot\n}\n"
		"set output\n",
		2 * DRAWING_WIDTH, 2 * drawing->height, drawing->name);
}
