// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collect/perf_faults.h"
#include "model/counters.h"
#include "system/fd_limit.h"
#include "system/perf_event.h"
#include "system/proc_threads.h"

#define NR_EVENTS 3

static const uint64_t events[NR_EVENTS] = {
	PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
};

struct counters {
	struct perf_fds fds;	/* a thread's three, one thread after the other */
	size_t before;		/* how many there were when the watch began */
	bool inherit;		/* of the watch that begins */
	bool incomplete;	/* something could not be counted */
};

int counters_open(struct counters **counters)
{
	*counters = calloc(1, sizeof(**counters));
	return *counters ? 0 : -ENOMEM;
}

void counters_close(struct counters *counters)
{
	if (!counters)
		return;
	perf_fds_exit(&counters->fds);
	free(counters);
}

/* All three of a thread, or none; they count when their leader does. */
static int open_group(struct counters *counters, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .inherit = counters->inherit,
	};
	const size_t before = counters->fds.count;
	int i, fd, leader = -1, err = 0;

	for (i = 0; i < NR_EVENTS && !err; i++) {
		attr.config = events[i];
		attr.disabled = leader < 0;
		fd = perf_open_in_group(&attr, tid, -1, leader);
		err = fd < 0 ? fd : perf_fds_add(&counters->fds, fd);
		if (!err && descriptors_are_short(fd))
			err = -EMFILE;
		if (leader < 0)
			leader = fd;
	}
	if (err)
		perf_fds_cut(&counters->fds, before);
	return err;
}

/*
 * A group begins at one moment: a fault that comes while its counters are opened (the
 * list of them grows) would be counted by some.
 */
static int enable(int leader)
{
	return ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) ? -errno : 0;
}

static int begin(void *context, pid_t tid)
{
	struct counters *counters = context;
	const size_t before = counters->fds.count;
	int err = open_group(counters, tid);

	if (err)
		return err;
	err = enable(counters->fds.fds[before]);
	if (err)
		perf_fds_cut(&counters->fds, before);
	return err;
}

static void undo(void *context)
{
	struct counters *counters = context;

	perf_fds_cut(&counters->fds, counters->before);
}

int counters_watch(struct counters *counters, pid_t pid, bool inherit)
{
	static const struct tids_action action = { begin, undo };
	int err;

	counters->before = counters->fds.count;
	counters->inherit = inherit;
	err = tids_each(pid, &action, counters);
	if (err)
		counters->incomplete = true;
	return err;
}

int counters_hold_thread(struct counters *counters, pid_t tid)
{
	int err;

	counters->before = counters->fds.count;
	counters->inherit = false;
	err = open_group(counters, tid);
	if (err)
		counters->incomplete = true;
	return err;
}

void counters_release_thread(struct counters *counters)
{
	if (!counters->incomplete && enable(counters->fds.fds[counters->before]))
		counters->incomplete = true;
}

void counters_stop(struct counters *counters)
{
	size_t i;

	for (i = 0; i < counters->fds.count; i += NR_EVENTS)
		ioctl(counters->fds.fds[i], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

static uint64_t sum_of(const struct counters *counters, size_t event)
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

void counters_read(const struct counters *counters, uint64_t *faults, uint64_t *minor,
		   uint64_t *major)
{
	*faults = sum_of(counters, 0);
	*minor = sum_of(counters, 1);
	*major = sum_of(counters, 2);
}
