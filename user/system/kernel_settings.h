/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's settings for read-ahead and fault-around, from sysfs and debugfs. */
#ifndef PFSTAT_USER_KERNEL_SETTINGS_H
#define PFSTAT_USER_KERNEL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds and reads a file system's read-ahead setting. */

#define READAHEAD_SETTING_PATH 128

/*
 * Finds the sysfs file, in KiB, from which new descriptors of the file @fd take their
 * read-ahead. -EOPNOTSUPP: none is exported (overlayfs: the lower file has one).
 */
int readahead_setting_find(int fd, char path[READAHEAD_SETTING_PATH]);

/* The setting in bytes, or -1 if none is exported. */
int64_t readahead_setting_read(int fd);
/* The same for files with this device number. -1 also for btrfs, whose files have no such device. */
int64_t readahead_setting_of_device(unsigned int dev_major, unsigned int dev_minor);

/* The kernel's fault-around, which applies to the whole machine, changed for a while. */

#define FAULT_AROUND_SETTING "/sys/kernel/debug/fault_around_bytes"

struct fault_around_setting {
	int fd; /* locked, -1 if not open */
	uint64_t before;
	bool changed;
};

/*
 * Opens and locks (flock(2)) the setting, and reads it. Returns 0, or a negative errno: -ENOENT if
 * debugfs is not mounted, or the kernel has no such setting.
 */
int fault_around_setting_open(struct fault_around_setting *setting);
/* Changes it. @bytes: a power of two, at least a page. Returns 0 or a negative errno. */
int fault_around_setting_change(struct fault_around_setting *setting, uint64_t bytes);
/* Restores the value found by open(), if it was changed. */
int fault_around_setting_restore(struct fault_around_setting *setting);
/* Restores it and closes. */
int fault_around_setting_close(struct fault_around_setting *setting);

#endif
