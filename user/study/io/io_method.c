// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "study/io/io_method.h"
#include "util/size.h"

static int parse_block(const char *text, uint64_t *block)
{
	if (size_parse(text, block) || !*block || *block % WAY_WORD || *block > WAY_BLOCK_MAX)
		return -EINVAL;
	return 0;
}

int way_parse(const char *text, struct way *ways, unsigned int *nr)
{
	struct way way = { 0 };

	if (!strcmp(text, "mmap")) {
		ways[(*nr)++] = (struct way){ .map = true };
		ways[(*nr)++] = (struct way){ .map = true, .write = true };
		return 0;
	}
	way.write = !strncmp(text, "write:", strlen("write:"));
	if (!way.write && strncmp(text, "read:", strlen("read:")))
		return -ENOENT;
	if (parse_block(strchr(text, ':') + 1, &way.block))
		return -EINVAL;
	ways[(*nr)++] = way;
	return 0;
}

void way_name(const struct way *way, char *name, unsigned int size)
{
	static const char units[] = { '\0', 'K', 'M', 'G' };
	uint64_t block = way->block;
	unsigned int unit = 0;

	if (way->map) {
		snprintf(name, size, "mmap, %s", way->write ? "write" : "read");
		return;
	}
	while (block % 1024 == 0 && unit + 1 < sizeof(units)) {
		block /= 1024;
		unit++;
	}
	snprintf(name, size, "%s:%" PRIu64 "%.1s", way->write ? "write" : "read", block,
		 &units[unit]);
}
