// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens and maps the memory under measurement, and populates, fills or syncs it on request. The
 * fault handlers of the mapping may be hooked already, so mapping_map() must not touch a page.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "system/machine.h"
#include "util/array.h"
#include "util/input_file.h"
#include "util/page_size.h"
#include "workload/mapping.h"
#include "workload/pattern.h"

/*
 * Parses advice names, and changes the read-ahead setting of a file system for the moment
 * in which a file is opened. The setting stays locked (flock) until the old value is
 * restored.
 */

int policy_parse_advice(struct policy *policy, const char *text)
{
	static const struct {
		const char *name;
		int advice;
	} all[] = {
		{ "normal", MADV_NORMAL },
		{ "random", MADV_RANDOM },
		{ "sequential", MADV_SEQUENTIAL },
		{ "willneed", MADV_WILLNEED },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (strcmp(text, all[i].name))
			continue;
		policy->advice = all[i].advice;
		return 0;
	}
	return -EINVAL;
}

static int read_setting(int fd, char *text, size_t size)
{
	const ssize_t got = pread(fd, text, size - 1, 0);

	if (got <= 0)
		return got ? -errno : -EIO;
	text[got] = '\0';
	return 0;
}

static int write_setting(int fd, const char *text)
{
	return pwrite(fd, text, strlen(text), 0) < 0 ? -errno : 0;
}

static int find_setting(const char *file, char path[READAHEAD_SETTING_PATH])
{
	int fd = open_regular(file, O_RDONLY), err;

	if (fd < 0)
		return fd;
	err = readahead_setting_find(fd, path);
	close(fd);
	return err;
}

/* Waits for another pfdrive, which has changed the setting for a moment. */
static int open_setting(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	if (!flock(fd, LOCK_EX))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int policy_readahead_begin(struct policy_readahead *readahead, const char *file, int64_t bytes)
{
	char text[32];
	int err;

	*readahead = POLICY_READAHEAD_NONE;
	err = find_setting(file, readahead->path);
	if (err)
		return err;
	readahead->fd = open_setting(readahead->path);
	if (readahead->fd < 0)
		return readahead->fd;
	snprintf(text, sizeof(text), "%" PRId64, bytes / 1024);
	err = read_setting(readahead->fd, readahead->before, sizeof(readahead->before));
	if (!err)
		err = write_setting(readahead->fd, text);
	if (err) {
		close(readahead->fd);
		readahead->fd = -1;
	}
	return err;
}

int policy_readahead_end(struct policy_readahead *readahead)
{
	int err;

	if (readahead->fd < 0)
		return 0;
	err = write_setting(readahead->fd, readahead->before);
	close(readahead->fd);
	readahead->fd = -1;
	return err;
}

/* How many bytes one memset(3) fills between two checks of the stop flag. */
#define FILL_BYTES (1ULL << 20)
/* Bytes of one populate, which a signal does not interrupt: a second on a slow disk. */
#define POPULATE_BYTES (64ULL << 20)
/* Differs from the first byte in common files and from the byte stored by patterns. */
#define FILL_BYTE 0xa5

static int mapping_check_kind(const struct stat *stat)
{
	if (S_ISDIR(stat->st_mode))
		return -EISDIR;
	if (!S_ISREG(stat->st_mode))
		return -EMEDIUMTYPE;
	if (stat->st_size < 1)
		return -ENODATA;
	if ((uint64_t)stat->st_size > MAPPING_MAX_BYTES)
		return -EFBIG;
	return 0;
}

int mapping_open(struct mapping *mapping, const char *path, bool write)
{
	int fd = open_regular(path, write ? O_RDWR : O_RDONLY);

	*mapping = MAPPING_NONE;
	return fd < 0 ? fd : mapping_take(mapping, fd);
}

int mapping_take(struct mapping *mapping, int fd)
{
	struct stat stat;
	int err;

	*mapping = MAPPING_NONE;
	mapping->fd = fd;
	err = fstat(fd, &stat) ? -errno : mapping_check_kind(&stat);
	if (err) {
		mapping_close(mapping);
		return err;
	}
	mapping->bytes = stat.st_size;
	mapping->pages = page_size_count(mapping->bytes);
	mapping->dev = stat.st_dev;
	mapping->inode = stat.st_ino;
	return 0;
}

void mapping_anon(struct mapping *mapping, uint64_t bytes)
{
	*mapping = (struct mapping){
		.fd = -1,
		.kind = MAPPING_ANON,
		.writable = true, /* like an ordinary anonymous mapping */
		.bytes = bytes,
		.pages = page_size_count(bytes),
	};
}

int mapping_map(struct mapping *mapping)
{
	static const int flags[NR_MAPPING_KINDS] = {
		[MAPPING_SHARED] = MAP_SHARED,
		[MAPPING_PRIVATE] = MAP_PRIVATE,
		[MAPPING_ANON] = MAP_PRIVATE | MAP_ANONYMOUS,
	};
	const int rights = PROT_READ | (mapping->writable ? PROT_WRITE : 0);
	void *data =
		mmap(mapping->at, mapping->bytes, rights, flags[mapping->kind], mapping->fd, 0);

	if (data == MAP_FAILED)
		return -errno;
	mapping->data = data;
	return 0;
}

int mapping_populate(const struct mapping *mapping, const volatile sig_atomic_t *stop)
{
	const bool own_pages = mapping->writable && mapping->kind != MAPPING_SHARED;
	const int advice = own_pages ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
	uint64_t offset, bytes;
	int err = 0;

	for (offset = 0; offset < mapping->bytes && !*stop && !err; offset += bytes) {
		bytes = mapping->bytes - offset;
		if (bytes > POPULATE_BYTES)
			bytes = POPULATE_BYTES;
		err = madvise((uint8_t *)mapping->data + offset, bytes, advice) ? -errno : 0;
	}
	return err;
}

int mapping_advise(const struct mapping *mapping, const struct policy *policy,
		   const volatile sig_atomic_t *stop)
{
	void *data = (void *)mapping->data;

	if (policy->advice >= 0 && madvise(data, mapping->bytes, policy->advice))
		return -errno;
	return policy->populate ? mapping_populate(mapping, stop) : 0;
}

void mapping_fill(const struct mapping *mapping, const volatile sig_atomic_t *stop)
{
	uint64_t offset, bytes;

	for (offset = 0; offset < mapping->bytes && !*stop; offset += bytes) {
		bytes = mapping->bytes - offset;
		if (bytes > FILL_BYTES)
			bytes = FILL_BYTES;
		memset((uint8_t *)mapping->data + offset, FILL_BYTE, bytes);
	}
}

int mapping_sync(const struct mapping *mapping)
{
	return msync((void *)mapping->data, mapping->bytes, MS_SYNC) ? -errno : 0;
}

void mapping_warm_up(void)
{
	static const volatile sig_atomic_t go_on;
	static uint8_t buffer[16384];
	const struct mapping small = { .data = buffer, .bytes = sizeof(buffer) };
	const struct mapping nowhere = { .bytes = 1 }, none = { .bytes = 0 };

	mapping_fill(&small, &go_on);
	/* An unmapped range and an empty range: both calls return at once. */
	mapping_populate(&nowhere, &go_on);
	mapping_sync(&none);
}

void mapping_unmap(struct mapping *mapping)
{
	if (mapping->data)
		munmap((void *)mapping->data, mapping->bytes);
	mapping->data = NULL;
}

void mapping_close(struct mapping *mapping)
{
	if (!mapping)
		return;
	mapping_unmap(mapping);
	if (mapping->fd >= 0)
		close(mapping->fd);
	mapping->fd = -1;
}

const char *mapping_loss(const struct mapping *mapping)
{
	struct statvfs space;
	struct stat stat;

	if (!fstat(mapping->fd, &stat) && (uint64_t)stat.st_size < mapping->bytes)
		return "another process truncated the file";
	if (mapping->writable && !fstatvfs(mapping->fd, &space) && !space.f_bavail)
		return "the disk is full";
	return "the disk fails";
}

void mapping_describe(const struct mapping *mapping, const char *path,
		      struct environment *environment)
{
	machine_state_read(environment);
	environment->file_bytes = mapping->bytes;
	environment->file_pages = mapping->pages;
	if (mapping->kind == MAPPING_ANON)
		machine_state_read_huge_pages(environment);
	else
		machine_state_read_file(environment, path, mapping->fd, mapping->dev);
}
