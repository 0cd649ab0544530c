// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/cpus_online.h"

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
