/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the kernel keeps how far a file system reads ahead. */
#ifndef PFSTAT_USER_READAHEAD_SETTING_H
#define PFSTAT_USER_READAHEAD_SETTING_H

#include <stddef.h>
#include <stdint.h>

#define READAHEAD_SETTING_PATH 128

/*
 * The file in sysfs that new descriptors of the open file fd take their read-ahead from, in
 * KiB. -EOPNOTSUPP: its file system has none that is told (overlayfs: the file below has).
 */
int readahead_setting_find(int fd, char path[READAHEAD_SETTING_PATH]);

/* The setting in bytes; -1: it has none that is told. */
int64_t readahead_setting_read(int fd);

#endif
