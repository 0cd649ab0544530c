// SPDX-License-Identifier: GPL-2.0-only
/*
 * This machine's CPUs, from /sys/devices/system/cpu: which are online, and the L1 data cache's
 * size.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/cpus.h"
#include "util/text.h"

void cpus_online_open(struct cpus_online *online)
{
	*online = (struct cpus_online){
		.fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC),
	};
}

void cpus_online_close(struct cpus_online *online)
{
	if (online->fd >= 0)
		close(online->fd);
	online->fd = -1;
}

/* CPUS_MAX: there is no number, or it is too large. */
static unsigned long parse_cpu(const char *text, char **end)
{
	unsigned long cpu;

	*end = (char *)text;
	if (*text < '0' || *text > '9')
		return CPUS_MAX;
	cpu = strtoul(text, end, 10);
	return cpu < CPUS_MAX ? cpu : CPUS_MAX;
}

int cpus_online_parse(struct cpus *cpus, const char *list)
{
	unsigned long from, to;
	char *end;

	*cpus = (struct cpus){ 0 };
	for (;;) {
		from = parse_cpu(list, &end);
		to = *end == '-' ? parse_cpu(end + 1, &end) : from;
		if (to < from || to >= CPUS_MAX)
			return -EINVAL;
		for (; from <= to; from++)
			CPU_SET_S(from, sizeof(cpus->sets), cpus->sets);
		if (*end != ',')
			return *end && *end != '\n' ? -EINVAL : 0;
		list = end + 1;
	}
}

bool cpus_online_changed(struct cpus_online *online)
{
	char text[sizeof(online->text)];
	struct cpus cpus;
	ssize_t bytes;

	if (online->fd < 0)
		return false;
	bytes = pread(online->fd, text, sizeof(text) - 1, 0);
	if (bytes <= 0)
		return false;
	text[bytes] = '\0';
	if (!strcmp(text, online->text) || cpus_online_parse(&cpus, text))
		return false;
	strcpy(online->text, text);
	online->cpus = cpus;
	return true;
}

/*
 * Reads the L1 data cache size from sysfs, and evicts the cache lines by reading a larger buffer.
 * The walk makes no system call and no page fault: all buffer pages are written when the buffer is
 * opened.
 */

#define LINE	  64U /* CPUs with shorter lines are rare */
#define MAX_INDEX 16
#define MAX_BYTES (64U << 20)

static bool read_word(const char *folder, int index, const char *name, char *word, size_t size)
{
	char path[512];
	FILE *file;
	bool got;

	snprintf(path, sizeof(path), "%s/index%d/%s", folder, index, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	got = fgets(word, size, file);
	fclose(file);
	word[got ? strcspn(word, "\n") : 0] = '\0';
	return got;
}

uint64_t cpu_cache_l1d_bytes(int cpu, const char *folder)
{
	char own[64], word[32];
	uint64_t bytes;
	int index;

	snprintf(own, sizeof(own), "/sys/devices/system/cpu/cpu%d/cache", cpu);
	if (!folder)
		folder = own;
	for (index = 0; index < MAX_INDEX; index++) {
		if (!read_word(folder, index, "level", word, sizeof(word)) || strcmp(word, "1"))
			continue;
		if (!read_word(folder, index, "type", word, sizeof(word)) || strcmp(word, "Data"))
			continue;
		if (read_word(folder, index, "size", word, sizeof(word)) &&
		    !size_parse(word, &bytes) && bytes <= MAX_BYTES)
			return bytes;
	}
	return 0;
}

int cpu_cache_walk_open(struct cpu_cache_walk *walk, uint64_t l1d_bytes)
{
	*walk = (struct cpu_cache_walk){ 0 };
	if (!l1d_bytes)
		return 0;
	walk->bytes = 2 * l1d_bytes;
	walk->buffer = aligned_alloc(LINE, walk->bytes);
	if (!walk->buffer)
		return -ENOMEM;
	/* Fault all pages in now, before anything is counted. */
	memset((void *)walk->buffer, 1, walk->bytes);
	return 0;
}

void cpu_cache_walk(const struct cpu_cache_walk *walk)
{
	size_t i;

	for (i = 0; i < walk->bytes; i += LINE)
		(void)walk->buffer[i];
}

void cpu_cache_walk_close(struct cpu_cache_walk *walk)
{
	free((void *)walk->buffer);
	*walk = (struct cpu_cache_walk){ 0 };
}
