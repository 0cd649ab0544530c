// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses advice names, and changes the read-ahead setting of a file system for the moment
 * in which a file is opened. The setting stays locked (flock) until the old value is
 * restored.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/array.h"
#include "util/input_file.h"
#include "workload/policy.h"

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
