/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is this an item as item.h and the contracts in <pfstat/> state it? Whoever takes items
 * indexes arrays with what is in them: asked where they come in.
 */
#ifndef PFSTAT_USER_ITEM_VALID_H
#define PFSTAT_USER_ITEM_VALID_H

#include <stdbool.h>
#include <stddef.h>

#include "model/item.h"

bool item_record_is_known(const struct pfstat_record *record);
/* `size` bytes can be read of it, more than the head of an event. */
bool item_event_is_known(const struct pfstat_event *event, size_t size);
/* All path_bytes of its path can be read. */
bool item_map_is_known(const struct item_map *map);

#endif
