// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows processes for a watch, through the watch's measurement, and holds a pidfd for each to
 * notice when it ends. A process may exit while being followed. Then it is not a member, and this
 * is not an error.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "run/watch.h"
#include "system/own_process.h"
#include "util/message.h"
#include "util/time_ns.h"
#include "util/why.h"

static const struct member *members_find(const struct members *members, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < members->nr; i++)
		if (members->list[i].pid == pid && members->list[i].pidfd >= 0)
			return &members->list[i];
	return NULL;
}

static int members_append(struct members *members)
{
	struct member *list = reallocarray(members->list, members->nr + 1, sizeof(*list));
	struct pollfd *polled;

	if (!list)
		return -ENOMEM;
	members->list = list;
	polled = reallocarray(members->polled, members->nr + 3, sizeof(*polled));
	if (!polled)
		return -ENOMEM;
	members->polled = polled;
	list[members->nr++] = (struct member){ .pidfd = -1 };
	return 0;
}

/*
 * An ended member's slot is reused, because a cgroup's members may change for days. The first
 * member keeps the slot: its counts are read at the end.
 */
static struct member *members_slot(struct members *members)
{
	unsigned int i;

	for (i = 1; i < members->nr; i++)
		if (members->list[i].pidfd < 0)
			return &members->list[i];
	return members_append(members) ? NULL : &members->list[members->nr - 1];
}

static int member_open_pidfd(pid_t pid, struct why *why)
{
	int pidfd = pidfd_open(pid, 0), err = pidfd < 0 ? -errno : 0;

	if (!err && fd_limit_is_near(pidfd)) {
		close(pidfd);
		err = -EMFILE;
	}
	if (err)
		why_set(why,
			err == -ESRCH ? "there is no process %d" :
					"cannot watch for process %d's exit: %s",
			pid, strerror(-err));
	return err ?: pidfd;
}

static int members_add(struct members *members, pid_t pid, int pidfd)
{
	struct measurement *measurement = members->measurement;
	struct member *member;
	int err, unmapped;

	unmapped = measurement_follow(measurement, pid, !members->held);
	if (unmapped < 0)
		return unmapped;
	/* Later, the items come from the collector's thread. */
	err = members->started || members->held ? 0 : measurement_name_threads(measurement, pid);
	if (err)
		return err;
	member = members_slot(members);
	if (!member)
		return why_fail(&measurement->why, -ENOMEM, "out of memory");
	*member = (struct member){
		.pid = pid,
		.pidfd = pidfd,
		.since_ns = clock_read_ns(CLOCK_BOOTTIME),
	};
	member->counted = !process_counts(pid, &member->before);
	return unmapped;
}

/*
 * Returns 0, 1 if all but the process's mappings is watched, or a negative errno. measurement->why
 * is the reason.
 */
static int members_try(struct members *members, pid_t pid)
{
	const int pidfd = member_open_pidfd(pid, &members->measurement->why);
	int err;

	if (pidfd < 0)
		return pidfd;
	err = members_add(members, pid, pidfd);
	if (err < 0)
		close(pidfd);
	return err;
}

/* Reports the first with the number. members_report() prints how many there were. */
static void members_count_unmapped(struct members *members)
{
	if (!members->nr_unmapped++)
		message(STATUS_OK,
			"%s; the faults are recorded, but the names of mapped files and code may "
			"be missing",
			members->measurement->why.text);
}

int members_follow(struct members *members, pid_t pid)
{
	int err = members_try(members, pid);

	if (err < 0)
		return measurement_status(members->measurement, err);
	if (err)
		members_count_unmapped(members);
	return STATUS_OK;
}

/*
 * True if the process or an ancestor was created by a process that was already a member. This is
 * unknown for an orphan, which is then watched twice rather than not at all.
 */
static bool members_created(const struct members *members, pid_t pid)
{
	const struct member *member;
	struct process_birth birth;

	while (!process_birth(pid, &birth) && birth.parent && !process_is_first(birth.parent)) {
		member = members_find(members, birth.parent);
		if (member)
			return birth.ns >= member->since_ns;
		pid = birth.parent;
	}
	return false;
}

/* A member's child is watched from the first moment on. eBPF knows all of these. */
static bool members_watch(const struct members *members, pid_t pid)
{
	if (members_find(members, pid))
		return true;
	if (members->measurement->options.instruments.bpf)
		return instruments_are_on(members->measurement->instruments, pid);
	return members_created(members, pid);
}

/* Warns once: the same attempt is repeated every second. */
static void members_warn(struct members *members, const char *why)
{
	if (!members->warned)
		message(STATUS_OK,
			"%s; the recording continues without this process, and without others "
			"that fail in the same way",
			why);
	members->warned = true;
}

/*
 * Processes come and go while they are listed, so an exited process is not an error. Once the
 * watching has started, the recording is worth more than a process that joins.
 */
static int members_visit(void *context, pid_t pid)
{
	struct members *members = context;
	int err;

	if (pid == getpid() || members_watch(members, pid))
		return 0;
	err = members_try(members, pid);
	if (err >= 0)
		members->nr_late += members->started;
	if (!err || err == -ESRCH || err == -EPERM)
		return 0;
	if (err > 0) {
		members_count_unmapped(members);
		return 0;
	}
	if (members->started) {
		members_warn(members, members->measurement->why.text);
		return 0;
	}
	measurement_status(members->measurement, err);
	return -ECANCELED;
}

/* A folder of cgroup v1 has cgroup.procs too, but lists each process in several trees. */
static bool members_is_not_cgroup2(const char *path)
{
	struct statfs statfs_buffer;

	return !statfs(path, &statfs_buffer) && statfs_buffer.f_type != CGROUP2_SUPER_MAGIC;
}

int members_follow_cgroup(struct members *members, const char *path)
{
	int err;

	if (members_is_not_cgroup2(path))
		return message(STATUS_FAILED,
			       "cannot watch %s: it is not a cgroup v2 folder; name one, such as "
			       "/sys/fs/cgroup/system.slice",
			       path);
	err = processes_in_cgroup(path, members_visit, members);
	if (err == -ECANCELED)
		return STATUS_FAILED;
	if (err)
		return message(
			STATUS_FAILED,
			"cannot list the processes in %s: %s; name a cgroup v2 folder, such as "
			"/sys/fs/cgroup/system.slice",
			path, strerror(-err));
	return STATUS_OK;
}

void members_update_cgroup(struct members *members, const char *path)
{
	int err = processes_in_cgroup(path, members_visit, members);
	struct why why;

	if (!err || err == -ENOENT)
		return;
	why_set(&why, "cannot list the processes in %s: %s", path, strerror(-err));
	members_warn(members, why.text);
}

int members_follow_mappers(struct members *members, int fd, const char *path)
{
	int err = processes_that_map(fd, members_visit, members);

	if (err && err != -ECANCELED)
		return message(STATUS_FAILED, "cannot find the processes that map %s: %s", path,
			       strerror(-err));
	return err ? STATUS_FAILED : STATUS_OK;
}

void members_prepare_poll(struct members *members, int wake_fd, int other_fd)
{
	unsigned int i;

	for (i = 0; i < members->nr; i++)
		members->polled[i] = (struct pollfd){ members->list[i].pidfd, POLLIN, 0 };
	members->polled[i] = (struct pollfd){ wake_fd, POLLIN, 0 };
	members->polled[i + 1] = (struct pollfd){ other_fd, POLLIN, 0 };
}

bool members_polled(struct members *members)
{
	unsigned int i;

	for (i = 0; i < members->nr; i++) {
		if (members->list[i].pidfd < 0 || !members->polled[i].revents)
			continue;
		close(members->list[i].pidfd);
		members->list[i].pidfd = -1;
	}
	return members->polled[members->nr].revents;
}

bool members_any_alive(const struct members *members)
{
	unsigned int i;

	for (i = 0; i < members->nr; i++)
		if (members->list[i].pidfd >= 0)
			return true;
	return false;
}

void members_report(const struct members *members)
{
	if (members->nr_late)
		message(STATUS_OK,
			"%u process%s joined the cgroup while it was watched: their faults of up to "
			"a second, before they were found, are missing",
			members->nr_late, members->nr_late == 1 ? "" : "es");
	if (members->nr_unmapped > 1)
		message(STATUS_OK,
			"the names of files and code that %u processes had mapped before may be "
			"missing",
			members->nr_unmapped);
}

void members_exit(struct members *members)
{
	unsigned int i;

	for (i = 0; i < members->nr; i++)
		if (members->list[i].pidfd >= 0)
			close(members->list[i].pidfd);
	free(members->list);
	free(members->polled);
}
