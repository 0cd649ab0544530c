// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/bpf_call.h"

int bpf_call_try(void)
{
	union bpf_attr attr = { 0 };

	if (syscall(SYS_bpf, INT_MAX, &attr, sizeof(attr)) >= 0)
		return 0;
	return errno == EPERM || errno == EACCES || errno == ENOSYS ? -errno : 0;
}
