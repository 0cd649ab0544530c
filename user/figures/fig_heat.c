// SPDX-License-Identifier: GPL-2.0-only
/* Where and when faults were: how many in each box of pages and time. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "calls.h"
#include "figure.h"
#include "map.h"
#include "palette.h"

struct place {
	struct place_data head;
	struct bins bins;
};

struct heat {
	struct places places;
	uint64_t origin_ns;	/* when the first fault began */
};

static void exit_place(void *data)
{
	struct place *place = data;

	bins_exit(&place->bins);
}

static void *open_heat(void)
{
	struct heat *heat = calloc(1, sizeof(*heat));

	if (heat)
		heat->places = (struct places){ .bytes = sizeof(struct place), .exit = exit_place };
	return heat;
}

static void close_heat(void *data)
{
	struct heat *heat = data;

	places_exit(&heat->places);
	free(heat);
}

static int add_fault(void *data, const struct explained *fault)
{
	const struct call_place at = place_of_fault(fault);
	const uint64_t page = fault->inode ? fault->pgoff : fault->address >> 12;
	struct heat *heat = data;
	struct place *place = places_get(&heat->places, &at, fault->end_ns - fault->start_ns);
	uint64_t ns;

	if (!place)
		return -ENOMEM;
	if (!place->bins.max_cells)
		place->bins = (struct bins)MAP_BINS;
	if (!heat->origin_ns)
		heat->origin_ns = fault->start_ns;
	/* Faults are told by their ends: one that began earlier may come later. */
	ns = fault->start_ns > heat->origin_ns ? fault->start_ns - heat->origin_ns : 0;
	return bins_add(&place->bins, ns, page, 0, fault->end_ns - fault->start_ns);
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

/* In how much of the columns half of the faults were: 0 to 1. */
static double half_in(const struct bins *bins, const struct bins_cell *cells)
{
	uint64_t columns[MAP_COLUMNS] = { 0 }, most, sum = 0;
	const uint64_t nr = (bins->x_max >> bins->x_shift) + 1;
	unsigned int i, taken = 0, at;

	for (i = 0; i < bins->nr_cells; i++)
		columns[cells[i].x] += cells[i].count;
	while (2 * sum < bins->count) {
		for (i = 0, at = 0, most = 0; i < nr; i++) {
			if (columns[i] <= most)
				continue;
			most = columns[i];
			at = i;
		}
		sum += most;
		columns[at] = 0;
		taken++;
	}
	return (double)taken / nr;
}

static void write_data(struct drawing *drawing, const struct bins *bins,
		       const struct bins_cell *cells)
{
	FILE *csv = drawing->streams[DRAWING_CSV];
	const double width_ms = (double)(1ULL << bins->x_shift) / 1e6;
	const uint64_t most = most_in(bins);
	size_t i;

	fputs("from_ms,to_ms,first_page,last_page,faults,total_us,level\n", csv);
	for (i = 0; i < bins->nr_cells; i++)
		fprintf(csv, "%.6f,%.6f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f,%u\n",
			cells[i].x * width_ms, (cells[i].x + 1) * width_ms,
			cells[i].y << bins->y_shift, ((cells[i].y + 1) << bins->y_shift) - 1,
			cells[i].count, cells[i].sum / 1e3, palette_level(cells[i].count, most));
}

/* The least count of that level, or of the next one that there is. */
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

/* The counts that belong to a level, as the key says them. */
static void level_title(unsigned int level, uint64_t most, char *title, size_t size)
{
	const bool last = level == palette_level(most, most);
	const uint64_t low = least_of(level, most);
	const uint64_t high = last ? most : least_of(level + 1, most) - 1;

	if (low == high)
		snprintf(title, size, "%" PRIu64, low);
	else
		snprintf(title, size, "%" PRIu64 "–%" PRIu64, low, high);
}

static void write_script(struct drawing *drawing, const struct bins *bins)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	const uint64_t most = most_in(bins);
	const unsigned int levels = palette_level(most, most) + 1;
	char title[64];
	unsigned int level;

	drawing_script_begin(drawing, DRAWING_HEIGHT);
	fputs("set xlabel 'time since the first fault (ms)'\nset ylabel 'page'\nunset grid\n"
	      "set format '%.6g'\nset xrange [0:*] noextend\n", script);
	map_page_range(script, bins);
	for (level = 0; level < levels; level++) {
		level_title(level, most, title, sizeof(title));
		fprintf(script, "%s'heat.csv' skip 1 using ($1+$2)/2:($7 == %u ? ($3+$4)/2 : NaN):"
			"1:2:3:($4+1) \\\n\twith boxxyerror fc rgb '#%06x' title '%s%s'",
			level ? ", \\\n\t" : "plot ", level, palette_levels[level], title,
			level + 1 == levels ? " faults" : "");
	}
	fputc('\n', script);
	drawing_script_end(drawing);
}

static void say(struct drawing *drawing, const struct heat *heat, const struct place *place,
		const struct bins_cell *cells, const char *name)
{
	const struct bins *bins = &place->bins;
	const uint64_t others = places_others(&heat->places);

	drawing_say(drawing, DRAWING_AMOUNT,
		    "%" PRIu64 " logical faults in %zu boxes of %.3g ms by "
		    "%" PRIu64 " pages.", bins->count, bins->nr_cells,
		    (double)(1ULL << bins->x_shift) / 1e6, (uint64_t)1 << bins->y_shift);
	if (others)
		drawing_say(drawing, DRAWING_AMOUNT,
			    " %" PRIu64 " faults of other files and memory "
			    "are not in it; --file draws another file.", others);
	drawing_say(drawing, DRAWING_READING,
		    "%s. Half of its faults fell into %.0f %% of %.1f ms: "
		    "%s.", name, 100 * half_in(bins, cells), bins->x_max / 1e6,
		    half_in(bins, cells) < 0.25 ? "they came in bursts" :
		    half_in(bins, cells) < 0.45 ? "unevenly" : "evenly");
	drawing_say(drawing, DRAWING_ALT, "A map of boxes, pages of %s over time, the darker the "
		    "more faults.", name);
}

static int draw(void *data, const struct figure_source *source, struct drawing *drawing)
{
	const struct heat *heat = data;
	const struct place *place = places_largest(&heat->places);
	struct bins_cell *cells;
	char *name;

	if (!place) {
		drawing_say(drawing, DRAWING_MISSING, "no page fault was recorded");
		return 0;
	}
	name = place_name(&place->head.place, source->report, source->analysis);
	cells = bins_sorted(&place->bins);
	if (name && cells) {
		say(drawing, heat, place, cells, name);
		write_data(drawing, &place->bins, cells);
		write_script(drawing, &place->bins);
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
	.fault = add_fault,
	.draw = draw,
};
