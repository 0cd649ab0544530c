// SPDX-License-Identifier: GPL-2.0-only
/* Opens the tracepoints' events. All samples on a CPU enter this CPU's buffer. */
#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "collect/perf_sampler.h"
#include "system/own_process.h"

/* By enum perf_sample, from PERF_TRACED on. */
static const struct {
	const char *name, *field;
} traced[PERF_NR_TRACED] = {
	[2 * PFSTAT_RECLAIM_DIRECT] = { "vmscan/mm_vmscan_direct_reclaim_begin", NULL },
	[2 * PFSTAT_RECLAIM_DIRECT + 1] = { "vmscan/mm_vmscan_direct_reclaim_end", "nr_reclaimed" },
	[2 * PFSTAT_RECLAIM_CGROUP] = { "vmscan/mm_vmscan_memcg_reclaim_begin", NULL },
	[2 * PFSTAT_RECLAIM_CGROUP + 1] = { "vmscan/mm_vmscan_memcg_reclaim_end", "nr_reclaimed" },
	[2 * PFSTAT_RECLAIM_COMPACTION] = { "compaction/mm_compaction_begin", NULL },
	[2 * PFSTAT_RECLAIM_COMPACTION + 1] = { "compaction/mm_compaction_end", NULL },
};

static int trace_events_open_one(struct trace_events *traces, struct sample_events *events,
				 unsigned int which, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = traces->points[which].id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_BY_ID | PERF_SAMPLE_RAW,
		.sample_id_all = 1,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd = perf_open_into(&attr, -1, cpu, events->outputs[cpu], false);
	int err;

	if (fd < 0)
		return fd;
	err = perf_fds_add(&traces->fds, fd);
	if (!err)
		err = sample_events_add_id(events, fd, PERF_TRACED + which);
	return !err && fd_limit_is_near(fd) ? -EMFILE : err;
}

int trace_events_open(struct trace_events *traces, struct sample_events *events)
{
	unsigned int which;
	int cpu, err = 0;

	for (which = 0; which < PERF_NR_TRACED && !err; which++)
		err = tracepoint_read(&traces->points[which], traced[which].name,
				      traced[which].field);
	for (cpu = 0; cpu < events->nr_cpus && !err; cpu++)
		for (which = 0; which < PERF_NR_TRACED && !err && events->outputs[cpu] >= 0;
		     which++)
			err = trace_events_open_one(traces, events, which, cpu);
	if (err)
		trace_events_exit(traces);
	return err;
}

void trace_events_exit(struct trace_events *traces)
{
	perf_fds_exit(&traces->fds);
}

int trace_events_control(const struct trace_events *traces, unsigned long request)
{
	size_t i;

	for (i = 0; i < traces->fds.count; i++)
		if (ioctl(traces->fds.fds[i], request, 0))
			return -errno;
	return 0;
}

int trace_events_read(const struct trace_events *traces, uint64_t *count)
{
	uint64_t value;
	size_t i;

	*count = 0;
	for (i = 0; i < traces->fds.count; i++) {
		if (read(traces->fds.fds[i], &value, sizeof(value)) != sizeof(value))
			return -errno;
		*count += value;
	}
	return 0;
}
