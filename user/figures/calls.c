// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

#define REGION_SHIFT 20	/* of pages: 4 GiB */

static struct call_place place_of(uint32_t dev, uint64_t inode, uint64_t pid, uint64_t page)
{
	if (inode)
		return (struct call_place){ .dev = dev, .inode = inode };
	return (struct call_place){ .pid = pid, .region = page >> REGION_SHIFT };
}

static bool call_of_record(const struct pfstat_record *record, struct call *call)
{
	*call = (struct call){
		.place = place_of(record->dev, record->inode, record->pid,
				  record->inode ? 0 : record->address >> 12),
		.page = record->inode ? record->pgoff : record->address >> 12,
		.ns = record->duration_ns,
		.class = (enum fault_class)record->class,
	};
	return record->class != PFSTAT_CLASS_PASS;
}

static bool call_of_fault(const struct pfstat_fault *fault, struct call *call)
{
	static const enum fault_class classes[PFSTAT_NR_FAULT_KINDS] = {
		[PFSTAT_FAULT_FILE] = FAULT_FILE, [PFSTAT_FAULT_ANON] = FAULT_ANON,
		[PFSTAT_FAULT_SWAP] = FAULT_SWAP, [PFSTAT_FAULT_COW] = FAULT_COW,
		[PFSTAT_FAULT_OTHER] = FAULT_OTHER,
	};
	const uint32_t kind = fault->event.flags;
	const uint64_t page = fault->inode ? fault->pgoff : fault->address >> 12;

	if (kind == PFSTAT_FAULT_HOOKED)
		return false;
	*call = (struct call){
		.place = place_of(fault->dev, fault->inode, fault->event.pid, page),
		.page = page,
		.ns = fault->event.ns - fault->start_ns,
		.class = kind < PFSTAT_NR_FAULT_KINDS ? classes[kind] : FAULT_OTHER,
	};
	return true;
}

bool call_of_item(const struct item *item, struct call *call)
{
	if (item->type == ITEM_RECORD)
		return call_of_record(item->record, call);
	return item->type == ITEM_EVENT && item->event->type == PFSTAT_EVENT_FAULT &&
	       call_of_fault((const struct pfstat_fault *)item->event, call);
}

bool call_is_disk(enum fault_class class)
{
	return class <= (enum fault_class)PFSTAT_CLASS_READAHEAD;
}

struct call_place place_of_fault(const struct explained *fault)
{
	return place_of(fault->dev, fault->inode, fault->pid, fault->address >> 12);
}

bool place_is(const struct call_place *a, const struct call_place *b)
{
	return a->inode == b->inode && a->dev == b->dev && a->pid == b->pid &&
	       a->region == b->region;
}

char *place_name(const struct call_place *place, const struct report *report,
		 const struct analysis *analysis)
{
	char *name;

	if (!place->inode)
		return asprintf(&name, "anonymous memory of process %" PRIu64 " from 0x%" PRIx64,
				place->pid, place->region << (REGION_SHIFT + 12)) < 0 ? NULL : name;
	if (!strcmp(report->environment.kind, "drive"))
		return strdup(report->environment.file);
	return analysis_file_name(analysis, place->dev, place->inode);
}

void places_exit(struct places *places)
{
	while (places->nr) {
		places->exit(places->data[--places->nr]);
		free(places->data[places->nr]);
	}
}

/* The slot of the lightest is free afterwards. */
static size_t give_up(struct places *places)
{
	const struct place_data *data;
	size_t i, least = 0;

	for (i = 1; i < places->nr; i++) {
		data = places->data[i];
		if (data->weight < ((const struct place_data *)places->data[least])->weight)
			least = i;
	}
	places->given_up += ((const struct place_data *)places->data[least])->count;
	places->exit(places->data[least]);
	free(places->data[least]);
	return least;
}

static struct place_data *add(struct places *places, const struct call_place *place)
{
	struct place_data *data = calloc(1, places->bytes);
	size_t at;

	if (!data)
		return NULL;
	at = places->nr < PLACES_MAX ? places->nr++ : give_up(places);
	data->place = *place;
	places->data[at] = data;
	places->last = at;
	return data;
}

void *places_get(struct places *places, const struct call_place *place, uint64_t weight)
{
	struct place_data *data = NULL;
	size_t i;

	/* Mostly where the last one was. */
	if (places->nr && place_is(&((struct place_data *)places->data[places->last])->place,
				   place))
		data = places->data[places->last];
	for (i = 0; i < places->nr && !data; i++) {
		if (!place_is(&((struct place_data *)places->data[i])->place, place))
			continue;
		data = places->data[i];
		places->last = i;
	}
	if (!data)
		data = add(places, place);
	if (data) {
		data->count++;
		data->weight += weight;
	}
	return data;
}

void *places_largest(const struct places *places)
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

uint64_t places_others(const struct places *places)
{
	const struct place_data *largest = places_largest(places), *data;
	uint64_t others = places->given_up;
	size_t i;

	for (i = 0; i < places->nr; i++) {
		data = places->data[i];
		others += data == largest ? 0 : data->count;
	}
	return others;
}
