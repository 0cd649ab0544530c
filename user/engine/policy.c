// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "policy.h"

int policy_parse_advice(struct policy *policy, const char *text)
{
	static const struct {
		const char *name;
		int advice;
	} all[] = {
		{ "normal", MADV_NORMAL }, { "random", MADV_RANDOM },
		{ "sequential", MADV_SEQUENTIAL }, { "willneed", MADV_WILLNEED },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(text, all[i].name))
			continue;
		policy->advice = all[i].advice;
		return 0;
	}
	return -EINVAL;
}

static int read_setting(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	bool got;

	if (!file)
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	got = fgets(text, size, file);
	fclose(file);
	return got ? 0 : -EIO;
}

static int write_setting(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int find_setting(const char *file, char path[READAHEAD_SETTING_PATH])
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err;

	if (fd < 0)
		return -errno;
	err = readahead_setting_find(fd, path);
	close(fd);
	return err;
}

int policy_readahead_begin(struct policy_readahead *readahead, const char *file, int64_t bytes)
{
	char text[32];
	int err;

	*readahead = (struct policy_readahead){ 0 };
	err = find_setting(file, readahead->path);
	if (!err)
		err = read_setting(readahead->path, readahead->before, sizeof(readahead->before));
	if (err)
		return err;
	snprintf(text, sizeof(text), "%" PRId64, bytes / 1024);
	err = write_setting(readahead->path, text);
	if (err)
		readahead->before[0] = '\0';
	return err;
}

void policy_readahead_end(struct policy_readahead *readahead)
{
	if (readahead->before[0])
		write_setting(readahead->path, readahead->before);
	readahead->before[0] = '\0';
}
