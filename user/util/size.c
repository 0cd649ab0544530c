// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts sizes between text and numbers, without I/O. size_parse() reads back every text
 * of size_name().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/size.h"

int size_parse(const char *text, uint64_t *size)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t value = 0;
	int i;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *text - '0', &value))
			return -ERANGE;
	if (*text) {
		unit = strchr(units, *text);
		if (!unit || text[1])
			return -EINVAL;
		for (i = 0; i <= unit - units; i++)
			if (__builtin_mul_overflow(value, 1024, &value))
				return -ERANGE;
	}
	*size = value;
	return 0;
}

void size_name(uint64_t bytes, char *name, size_t size)
{
	static const char units[] = "KMG";
	const char *unit = units;

	if (bytes % 1024 || !bytes) {
		snprintf(name, size, "%" PRIu64, bytes);
		return;
	}
	for (bytes /= 1024; bytes % 1024 == 0 && unit[1]; bytes /= 1024)
		unit++;
	snprintf(name, size, "%" PRIu64 "%c", bytes, *unit);
}
