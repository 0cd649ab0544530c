/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a recording, see recording.h; trusts nothing in it. */
#ifndef PFSTAT_USER_READER_H
#define PFSTAT_USER_READER_H

#include <jansson.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>

#include "model/item.h"

struct recording_reader;

/*
 * Opens and reads the head. On failure a negative errno and a clause in why
 * ("run.pfs is no recording", "run.pfs is of version 3: this pfdrive reads up to 1").
 * "-" is standard input.
 */
int recording_open(struct recording_reader **reader, const char *path, char *why, size_t size);
/* The same of a file that is open; name is what it is called. Closes it, also on failure. */
int recording_open_file(struct recording_reader **reader, FILE *file, const char *name, char *why,
			size_t size);
void recording_close(struct recording_reader *reader);

const json_t *recording_head(const struct recording_reader *reader);

/*
 * 1 and the next item, which stays until the next call; 0: no more; a negative errno
 * once, when the file cannot be read or there is no memory, and 0 from then on. Damage and
 * a missing end are no error: the items end before it, see recording_damage().
 */
int recording_next(struct recording_reader *reader, struct item *item);
/*
 * Gives sink all items that are left, until it refuses one. 0, its error, that of
 * recording_next(), or -EINTR: *stop is no longer 0.
 */
int recording_feed(struct recording_reader *reader, item_sink sink, void *context,
		   const volatile sig_atomic_t *stop);

/* After the last item. NULL: none, the recording was cut. */
const json_t *recording_tail(const struct recording_reader *reader);
/* An array of all symbols; after the last item. */
const json_t *recording_symbols(const struct recording_reader *reader);
/* One clause: what is damaged, and where; NULL: nothing. After the last item. */
const char *recording_damage(const struct recording_reader *reader);

#endif
