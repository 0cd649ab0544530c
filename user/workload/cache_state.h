/* SPDX-License-Identifier: GPL-2.0-only */
/* Prepares a file's page cache for a run. */
#ifndef PFSTAT_USER_CACHE_STATE_H
#define PFSTAT_USER_CACHE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "workload/mapping.h"

/*
 * Loads all the file's pages into the page cache (@warm) or drops all of them, and verifies it.
 * Returns STATUS_OK and stores the number of cached pages, or prints a message and returns the exit
 * status.
 * @name: the file's name in messages
 */
int cache_state_prepare(const struct mapping *mapping, const char *name, bool warm,
			uint64_t *resident);

#endif
