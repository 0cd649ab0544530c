/* SPDX-License-Identifier: GPL-2.0-only */
/* A file's pages, brought into the state in which a run begins. */
#ifndef PFSTAT_USER_CACHE_STATE_H
#define PFSTAT_USER_CACHE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "workload/mapping.h"

/*
 * warm: all of them are in the page cache, else none is; verified. name is the file's,
 * in sentences. STATUS_OK and how many there are, or the exit status, after a complaint.
 */
int page_cache_prepare(const struct mapping *mapping, const char *name, bool warm,
		       uint64_t *resident);

#endif
