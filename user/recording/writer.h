/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a recording, see recording.h. Bounded memory, whatever its length: some 8 MiB of
 * items may wait for the threads that encode and write them; then who adds one waits.
 */
#ifndef PFSTAT_USER_WRITER_H
#define PFSTAT_USER_WRITER_H

#include <jansson.h>
#include <stdio.h>

#include "model/item.h"

struct recording_writer;

struct recording_counts {
	uint64_t items, records, events;
};

/* The head is written at once; out stays the caller's. 0 or a negative errno. */
int recording_begin(struct recording_writer **writer, FILE *out, const json_t *head);
/* An item_sink. */
int recording_add(void *writer, const struct item *item);
/* Between items, a block of its own. */
int recording_add_symbols(struct recording_writer *writer, const json_t *symbols);
/* An array of any length, in pieces that are each well below what a block may hold. */
int recording_add_all_symbols(struct recording_writer *writer, const json_t *symbols);
/* Bytes that an object takes there, before compression. */
size_t recording_json_size(const json_t *object);
/* Waits until everything that was added is in the file. 0, or the first error there was. */
int recording_flush(struct recording_writer *writer);
/* The items that were accepted; those that are in the file, after recording_flush(). */
struct recording_counts recording_added(const struct recording_writer *writer);
struct recording_counts recording_written(const struct recording_writer *writer);
/* Writes the rest, and, if no error occurred, the tail; frees in any case. */
int recording_end(struct recording_writer *writer, const json_t *tail);
/* The same after an error, if the file still ends with a whole block. */
int recording_end_cut(struct recording_writer *writer, const json_t *tail);
/* Frees; the file has no tail. */
void recording_abandon(struct recording_writer *writer);

#endif
