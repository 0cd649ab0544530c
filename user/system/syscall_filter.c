// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/self/status has the mode. prctl(PR_GET_SECCOMP) has it too, but a filter may kill the
 * caller.
 */
#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/syscall_filter.h"

bool syscall_filter_is_set(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned int mode = SECCOMP_MODE_DISABLED;
	char line[256];

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Seccomp: %u", &mode) == 1)
			break;
	fclose(file);
	return mode == SECCOMP_MODE_FILTER;
}

int syscall_filter_try_bpf(void)
{
	union bpf_attr attr = { 0 };

	if (syscall(SYS_bpf, INT_MAX, &attr, sizeof(attr)) >= 0)
		return 0;
	return errno == EPERM || errno == EACCES || errno == ENOSYS ? -errno : 0;
}
