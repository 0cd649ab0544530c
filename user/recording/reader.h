/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a recording, see recording.h, and validates everything in it. */
#ifndef PFSTAT_USER_READER_H
#define PFSTAT_USER_READER_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/item.h"
#include "util/why.h"

struct recording_reader;

/*
 * Opens the file and reads the head. On failure returns a negative errno and a clause in why
 * ("run.pfs is not a recording of pfdrive"). "-" is standard input.
 */
int recording_open(struct recording_reader **reader, const char *path, struct why *why);
/*
 * Like recording_open(), for an open file. @name: the file's name in messages. Closes the file,
 * also on failure.
 */
int recording_open_file(struct recording_reader **reader, FILE *file, const char *name,
			struct why *why);
void recording_close(struct recording_reader *reader);

const json_t *recording_head(const struct recording_reader *reader);
/* The page size on the recorded machine. */
uint64_t recording_page_bytes(const struct recording_reader *reader);
/*
 * True if the recording's items may describe each handle_mm_fault(), see analysis_expect_spans().
 */
bool recording_has_spans(const struct recording_reader *reader);
/* Returns 0, or -EINVAL and a clause in why if they differ from this machine's. */
int recording_require_pages(const struct recording_reader *reader, struct why *why);

/*
 * Returns 1 and the next item, valid until the next call, or 0 if there are no more. If the file
 * cannot be read, or without memory, returns a negative errno once, then 0. Damage or a missing
 * end is not an error: the items stop before it, see recording_damage().
 */
int recording_next(struct recording_reader *reader, struct item *item);
/*
 * Passes all remaining items to sink, until sink fails. Returns 0, the error from sink or from
 * recording_next(), or -EINTR if *stop became nonzero.
 */
int recording_feed(struct recording_reader *reader, item_sink sink, void *context,
		   const volatile sig_atomic_t *stop);

/* Valid after the last item. NULL: there is no tail, because the recording was cut. */
const json_t *recording_tail(const struct recording_reader *reader);
/* An array of all symbols, valid after the last item. */
const json_t *recording_symbols(const struct recording_reader *reader);
/*
 * Reads only the symbols of a recording, without the items: sets *symbols to an array, which the
 * caller releases. What is behind damage is missing. Returns 0 or a negative errno.
 */
int recording_symbols_ahead(const char *path, json_t **symbols);
/* One clause about the damage and its place, or NULL. Valid after the last item. */
const char *recording_damage(const struct recording_reader *reader);

#endif
