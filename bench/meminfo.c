// SPDX-License-Identifier: GPL-2.0-only
/* Parses /proc/meminfo into struct meminfo. A missing line leaves COUNT_NA. */
#include <stdlib.h>
#include <string.h>

#include "bench/meminfo.h"
#include "model/counters.h"

/* A line has the form "Cached:            19472 kB". */
static void meminfo_take_line(const char *line, const char *name, uint64_t *value)
{
	const size_t length = strlen(name);

	if (!strncmp(line, name, length) && line[length] == ':')
		*value = strtoull(line + length + 1, NULL, 10);
}

void meminfo_parse(struct meminfo *meminfo, FILE *file)
{
	char line[128];

	*meminfo = (struct meminfo){ COUNT_NA, COUNT_NA, COUNT_NA, COUNT_NA };
	while (file && fgets(line, sizeof(line), file)) {
		meminfo_take_line(line, "MemAvailable", &meminfo->available);
		meminfo_take_line(line, "Buffers", &meminfo->buffers);
		meminfo_take_line(line, "Cached", &meminfo->cached);
		meminfo_take_line(line, "Dirty", &meminfo->dirty);
	}
}

void meminfo_read(struct meminfo *meminfo)
{
	FILE *file = fopen("/proc/meminfo", "re");

	meminfo_parse(meminfo, file);
	if (file)
		fclose(file);
}
