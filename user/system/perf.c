// SPDX-License-Identifier: GPL-2.0-only
/* perf_event_open(2): opens and closes events, and tries whether the kernel permits them. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "system/own_process.h"
#include "system/perf.h"
#include "util/array.h"
#include "util/why.h"

/* Wraps perf_event_open(2), and keeps a growing list of descriptors that are closed together. */

static int perf_open_with(struct perf_event_attr *attr, pid_t tid, int cpu, int group,
			  unsigned long flags)
{
	long fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, tid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int perf_open_in_group(struct perf_event_attr *attr, pid_t tid, int cpu, int leader)
{
	return perf_open_with(attr, tid, cpu, leader, 0);
}

int perf_open_into(struct perf_event_attr *attr, pid_t tid, int cpu, int output, bool in_group)
{
	return perf_open_with(attr, tid, cpu, output,
			      PERF_FLAG_FD_OUTPUT | (in_group ? 0 : PERF_FLAG_FD_NO_GROUP));
}

int perf_open(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return perf_open_in_group(attr, tid, cpu, -1);
}

/* An event that is not inherited. */
int perf_open_anchor(pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return perf_open(&attr, tid, -1);
}

const char *perf_paranoid(void)
{
	static char level[16];
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (!file || !fgets(level, sizeof(level), file))
		strcpy(level, "n/a");
	if (file)
		fclose(file);
	level[strcspn(level, "\n")] = '\0';
	return level;
}

unsigned int perf_max_stack(unsigned int most)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned int limit;

	if (!file)
		return most;
	if (fscanf(file, "%u", &limit) == 1 && limit < most)
		most = limit;
	fclose(file);
	return most;
}

int perf_fds_add(struct perf_fds *fds, int fd)
{
	if (array_reserve((void **)&fds->fds, fds->count, &fds->room, sizeof(fd))) {
		close(fd);
		return -ENOMEM;
	}
	fds->fds[fds->count++] = fd;
	return 0;
}

void perf_fds_cut(struct perf_fds *fds, size_t count)
{
	while (fds->count > count)
		close(fds->fds[--fds->count]);
}

void perf_fds_exit(struct perf_fds *fds)
{
	perf_fds_cut(fds, 0);
	free(fds->fds);
	*fds = (struct perf_fds){ 0 };
}

/*
 * The attributes match those for a recording, because the kernel refuses by attribute. The kernel
 * does not report what refused: the error, the setting and whether the process has a filter show
 * it.
 */

/* The largest value of upstream kernels. Debian's refuse more from 3 on, Ubuntu's from 4 on. */
#define PARANOID_UPSTREAM 2

static int perf_access_open(bool with_kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			       PERF_SAMPLE_IP,
		.disabled = 1,
		.inherit = 1,
		.mmap = 1,
		.context_switch = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = !with_kernel,
	};
	const int fd = perf_open(&attr, 0, sched_getcpu());

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int perf_access_paranoid(void)
{
	const char *level = perf_paranoid();
	char *end;
	const long value = strtol(level, &end, 10);

	return end == level ? INT_MAX : (int)value;
}

void perf_access_try(struct perf_trial *trial)
{
	int err;

	*trial = (struct perf_trial){
		.access = PERF_ACCESS_ALL,
		.paranoid = perf_access_paranoid(),
		.filtered = syscall_filter_is_set(),
	};
	trial->err = perf_access_open(true);
	if (!trial->err)
		return;
	err = perf_access_open(false);
	trial->access = err ? PERF_ACCESS_NONE : PERF_ACCESS_USER;
	if (err)
		trial->err = err;
}

static bool perf_access_is_refused(int err)
{
	return err == -EACCES || err == -EPERM;
}

/* EACCES comes from the kernel, EPERM and ENOSYS from container filters. */
void perf_access_reason(const struct perf_trial *trial, struct why *why)
{
	const int err = trial->err, paranoid = trial->paranoid;

	if (!err)
		why->text[0] = '\0';
	else if (trial->filtered && (err == -EPERM || err == -ENOSYS))
		why_set(why, "a system call filter (seccomp) refuses perf_event_open(2)");
	else if (paranoid == INT_MAX || err == -ENOSYS)
		why_set(why, "this kernel has no perf_event_open(2) (CONFIG_PERF_EVENTS)");
	else if (perf_access_is_refused(err) && trial->access == PERF_ACCESS_USER && paranoid > 1)
		why_set(why,
			"kernel.perf_event_paranoid is %d, which hides the kernel from users "
			"without CAP_PERFMON",
			paranoid);
	else if (perf_access_is_refused(err) && paranoid > PARANOID_UPSTREAM)
		why_set(why,
			"kernel.perf_event_paranoid is %d, with which this kernel refuses perf "
			"events to users without CAP_SYS_ADMIN",
			paranoid);
	else if (perf_access_is_refused(err))
		why_set(why,
			"%s, although kernel.perf_event_paranoid is %d: a kernel security module "
			"refuses it",
			strerror(-err), paranoid);
	else
		why_set(why, "%s", strerror(-err));
}

static const char *perf_access_remedy(const struct perf_trial *trial)
{
	if (trial->filtered && (trial->err == -EPERM || trial->err == -ENOSYS))
		return "; start the container with --security-opt seccomp=unconfined";
	if (!perf_access_is_refused(trial->err))
		return "";
	if (trial->access == PERF_ACCESS_USER)
		return "; run pfdrive with sudo, or sysctl kernel.perf_event_paranoid=1 as root";
	if (trial->paranoid > PARANOID_UPSTREAM && trial->paranoid != INT_MAX)
		return "; run pfdrive with sudo, or sysctl kernel.perf_event_paranoid=2 as root";
	return "";
}

void perf_access_explain(const struct perf_trial *trial, struct why *why)
{
	static const char *const tasks[] = {
		[PERF_ACCESS_NONE] = "open perf's page-fault events",
		[PERF_ACCESS_USER] = "see the faults in system calls",
	};
	struct why reason;

	if (trial->access == PERF_ACCESS_ALL) {
		why->text[0] = '\0';
		return;
	}
	perf_access_reason(trial, &reason);
	why_set(why, "cannot %s: %s%s", tasks[trial->access], reason.text,
		perf_access_remedy(trial));
}
