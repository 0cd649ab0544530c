// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens and maps the memory under measurement, and populates, fills or syncs it on request.
 * The fault handlers of the mapping may be hooked already, so mapping_map() must not touch
 * a page.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "util/input_file.h"
#include "system/machine.h"
#include "util/page_size.h"
#include "workload/mapping.h"
#include "workload/pattern.h"

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
