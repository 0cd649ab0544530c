// SPDX-License-Identifier: GPL-2.0-only
/* Header line, then one line a class and run; RFC 4180 but for the bare \n. */
#include <inttypes.h>
#include <string.h>

#include "printers.h"

static void print_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* What was not measured is n/a; so is a quantile of nothing. */
static void print_number(FILE *out, bool known, uint64_t number)
{
	if (known)
		fprintf(out, ",%" PRIu64, number);
	else
		fputs(",n/a", out);
}

static void print_class(FILE *out, const struct view *view, size_t number, enum pfstat_class class)
{
	const struct class_figures *figures = &view->figures.classes[class];
	const struct report *run = view->run;
	const bool any = figures->count;

	fprintf(out, "%zu,", number);
	print_text(out, run->environment.pattern[0] ? run->environment.pattern : "n/a");
	fputc(',', out);
	print_text(out, run->environment.cache[0] ? run->environment.cache : "n/a");
	fprintf(out, ",%s,%" PRIu64, view_class_name(class), figures->count);
	if (any)
		fprintf(out, ",%.3f", view_mean_ns(figures));
	else
		fputs(",n/a", out);
	print_number(out, any, figures->p50_ns);
	print_number(out, any, figures->p99_ns);
	print_number(out, any, figures->max_ns);
	print_number(out, true, figures->total_ns);
	print_number(out, run->have_bpf, figures->off_cpu_ns);
	print_number(out, true, run->lost);
	print_number(out, run->have_bpf, run->events_lost);
	fputc('\n', out);
}

int csv_print(FILE *out, const struct view *views, size_t nr)
{
	enum pfstat_class class;
	size_t i;

	fputs("run,pattern,cache,class,count,mean_ns,p50_ns,p99_ns,max_ns,total_ns,off_cpu_ns,"
	      "lost_records,lost_events\n", out);
	for (i = 0; i < nr; i++)
		for (class = 0; class < PFSTAT_NR_CLASSES; class++)
			print_class(out, &views[i], i + 1, class);
	return 0;
}
