// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws where and when faults happened: the fault count in each box (pages by time). Faults arrive
 * ordered by end time and are binned, so memory is bounded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "figures/calls.h"
#include "figures/drawing.h"
#include "figures/figure.h"
#include "figures/page_map.h"

struct fig_heat_place {
	struct place_data head;
	struct bins bins;
};

struct heat {
	uint64_t page_bytes;
	struct call_places places;
	uint64_t origin_ns; /* start of the first fault, UINT64_MAX if no fault yet */
};

static void fig_heat_free_place(void *data)
{
	struct fig_heat_place *place = data;

	bins_exit(&place->bins);
}

static void *open_heat(uint64_t page_bytes)
{
	struct heat *heat = calloc(1, sizeof(*heat));

	if (heat)
		*heat = (struct heat){
			.page_bytes = page_bytes,
			.places = { .bytes = sizeof(struct fig_heat_place),
				    .exit = fig_heat_free_place },
			.origin_ns = UINT64_MAX,
		};
	return heat;
}

static void close_heat(void *data)
{
	struct heat *heat = data;

	call_places_exit(&heat->places);
	free(heat);
}

static int fig_heat_add_fault(void *data, const struct explained *fault)
{
	struct heat *heat = data;
	const struct call_place at = call_place_of_fault(fault, heat->page_bytes);
	const uint64_t page = fault->inode ? fault->pgoff : fault->address / heat->page_bytes;
	struct fig_heat_place *place;
	void *kept;
	int err;

	/* Faults are reported when they end, so one that began earlier may arrive later. */
	if (fault->start_ns < heat->origin_ns)
		heat->origin_ns = fault->start_ns;
	err = call_places_get(&heat->places, &at, fault->end_ns - fault->start_ns, &kept);
	if (err || !kept)
		return err;
	place = kept;
	if (!place->bins.max_cells)
		place->bins = (struct bins)MAP_BINS;
	return bins_add(&place->bins, fault->start_ns, page, 0, fault->end_ns - fault->start_ns);
}

static uint64_t most_in(const struct bins *bins)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < bins->nr_slots; i++)
		if (bins->slots[i].count > most)
			most = bins->slots[i].count;
	return most;
}

/*
 * Random arrivals are uneven too: with this many faults in an average time stretch, half the faults
 * fall into 41 % of the stretches.
 */
#define STRETCH_FAULTS	20
#define LEAST_STRETCHES 8

/* How many columns make a stretch, or 0 if there are too few faults to describe their arrival. */
static uint64_t stretch_of(const struct bins *bins)
{
	const uint64_t columns = bins_columns(bins);
	const uint64_t stretch = (STRETCH_FAULTS * columns + bins->count - 1) / bins->count;

	return columns / stretch < LEAST_STRETCHES ? 0 : stretch;
}

/* Which share of the stretches holds half the faults, 0 to 1. */
static double half_in(const struct bins *bins, const struct bins_cell *cells, uint64_t stretch)
{
	const uint64_t nr = (bins_columns(bins) + stretch - 1) / stretch;
	const uint64_t first = bins->x_min >> bins->x_shift;
	uint64_t stretches[MAP_COLUMNS] = { 0 }, most, sum = 0;
	unsigned int i, taken = 0, at;

	for (i = 0; i < bins->nr_cells; i++)
		stretches[(cells[i].x - first) / stretch] += cells[i].count;
	while (2 * sum < bins->count) {
		for (i = 0, at = 0, most = 0; i < nr; i++) {
			if (stretches[i] <= most)
				continue;
			most = stretches[i];
			at = i;
		}
		sum += most;
		stretches[at] = 0;
		taken++;
	}
	return (double)taken / nr;
}

/* A column's start since the very first fault, which may lie inside the column. */
static double column_ms(const struct heat *heat, const struct bins *bins, uint64_t column)
{
	const uint64_t ns = column << bins->x_shift;

	return ns > heat->origin_ns ? (ns - heat->origin_ns) / 1e6 : 0;
}

static void fig_heat_write_data(struct drawing *drawing, const struct heat *heat,
				const struct bins *bins, const struct bins_cell *cells,
				uint64_t first)
{
	FILE *csv = drawing->streams[DRAWING_CSV];
	const uint64_t most = most_in(bins);
	size_t i;

	fputs("from_ms,to_ms,first_page,last_page,faults,total_us,level\n", csv);
	for (i = 0; i < bins->nr_cells; i++)
		fprintf(csv, "%.6f,%.6f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f,%u\n",
			column_ms(heat, bins, cells[i].x), column_ms(heat, bins, cells[i].x + 1),
			(cells[i].y << bins->y_shift) - first,
			((cells[i].y + 1) << bins->y_shift) - 1 - first, cells[i].count,
			cells[i].sum / 1e3, palette_level(cells[i].count, most));
}

/* The lowest count at this level, or at the next existing level. */
static uint64_t least_of(unsigned int level, uint64_t most)
{
	uint64_t low = 1, high = most + 1, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (palette_level(middle, most) < level)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Prints a level's count range for the key. Returns false if the level has no counts. */
static bool level_title(unsigned int level, uint64_t most, char *title, size_t size)
{
	const bool last = level == palette_level(most, most);
	const uint64_t low = least_of(level, most);
	const uint64_t high = last ? most : least_of(level + 1, most) - 1;

	if (low == high)
		snprintf(title, size, "%" PRIu64, low);
	else
		snprintf(title, size, "%" PRIu64 "–%" PRIu64, low, high);
	return low <= high;
}

static void fig_heat_write_script(struct drawing *drawing, const struct heat *heat,
				  const struct bins *bins, uint64_t first)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	const uint64_t most = most_in(bins);
	const unsigned int levels = palette_level(most, most) + 1;
	const char *separator = "plot ";
	const double last_ms = column_ms(heat, bins, (bins->x_max >> bins->x_shift) + 1);
	const double least_ms = MAP_LEAST_WIDTH * last_ms;
	char title[64];
	unsigned int level;
	double factor;

	for (level = 0; level < levels; level++)
		if (level_title(level, most, title, sizeof(title)))
			drawing_key(drawing, title);
	drawing_script_begin(drawing, DRAWING_HEIGHT);
	fputs("unset grid\n", script);
	factor = axes_time(script, "time since the first fault", last_ms);
	map_page_label(script, first, heat->page_bytes);
	map_page_range(script, bins, first);
	for (level = 0; level < levels; level++) {
		if (!level_title(level, most, title, sizeof(title)))
			continue;
		fprintf(script,
			"%s'heat.csv' skip 1 using (%g*($1+$2)/2):($7 == %u ? ($3+$4)/2 : NaN):"
			"(%g*$1):(%g*($2 > $1 + %g ? $2 : $1 + %g)):3:($4+1) \\\n\twith boxxyerror fc rgb '#%06x' "
			"title '%s%s'",
			separator, factor, level, factor, factor, least_ms, least_ms,
			palette_levels[level], title,
			level + 1 < levels ? "" :
			most == 1	   ? " fault" :
					     " faults");
		separator = ", \\\n\t";
	}
	fputc('\n', script);
	drawing_script_end(drawing);
}

static void say_how_they_came(struct drawing *drawing, const struct bins *bins, double half)
{
	drawing_say(drawing, DRAWING_READING, " Half the faults fell into %.0f %% of %s: %s.",
		    100 * half, drawing_time(bins->x_max - bins->x_min).text,
		    half < 0.25 ? "they came in bursts" :
		    half < 0.4	? "unevenly" :
				  "evenly");
}

static void fig_heat_write_caption(struct drawing *drawing, const struct heat *heat,
				   const struct fig_heat_place *place,
				   const struct bins_cell *cells, const char *name)
{
	const struct bins *bins = &place->bins;
	const uint64_t others = call_places_others(&heat->places);
	const uint64_t stretch = stretch_of(bins);

	drawing_say(drawing, DRAWING_AMOUNT,
		    "%" PRIu64 " logical fault%s in %zu box%s of %s by %" PRIu64 " page%s.",
		    bins->count, PLURAL(bins->count), bins->nr_cells,
		    bins->nr_cells == 1 ? "" : "es", drawing_time(1ULL << bins->x_shift).text,
		    (uint64_t)1 << bins->y_shift, bins->y_shift ? "s" : "");
	if (others)
		drawing_say(drawing, DRAWING_AMOUNT,
			    " %" PRIu64
			    " faults on other files and memory are not drawn; --file draws another "
			    "file.",
			    others);
	drawing_say(drawing, DRAWING_READING, "%s.", name);
	if (stretch)
		say_how_they_came(drawing, bins, half_in(bins, cells, stretch));
	drawing_say(drawing, DRAWING_ALT,
		    "A heat map, pages of %s over time: darker boxes have more faults.", name);
}

static int fig_heat_draw(void *data, const struct figure_source *source, struct drawing *drawing)
{
	const struct heat *heat = data;
	const struct fig_heat_place *place = call_places_largest(&heat->places);
	struct bins_cell *cells;
	uint64_t first;
	char *name;

	if (!place) {
		drawing_say(drawing, DRAWING_MISSING, "no page fault was recorded");
		return 0;
	}
	name = call_place_name(&place->head.place, source->report, source->analysis);
	cells = bins_sorted(&place->bins);
	if (name && cells) {
		fig_heat_write_caption(drawing, heat, place, cells, name);
		first = map_first_page(&place->bins, place->head.place.inode);
		fig_heat_write_data(drawing, heat, &place->bins, cells, first);
		fig_heat_write_script(drawing, heat, &place->bins, first);
	}
	free(name);
	free(cells);
	return name && cells ? 0 : -ENOMEM;
}

const struct figure figure_heat = {
	.name = "heat",
	.title = "Where and when the faults were",
	.open = open_heat,
	.close = close_heat,
	.fault = fig_heat_add_fault,
	.draw = fig_heat_draw,
};
