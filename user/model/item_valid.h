/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks that an item obeys item.h and the contracts in <pfstat/>. Consumers index arrays with an
 * item's fields, so items are validated where they enter the program.
 */
#ifndef PFSTAT_USER_ITEM_VALID_H
#define PFSTAT_USER_ITEM_VALID_H

#include <stdbool.h>
#include <stddef.h>

#include "model/item.h"

bool item_valid_record(const struct pfstat_record *record);
/* @size: how many bytes are readable at @event, maybe fewer than an event header */
bool item_valid_event(const struct pfstat_event *event, size_t size);
/* All path_bytes of the path must be readable. */
bool item_valid_map(const struct item_map *map);

#endif
