// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws what became of the pages that were read, in boxes (pages by read time), coloured by whether
 * a fault mapped the pages later. Memory is bounded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pages/page_chunks.h"
#include "figures/calls.h"
#include "figures/drawing.h"
#include "figures/figure.h"
#include "figures/page_map.h"
#include "report/view.h"

/*
 * A read time is kept as a float in units of 65 µs, from 1. After 18 minutes a float no longer
 * holds every unit, but the error is always a small part of a box, however long the run.
 */
#define UNIT_SHIFT  16
#define CHUNK_PAGES 8192U /* 32 KiB of times for 32 MiB of a file */
#define CHUNKS_MAX  1024U /* 32 MiB of times for 32 GiB of files */

/* A cell's sum has mapped pages in the lower half, and pages evicted unused in the upper. */
#define ONE_MAPPED  1ULL
#define ONE_EVICTED (1ULL << 32)

struct fig_readahead_place {
	struct place_data head;
	uint64_t number; /* the place's serial number, from 1 */
	struct bins bins;
};

/* When a chunk's pages were read. A read covering the whole chunk sets only `all`. */
struct piece_times {
	uint64_t place; /* serial number for the place these reads belong to */
	bool uniform;	/* all pages were read at `all`, and `each` is not valid */
	float all;
	float each[CHUNK_PAGES]; /* 0: not read */
};

struct readahead_map {
	struct call_places places;
	struct page_chunks times;
	uint64_t nr_places; /* including evicted places */
	uint64_t origin_ns, now_ns;
	uint64_t overflow; /* pages read for files not kept */
};

static void fig_readahead_free_place(void *data)
{
	struct fig_readahead_place *place = data;

	bins_exit(&place->bins);
}

static void *open_map(uint64_t page_bytes)
{
	struct readahead_map *map = calloc(1, sizeof(*map));

	(void)page_bytes;
	if (!map)
		return NULL;
	map->places = (struct call_places){ .bytes = sizeof(struct fig_readahead_place),
					    .exit = fig_readahead_free_place };
	map->times = (struct page_chunks){
		.pages = CHUNK_PAGES,
		.bytes = sizeof(struct piece_times),
		.max = CHUNKS_MAX,
	};
	return map;
}

static void close_map(void *data)
{
	struct readahead_map *map = data;

	call_places_exit(&map->places);
	page_chunks_exit(&map->times);
	free(map);
}

static int fig_readahead_add_item(void *data, const struct item *item)
{
	struct readahead_map *map = data;

	map->now_ns = item->ns;
	/* Mappings existing at the start have no time. */
	if (!map->origin_ns)
		map->origin_ns = item->ns;
	return 0;
}

/* A box's column, the same value at the read and at the page's fate. */
static uint64_t fig_readahead_column_of(float when)
{
	return (uint64_t)when - 1;
}

static float *times_of_each(struct piece_times *times)
{
	unsigned int i;

	for (i = 0; times->uniform && i < CHUNK_PAGES; i++)
		times->each[i] = times->all;
	times->uniform = false;
	return times->each;
}

static void set_times(struct piece_times *times, const struct readahead_pages *pages, float when)
{
	float *each;
	uint64_t i;

	if (pages->pages == CHUNK_PAGES) {
		times->uniform = true;
		times->all = when;
		return;
	}
	each = times_of_each(times) + pages->pgoff % CHUNK_PAGES;
	for (i = 0; i < pages->pages; i++)
		each[i] = when;
}

static int fig_readahead_add_read(struct readahead_map *map, const struct readahead_pages *pages)
{
	const struct call_place at = { .dev = pages->dev, .inode = pages->inode };
	struct piece_times *times;
	struct fig_readahead_place *place;
	float when;
	void *kept, *kept_place;
	int err;

	err = page_chunks_get(&map->times, pages->dev, pages->inode, pages->pgoff, &kept);
	if (err)
		return err;
	times = kept;
	if (!times) {
		map->overflow += pages->pages;
		return 0;
	}
	err = call_places_get_many(&map->places, &at, pages->pages, pages->pages, &kept_place);
	if (err || !kept_place)
		return err;
	place = kept_place;
	if (!place->number) {
		place->number = ++map->nr_places;
		place->bins = (struct bins)MAP_BINS;
	}
	if (times->place != place->number) {
		times->uniform = true;
		times->all = 0;
		times->place = place->number;
	}
	when = ((map->now_ns - map->origin_ns) >> UNIT_SHIFT) + 1;
	set_times(times, pages, when);
	return bins_add_rows(&place->bins, fig_readahead_column_of(when), pages->pgoff,
			     pages->pages, 0, 0);
}

static struct fig_readahead_place *fig_readahead_find_place(const struct readahead_map *map,
							    const struct readahead_pages *pages)
{
	const struct call_place at = { .dev = pages->dev, .inode = pages->inode };
	struct fig_readahead_place *place;
	size_t i;

	for (i = 0; i < map->places.nr; i++) {
		place = map->places.data[i];
		if (call_place_is(&place->head.place, &at))
			return place;
	}
	return NULL;
}

/* Adds the pages' fate to the boxes where they were read. */
static void add_fate(struct bins *bins, struct piece_times *times,
		     const struct readahead_pages *pages)
{
	const uint64_t one = pages->fate == READAHEAD_MAPPED ? ONE_MAPPED : ONE_EVICTED;
	uint64_t i, run;
	float *each;

	if (times->uniform) {
		if (times->all > 0)
			bins_note_rows(bins, fig_readahead_column_of(times->all), pages->pgoff,
				       pages->pages, 0, one);
		return;
	}
	each = times->each + pages->pgoff % CHUNK_PAGES;
	for (i = 0; i < pages->pages; i += run) {
		for (run = 1; i + run < pages->pages && each[i + run] == each[i]; run++)
			;
		if (each[i] > 0)
			bins_note_rows(bins, fig_readahead_column_of(each[i]), pages->pgoff + i,
				       run, 0, one);
	}
}

static int add_pages(void *data, const struct readahead_pages *pages)
{
	struct readahead_map *map = data;
	struct piece_times *times;
	struct fig_readahead_place *place;

	if (pages->fate == READAHEAD_READ)
		return fig_readahead_add_read(map, pages);
	times = page_chunks_find(&map->times, pages->dev, pages->inode, pages->pgoff);
	place = times ? fig_readahead_find_place(map, pages) : NULL;
	/* A file that was evicted and kept again has lost the earlier reads. */
	if (place && times->place == place->number)
		add_fate(&place->bins, times, pages);
	return 0;
}

struct box {
	uint64_t read, mapped, evicted, unused;
};

static struct box box_of(const struct bins_cell *cell)
{
	struct box box = {
		.read = cell->count,
		.mapped = cell->sum & 0xffffffff,
		.evicted = cell->sum >> 32,
	};

	box.unused = box.read - box.mapped - box.evicted;
	return box;
}

/* 0 if each page was mapped, 1 if some were, 2 if none were. */
static unsigned int kind_of(const struct box *box)
{
	return box->mapped == box->read ? 0 : box->mapped ? 1 : 2;
}

static int fig_readahead_write_data(struct drawing *drawing, const struct bins *bins,
				    unsigned int *kinds)
{
	const double width_ms = (double)(1ULL << (bins->x_shift + UNIT_SHIFT)) / 1e6;
	struct bins_cell *cells = bins_sorted(bins);
	FILE *csv = drawing->streams[DRAWING_CSV];
	struct box box;
	size_t i;

	if (!cells)
		return -ENOMEM;
	fputs("from_ms,to_ms,first_page,last_page,read,mapped,evicted_unused,never_used,kind\n",
	      csv);
	for (i = 0; i < bins->nr_cells; i++) {
		box = box_of(&cells[i]);
		*kinds |= 1U << kind_of(&box);
		fprintf(csv,
			"%.6f,%.6f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",%u\n",
			cells[i].x * width_ms, (cells[i].x + 1) * width_ms,
			cells[i].y << bins->y_shift, ((cells[i].y + 1) << bins->y_shift) - 1,
			box.read, box.mapped, box.evicted, box.unused, kind_of(&box));
	}
	free(cells);
	return 0;
}

static void fig_readahead_write_script(struct drawing *drawing, const struct bins *bins,
				       unsigned int kinds)
{
	static const struct {
		uint32_t rgb;
		const char *title;
		double share; /* share of the box height, to differ without colour */
	} sorts[] = {
		{ COLOUR_SKY, "each page mapped later", 0.5 },
		{ COLOUR_ORANGE, "some mapped later", 0.35 },
		{ COLOUR_VERMILLION, "none mapped later", 0.2 },
	};
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	const char *separator = "plot ";
	const double width_ms = (double)(1ULL << (bins->x_shift + UNIT_SHIFT)) / 1e6;
	const double least_ms = MAP_LEAST_WIDTH * ((bins->x_max >> bins->x_shift) + 1) * width_ms;
	unsigned int i;
	double factor;

	for (i = 0; i < 3; i++)
		if (kinds & 1U << i)
			drawing_key(drawing, sorts[i].title);
	drawing_script_begin(drawing, DRAWING_HEIGHT);
	fputs("unset grid\n", script);
	factor = axes_time(script, "time of the read",
			   ((bins->x_max >> bins->x_shift) + 1) * width_ms);
	map_page_label(script, 0, 0);
	map_page_range(script, bins, 0);
	for (i = 0; i < 3; i++) {
		if (!(kinds & 1U << i))
			continue;
		fprintf(script,
			"%s'readahead.csv' skip 1 using (%g*($1+$2)/2):($9 == %u ? ($3+$4+1)/2 : "
			"NaN):(%g*$1):(%g*($2 > $1 + %g ? $2 : $1 + %g)):"
			"(($3+$4+1)/2-%.2f*($4-$3+1)):(($3+$4+1)/2+%.2f*($4-$3+1)) \\\n"
			"\twith boxxyerror fc rgb '#%06x' title '%s'",
			separator, factor, i, factor, factor, least_ms, least_ms, sorts[i].share,
			sorts[i].share, sorts[i].rgb, sorts[i].title);
		separator = ", \\\n\t";
	}
	fputc('\n', script);
	drawing_script_end(drawing);
}

static void say_covered(struct drawing *drawing, const struct report *report)
{
	const struct readahead_figures *pages = &report->pages.readahead;
	const uint64_t disk = report->faults.classes[PFSTAT_CLASS_DISK].count;
	const int64_t bytes = report->environment.readahead_bytes;
	char size[32] = "";

	if (bytes > 0)
		snprintf(size, sizeof(size), " of %" PRId64 " KiB", bytes / 1024);
	drawing_say(drawing, DRAWING_READING,
		    "%" PRIu64 " pages were read, and %.1f %% of them "
		    "mapped by a fault later.",
		    pages->read, 100.0 * pages->mapped / pages->read);
	if (pages->mapped >= disk && pages->mapped)
		drawing_say(drawing, DRAWING_READING,
			    " Read-ahead%s covered %.1f %% of the mapped "
			    "pages; %" PRIu64 " disk fault%s started a read.",
			    size, 100.0 * (pages->mapped - disk) / pages->mapped, disk,
			    PLURAL(disk));
}

/* 0 or -ENOMEM. */
static int fig_readahead_write_caption(struct drawing *drawing, const struct readahead_map *map,
				       const struct fig_readahead_place *place,
				       const struct figure_source *source)
{
	const uint64_t others = call_places_others(&map->places);
	const struct bins *bins = &place->bins;
	char *name = call_place_name(&place->head.place, source->report, source->analysis);

	if (!name)
		return -ENOMEM;
	drawing_say(drawing, DRAWING_AMOUNT,
		    "%" PRIu64 " page%s of %s, in %zu box%s of %s by %" PRIu64 " page%s.",
		    bins->count, PLURAL(bins->count), name, bins->nr_cells,
		    bins->nr_cells == 1 ? "" : "es",
		    drawing_time(1ULL << (bins->x_shift + UNIT_SHIFT)).text,
		    (uint64_t)1 << bins->y_shift, bins->y_shift ? "s" : "");
	if (others || map->overflow)
		drawing_say(drawing, DRAWING_AMOUNT,
			    " %" PRIu64
			    " pages in other files are not drawn; --file draws another file.",
			    others + map->overflow);
	drawing_say(
		drawing, DRAWING_ALT,
		"A map of boxes, pages of %s over the time of their read: a fault mapped all of "
		"them later, some, or none.",
		name);
	say_covered(drawing, source->report);
	free(name);
	return 0;
}

static int fig_readahead_draw(void *data, const struct figure_source *source,
			      struct drawing *drawing)
{
	const struct readahead_map *map = data;
	const struct fig_readahead_place *place = call_places_largest(&map->places);
	unsigned int kinds = 0;
	int err;

	if (!view_has_hook(source->report, HOOK_BLOCK)) {
		drawing_say(drawing, DRAWING_MISSING,
			    view_source_is_perf(source->report) ?
				    "perf does not report reads from block devices" :
				    "no block I/O was traced");
		return 0;
	}
	if (!place) {
		drawing_say(drawing, DRAWING_MISSING, "nothing was read from a block device");
		return 0;
	}
	err = fig_readahead_write_caption(drawing, map, place, source);
	if (!err)
		err = fig_readahead_write_data(drawing, &place->bins, &kinds);
	fig_readahead_write_script(drawing, &place->bins, kinds);
	return err;
}

const struct figure figure_readahead = {
	.name = "readahead",
	.title = "Pages read, and mapped later",
	.open = open_map,
	.close = close_map,
	.item = fig_readahead_add_item,
	.pages = add_pages,
	.draw = fig_readahead_draw,
};
