// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the calling process's size from /proc/self. proc_self_size_open() prepares files and
 * buffers, so a later reading causes no page fault that would change the result.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/rss/proc_self_size.h"
#include "util/array.h"
#include "util/page_size.h"

#define PRESENT (1ULL << 63) /* bit in an entry, Documentation/admin-guide/mm/pagemap.rst */

/*
 * Static buffers, written in proc_self_size_open(): a later reading must not fault on a new stack
 * page.
 */
static char text[4096];
static uint64_t entries[4096];

int proc_self_size_open(struct sizes_files *files)
{
	files->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	files->rollup = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	files->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (files->statm < 0 || files->rollup < 0 || files->pagemap < 0)
		return -errno;
	memset(text, 0, sizeof(text));
	memset(entries, 0, sizeof(entries));
	return 0;
}

static int read_text(int fd)
{
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

	if (got < 0)
		return -errno;
	text[got] = '\0';
	return 0;
}

static int read_virtual(int fd, uint64_t *bytes)
{
	uint64_t pages;
	int err = read_text(fd);

	if (err)
		return err;
	if (sscanf(text, "%" SCNu64, &pages) != 1)
		return -EPROTO;
	*bytes = pages * page_size();
	return 0;
}

static int read_resident(int fd, uint64_t *bytes)
{
	const char *line;
	uint64_t kib;
	int err = read_text(fd);

	if (err)
		return err;
	line = strstr(text, "\nRss:");
	if (!line || sscanf(line, "\nRss: %" SCNu64 " kB", &kib) != 1)
		return -EPROTO;
	*bytes = kib * 1024;
	return 0;
}

static int read_mapped(int fd, const volatile void *range, size_t pages, uint64_t *mapped)
{
	size_t first = (uintptr_t)range / page_size(), some, i;
	ssize_t got;

	*mapped = 0;
	for (; range && pages; pages -= some, first += some) {
		some = pages < ARRAY_SIZE(entries) ? pages : ARRAY_SIZE(entries);
		got = pread(fd, entries, some * sizeof(*entries), first * sizeof(*entries));
		if (got != (ssize_t)(some * sizeof(*entries)))
			return got < 0 ? -errno : -EPROTO;
		for (i = 0; i < some; i++)
			*mapped += !!(entries[i] & PRESENT);
	}
	return 0;
}

int proc_self_size_read(const struct sizes_files *files, const volatile void *range, size_t pages,
			struct sizes *sizes)
{
	int err = read_virtual(files->statm, &sizes->virtual_bytes);

	if (!err)
		err = read_resident(files->rollup, &sizes->resident_bytes);
	if (!err)
		err = read_mapped(files->pagemap, range, pages, &sizes->mapped_pages);
	return err;
}
