// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses and prints the access methods: a mapping, or read(2) and write(2) with blocks of one size.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/io/io_method.h"
#include "util/text.h"

static int io_method_parse_block(const char *text, uint64_t *block)
{
	if (size_parse(text, block) || !*block || *block % IO_WORD || *block > IO_BLOCK_MAX)
		return -EINVAL;
	return 0;
}

int io_method_parse(const char *text, struct io_method *methods, unsigned int *nr)
{
	struct io_method method = { 0 };

	if (!strcmp(text, "mmap")) {
		methods[(*nr)++] = (struct io_method){ .map = true };
		methods[(*nr)++] = (struct io_method){ .map = true, .write = true };
		return 0;
	}
	method.write = !strncmp(text, "write:", strlen("write:"));
	if (!method.write && strncmp(text, "read:", strlen("read:")))
		return -ENOENT;
	if (io_method_parse_block(strchr(text, ':') + 1, &method.block))
		return -EINVAL;
	methods[(*nr)++] = method;
	return 0;
}

void io_method_name(const struct io_method *method, char *name, unsigned int size)
{
	static const char units[] = { '\0', 'K', 'M', 'G' };
	uint64_t block = method->block;
	unsigned int unit = 0;

	if (method->map) {
		snprintf(name, size, "mmap, %s", method->write ? "write" : "read");
		return;
	}
	while (block % 1024 == 0 && unit + 1 < sizeof(units)) {
		block /= 1024;
		unit++;
	}
	snprintf(name, size, "%s:%" PRIu64 "%.1s", method->write ? "write" : "read", block,
		 &units[unit]);
}
