// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds the data, the script and the sentences of a figure in memory. Names from recordings go only
 * into data cells and labels, and are escaped there, because gnuplot executes the script.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
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

/*
 * Prints gnuplot commands for axis ranges and tics. The tics of a linear axis are 1, 2 or 5 times a
 * power of ten apart, those of a logarithmic axis a decade.
 */

#define TICS	     8	/* about so many on an axis */
#define MOST_TICS    16 /* never more, whatever the range: step_of() makes up to ten */
#define MOST_DECADES 10 /* with a label each */

/* Shares of the axis: a label like "+100 %" with space, and half of it beside "=". */
#define LABEL_WIDTH 0.16
#define NEAR_EQUAL  0.1

static double step_of(double range, bool whole)
{
	static const double steps[] = { 1, 2, 5 };
	const double least = range / TICS;
	const double decade = pow(10, floor(log10(least)));
	double step = 10 * decade;
	size_t i;

	if (!(range > 0))
		return 1;
	for (i = ARRAY_SIZE(steps); i--;)
		if (steps[i] * decade >= least * 0.999)
			step = steps[i] * decade;
	return whole && step < 1 ? 1 : step;
}

/* Prints a number with blanks between thousands: 12 345.6. */
static void axes_print_number(FILE *script, double value, int decimals)
{
	char digits[64];
	size_t whole, i;

	snprintf(digits, sizeof(digits), "%.*f", decimals, value);
	whole = strcspn(digits, ".");
	for (i = 0; digits[i]; i++) {
		if (i && i < whole && !((whole - i) % 3) && digits[i - 1] != '-')
			fputc(' ', script);
		fputc(digits[i], script);
	}
}

static void axes_print_tics(FILE *script, char axis, double from, double to, double step)
{
	const int decimals = step < 1 ? ceil(-log10(step) - 0.001) : 0;
	/* There may be space below the first page, but no page. */
	const double first = fmax(ceil(from / step - 0.001), 0);
	const char *separator = "";
	unsigned int i;
	double tic;

	fprintf(script, "set %crange [%.10g:%.10g] noextend\nset %ctics (", axis, from, to, axis);
	for (i = 0; i < MOST_TICS; i++) {
		tic = (first + i) * step;
		if (tic > to + step * 0.001)
			break;
		fprintf(script, "%s'", separator);
		axes_print_number(script, tic, decimals);
		fprintf(script, "' %.10g", tic);
		separator = ", ";
	}
	fputs(")\n", script);
}

void axes_whole(FILE *script, char axis, uint64_t from, uint64_t to)
{
	axes_print_tics(script, axis, from, to, step_of(to - from, true));
}

void axes_whole_around(FILE *script, char axis, uint64_t from, uint64_t to)
{
	const double step = to > from ? step_of(to - from, true) : 1;
	const double low = floor(from / step) * step, high = ceil(to / step) * step;

	axes_print_tics(script, axis, to > from ? low : low - 1, to > from ? high : high + 1, step);
}

double axes_time(FILE *script, const char *name, double last_ms)
{
	static const struct {
		const char *unit;
		double least_ms, factor;
	} units[] = {
		{ "s", 1e4, 1e-3 },
		{ "ms", 1, 1 },
		{ "µs", 1e-3, 1e3 },
		{ "ns", 0, 1e6 },
	};
	size_t i = 0;

	while (last_ms < units[i].least_ms)
		i++;
	fprintf(script, "set xlabel '%s (%s)'\n", name, units[i].unit);
	axes_print_tics(script, 'x', 0, last_ms * units[i].factor,
			step_of(last_ms * units[i].factor, false));
	return units[i].factor;
}

/* gnuplot reads a label as a format. */
static const struct ratio_tic {
	double ratio;
	const char *label;
} percents[] = {
	{ 0.5, "−50 %%" }, { 0.6, "−40 %%" }, { 0.7, "−30 %%" },
	{ 0.8, "−20 %%" }, { 0.9, "−10 %%" }, { 1, "=" },
	{ 1.1, "+10 %%" }, { 1.2, "+20 %%" }, { 1.4, "+40 %%" },
	{ 1.6, "+60 %%" }, { 1.8, "+80 %%" }, { 2, "+100 %%" },
}, multiples[] = {
	{ 0.01, "÷100" }, { 0.1, "÷10" }, { 0.5, "÷2" }, { 1, "=" },
	{ 2, "×2" },	  { 10, "×10" },  { 100, "×100" },
};

void axes_ratio(FILE *script, double low, double high)
{
	const bool is_short = low >= 0.45 && high <= 2.2;
	const struct ratio_tic *tic = is_short ? percents : multiples;
	const struct ratio_tic *end = is_short ? percents + ARRAY_SIZE(percents) :
						 multiples + ARRAY_SIZE(multiples);
	const double width = log(high / low);
	const char *separator = "";
	double last = 0;

	fprintf(script, "set logscale x\nset xrange [%.6g:%.6g] noextend\nset xtics (", low, high);
	for (; tic < end; tic++) {
		if (tic->ratio < low || tic->ratio > high)
			continue;
		if (tic->ratio != 1 && (fabs(log(tic->ratio)) < NEAR_EQUAL * width ||
					tic->ratio < last * exp(LABEL_WIDTH * width)))
			continue;
		fprintf(script, "%s'%s' %g", separator, tic->label, tic->ratio);
		separator = ", ";
		if (tic->ratio != 1)
			last = tic->ratio;
	}
	fputs(")\n", script);
}

/* 10^@decade µs with the unit. */
static void axes_print_decade(FILE *script, int decade)
{
	static const char *const units[] = { "ns", "µs", "ms", "s" };
	const int from_ns = decade + 3, unit = from_ns < 9 ? from_ns / 3 : 3;

	fprintf(script, "'%.0f %s' 1e%d", pow(10, from_ns - 3 * unit), units[unit], decade);
}

void axes_log_time(FILE *script, char axis, double from_us, double to_us)
{
	const int first = fmax(floor(log10(from_us)), -3);
	const int last = fmax(ceil(log10(to_us)), first + 1);
	const int step = (last - first) / MOST_DECADES + 1;
	const char *separator = "";
	int decade;

	fprintf(script, "set logscale %c\nset %crange [1e%d:1e%d] noextend\nset %ctics (", axis,
		axis, first, last, axis);
	for (decade = first; decade <= last; decade += step) {
		fputs(separator, script);
		axes_print_decade(script, decade);
		separator = ", ";
	}
	fputs(")\n", script);
}

void axes_log_count(FILE *script, char axis, uint64_t most)
{
	const int last = floor(log10(most + !most)) + 1;
	int decade;

	fprintf(script, "set logscale %c\nset %crange [" AXES_LOG_COUNT_END ":1e%d] noextend\n",
		axis, axis, last);
	fprintf(script, "set %ctics (", axis);
	for (decade = 0; decade <= last; decade++) {
		fputs(decade ? ", '" : "'", script);
		axes_print_number(script, pow(10, decade), 0);
		fprintf(script, "' 1e%d", decade);
	}
	fputs(")\n", script);
}

/*
 * The figures' colours, in the page's light and dark themes. Scripts use the light colours, and
 * html_svg.c replaces them by the variables.
 */

const struct palette_colour palette[] = {
	{ "--ink", COLOUR_BLACK, 0xf0f0f0 },
	{ "--blue", COLOUR_BLUE, 0x4aa3df },
	{ "--sky", COLOUR_SKY, 0x8fd0f7 },
	{ "--green", COLOUR_GREEN, 0x2fc79b },
	{ "--orange", COLOUR_ORANGE, 0xf2b233 },
	{ "--vermillion", COLOUR_VERMILLION, 0xf0803c },
	{ "--purple", COLOUR_PURPLE, 0xdf9cc2 },
	{ "--yellow", COLOUR_YELLOW, 0xf0e442 },
	{ "--wine", COLOUR_WINE, 0xb0608c },
	{ "--rose", COLOUR_ROSE, 0xe08593 },
	{ "--olive", COLOUR_OLIVE, 0xb9b958 },
	{ "--grey", COLOUR_GREY, 0x9a9a9a },
	{ "--grid", COLOUR_GRID, 0x4a4a4a },
	/* From near the paper's colour to near the ink's, in both themes. */
	{ "--level-0", 0xc6dbef, 0x16324a },
	{ "--level-1", 0x9ecae1, 0x1d4b70 },
	{ "--level-2", 0x6baed6, 0x2b6b9a },
	{ "--level-3", 0x4292c6, 0x4f95c6 },
	{ "--level-4", 0x2171b5, 0x8fc1e6 },
	{ "--level-5", 0x08306b, 0xe2f1fd },
};

const size_t palette_nr = ARRAY_SIZE(palette);

const uint32_t palette_levels[PALETTE_LEVELS] = { 0xc6dbef, 0x9ecae1, 0x6baed6,
						  0x4292c6, 0x2171b5, 0x08306b };

const struct palette_colour *palette_find(uint32_t rgb)
{
	size_t i;

	for (i = 0; i < palette_nr; i++)
		if (palette[i].light == rgb)
			return &palette[i];
	return NULL;
}

unsigned int palette_level(uint64_t count, uint64_t most)
{
	const unsigned int last = PALETTE_LEVELS - 1;
	unsigned int level;

	if (most <= PALETTE_LEVELS)
		return count ? count - 1 : 0;
	level = PALETTE_LEVELS * log(count) / log(most);
	return level < last ? level : last;
}
