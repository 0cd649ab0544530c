// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts capability sets between bit masks and libcap-ng, which keeps one thread's state. Each
 * function first reads this state from the kernel, so no function depends on an earlier call.
 */
#include <cap-ng.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "privilege/capabilities.h"

#define NR_CAPABILITIES (CAP_LAST_CAP + 1)

static uint64_t capabilities_effective(void)
{
	uint64_t set = 0;
	int i;

	if (capng_get_caps_process())
		return 0;
	for (i = 0; i < NR_CAPABILITIES; i++)
		if (capng_have_capability(CAPNG_EFFECTIVE, i))
			set |= CAPABILITY(i);
	return set;
}

/* Converts libcap-ng's "bpf" to "CAP_BPF". */
static void append_name(int capability, char *names, size_t size)
{
	snprintf(names, size, "CAP_%s", capng_capability_to_name(capability));
	for (; *names; names++)
		*names = toupper((unsigned char)*names);
}

void capabilities_name(uint64_t set, char *names, size_t size)
{
	const char *separator = "";
	size_t used = 0;
	int i;

	names[0] = '\0';
	for (i = 0; i < NR_CAPABILITIES && set; i++) {
		if (!(set & CAPABILITY(i)))
			continue;
		set &= ~CAPABILITY(i);
		used += snprintf(names + used, size - used, "%s", separator);
		if (used >= size)
			break;
		append_name(i, names + used, size - used);
		used += strlen(names + used);
		separator = set & (set - 1) ? ", " : " and ";
	}
}

unsigned int capabilities_lack(uint64_t wanted, char *names, size_t size)
{
	uint64_t have = capabilities_effective();

	if (have & CAPABILITY(CAP_SYS_ADMIN))
		have |= CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON);
	wanted &= ~have;
	capabilities_name(wanted, names, size);
	return __builtin_popcountll(wanted);
}

int capabilities_keep(uint64_t set)
{
	const capng_type_t all = CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_INHERITABLE;
	int i;

	if (capng_get_caps_process())
		return -EPERM;
	/* The kernel may have capabilities unknown to this build. */
	for (i = 0; i < 64; i++)
		if (!(set & CAPABILITY(i)))
			capng_update(CAPNG_DROP, all, i);
	errno = 0;
	return capng_apply(CAPNG_SELECT_CAPS) ? errno ? -errno : -EPERM : 0;
}
