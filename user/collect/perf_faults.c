// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens perf's three software page fault counters for each thread, and sums them. They are
 * independent of eBPF and the module. The ledger compares them.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collect/perf_faults.h"
#include "model/counters.h"
#include "system/own_process.h"
#include "system/perf.h"
#include "system/processes.h"

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
