// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module hooks only the file named by --file. eBPF cannot choose: it still counts all faults,
 * for the ledger. eBPF events are chosen here, by inode only, because the device returned by
 * stat(2) may differ from the kernel's. An overlay file's inode may differ too: the module's
 * records have the mapped inode.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/file_events.h"

static bool file_events_has(const struct file_events *file, uint64_t inode)
{
	unsigned int i;

	for (i = 0; i < file->nr; i++)
		if (file->inodes[i] == inode)
			return true;
	return false;
}

static void file_events_add(struct file_events *file, uint64_t inode)
{
	if (file->nr < FILE_EVENTS_INODES && !file_events_has(file, inode))
		file->inodes[file->nr++] = inode;
}

int file_events_open(struct file_events *file, const char *path)
{
	struct stat stat_buffer;

	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &stat_buffer))
		return -errno;
	file_events_add(file, stat_buffer.st_ino);
	return 0;
}

bool file_events_want(struct file_events *file, const struct item *item)
{
	const struct pfstat_event *event = item->event;
	const struct pfstat_fault *fault = (const struct pfstat_fault *)event;
	const struct pfstat_block *block = (const struct pfstat_block *)event;
	const struct pfstat_page *page = (const struct pfstat_page *)event;

	if (file->fd < 0)
		return true;
	if (item->type == ITEM_RECORD)
		file_events_add(file, item->record->inode);
	if (item->type != ITEM_EVENT)
		return true;
	if (event->type == PFSTAT_EVENT_FAULT)
		return file_events_has(file, fault->inode);
	if (event->type == PFSTAT_EVENT_BLOCK && event->flags & PFSTAT_BLOCK_FILE)
		return file_events_has(file, block->inode);
	if (event->type == PFSTAT_EVENT_PAGE)
		return !(event->flags & PFSTAT_PAGE_ANON) && file_events_has(file, page->inode);
	return true;
}

void file_events_close(struct file_events *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}
