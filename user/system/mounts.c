// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the file systems of mapped files by device number, while the processes exist. The numbers
 * come from items, the file systems go to the counters at the end of a recording.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/kernel_settings.h"
#include "system/mounts.h"
#include "util/array.h"

#define TRIES_MAX 8   /* processes asked for a number that no table has */
#define ROWS_MAX  512 /* file systems, and numbers without one */

/* Of kernel-internal mounts (memfd, shmem), or of a process that has ended. */
struct unknown_mount {
	uint32_t dev, last_pid;
	unsigned int tries;
};

/* Copies the word at @from, and decodes \040 and the like. Returns what follows the word. */
static const char *mount_word(char *to, size_t size, const char *from)
{
	unsigned int code;
	size_t used = 0;
	char c;

	while (*from && *from != ' ' && *from != '\n') {
		c = *from++;
		if (c == '\\' && sscanf(from, "%3o", &code) == 1 && strspn(from, "01234567") >= 3) {
			c = code;
			from += 3;
		}
		if (used + 1 < size)
			to[used++] = c;
	}
	to[used] = '\0';
	return *from == ' ' ? from + 1 : from;
}

/* True if one of the comma-separated options is NAME, or NAME=VALUE except no. */
static bool mount_compresses(const char *options)
{
	static const char *const names[] = { "compress", "compress-force" };
	size_t i, length;

	for (; *options; options += strcspn(options, ","), options += *options == ',')
		for (i = 0; i < ARRAY_SIZE(names); i++) {
			length = strlen(names[i]);
			if (!strncmp(options, names[i], length) &&
			    strchr("=, \n", options[length]) &&
			    strncmp(options + length, "=no", strlen("=no")))
				return true;
		}
	return false;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" */
bool mount_line_parse(struct mount_line *mount, const char *line)
{
	unsigned int dev_major, dev_minor;
	const char *rest = strstr(line, " - ");

	*mount = (struct mount_line){ 0 };
	if (!rest ||
	    sscanf(line, "%" SCNu64 " %*u %u:%u ", &mount->id, &dev_major, &dev_minor) != 3)
		return false;
	mount->filesystem.dev = dev_major << 20 | dev_minor;
	rest = mount_word(mount->filesystem.type, sizeof(mount->filesystem.type), rest + 3);
	rest = mount_word(mount->filesystem.source, sizeof(mount->filesystem.source), rest);
	mount->filesystem.compress = mount_compresses(rest);
	return mount->filesystem.type[0];
}

/* @id: NULL: finds by device */
static bool mounts_find(const char *path, uint32_t dev, const uint64_t *id,
			struct filesystem *found)
{
	FILE *file = fopen(path, "re");
	struct mount_line mount;
	char *line = NULL;
	size_t room = 0;
	bool is = false;

	while (file && !is && getline(&line, &room, file) > 0)
		is = mount_line_parse(&mount, line) &&
		     (id ? mount.id == *id : mount.filesystem.dev == dev);
	if (is)
		*found = mount.filesystem;
	free(line);
	if (file)
		fclose(file);
	return is;
}

bool mounts_find_device(const char *path, uint32_t dev, struct filesystem *found)
{
	return mounts_find(path, dev, NULL, found);
}

bool mounts_find_id(const char *path, uint64_t id, struct filesystem *found)
{
	return mounts_find(path, 0, &id, found);
}

static struct unknown_mount *mounts_unknown(struct mounts *mounts, uint32_t dev)
{
	size_t i;

	for (i = 0; i < mounts->nr_unknown; i++)
		if (mounts->unknown[i].dev == dev)
			return &mounts->unknown[i];
	if (mounts->nr_unknown == ROWS_MAX ||
	    array_reserve((void **)&mounts->unknown, mounts->nr_unknown, &mounts->unknown_room,
			  sizeof(*mounts->unknown)))
		return NULL;
	mounts->unknown[mounts->nr_unknown] = (struct unknown_mount){ .dev = dev };
	return &mounts->unknown[mounts->nr_unknown++];
}

static void mounts_look_up(struct mounts *mounts, uint32_t dev, uint32_t pid)
{
	struct unknown_mount *unknown = mounts_unknown(mounts, dev);
	struct filesystem found;
	char path[64];

	if (!unknown || unknown->tries == TRIES_MAX)
		mounts->last_dev = dev;
	if (!unknown || unknown->tries == TRIES_MAX || (unknown->tries && unknown->last_pid == pid))
		return;
	unknown->tries++;
	unknown->last_pid = pid;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/mountinfo", pid);
	if (!mounts_find_device(path, dev, &found) &&
	    !mounts_find_device("/proc/self/mountinfo", dev, &found) &&
	    !mounts_find_device("/proc/1/mountinfo", dev, &found))
		return;
	if (mounts->nr == ROWS_MAX ||
	    array_reserve((void **)&mounts->rows, mounts->nr, &mounts->room, sizeof(*mounts->rows)))
		return;
	found.readahead_bytes = readahead_setting_of_device(dev >> 20, dev & ((1U << 20) - 1));
	mounts->rows[mounts->nr++] = found;
}

void mounts_see(struct mounts *mounts, uint32_t dev, uint32_t pid)
{
	if (!dev || dev == mounts->last_dev)
		return;
	if (filesystem_find(mounts->rows, mounts->nr, dev))
		mounts->last_dev = dev;
	else
		mounts_look_up(mounts, dev, pid);
}

void mounts_see_item(struct mounts *mounts, const struct item *item)
{
	const struct pfstat_fault *fault = (const void *)item->event;

	if (item->type == ITEM_MAP)
		mounts_see(mounts, item->map->dev, item->map->pid);
	else if (item->type == ITEM_RECORD)
		mounts_see(mounts, item->record->dev, item->record->pid);
	else if (item->event->type == PFSTAT_EVENT_FAULT)
		mounts_see(mounts, fault->dev, item->event->pid);
}

void mounts_hand_over(struct mounts *mounts, struct run_counters *counters)
{
	counters->filesystems = mounts->rows;
	counters->nr_filesystems = mounts->nr;
	mounts->rows = NULL;
	mounts_exit(mounts);
}

void mounts_exit(struct mounts *mounts)
{
	free(mounts->rows);
	free(mounts->unknown);
	*mounts = (struct mounts){ 0 };
}
