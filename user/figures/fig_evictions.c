// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws evictions of pages that faulted again later: one bar for each evictor and victim pair. The
 * pairs come from the report.
 */
#include <inttypes.h>

#include "figures/drawing.h"
#include "figures/figure.h"
#include "report/view.h"

#define MOST_BARS 12

enum sort {
	SORT_ANOTHER,
	SORT_ITSELF,
	SORT_OTHERS, /* processes not kept apart */
	NR_SORTS
};

static enum sort sort_of(const struct evictions_pair *pair)
{
	return evictions_is_others(pair) ? SORT_OTHERS :
	       evictions_is_itself(pair) ? SORT_ITSELF :
					   SORT_ANOTHER;
}

static size_t bars_of(const struct report_pages *pages)
{
	return pages->nr_pairs < MOST_BARS ? pages->nr_pairs : MOST_BARS;
}

static void fig_evictions_write_data(struct drawing *drawing, const struct report *report)
{
	FILE *csv = drawing->streams[DRAWING_CSV];
	const struct evictions_pair *pair;
	size_t i;

	fputs("row,evictor,evictor_pid,victim_pid,sort,pages,faults,ms\n", csv);
	for (i = 0; i < bars_of(&report->pages); i++) {
		pair = &report->pages.pairs[i];
		fprintf(csv, "%zu,", bars_of(&report->pages) - i);
		drawing_cell(csv, pair->evictor_name);
		fprintf(csv, ",%" PRIu32 ",%" PRIu32 ",%d,%" PRIu64 ",%" PRIu64 ",%.6f\n",
			pair->evictor, pair->victim, sort_of(pair), pair->pages, pair->faults,
			pair->total_ns / 1e6);
	}
}

static void name_bar(const struct evictions_pair *pair, char *name, size_t size)
{
	const bool requested = pair->reason == EVICTIONS_DROPPED ||
			       pair->reason == EVICTIONS_PROACTIVE;
	const char *reason = pair->anon ? ", swapped" : requested ? ", dropped" : "";
	char victim[16] = "several";

	if (pair->victim)
		snprintf(victim, sizeof(victim), "%" PRIu32, pair->victim);
	switch (sort_of(pair)) {
	case SORT_ITSELF:
		snprintf(name, size, "%s: itself%s", victim, reason);
		break;
	case SORT_OTHERS:
		snprintf(name, size, "%s: " EVICTIONS_OTHERS "%s", victim, reason);
		break;
	default:
		snprintf(name, size, "%s: %s (%" PRIu32 ")%s", victim, pair->evictor_name,
			 pair->evictor, reason);
	}
}

static void fig_evictions_write_labels(FILE *script, const struct report_pages *pages)
{
	char name[80];
	size_t i;

	fputs("set ytics scale 0 (", script);
	for (i = 0; i < bars_of(pages); i++) {
		name_bar(&pages->pairs[i], name, sizeof(name));
		fputs(i ? ", " : "", script);
		drawing_label(script, name);
		fprintf(script, " %zu", bars_of(pages) - i);
	}
	fputs(")\n", script);
}

static bool has_sort(const struct report_pages *pages, enum sort sort)
{
	size_t i;

	for (i = 0; i < bars_of(pages); i++)
		if (sort_of(&pages->pairs[i]) == sort)
			return true;
	return false;
}

static void fig_evictions_write_script(struct drawing *drawing, const struct report *report)
{
	static const struct {
		uint32_t rgb;
		const char *title;
	} sorts[NR_SORTS] = {
		[SORT_ANOTHER] = { COLOUR_VERMILLION, "evicted by another" },
		[SORT_ITSELF] = { COLOUR_BLUE, "by itself" },
		[SORT_OTHERS] = { COLOUR_GREY, "not distinguished" },
	};
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	const char *separator = "plot ";
	unsigned int i;

	for (i = 0; i < NR_SORTS; i++)
		if (has_sort(&report->pages, i))
			drawing_key(drawing, sorts[i].title);
	drawing_script_begin(drawing, 90 + 34 * bars_of(&report->pages));
	/* The first pair has the most pages. */
	axes_whole(script, 'x', 0, report->pages.pairs[0].pages);
	fprintf(script,
		"set xlabel 'pages read again'\n"
		"set ylabel 'victim: evictor'\nset yrange [0.4:%zu.6]\n"
		"unset grid\nset grid xtics lc rgb '#c0c0c0' lw 0.5 dt solid\n",
		bars_of(&report->pages));
	fig_evictions_write_labels(script, &report->pages);
	for (i = 0; i < NR_SORTS; i++) {
		if (!has_sort(&report->pages, i))
			continue;
		fprintf(script,
			"%s'evictions.csv' skip 1 using ($6/2):($5 == %u ? $1 : NaN):(0):6:"
			"($1-0.35):($1+0.35) \\\n"
			"\twith boxxyerror fc rgb '#%06x' title '%s'",
			separator, i, sorts[i].rgb, sorts[i].title);
		separator = ", \\\n\t";
	}
	fputc('\n', script);
	drawing_script_end(drawing);
}

static void fig_evictions_write_caption(struct drawing *drawing, const struct report *report)
{
	uint64_t pages = 0, by[NR_SORTS] = { 0 }, left_out = 0, faults = 0;
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < report->pages.nr_pairs; i++) {
		pages += report->pages.pairs[i].pages;
		faults += report->pages.pairs[i].faults;
		ns += report->pages.pairs[i].total_ns;
		by[sort_of(&report->pages.pairs[i])] += report->pages.pairs[i].pages;
		if (i >= MOST_BARS)
			left_out += report->pages.pairs[i].pages;
	}
	drawing_say(drawing, DRAWING_READING,
		    "%" PRIu64 " pages were evicted, %" PRIu64 " read "
		    "again, %.1f %% of these after another process had evicted them; %" PRIu64
		    " fault%s waited %s for them.",
		    report->pages.evictions.evicted, pages,
		    pages ? 100.0 * by[SORT_ANOTHER] / pages : 0, faults, PLURAL(faults),
		    drawing_time(ns).text);
	if (by[SORT_OTHERS])
		drawing_say(drawing, DRAWING_READING,
			    " For %" PRIu64
			    " page%s the evictor is not known: there were too many to distinguish.",
			    by[SORT_OTHERS], PLURAL(by[SORT_OTHERS]));
	drawing_say(drawing, DRAWING_AMOUNT, "%zu evictor-victim pair%s.", report->pages.nr_pairs,
		    PLURAL(report->pages.nr_pairs));
	if (left_out)
		drawing_say(drawing, DRAWING_AMOUNT,
			    " %zu of them, with %" PRIu64 " pages, are not drawn.",
			    report->pages.nr_pairs - MOST_BARS, left_out);
	drawing_say(drawing, DRAWING_ALT,
		    "One bar per process and evictor of its pages: the pages that the "
		    "process read again.");
}

static int fig_evictions_draw(void *data, const struct figure_source *source,
			      struct drawing *drawing)
{
	const struct report *report = source->report;
	const char *lack = view_lacks_evictions(report);

	(void)data;
	if (lack) {
		drawing_say(drawing, DRAWING_MISSING, "%s", lack);
		return 0;
	}
	/* A pair without pages has faults waiting for a read that was not recorded. */
	if (!report->pages.nr_pairs || !report->pages.pairs[0].pages) {
		if (report->pages.evictions.evicted)
			drawing_say(drawing, DRAWING_MISSING,
				    "none of %" PRIu64 " evicted page%s was read again",
				    report->pages.evictions.evicted,
				    PLURAL(report->pages.evictions.evicted));
		else
			drawing_say(drawing, DRAWING_MISSING, "no page was evicted");
		return 0;
	}
	fig_evictions_write_caption(drawing, report);
	fig_evictions_write_data(drawing, report);
	fig_evictions_write_script(drawing, report);
	return 0;
}

const struct figure figure_evictions = {
	.name = "evictions",
	.title = "Pages evicted and read again, by owner and evictor",
	.draw = fig_evictions_draw,
};
