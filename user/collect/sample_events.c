// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread's events are opened one by one, and the thread may fork in between. The child then has
 * only the earlier ones. Therefore the events of a fault's end are opened on all CPUs before those
 * of its start: the child has no start without an end, which would look like a failed fault. Ends
 * without a start count the child's faults that are not recorded.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "collect/perf_sampler.h"
#include "system/own_process.h"
#include "util/array.h"

/* The leader of a CPU's group is opened first. It also reports forks, names and mappings. */
#define LEADER PERF_FAULT_MINOR

static const enum perf_sample opening_order[] = { LEADER, PERF_FAULT_MAJOR, PERF_FAULT_START };

static const struct perf_event_attr sample_attributes[PERF_NR_EVENTS] = {
	[PERF_FAULT_START] = {
		.config = PERF_COUNT_SW_PAGE_FAULTS, .sample_type = PERF_SAMPLE_OF_START,
	},
	[PERF_FAULT_MINOR] = {
		.config = PERF_COUNT_SW_PAGE_FAULTS_MIN, .sample_type = PERF_SAMPLE_OF_MINOR,
		.context_switch = 1, .mmap = 1, .mmap2 = 1, .mmap_data = 1,
		.comm = 1, .comm_exec = 1, .task = 1,
	},
	[PERF_FAULT_MAJOR] = {
		.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ, .sample_type = PERF_SAMPLE_OF_MAJOR,
	},
	[PERF_SWITCH] = {
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_type = PERF_SAMPLE_BY_ID | PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_user = 1, .sample_max_stack = PFSTAT_WAIT_FRAMES,
	},
};

/* Starts with the user's stack instead. */
static const struct perf_event_attr start_with_stack = {
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.sample_type = PERF_SAMPLE_OF_START_CHAIN,
	.exclude_callchain_kernel = 1,
	.sample_max_stack = PFSTAT_STACK_FRAMES,
};

static bool sample_has_stack(const struct sample_events *events, enum perf_sample which)
{
	return which == PERF_FAULT_START && events->wanted & 1U << PERF_FAULT_START;
}

static bool sample_has_id(const struct sample_events *events, enum perf_sample which)
{
	return which >= PERF_NR_SAMPLES || sample_has_stack(events, which);
}

void sample_events_init(struct sample_events *events, const int *outputs, int nr_cpus,
			uint32_t wanted)
{
	*events = (struct sample_events){
		.outputs = outputs,
		.nr_cpus = nr_cpus,
		.wanted = wanted,
	};
	pthread_mutex_init(&events->ids_lock, NULL);
}

int sample_events_add_id(struct sample_events *events, int fd, enum perf_sample which)
{
	uint64_t id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return -errno;
	return hash_add(&events->ids, id, (void *)(uintptr_t)(which + 1));
}

void sample_events_identify(struct sample_events *events, struct sample_by_id *sample)
{
	pthread_mutex_lock(&events->ids_lock);
	sample->id = (uintptr_t)hash_find(&events->ids, sample->id) - 1;
	pthread_mutex_unlock(&events->ids_lock);
}

/* @leader: a position, for all but leaders. */
static int sample_events_open_one(struct sample_events *events, enum perf_sample which, pid_t tid,
				  int cpu, enum sample_events_mode mode, size_t leader)
{
	struct perf_event_attr attr = sample_has_stack(events, which) ? start_with_stack :
									sample_attributes[which];
	int fd, err;

	attr.type = PERF_TYPE_SOFTWARE;
	attr.sample_period = 1;
	attr.sample_id_all = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.inherit = mode == SAMPLE_EVENTS_INHERITED;
	attr.disabled = mode == SAMPLE_EVENTS_OFF && which == LEADER;
	/* The further events occur in the kernel, and are refused to a user who may not see it. */
	attr.exclude_kernel = events->user_only && which < PERF_NR_SAMPLES;
	attr.exclude_hv = events->user_only;
	attr.sample_max_stack = perf_max_stack(attr.sample_max_stack);
	if (which == LEADER)
		fd = perf_open_into(&attr, tid, cpu, events->outputs[cpu], false);
	else
		fd = perf_open_into(&attr, tid, cpu, events->fds[LEADER].fds[leader], true);
	if (fd < 0)
		return fd;
	err = perf_fds_add(&events->fds[which], fd);
	if (!err && sample_has_id(events, which))
		err = sample_events_add_id(events, fd, which);
	return !err && fd_limit_is_near(fd) ? -EMFILE : err;
}

/* A user may be refused the faults of the kernel, which is known at the first event. */
static int sample_events_open_first(struct sample_events *events, pid_t tid, int cpu,
				    enum sample_events_mode mode)
{
	int err = sample_events_open_one(events, LEADER, tid, cpu, mode, 0);

	if (events->user_only || (err != -EACCES && err != -EPERM))
		return err;
	events->user_only = true;
	return sample_events_open_one(events, LEADER, tid, cpu, mode, 0);
}

/*
 * One on each CPU. @first: the position of the thread's leaders. The samples may be drained before
 * the ids are known, so the drain waits.
 */
static int sample_events_open_cpus(struct sample_events *events, enum perf_sample which, pid_t tid,
				   enum sample_events_mode mode, size_t first)
{
	size_t leader = first;
	int cpu, err = 0;

	pthread_mutex_lock(&events->ids_lock);
	for (cpu = 0; cpu < events->nr_cpus && !err; cpu++) {
		if (events->outputs[cpu] < 0)
			continue;
		if (!events->fds[LEADER].count)
			err = sample_events_open_first(events, tid, cpu, mode);
		else
			err = sample_events_open_one(events, which, tid, cpu, mode, leader);
		leader++;
	}
	pthread_mutex_unlock(&events->ids_lock);
	return err;
}

/*
 * A thread without the event among others with it would look as if it never slept: without the
 * right to it, or without the descriptors, no thread has the event.
 */
static int sample_events_open_further(struct sample_events *events, enum perf_sample which,
				      pid_t tid, enum sample_events_mode mode, size_t first)
{
	int err;

	if (!(events->wanted & 1U << which) || events->refused[which])
		return 0;
	err = sample_events_open_cpus(events, which, tid, mode, first);
	if (err != -EACCES && err != -EPERM && err != -EMFILE)
		return err;
	events->refused[which] = err;
	perf_fds_cut(&events->fds[which], 0);
	return 0;
}

static int sample_events_open_all(struct sample_events *events, pid_t tid,
				  enum sample_events_mode mode)
{
	const size_t first = sample_events_end(events);
	enum perf_sample which;
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(opening_order) && !err; i++)
		err = sample_events_open_cpus(events, opening_order[i], tid, mode, first);
	for (which = PERF_NR_SAMPLES; which < PERF_NR_EVENTS && !err; which++)
		err = sample_events_open_further(events, which, tid, mode, first);
	return err;
}

int sample_events_open(struct sample_events *events, pid_t tid, enum sample_events_mode mode)
{
	const size_t before = sample_events_end(events);
	int anchor, err;

	anchor = perf_open_anchor(tid);
	if (anchor < 0)
		return anchor;
	err = sample_events_open_all(events, tid, mode);
	close(anchor);
	if (!err)
		return 0;
	sample_events_cut(events, before);
	/* An event cannot join the group of a thread that has exited: EINVAL or ENODEV. */
	anchor = perf_open_anchor(tid);
	if (anchor >= 0)
		close(anchor);
	return anchor == -ESRCH ? -ESRCH : err;
}

size_t sample_events_end(const struct sample_events *events)
{
	return events->fds[LEADER].count;
}

/* The leaders last: the others would go on alone. */
void sample_events_cut(struct sample_events *events, size_t first)
{
	size_t i;

	for (i = PERF_NR_SAMPLES; i < PERF_NR_EVENTS; i++)
		perf_fds_cut(&events->fds[i], first);
	i = ARRAY_SIZE(opening_order);
	while (i--)
		perf_fds_cut(&events->fds[opening_order[i]], first);
}

void sample_events_exit(struct sample_events *events)
{
	int i;

	for (i = 0; i < PERF_NR_EVENTS; i++)
		perf_fds_exit(&events->fds[i]);
	hash_exit(&events->ids, NULL);
	pthread_mutex_destroy(&events->ids_lock);
}

/* A CPU's events of a thread are a group, which starts and stops at one moment. */
int sample_events_control(const struct sample_events *events, size_t first, unsigned long request)
{
	const struct perf_fds *leaders = &events->fds[LEADER];
	size_t i;

	for (i = first; i < leaders->count; i++)
		if (ioctl(leaders->fds[i], request, PERF_IOC_FLAG_GROUP))
			return -errno;
	return 0;
}

int sample_events_read(const struct sample_events *events, uint64_t counts[PERF_NR_SAMPLES])
{
	uint64_t value;
	size_t i;
	int which;

	for (which = 0; which < PERF_NR_SAMPLES; which++) {
		counts[which] = 0;
		for (i = 0; i < events->fds[which].count; i++) {
			if (read(events->fds[which].fds[i], &value, sizeof(value)) != sizeof(value))
				return -errno;
			counts[which] += value;
		}
	}
	return 0;
}
