// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens the processor's counters in groups, one group for each operation of a cache. Counts
 * are scaled by the time in which the group was scheduled on the processor.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "collect/perf_hardware.h"
#include "system/perf.h"
#include "util/array.h"
#include "util/why.h"

#define NR_GROUPS (HW_NR_CACHES * HW_NR_OPS)

/* The first successfully opened one leads. This descriptor reads all. */
struct hw_group {
	int fds[HW_NR_RESULTS];
	struct hw_count *members[HW_NR_RESULTS];
	size_t nr;
};

struct perf_hardware {
	struct hw_group groups[NR_GROUPS];
};

static bool perf_hardware_have_pmu(void)
{
	static const char *const names[] = { "cpu", "cpu_core", "cpu_atom" };
	char path[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s", names[i]);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

void perf_hardware_explain(int err, struct why *why)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		why_set(why, "permission denied (perf_event_paranoid is %s); run as root",
			perf_paranoid());
		break;
	case -ENOENT:
	case -EINVAL:
	case -EOPNOTSUPP:
	case -ENODEV:
		if (perf_hardware_have_pmu())
			why_set(why, "this processor does not count it (%s)",
				strerrorname_np(-err));
		else
			why_set(why, "this machine has no PMU, like most VMs (%s)",
				strerrorname_np(-err));
		break;
	default:
		why_set(why, "perf_event_open: %s", strerror(-err));
	}
}

void perf_hardware_choose_cache(struct perf_event_attr *attr, enum hw_cache cache, enum hw_op op,
				enum hw_result result)
{
	static const uint64_t caches[] = {
		[HW_L1D] = PERF_COUNT_HW_CACHE_L1D,
		[HW_DTLB] = PERF_COUNT_HW_CACHE_DTLB,
	};
	static const uint64_t ops[] = {
		[HW_READ] = PERF_COUNT_HW_CACHE_OP_READ,
		[HW_WRITE] = PERF_COUNT_HW_CACHE_OP_WRITE,
		[HW_PREFETCH] = PERF_COUNT_HW_CACHE_OP_PREFETCH,
	};
	static const uint64_t results[] = {
		[HW_ACCESS] = PERF_COUNT_HW_CACHE_RESULT_ACCESS,
		[HW_MISS] = PERF_COUNT_HW_CACHE_RESULT_MISS,
	};

	attr->type = PERF_TYPE_HW_CACHE;
	attr->config = caches[cache] | ops[op] << 8 | results[result] << 16;
}

static void perf_hardware_open_member(struct hw_group *group, struct perf_event_attr *attr,
				      struct hw_count *count)
{
	struct why why;
	int fd;

	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->disabled = 1;
	attr->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			    PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = perf_open_in_group(attr, 0, -1, group->nr ? group->fds[0] : -1);
	if (fd < 0) {
		perf_hardware_explain(fd, &why);
		snprintf(count->missing, sizeof(count->missing), "%.*s",
			 (int)sizeof(count->missing) - 1, why.text);
		return;
	}
	group->fds[group->nr] = fd;
	group->members[group->nr++] = count;
}

int perf_hardware_open(struct perf_hardware **opened, struct hw_counts *counts,
		       hardware_choose choose)
{
	struct perf_hardware *hardware = calloc(1, sizeof(*hardware));
	struct hw_group *group = hardware ? hardware->groups : NULL;
	struct perf_event_attr attr;
	enum hw_cache cache;
	enum hw_result result;
	enum hw_op op;

	*opened = hardware;
	if (!hardware)
		return -ENOMEM;
	for (cache = 0; cache < HW_NR_CACHES; cache++) {
		for (op = 0; op < HW_NR_OPS; op++, group++) {
			for (result = 0; result < HW_NR_RESULTS; result++) {
				attr = (struct perf_event_attr){ 0 };
				choose(&attr, cache, op, result);
				perf_hardware_open_member(group, &attr,
							  &counts->counts[cache][op][result]);
			}
		}
	}
	return 0;
}

void perf_hardware_begin(const struct perf_hardware *hardware)
{
	if (hardware)
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
}

void perf_hardware_end(const struct perf_hardware *hardware)
{
	if (hardware)
		prctl(PR_TASK_PERF_EVENTS_DISABLE);
}

int perf_hardware_read(struct perf_hardware *hardware)
{
	uint64_t words[HW_GROUP_WORDS];
	struct hw_group *group;
	ssize_t got;
	int i, err = 0;

	for (i = 0; i < NR_GROUPS && !err; i++) {
		group = &hardware->groups[i];
		if (!group->nr)
			continue;
		got = read(group->fds[0], words, sizeof(words));
		if (got < 0)
			return -errno;
		err = hw_counts_take(words, got / sizeof(*words), group->members, group->nr);
	}
	return err;
}

void perf_hardware_close(struct perf_hardware *hardware)
{
	struct hw_group *group;
	size_t i;

	if (!hardware)
		return;
	for (group = hardware->groups; group < hardware->groups + NR_GROUPS; group++)
		for (i = 0; i < group->nr; i++)
			close(group->fds[i]);
	free(hardware);
}
