/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the last part of a recording in memory, compressed. Parts covering a quarter of the kept
 * time are dropped as a whole, so a little more than the kept time is there. Mappings, and the
 * names of threads that still exist, outlive their part as items without a time.
 */
#ifndef PFSTAT_USER_RECENT_H
#define PFSTAT_USER_RECENT_H

#include <stddef.h>
#include <stdint.h>

#include "model/item.h"

struct recent_items;

struct recent_options {
	uint64_t keep_ns;
	uint64_t bytes; /* compressed; if it does not suffice, less time is kept */
	/* Losses since the recording started. Called by recent_add() and recent_feed(). */
	void (*lost)(void *context, uint64_t *records, uint64_t *events);
	void *lost_context;
};

/* What recent_feed() passed on. */
struct recent_part {
	uint64_t from_ns; /* 0: all since the start */
	uint64_t items, records;
	uint64_t lost_records, lost_events; /* in this part, COUNT_NA if not known */
};

int recent_open(struct recent_items **recent, const struct recent_options *options);
/* An item_sink, for one thread. */
int recent_add(void *recent, const struct item *item);
/*
 * Passes everything kept to sink, in order, from another thread, while recent_add() goes on.
 * Returns 0, or the negative errno from sink or from reading.
 */
int recent_feed(struct recent_items *recent, item_sink sink, void *context,
		struct recent_part *part);
void recent_close(struct recent_items *recent);

#endif
