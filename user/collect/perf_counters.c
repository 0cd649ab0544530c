// SPDX-License-Identifier: GPL-2.0-only
/* Opens perf's counters: three software counters for each thread, and the processor's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "collect/perf_counters.h"
#include "model/counters.h"
#include "system/own_process.h"
#include "system/perf.h"
#include "system/processes.h"
#include "util/array.h"
#include "util/why.h"

/*
 * Opens perf's three software page fault counters for each thread, and sums them. They are
 * independent of eBPF and the module. The ledger compares them.
 */

#define NR_EVENTS 3

static const uint64_t events[NR_EVENTS] = {
	PERF_COUNT_SW_PAGE_FAULTS,
	PERF_COUNT_SW_PAGE_FAULTS_MIN,
	PERF_COUNT_SW_PAGE_FAULTS_MAJ,
};

struct perf_faults {
	struct perf_fds fds; /* a thread's three, one thread after the other */
	size_t before;	     /* how many there were when the watch began */
	bool inherit;	     /* for the watch being started */
	bool incomplete;     /* a thread could not be counted */
};

int perf_faults_open(struct perf_faults **counters)
{
	*counters = calloc(1, sizeof(**counters));
	return *counters ? 0 : -ENOMEM;
}

void perf_faults_close(struct perf_faults *counters)
{
	if (!counters)
		return;
	perf_fds_exit(&counters->fds);
	free(counters);
}

/* All three for a thread, or none. They count when their leader does. */
static int perf_faults_open_group(struct perf_faults *counters, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.inherit = counters->inherit,
	};
	const size_t before = counters->fds.count;
	const int anchor = perf_open_anchor(tid);
	int i, fd, leader = -1, err = anchor < 0 ? anchor : 0;

	for (i = 0; i < NR_EVENTS && !err; i++) {
		attr.config = events[i];
		attr.disabled = leader < 0;
		fd = perf_open_in_group(&attr, tid, -1, leader);
		err = fd < 0 ? fd : perf_fds_add(&counters->fds, fd);
		if (!err && fd_limit_is_near(fd))
			err = -EMFILE;
		if (leader < 0)
			leader = fd;
	}
	if (anchor >= 0)
		close(anchor);
	if (err)
		perf_fds_cut(&counters->fds, before);
	return err;
}

/*
 * A group starts at one moment: a fault during opening (the counter list grows) would be counted by
 * only some counters.
 */
static int perf_faults_enable(int leader)
{
	return ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) ? -errno : 0;
}

static int perf_faults_begin(void *context, pid_t tid)
{
	struct perf_faults *counters = context;
	const size_t before = counters->fds.count;
	int err = perf_faults_open_group(counters, tid);

	if (err)
		return err;
	err = perf_faults_enable(counters->fds.fds[before]);
	if (err)
		perf_fds_cut(&counters->fds, before);
	return err;
}

static void perf_faults_undo(void *context)
{
	struct perf_faults *counters = context;

	perf_fds_cut(&counters->fds, counters->before);
}

int perf_faults_watch(struct perf_faults *counters, pid_t pid, bool inherit)
{
	static const struct tids_action action = { perf_faults_begin, perf_faults_undo };
	int err;

	counters->before = counters->fds.count;
	counters->inherit = inherit;
	err = proc_threads_each(pid, &action, counters);
	if (err)
		counters->incomplete = true;
	return err;
}

int perf_faults_hold_thread(struct perf_faults *counters, pid_t tid)
{
	int err;

	counters->before = counters->fds.count;
	counters->inherit = false;
	err = perf_faults_open_group(counters, tid);
	if (err)
		counters->incomplete = true;
	return err;
}

void perf_faults_release_thread(struct perf_faults *counters)
{
	if (!counters->incomplete && perf_faults_enable(counters->fds.fds[counters->before]))
		counters->incomplete = true;
}

void perf_faults_stop(struct perf_faults *counters)
{
	size_t i;

	for (i = 0; i < counters->fds.count; i += NR_EVENTS)
		ioctl(counters->fds.fds[i], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

static uint64_t perf_faults_sum_of(const struct perf_faults *counters, size_t event)
{
	uint64_t sum = 0, value;
	size_t i;

	if (counters->incomplete || !counters->fds.count)
		return COUNT_NA;
	for (i = event; i < counters->fds.count; i += NR_EVENTS) {
		if (read(counters->fds.fds[i], &value, sizeof(value)) != sizeof(value))
			return COUNT_NA;
		sum += value;
	}
	return sum;
}

void perf_faults_read(const struct perf_faults *counters, uint64_t *faults, uint64_t *minor,
		      uint64_t *major)
{
	*faults = perf_faults_sum_of(counters, 0);
	*minor = perf_faults_sum_of(counters, 1);
	*major = perf_faults_sum_of(counters, 2);
}

/*
 * Opens the processor's counters in groups, one group for each operation of a cache. Counts
 * are scaled by the time in which the group was scheduled on the processor.
 */

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
