// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's settings for read-ahead and fault-around, from sysfs and debugfs. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/btrfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "system/kernel_settings.h"
#include "util/array.h"
#include "util/input_file.h"

/*
 * Finds the read_ahead_kb file in sysfs for an open file, by UUID for btrfs and by device number
 * for others. It must be the setting inherited by new descriptors.
 */

/* btrfs has a separate setting (4 MiB), independent of the devices, and found by UUID. */
static bool of_btrfs(int fd, char path[READAHEAD_SETTING_PATH])
{
	struct btrfs_ioctl_fs_info_args info = { 0 };
	const uint8_t *u = info.fsid;

	if (ioctl(fd, BTRFS_IOC_FS_INFO, &info))
		return false;
	snprintf(path, READAHEAD_SETTING_PATH,
		 "/sys/fs/btrfs/%02x%02x%02x%02x-%02x%02x-"
		 "%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x/bdi/read_ahead_kb",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
	return !access(path, F_OK);
}

/* Tried in this order: the bdi for a whole disk or a virtual device (NFS), a disk, a partition. */
static bool of_device(unsigned int dev_major, unsigned int dev_minor,
		      char path[READAHEAD_SETTING_PATH])
{
	static const char *const formats[] = {
		"/sys/class/bdi/%u:%u/read_ahead_kb",
		"/sys/dev/block/%u:%u/queue/read_ahead_kb",
		"/sys/dev/block/%u:%u/../queue/read_ahead_kb",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		snprintf(path, READAHEAD_SETTING_PATH, formats[i], dev_major, dev_minor);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

int readahead_setting_find(int fd, char path[READAHEAD_SETTING_PATH])
{
	struct stat stat;

	if (of_btrfs(fd, path))
		return 0;
	if (!fstat(fd, &stat) && of_device(major(stat.st_dev), minor(stat.st_dev), path))
		return 0;
	return -EOPNOTSUPP;
}

/* In bytes, -1 if it cannot be read. */
static int64_t setting_value(const char *path)
{
	char text[32] = "";
	int64_t bytes = -1;
	FILE *file = fopen(path, "re");

	if (!file)
		return -1;
	if (fgets(text, sizeof(text), file))
		bytes = 1024 * strtoll(text, NULL, 10);
	fclose(file);
	return bytes;
}

int64_t readahead_setting_read(int fd)
{
	char path[READAHEAD_SETTING_PATH];

	return readahead_setting_find(fd, path) ? -1 : setting_value(path);
}

int64_t readahead_setting_of_device(unsigned int dev_major, unsigned int dev_minor)
{
	char path[READAHEAD_SETTING_PATH];

	return of_device(dev_major, dev_minor, path) ? setting_value(path) : -1;
}

/*
 * Changes fault_around_bytes in debugfs, under a lock, and restores it. The caller restores it on
 * every way out. A signal only sets a flag (util/signals.h).
 */

#define FAULT_AROUND_SETTING_NONE ((struct fault_around_setting){ .fd = -1 })

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
