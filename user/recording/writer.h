/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a recording, see recording.h. Memory is bounded: up to about 8 MiB of items may wait for
 * the threads that encode and write them. If this space is full, the caller of recording_add()
 * waits.
 */
#ifndef PFSTAT_USER_WRITER_H
#define PFSTAT_USER_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "model/item.h"

struct recording_writer;

struct recording_counts {
	uint64_t items, records, events;
};

/* Writes the head at once. The caller still owns out. 0 or a negative errno. */
int recording_begin(struct recording_writer **writer, FILE *out, const json_t *head);
/* An item_sink. After an error, which may belong to an earlier item, the item was not added. */
int recording_add(void *writer, const struct item *item);
/* Adds symbols as a separate block. Call it between items. */
int recording_add_symbols(struct recording_writer *writer, const json_t *symbols);
/* Adds an array of any length, split to fit into blocks. */
int recording_add_all_symbols(struct recording_writer *writer, const json_t *symbols);
/* Bytes an object takes in the file before compression. */
size_t recording_json_size(const json_t *object);
/*
 * Waits until everything added is in the file. Returns 0, or the first error. If the disk is full,
 * the file has all items that fit, in the order in which they were added.
 */
int recording_flush(struct recording_writer *writer);
/* Counts the accepted items. After recording_flush(), these are the items in the file. */
struct recording_counts recording_added(const struct recording_writer *writer);
struct recording_counts recording_written(const struct recording_writer *writer);
/*
 * After recording_flush(): passes to sink, in order, the items that were added but are not in the
 * file. Returns 0, the error from sink, or -ENOMEM.
 */
int recording_feed_unwritten(struct recording_writer *writer, item_sink sink, void *context);
/* Writes the remaining items and, without an error, the tail. Frees the writer in any case. */
int recording_end(struct recording_writer *writer, const json_t *tail);
/*
 * Writes the tail after the last whole block, also after an error. After this call only
 * recording_abandon() is allowed. If the tail does not fit (block_sink_is_full()), the caller may
 * drop a block, and try again with a tail counting the dropped block's items as lost.
 */
int recording_put_tail(struct recording_writer *writer, const json_t *tail);
/*
 * After recording_put_tail(): removes the last block of items or symbols from the file. A large
 * items block becomes several small ones instead. Returns false if this is not possible.
 */
bool recording_drop_block(struct recording_writer *writer);
/* Frees the writer without writing a tail. */
void recording_abandon(struct recording_writer *writer);

#endif
