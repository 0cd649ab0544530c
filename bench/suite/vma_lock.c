// SPDX-License-Identifier: GPL-2.0-only
/*
 * Searches the running kernel's BTF for the sequence number in each VMA, without a version number.
 * The names in BTF follow each other, each between zeros, and no other type has a member with this
 * name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/suite/vma_lock.h"

#define BTF "/sys/kernel/btf/vmlinux"

/* Reading a sysfs file may return less. */
static int vma_lock_read(int fd, char *text, size_t bytes)
{
	size_t used = 0;
	ssize_t got;

	while (used < bytes) {
		got = read(fd, text + used, bytes - used);
		if (got <= 0)
			return got ? -errno : -EPROTO;
		used += got;
	}
	return 0;
}

static int vma_lock_search(int fd)
{
	static const char name[] = "\0vm_lock_seq";
	struct stat stat_buffer;
	char *text;
	int ret;

	if (fstat(fd, &stat_buffer))
		return -errno;
	text = malloc(stat_buffer.st_size);
	if (!text)
		return -ENOMEM;
	ret = vma_lock_read(fd, text, stat_buffer.st_size) ?:
		      !!memmem(text, stat_buffer.st_size, name, sizeof(name));
	free(text);
	return ret;
}

/* The fault flags also exist without per-VMA locks, but the sequence number does not. */
int vma_lock_exists(void)
{
	const int fd = open(BTF, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = vma_lock_search(fd);
	close(fd);
	return ret;
}
