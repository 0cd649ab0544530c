/* SPDX-License-Identifier: GPL-2.0-only */
/* The recorded files as they are now, and their page cache before a replay. */
#ifndef PFSTAT_USER_ADVISE_FILES_H
#define PFSTAT_USER_ADVISE_FILES_H

#include "advise/recorded_accesses.h"

/*
 * Marks the files that cannot be replayed, with the reason, and the files candidates advise: the
 * file @path, or all files not executed by a mapping (NULL). Then makes the plan's steps.
 * Returns STATUS_OK, or the exit status after a message.
 */
int advise_files_check(struct recorded_accesses *accesses, const char *path);

/*
 * Drops the file pages that the recording read from a device, and reads the pages it found in the
 * cache. Returns STATUS_OK, or the exit status after a message or for a signal.
 */
int advise_files_prepare(const struct recorded_accesses *accesses);

/* The advised file with the longest fault time, or NULL if there is none. */
const struct accessed_file *advise_files_main(const struct recorded_accesses *accesses);

#endif
