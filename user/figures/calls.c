// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns items into fault handler calls for the figures, counts them by place with the Space-Saving
 * algorithm, and plots them as marks. The number of places is bounded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/address_spaces.h"
#include "figures/calls.h"
#include "figures/drawing.h"
#include "figures/scatter.h"

#define REGION_SHIFT 20 /* unit: 2^20 pages, 4 GiB */

static struct call_place calls_place_of(uint32_t dev, uint64_t inode, uint64_t pid, uint64_t page)
{
	if (inode)
		return (struct call_place){ .dev = dev, .inode = inode };
	return (struct call_place){ .pid = pid, .region = page >> REGION_SHIFT };
}

static bool call_of_record(const struct pfstat_record *record, uint64_t page_bytes,
			   struct call *call)
{
	const uint64_t page = record->address / page_bytes;

	*call = (struct call){
		.place = calls_place_of(record->dev, record->inode, record->pid,
					record->inode ? 0 : page),
		.page = record->inode ? record->pgoff : page,
		.ns = record->duration_ns,
		.class = (enum fault_class)record->class,
	};
	return record->class != PFSTAT_CLASS_PASS;
}

static bool call_of_fault(const struct pfstat_fault *fault, uint64_t page_bytes, struct call *call)
{
	const uint32_t kind = PFSTAT_FAULT_KIND(fault->event.flags);
	const uint64_t page = fault->inode ? fault->pgoff : fault->address / page_bytes;

	if (kind == PFSTAT_FAULT_HOOKED)
		return false;
	*call = (struct call){
		.place = calls_place_of(fault->dev, fault->inode, fault->event.pid, page),
		.page = page,
		.ns = item_elapsed(fault->start_ns, fault->event.ns),
		.class = fault_class_of_kind(kind),
	};
	return true;
}

bool call_of_item(const struct item *item, uint64_t page_bytes, struct call *call)
{
	if (item->type == ITEM_RECORD)
		return call_of_record(item->record, page_bytes, call);
	return item->type == ITEM_EVENT && item->event->type == PFSTAT_EVENT_FAULT &&
	       call_of_fault((const struct pfstat_fault *)item->event, page_bytes, call);
}

bool call_is_disk(enum fault_class class)
{
	return class < FAULT_FIRST_OTHER &&
	       fault_class_column((enum pfstat_class) class) == PFSTAT_COLUMN_DISK;
}

struct call_place call_place_of_fault(const struct explained *fault, uint64_t page_bytes)
{
	return calls_place_of(fault->dev, fault->inode, fault->pid, fault->address / page_bytes);
}

bool call_place_is(const struct call_place *a, const struct call_place *b)
{
	return a->inode == b->inode && a->dev == b->dev && a->pid == b->pid &&
	       a->region == b->region;
}

/* A place's pages include those of each file that had its inode. Frees the name. */
static char *place_with_earlier(char *name)
{
	char *both;

	if (asprintf(&both, "%s and a deleted file with the same inode", name) < 0)
		both = NULL;
	free(name);
	return both;
}

char *call_place_name(const struct call_place *place, const struct report *report,
		      const struct analysis *analysis)
{
	char *name;

	if (!place->inode)
		return asprintf(&name, "anonymous memory of process %" PRIu64 " from 0x%" PRIx64,
				place->pid,
				(place->region << REGION_SHIFT) * analysis_page_bytes(analysis)) <
				       0 ?
			       NULL :
			       name;
	name = analysis_file_name(analysis, place->dev, place->inode);
	if (name &&
	    address_spaces_file_was_reused(analysis_spaces(analysis), place->dev, place->inode))
		return place_with_earlier(name);
	/* If no mapping gives the name, the report of a drive has it: a drive uses one file. */
	if (!name || *name == '/' || strcmp(report->environment.kind, "drive") ||
	    !report->environment.file[0])
		return name;
	free(name);
	return strdup(report->environment.file);
}

void call_places_exit(struct call_places *places)
{
	while (places->nr) {
		places->exit(places->data[--places->nr]);
		free(places->data[places->nr]);
	}
}

/* The certain weight for a place: the part shown, and the part before the place was kept. */
static uint64_t had(const struct place_data *data)
{
	return data->before + data->weight;
}

static size_t lightest(const struct call_places *places)
{
	size_t i, least = 0;

	for (i = 1; i < places->nr; i++)
		if (had(places->data[i]) < had(places->data[least]))
			least = i;
	return least;
}

/*
 * Space-Saving (A. Metwally and others, 2005). A place missing from the list replaces the lightest
 * entry and inherits the entry's weight, because the place may have had as much before.
 */
static struct place_waiting *waiting_of(struct call_places *places, const struct call_place *place)
{
	struct place_waiting *waiting, *least = places->waiting;

	for (waiting = places->waiting; waiting < places->waiting + PLACES_WAITING; waiting++) {
		if (call_place_is(&waiting->place, place))
			return waiting;
		if (waiting->total < least->total)
			least = waiting;
	}
	least->place = *place;
	least->unsure = least->total;
	return least;
}

/* The evicted place takes the waiting entry of the place replacing it. */
static void give_up(struct call_places *places, size_t at, struct place_waiting *waiting)
{
	struct place_data *data = places->data[at];

	places->not_kept += data->count;
	waiting->place = data->place;
	waiting->unsure = waiting->total - had(data);
	places->exit(data);
	free(data);
}

static int calls_add(struct call_places *places, const struct call_place *place, uint64_t nr,
		     uint64_t weight, struct place_data **added)
{
	struct place_waiting *waiting = NULL;
	struct place_data *data;
	size_t at = places->nr;
	uint64_t sure = weight;

	*added = NULL;
	if (at == PLACES_MAX) {
		at = lightest(places);
		waiting = waiting_of(places, place);
		waiting->total += weight;
		sure = waiting->total - waiting->unsure;
		/*
		 * The factor 2 is hysteresis: places of similar weight would evict each other all
		 * the time.
		 */
		if (sure <= 2 * had(places->data[at])) {
			places->not_kept += nr;
			return 0;
		}
	}
	data = calloc(1, places->bytes);
	if (!data)
		return -ENOMEM;
	data->place = *place;
	data->before = sure - weight;
	if (waiting)
		give_up(places, at, waiting);
	else
		places->nr++;
	places->data[at] = data;
	places->last = at;
	*added = data;
	return 0;
}

static struct place_data *calls_find(struct call_places *places, const struct call_place *place)
{
	struct place_data *data;
	size_t i;

	/* Most calls are for the same place as the call before. */
	if (places->nr) {
		data = places->data[places->last];
		if (call_place_is(&data->place, place))
			return data;
	}
	for (i = 0; i < places->nr; i++) {
		data = places->data[i];
		if (!call_place_is(&data->place, place))
			continue;
		places->last = i;
		return data;
	}
	return NULL;
}

int call_places_get_many(struct call_places *places, const struct call_place *place, uint64_t nr,
			 uint64_t weight, void **found)
{
	struct place_data *data = calls_find(places, place);
	int err = data ? 0 : calls_add(places, place, nr, weight, &data);

	if (data) {
		data->count += nr;
		data->weight += weight;
	}
	*found = data;
	return err;
}

int call_places_get(struct call_places *places, const struct call_place *place, uint64_t weight,
		    void **found)
{
	return call_places_get_many(places, place, 1, weight, found);
}

void *call_places_largest(const struct call_places *places)
{
	struct place_data *data, *largest = NULL;
	size_t i;

	for (i = 0; i < places->nr; i++) {
		data = places->data[i];
		if (!largest || data->weight > largest->weight)
			largest = data;
	}
	return largest;
}

uint64_t call_places_others(const struct call_places *places)
{
	const struct place_data *largest = call_places_largest(places), *data;
	uint64_t others = places->not_kept;
	size_t i;

	for (i = 0; i < places->nr; i++) {
		data = places->data[i];
		others += data == largest ? 0 : data->count;
	}
	return others;
}

/*
 * Prints the script to mark calls by class over the call number. The figures `order` and `cost`
 * share this script. The marks come from the figures' bins.
 */

void scatter_amount(struct drawing *drawing, const struct bins *bins, const char *row)
{
	/* A mark is drawn at the mean position of the points in it. */
	if (bins->nr_cells == bins->count)
		drawing_say(drawing, DRAWING_AMOUNT, "%" PRIu64 " call%s, one mark each.",
			    bins->count, PLURAL(bins->count));
	else
		drawing_say(
			drawing, DRAWING_AMOUNT,
			"%" PRIu64 " calls in %zu marks; a mark is %" PRIu64
			" calls wide and %s high, and may represent several calls of the class.",
			bins->count, bins->nr_cells, (uint64_t)1 << bins->x_shift, row);
}

static bool has_class(const struct bins *bins, enum fault_class class)
{
	size_t i;

	for (i = 0; i < bins->nr_slots; i++)
		if (bins->slots[i].count && bins->slots[i].kind == class)
			return true;
	return false;
}

void scatter_key(struct drawing *drawing, const struct bins *bins)
{
	enum fault_class class;
	char title[64];

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		if (!has_class(bins, class))
			continue;
		snprintf(title, sizeof(title), "%s (%s)", fault_classes[class].title,
			 fault_class_name(class));
		drawing_key(drawing, title);
	}
}

void scatter_plot(struct drawing *drawing, const struct bins *bins, const char *x, const char *y,
		  unsigned int class_column)
{
	FILE *script = drawing->streams[DRAWING_SCRIPT];
	const struct fault_class_traits *mark;
	const char *separator = "plot ";
	enum fault_class class;
	unsigned int i;

	for (i = 0; i < NR_FAULT_CLASSES; i++) {
		class = fault_class_layers[i];
		if (!has_class(bins, class))
			continue;
		mark = &fault_classes[class];
		fprintf(script,
			"%s'%s.csv' skip 1 using (%s):(strcol(%u) eq '%s' ? %s : NaN) \\\n"
			"\twith points pt %u ps %.2f lc rgb '#%06x' title '%s (%s)'",
			separator, drawing->name, x, class_column, fault_class_name(class), y,
			mark->point, mark->size, mark->rgb, mark->title, fault_class_name(class));
		separator = ", \\\n\t";
	}
	fputc('\n', script);
}
