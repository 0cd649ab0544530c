// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes fault_around_bytes in debugfs, under a lock, and restores it. The caller restores it on
 * every way out. A signal only sets a flag (util/signals.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "system/fault_around_setting.h"
#include "util/first_line.h"

/* Files in debugfs have no position. */
static int fault_around_setting_write(int fd, uint64_t bytes)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

static int fault_around_setting_read(struct fault_around_setting *setting)
{
	char text[32];

	first_line_read(FAULT_AROUND_SETTING, text, sizeof(text));
	setting->before = strtoull(text, NULL, 10);
	return setting->before ? 0 : -EIO;
}

int fault_around_setting_open(struct fault_around_setting *setting)
{
	int err;

	*setting = FAULT_AROUND_SETTING_NONE;
	setting->fd = open(FAULT_AROUND_SETTING, O_RDWR | O_CLOEXEC);
	if (setting->fd < 0)
		return -errno;
	err = flock(setting->fd, LOCK_EX) ? -errno : fault_around_setting_read(setting);
	if (err)
		fault_around_setting_close(setting);
	return err;
}

int fault_around_setting_change(struct fault_around_setting *setting, uint64_t bytes)
{
	int err;

	if (setting->fd < 0)
		return -ENOENT;
	err = fault_around_setting_write(setting->fd, bytes);
	setting->changed |= !err;
	return err;
}

int fault_around_setting_restore(struct fault_around_setting *setting)
{
	int err;

	if (!setting->changed)
		return 0;
	err = fault_around_setting_write(setting->fd, setting->before);
	setting->changed = err;
	return err;
}

int fault_around_setting_close(struct fault_around_setting *setting)
{
	const int err = fault_around_setting_restore(setting);

	if (setting->fd >= 0)
		close(setting->fd);
	setting->fd = -1;
	return err;
}
