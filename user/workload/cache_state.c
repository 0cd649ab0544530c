// SPDX-License-Identifier: GPL-2.0-only
/*
 * Brings a file's pages into or out of the page cache before a run, and prints the reason if this
 * fails. A run starts only if the state has been verified.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "util/message.h"
#include "util/signals.h"
#include "workload/cache_state.h"
#include "workload/file_cache.h"

static int message_of(const struct mapping *mapping, const char *name, bool warm, int err,
		      uint64_t resident)
{
	switch (err) {
	case -EINTR:
		return 128 + signals_caught;
	case -EBUSY:
		return message(
			STATUS_FAILED,
			"%" PRIu64 " of %" PRIu64
			" pages of %s stay in the page cache; stop the programs that map or lock "
			"it, or use a file on a disk",
			resident, mapping->pages, name);
	case -ENOBUFS:
		return message(
			STATUS_FAILED,
			"only %" PRIu64 " of %" PRIu64
			" pages of %s stay in the page cache; use a smaller file, or more memory",
			resident, mapping->pages, name);
	default:
		return message(STATUS_FAILED, "cannot %s %s: %s",
			       warm ? "read" : "drop the cached pages of", name, strerror(-err));
	}
}

int cache_state_prepare(const struct mapping *mapping, const char *name, bool warm,
			uint64_t *resident)
{
	uint64_t pages = 0;
	int err;

	if (!warm && file_cache_is_all(mapping->fd))
		return message(STATUS_FAILED,
			       "%s is on a tmpfs, which has no disk; use a file on one", name);
	if (!file_cache_is_visible(mapping->fd))
		return message(STATUS_FAILED,
			       "cannot look up the pages of %s in the page cache: "
			       "the kernel reports them only to the file's owner and to those who "
			       "may write to it; run as root",
			       name);
	if (warm)
		err = file_cache_make_warm(mapping, &signals_caught, &pages);
	else
		err = file_cache_make_cold(mapping, &signals_caught, &pages);
	if (err)
		return message_of(mapping, name, warm, err, pages);
	*resident = pages;
	return STATUS_OK;
}
