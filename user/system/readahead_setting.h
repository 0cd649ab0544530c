/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds and reads a file system's read-ahead setting. */
#ifndef PFSTAT_USER_READAHEAD_SETTING_H
#define PFSTAT_USER_READAHEAD_SETTING_H

#include <stddef.h>
#include <stdint.h>

#define READAHEAD_SETTING_PATH 128

/*
 * Finds the sysfs file, in KiB, from which new descriptors of the file @fd take their
 * read-ahead. -EOPNOTSUPP: none is exported (overlayfs: the lower file has one).
 */
int readahead_setting_find(int fd, char path[READAHEAD_SETTING_PATH]);

/* The setting in bytes, or -1 if none is exported. */
int64_t readahead_setting_read(int fd);

#endif
