// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws the study's left figures: the page for each fault handler call, over the call number. The
 * calls come from the run's items and are binned, so memory is bounded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "figures/calls.h"
#include "figures/drawing.h"
#include "figures/figure.h"
#include "figures/page_map.h"
#include "figures/scatter.h"

struct fig_order_place {
	struct place_data head;
	struct bins bins;
	uint64_t last_page;
	uint64_t next, ahead, back; /* page after the last one, ahead of it, behind it */
};

struct order {
	uint64_t page_bytes;
	struct call_places places;
	uint64_t calls;
};

static void fig_order_free_place(void *data)
{
	struct fig_order_place *place = data;

	bins_exit(&place->bins);
}

static void *open_order(uint64_t page_bytes)
{
	struct order *order = calloc(1, sizeof(*order));

	if (order)
		*order = (struct order){
			.page_bytes = page_bytes,
			.places = { .bytes = sizeof(struct fig_order_place),
				    .exit = fig_order_free_place },
		};
	return order;
}

static void close_order(void *data)
{
	struct order *order = data;

	call_places_exit(&order->places);
	free(order);
}

static void count_step(struct fig_order_place *place, uint64_t page)
{
	if (place->bins.count && page != place->last_page) {
		place->next += page == place->last_page + 1;
		place->ahead += page > place->last_page + 1;
		place->back += page < place->last_page;
	}
	place->last_page = page;
}

static int fig_order_add_item(void *data, const struct item *item)
{
	struct order *order = data;
	uint64_t number;
	struct fig_order_place *place;
	struct call call;
	void *kept;
	int err;

	if (!call_of_item(item, order->page_bytes, &call))
		return 0;
	number = order->calls++;
	err = call_places_get(&order->places, &call.place, call.ns, &kept);
	if (err || !kept)
		return err;
	place = kept;
	if (!place->bins.max_cells)
		place->bins = (struct bins)SCATTER_BINS;
	count_step(place, call.page);
	return bins_add(&place->bins, number, call.page, call.class, call.page);
}

static int fig_order_write_data(struct drawing *drawing, const struct bins *bins, uint64_t first)
{
	struct bins_cell *cells = bins_sorted(bins);
	FILE *csv = drawing->streams[DRAWING_CSV];
	size_t i;

	if (!cells)
		return -ENOMEM;
	fputs("first_call,last_call,mean_call,mean_page,class,calls\n", csv);
	for (i = 0; i < bins->nr_cells; i++)
		fprintf(csv, "%" PRIu64 ",%" PRIu64 ",%.1f,%.1f,%s,%" PRIu64 "\n",
			(cells[i].x << bins->x_shift) + 1, (cells[i].x + 1) << bins->x_shift,
			(double)cells[i].x_sum / cells[i].count + 1,
			(double)cells[i].sum / cells[i].count - first,
			fault_class_name(cells[i].kind), cells[i].count);
	free(cells);
	return 0;
}

static void fig_order_write_script(struct drawing *drawing, const struct bins *bins, uint64_t first,
				   uint64_t page_bytes)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];

	scatter_key(drawing, bins);
	drawing_script_begin(drawing, DRAWING_HEIGHT);
	fputs("set xlabel 'call number'\n", script);
	axes_whole(script, 'x', 0, bins->x_max + 1);
	map_page_label(script, first, page_bytes);
	axes_whole_around(script, 'y', bins->y_min - first, bins->y_max - first);
	scatter_plot(drawing, bins, "$3", "$4", 5);
	drawing_script_end(drawing);
}

static void fig_order_write_caption(struct drawing *drawing, const struct order *order,
				    const struct fig_order_place *place, const char *name)
{
	const uint64_t steps = place->next + place->ahead + place->back;
	const uint64_t others = call_places_others(&order->places);
	char row[32];

	snprintf(row, sizeof(row), "%" PRIu64 " pages", (uint64_t)1 << place->bins.y_shift);
	scatter_amount(drawing, &place->bins, row);
	if (others)
		drawing_say(drawing, DRAWING_AMOUNT,
			    " %" PRIu64
			    " calls for other files and memory are not drawn; --file draws another "
			    "file.",
			    others);
	drawing_say(drawing, DRAWING_READING, "%s: pages %" PRIu64 " to %" PRIu64 ".", name,
		    place->bins.y_min, place->bins.y_max);
	if (steps)
		drawing_say(
			drawing, DRAWING_READING,
			" Of the steps from one page to another, %.1f %% went to the next page, "
			"%.1f %% further ahead, %.1f %% back.",
			100.0 * place->next / steps, 100.0 * place->ahead / steps,
			100.0 * place->back / steps);
	drawing_say(drawing, DRAWING_ALT,
		    "Marks by class: the page of %s in each call, over the call number, in "
		    "time order.",
		    name);
}

static int fig_order_draw(void *data, const struct figure_source *source, struct drawing *drawing)
{
	const struct order *order = data;
	const struct fig_order_place *place = call_places_largest(&order->places);
	uint64_t first;
	char *name;

	if (!place) {
		drawing_say(drawing, DRAWING_MISSING, "no page fault was recorded");
		return 0;
	}
	name = call_place_name(&place->head.place, source->report, source->analysis);
	if (!name)
		return -ENOMEM;
	fig_order_write_caption(drawing, order, place, name);
	free(name);
	first = map_first_page(&place->bins, place->head.place.inode);
	fig_order_write_script(drawing, &place->bins, first, order->page_bytes);
	return fig_order_write_data(drawing, &place->bins, first);
}

const struct figure figure_order = {
	.name = "order",
	.title = "The order of the faults",
	.open = open_order,
	.close = close_order,
	.item = fig_order_add_item,
	.draw = fig_order_draw,
};
