// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>

#include "../correlate/facts.h"
#include "meminfo.h"

void meminfo_parse(struct meminfo *meminfo, FILE *file)
{
	char line[128];

	*meminfo = (struct meminfo){ FACT_NONE, FACT_NONE, FACT_NONE, FACT_NONE };
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "MemAvailable: %" SCNu64 " kB", &meminfo->available);
		sscanf(line, "Buffers: %" SCNu64 " kB", &meminfo->buffers);
		sscanf(line, "Cached: %" SCNu64 " kB", &meminfo->cached);
		sscanf(line, "Dirty: %" SCNu64 " kB", &meminfo->dirty);
	}
}

void meminfo_read(struct meminfo *meminfo)
{
	FILE *file = fopen("/proc/meminfo", "re");

	meminfo_parse(meminfo, file);
	if (file)
		fclose(file);
}
