// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mapping.h"
#include "pattern.h"

static int check_kind(const struct stat *stat)
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

int mapping_open(struct mapping *mapping, const char *path)
{
	struct stat stat;
	int err;

	*mapping = MAPPING_NONE;
	/* Without O_NONBLOCK a FIFO would wait here for a writer. */
	mapping->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (mapping->fd < 0)
		return -errno;
	err = fstat(mapping->fd, &stat) ? -errno : check_kind(&stat);
	if (err) {
		mapping_close(mapping);
		return err;
	}
	mapping->bytes = stat.st_size;
	mapping->pages = (mapping->bytes + PATTERN_PAGE - 1) / PATTERN_PAGE;
	mapping->dev = stat.st_dev;
	mapping->inode = stat.st_ino;
	return 0;
}

int mapping_map(struct mapping *mapping)
{
	void *data = mmap(NULL, mapping->bytes, PROT_READ, MAP_SHARED, mapping->fd, 0);

	if (data == MAP_FAILED)
		return -errno;
	mapping->data = data;
	return 0;
}

int mapping_advise(const struct mapping *mapping, const struct policy *policy)
{
	void *data = (void *)mapping->data;

	if (policy->advice >= 0 && madvise(data, mapping->bytes, policy->advice))
		return -errno;
	/* As MAP_POPULATE does, but of a mapping that is hooked already. */
	if (policy->populate && madvise(data, mapping->bytes, MADV_POPULATE_READ))
		return -errno;
	return 0;
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
