// SPDX-License-Identifier: GPL-2.0-only
/* Wraps perf_event_open(2), and keeps a growing list of descriptors that are closed together. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/perf.h"
#include "util/array.h"

static int perf_open_with(struct perf_event_attr *attr, pid_t tid, int cpu, int group,
			  unsigned long flags)
{
	long fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, tid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int perf_open_in_group(struct perf_event_attr *attr, pid_t tid, int cpu, int leader)
{
	return perf_open_with(attr, tid, cpu, leader, 0);
}

int perf_open_into(struct perf_event_attr *attr, pid_t tid, int cpu, int output, bool in_group)
{
	return perf_open_with(attr, tid, cpu, output,
			      PERF_FLAG_FD_OUTPUT | (in_group ? 0 : PERF_FLAG_FD_NO_GROUP));
}

int perf_open(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return perf_open_in_group(attr, tid, cpu, -1);
}

/* An event that is not inherited. */
int perf_open_anchor(pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return perf_open(&attr, tid, -1);
}

const char *perf_paranoid(void)
{
	static char level[16];
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (!file || !fgets(level, sizeof(level), file))
		strcpy(level, "n/a");
	if (file)
		fclose(file);
	level[strcspn(level, "\n")] = '\0';
	return level;
}

int perf_fds_add(struct perf_fds *fds, int fd)
{
	if (array_reserve((void **)&fds->fds, fds->count, &fds->room, sizeof(fd))) {
		close(fd);
		return -ENOMEM;
	}
	fds->fds[fds->count++] = fd;
	return 0;
}

void perf_fds_cut(struct perf_fds *fds, size_t count)
{
	while (fds->count > count)
		close(fds->fds[--fds->count]);
}

void perf_fds_exit(struct perf_fds *fds)
{
	perf_fds_cut(fds, 0);
	free(fds->fds);
	*fds = (struct perf_fds){ 0 };
}
