/* SPDX-License-Identifier: GPL-2.0-only */
/* The recorded files as they are now, and their page cache before a replay. */
#ifndef PFSTAT_USER_ADVISE_FILES_H
#define PFSTAT_USER_ADVISE_FILES_H

#include "advise/recorded_accesses.h"

/*
 * Marks the files that cannot be replayed, with the reason, and those that candidates advise: the
 * file @path, or all that no mapping executes (NULL). Then makes the steps of the plan.
 * Returns STATUS_OK, or the exit status after a message.
 */
int advise_files_check(struct recorded_accesses *accesses, const char *path);

/*
 * Drops the pages of the files that the recording read from their devices, and reads those that
 * it found in the cache. Returns STATUS_OK, or the exit status after a message or for a signal.
 */
int advise_files_prepare(const struct recorded_accesses *accesses);

/* The advised file whose faults took longest; NULL: there is none. */
const struct accessed_file *advise_files_main(const struct recorded_accesses *accesses);

#endif
