// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privilege/capabilities.h"

#define NR_CAPABILITIES (CAP_LAST_CAP + 1)

/* capget(2) and capset(2) have no wrapper in glibc. */
struct sets {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static const char *const names_of[NR_CAPABILITIES] = {
	[CAP_CHOWN] = "CAP_CHOWN",
	[CAP_DAC_OVERRIDE] = "CAP_DAC_OVERRIDE",
	[CAP_DAC_READ_SEARCH] = "CAP_DAC_READ_SEARCH",
	[CAP_KILL] = "CAP_KILL",
	[CAP_SETGID] = "CAP_SETGID",
	[CAP_SETUID] = "CAP_SETUID",
	[CAP_IPC_LOCK] = "CAP_IPC_LOCK",
	[CAP_SYS_PTRACE] = "CAP_SYS_PTRACE",
	[CAP_SYS_ADMIN] = "CAP_SYS_ADMIN",
	[CAP_SYS_NICE] = "CAP_SYS_NICE",
	[CAP_SYS_RESOURCE] = "CAP_SYS_RESOURCE",
	[CAP_PERFMON] = "CAP_PERFMON",
	[CAP_BPF] = "CAP_BPF",
};

static struct sets of_this_thread(void)
{
	return (struct sets){ .header = { .version = _LINUX_CAPABILITY_VERSION_3 } };
}

static uint64_t effective(void)
{
	struct sets sets = of_this_thread();

	if (syscall(SYS_capget, &sets.header, sets.data))
		return 0;
	return sets.data[0].effective | (uint64_t)sets.data[1].effective << 32;
}

void capabilities_name(uint64_t set, char *names, size_t size)
{
	size_t used = 0;
	int i;

	names[0] = '\0';
	for (i = 0; i < NR_CAPABILITIES && used < size; i++) {
		if (!(set & CAPABILITY(i)))
			continue;
		set &= ~CAPABILITY(i);
		if (used)
			used += snprintf(names + used, size - used, set ? ", " : " and ");
		if (used >= size)
			break;
		if (names_of[i])
			used += snprintf(names + used, size - used, "%s", names_of[i]);
		else
			used += snprintf(names + used, size - used, "capability %d", i);
	}
}

unsigned int capabilities_lack(uint64_t wanted, char *names, size_t size)
{
	uint64_t have = effective();

	if (have & CAPABILITY(CAP_SYS_ADMIN))
		have |= CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON);
	wanted &= ~have;
	capabilities_name(wanted, names, size);
	return __builtin_popcountll(wanted);
}

int capabilities_keep(uint64_t set)
{
	struct sets sets = of_this_thread();
	int i;

	if (syscall(SYS_capget, &sets.header, sets.data))
		return -errno;
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		sets.data[i].effective &= (uint32_t)(set >> 32 * i);
		sets.data[i].permitted &= (uint32_t)(set >> 32 * i);
		sets.data[i].inheritable &= (uint32_t)(set >> 32 * i);
	}
	return syscall(SYS_capset, &sets.header, sets.data) ? -errno : 0;
}
