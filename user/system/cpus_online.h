/* SPDX-License-Identifier: GPL-2.0-only */
/* Which CPUs are online, from /sys/devices/system/cpu/online, and whether this has changed. */
#ifndef PFSTAT_USER_CPUS_ONLINE_H
#define PFSTAT_USER_CPUS_ONLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "system/cpus.h"

struct cpus_online {
	int fd; /* -1: the file cannot be read, and nothing changes */
	char text[512];
	struct cpus cpus;
};

/* Without the file, no change is ever seen. */
void cpus_online_open(struct cpus_online *online);
void cpus_online_close(struct cpus_online *online);
/* Reads the file again. True: the set has changed, or is read for the first time. */
bool cpus_online_changed(struct cpus_online *online);
/* Parses a list such as "0-3,5". -EINVAL: it is none, or has a CPU beyond CPUS_MAX. */
int cpus_online_parse(struct cpus *cpus, const char *list);

#endif
