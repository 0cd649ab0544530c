/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of fault handlers, as the study plots them: one of the module's records each, or
 * one of eBPF's faults that the module does not see. A first look for pages around that
 * found none (class pass) is not counted: the call after it is.
 */
#ifndef PFSTAT_USER_CALLS_H
#define PFSTAT_USER_CALLS_H

#include <stdbool.h>

#include "analyze/analysis.h"
#include "figures/bins.h"
#include "report/report.h"

/* Where pages are numbered: a file, or 4 GiB of a process's memory. */
struct call_place {
	uint64_t inode;	      /* 0: no file */
	uint64_t pid, region; /* then: of its pages, the number >> 20 */
	uint32_t dev;
};

struct call {
	struct call_place place;
	uint64_t page;
	uint64_t ns;
	enum fault_class class;
};

/* False: the item is none. */
bool call_of_item(const struct item *item, struct call *call);
bool call_is_disk(enum fault_class class);

struct call_place place_of_fault(const struct explained *fault);
bool place_is(const struct call_place *a, const struct call_place *b);
/* What is told of it in a sentence; the caller frees it. NULL: no memory. */
char *place_name(const struct call_place *place, const struct report *report,
		 const struct analysis *analysis);

/*
 * What is kept of several places, each with as many bytes as its owner wants, which begin
 * with struct place_data. Where there is no room for another it waits, its weight alone is
 * followed, and it is kept when it had twice as much as the lightest: that one waits then, and
 * what it had is only counted.
 *
 * No place had more than what is kept of the largest and a seventh of the weight of all: the
 * lightest of 16 had at most a sixteenth, so one that waits, or waited before it was kept, at
 * most two of these there; and a 64th may have been missed before it began to wait.
 */
struct place_data {
	struct call_place place;
	uint64_t count;
	uint64_t weight; /* of what is counted: time, or pages */
	uint64_t before; /* what it had when it waited; not counted */
};

#define PLACES_MAX     16
#define PLACES_WAITING 64

struct place_waiting {
	struct call_place place;
	uint64_t total;	 /* at least all that it had */
	uint64_t unsure; /* of it, what others may have had */
};

struct places {
	size_t bytes;
	void (*exit)(void *data);
	void *data[PLACES_MAX];
	size_t nr, last;
	struct place_waiting waiting[PLACES_WAITING];
	uint64_t not_kept; /* calls */
};

void places_exit(struct places *places);
/* Counts one of that weight. *found NULL: its place is not kept. -ENOMEM. */
int places_get(struct places *places, const struct call_place *place, uint64_t weight,
	       void **found);
/* The same of nr calls, of that weight together. */
int places_get_many(struct places *places, const struct call_place *place, uint64_t nr,
		    uint64_t weight, void **found);
/* The heaviest; NULL: there is none. */
void *places_largest(const struct places *places);
/* Counted in all the others. */
uint64_t places_others(const struct places *places);

#endif
