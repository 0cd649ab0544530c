// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints gnuplot commands for axis ranges and tics. The tics of a linear axis are 1, 2 or 5 times a
 * power of ten apart, those of a logarithmic axis a decade.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "figures/axes.h"
#include "util/array.h"

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
