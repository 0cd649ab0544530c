// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills, drops and counts the cached pages of one file with pread(2), posix_fadvise(2) and
 * mincore(2). Every change is verified by counting the pages afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "privilege/privilege.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "workload/file_cache.h"
#include "workload/pattern.h"

/* The file is mapped in windows for mincore(2). An untouched mapping pins no page. */
#define WINDOW_BYTES (1ULL << 30)

/*
 * Pages stay for a while if they are locked, under writeback, or in the per-CPU batch of
 * another CPU. Wait between attempts, 2 seconds in total.
 */
#define COLD_ATTEMPTS 40
#define COLD_WAIT_NS  50000000L

bool file_cache_is_all(int fd)
{
	struct statfs statfs;

	return !fstatfs(fd, &statfs) &&
	       (statfs.f_type == TMPFS_MAGIC || statfs.f_type == RAMFS_MAGIC);
}

/* Applies the rules in the kernel's can_do_mincore(). */
bool file_cache_is_visible(int fd)
{
	char path[64], names[CAPABILITY_NAMES_SIZE];
	struct stat stat;

	if (!fstat(fd, &stat) && stat.st_uid == geteuid())
		return true;
	if (!capabilities_lack(CAPABILITY(CAP_FOWNER), names, sizeof(names)))
		return true;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return !faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

static int resident_in_window(const struct mapping *mapping, uint64_t offset, uint64_t bytes,
			      unsigned char *vector, uint64_t *pages)
{
	void *window = mmap(NULL, bytes, PROT_READ, MAP_SHARED, mapping->fd, offset);
	uint64_t i;
	int err = 0;

	if (window == MAP_FAILED)
		return -errno;
	if (mincore(window, bytes, vector))
		err = -errno;
	for (i = 0; !err && i < page_size_count(bytes); i++)
		*pages += vector[i] & 1;
	munmap(window, bytes);
	return err;
}

int file_cache_resident(const struct mapping *mapping, uint64_t *pages)
{
	unsigned char *vector = malloc(WINDOW_BYTES / page_size());
	uint64_t offset, bytes;
	int err = 0;

	if (!vector)
		return -ENOMEM;
	*pages = 0;
	for (offset = 0; offset < mapping->bytes && !err; offset += bytes) {
		bytes = mapping->bytes - offset;
		if (bytes > WINDOW_BYTES)
			bytes = WINDOW_BYTES;
		err = resident_in_window(mapping, offset, bytes, vector, pages);
	}
	free(vector);
	return err;
}

/* Ignores errors from file systems without a disk. */
static int write_back(const struct mapping *mapping)
{
	return fdatasync(mapping->fd) && errno != EINVAL && errno != EROFS ? -errno : 0;
}

static int drop(const struct mapping *mapping)
{
	int err = write_back(mapping); /* dirty pages are not dropped */

	if (err)
		return err;
	/* Length 0 extends to the end, including a last page that the file fills only partly. */
	return -posix_fadvise(mapping->fd, 0, 0, POSIX_FADV_DONTNEED);
}

int file_cache_make_cold(const struct mapping *mapping, const volatile sig_atomic_t *stop,
			 uint64_t *resident)
{
	const struct timespec wait = { .tv_nsec = COLD_WAIT_NS };
	int attempt, err;

	for (attempt = 0; attempt < COLD_ATTEMPTS; attempt++) {
		if (attempt)
			nanosleep(&wait, NULL);
		if (*stop)
			return -EINTR;
		err = drop(mapping);
		if (!err)
			err = file_cache_resident(mapping, resident);
		if (err || !*resident)
			return err;
	}
	return -EBUSY;
}

/* Reads one byte in each page: the kernel reads whole pages, but copies only this byte. */
static int read_all(const struct mapping *mapping, const volatile sig_atomic_t *stop)
{
	uint64_t offset = 0;
	ssize_t got;
	char byte;

	while (offset < mapping->bytes) {
		if (*stop)
			return -EINTR;
		got = pread(mapping->fd, &byte, sizeof(byte), offset);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return -ESTALE; /* another process truncated the file */
		if (got > 0)
			offset += page_size();
	}
	return 0;
}

int file_cache_make_warm(const struct mapping *mapping, const volatile sig_atomic_t *stop,
			 uint64_t *resident)
{
	int err = 0;

	/* A page that is already dirty would not be written again, which lowers ru_oublock. */
	if (mapping->writable)
		err = write_back(mapping);
	if (!err)
		err = read_all(mapping, stop);
	if (!err)
		err = file_cache_resident(mapping, resident);
	if (!err && *resident < mapping->pages)
		err = -ENOBUFS;
	return err;
}

/*
 * Brings a file's pages into or out of the page cache before a run, and prints the reason if this
 * fails. A run starts only if the state has been verified.
 */

static int message_of(const struct mapping *mapping, const char *name, bool warm, int err,
		      uint64_t resident)
{
	switch (err) {
	case -EINTR:
		return 128 + signals_caught;
	case -EBUSY:
		return message(
			STATUS_FAILED,
			"%" PRIu64 " of %" PRIu64
			" pages of %s stay in the page cache; stop the programs that map or lock "
			"it, or use a file on a disk",
			resident, mapping->pages, name);
	case -ENOBUFS:
		return message(
			STATUS_FAILED,
			"only %" PRIu64 " of %" PRIu64
			" pages of %s stay in the page cache; use a smaller file, or more memory",
			resident, mapping->pages, name);
	default:
		return message(STATUS_FAILED, "cannot %s %s: %s",
			       warm ? "read" : "drop the cached pages of", name, strerror(-err));
	}
}

int cache_state_prepare(const struct mapping *mapping, const char *name, bool warm,
			uint64_t *resident)
{
	uint64_t pages = 0;
	int err;

	if (!warm && file_cache_is_all(mapping->fd))
		return message(STATUS_FAILED,
			       "%s is on a tmpfs, which has no disk; use a file on one", name);
	if (!file_cache_is_visible(mapping->fd))
		return message(STATUS_FAILED,
			       "cannot look up the pages of %s in the page cache: "
			       "the kernel reports them only to the file's owner and to those who "
			       "may write to it; run as root",
			       name);
	if (warm)
		err = file_cache_make_warm(mapping, &signals_caught, &pages);
	else
		err = file_cache_make_cold(mapping, &signals_caught, &pages);
	if (err)
		return message_of(mapping, name, warm, err, pages);
	*resident = pages;
	return STATUS_OK;
}
