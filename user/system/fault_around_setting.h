/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's fault-around, which applies to the whole machine, changed for a while. */
#ifndef PFSTAT_USER_FAULT_AROUND_SETTING_H
#define PFSTAT_USER_FAULT_AROUND_SETTING_H

#include <stdbool.h>
#include <stdint.h>

#define FAULT_AROUND_SETTING "/sys/kernel/debug/fault_around_bytes"

struct fault_around_setting {
	int fd; /* locked, -1 if not open */
	uint64_t before;
	bool changed;
};

#define FAULT_AROUND_SETTING_NONE ((struct fault_around_setting){ .fd = -1 })

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
