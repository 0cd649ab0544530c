/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fault handler calls, as the study plots them. One call is one module record, or one eBPF fault
 * that the module does not see. A call of class pass, for example to map_pages() if no page was
 * there to map, is not counted, because another call follows.
 */
#ifndef PFSTAT_USER_CALLS_H
#define PFSTAT_USER_CALLS_H

#include <stdbool.h>

#include "analyze/analysis.h"
#include "figures/bins.h"
#include "report/report.h"

/* The space in which pages are numbered: a file, or 4 GiB of a process's memory. */
struct call_place {
	uint64_t inode;	      /* 0: not a file */
	uint64_t pid, region; /* without a file: pid, and page number >> 20 */
	uint32_t dev;
};

struct call {
	struct call_place place;
	uint64_t page;
	uint64_t ns;
	enum fault_class class;
};

/* False: the item is not such a call. */
bool call_of_item(const struct item *item, uint64_t page_bytes, struct call *call);
bool call_is_disk(enum fault_class class);

struct call_place call_place_of_fault(const struct explained *fault, uint64_t page_bytes);
bool call_place_is(const struct call_place *a, const struct call_place *b);
/* A place's name in a sentence. The caller frees it. NULL if there is no memory. */
char *call_place_name(const struct call_place *place, const struct report *report,
		      const struct analysis *analysis);

/*
 * Data for several places. The caller chooses the size of each place's data, which starts with
 * struct place_data. If all slots are used, a new place waits: only its weight is counted. The
 * place is kept as soon as it weighs more than twice as much as the lightest kept place. The
 * lightest place then waits, and its data is dropped; only its calls are counted.
 *
 * No place had more than the kept weight of the largest place plus a seventh of the total. The
 * lightest of 16 places had at most 1/16 of the total. So a place that waits, or waited before it
 * was kept, had at most 2/16 while it waited. At most 1/64 may be missing from before it waited.
 */
struct place_data {
	struct call_place place;
	uint64_t count;
	uint64_t weight; /* sum over the weights: time, or pages */
	uint64_t before; /* weight while the place waited, not in `weight` */
};

#define PLACES_MAX     16
#define PLACES_WAITING 64

struct place_waiting {
	struct call_place place;
	uint64_t total;	 /* upper limit for the weight */
	uint64_t unsure; /* the part possibly belonging to other places */
};

struct call_places {
	size_t bytes;
	void (*exit)(void *data);
	void *data[PLACES_MAX];
	size_t nr, last;
	struct place_waiting waiting[PLACES_WAITING];
	uint64_t not_kept; /* calls from places not kept */
};

void call_places_exit(struct call_places *places);
/* Counts one call with this weight. *found is NULL if the call's place is not kept. -ENOMEM. */
int call_places_get(struct call_places *places, const struct call_place *place, uint64_t weight,
		    void **found);
/* Counts nr calls with this total weight. */
int call_places_get_many(struct call_places *places, const struct call_place *place, uint64_t nr,
			 uint64_t weight, void **found);
/* The place with the most weight, or NULL without places. */
void *call_places_largest(const struct call_places *places);
/* Returns the calls for all other places. */
uint64_t call_places_others(const struct call_places *places);

#endif
