/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flight recorder: keeps the last part of a recording in memory, and writes it when it is asked
 * for.
 */
#ifndef PFSTAT_USER_RECORD_KEEP_H
#define PFSTAT_USER_RECORD_KEEP_H

#include <stddef.h>
#include <stdint.h>

#include "limits/limits.h"
#include "model/item.h"
#include "run/result.h"
#include "run/watch.h"

/*
 * Keeps the last part of a recording in memory, compressed. Parts covering a quarter of the kept
 * time are dropped as a whole, so a little more than the kept time is there. Mappings, and the
 * names of threads that still exist, outlive their part as items without a time.
 */

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

/* pfdrive record --keep: only the last part is kept, and written when it is asked for. */

struct keep_options {
	uint64_t keep_ns;     /* 0: all is recorded */
	uint64_t bytes;	      /* 0: KEEP_BYTES */
	uint64_t longer_ns;   /* a call or fault taking longer, COUNT_NA if none */
	struct limits limits; /* for the faults within keep_ns */
};

#define KEEP_BYTES     (64U << 20)
#define KEEP_BYTES_MIN (1U << 20)

/* No recording is kept, and nothing is limited. */
void keep_options_init(struct keep_options *options);

/*
 * Watches, and writes a recording at SIGUSR1, after a fault that was too long, if the last faults
 * exceed a limit, and at the end.
 * @pattern: the file name, for strftime(3)
 * result: as for watch_open(). Returns the exit status.
 */
int record_keep(const struct keep_options *options, const struct watch_options *watch_options,
		const char *pattern, struct result *result);

#endif
