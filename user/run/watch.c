// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "privilege/invoker.h"
#include "privilege/reduce.h"
#include "run/child.h"
#include "run/watch.h"
#include "system/fd_limit.h"
#include "system/processes.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/time_ns.h"

/* Of one file: the overlay's, that below it, and its copy. */
#define ONLY_MAX 4

/* A process that was a target from the start. */
struct member {
	pid_t pid;
	int pidfd;		/* -1: it has ended */
	uint64_t since_ns;	/* what it creates from then on is watched; of CLOCK_BOOTTIME */
	struct process_counts before;
	bool counted;		/* `before` is known */
};

struct watch {
	struct watch_options options;
	struct instruments *instruments;
	struct command command;
	struct member *members;
	unsigned int nr_members;
	struct pollfd *polled;	/* the members, and behind them the end */
	int end;		/* eventfd */
	int only_fd;
	uint64_t only_inodes[ONLY_MAX];
	unsigned int nr_only;
	uint64_t start_ns, end_ns;
	bool told_to_end;
	uint64_t interrupted_ns;	/* the first SIGINT: the command is awaited; 0: none */
	bool explained;		/* that it is awaited */
	bool warned;		/* of a process that joined and is not watched */
	unsigned int nr_unmapped;	/* processes whose mappings could not be read */
	bool ended;		/* the command has, with this status: */
	int wait_status;
	struct usage usage;	/* of the command and of orphans of it */
	bool orphans;		/* some of its descendants run on */
	bool forked;		/* a watched process had a child: counts of it alone are not all */
};

static bool is_only(const struct watch *watch, uint64_t inode)
{
	unsigned int i;

	for (i = 0; i < watch->nr_only; i++)
		if (watch->only_inodes[i] == inode)
			return true;
	return false;
}

static void add_only(struct watch *watch, uint64_t inode)
{
	if (watch->nr_only < ONLY_MAX && !is_only(watch, inode))
		watch->only_inodes[watch->nr_only++] = inode;
}

/*
 * With --file the module hooks that file alone; eBPF knows of no such choice. Its
 * counts stay those of all faults, for the ledger; its events are chosen here. By
 * inode alone: the device that stat(2) tells may be another than the kernel's. So may
 * the inode, of an overlay's file: the module's records have the one that is mapped.
 */
static bool is_wanted(const struct watch *watch, const struct pfstat_event *event)
{
	const struct pfstat_fault *fault = (const struct pfstat_fault *)event;
	const struct pfstat_block *block = (const struct pfstat_block *)event;
	const struct pfstat_page *page = (const struct pfstat_page *)event;

	if (watch->only_fd < 0)
		return true;
	if (event->type == PFSTAT_EVENT_FAULT)
		return is_only(watch, fault->inode);
	if (event->type == PFSTAT_EVENT_BLOCK && event->flags & PFSTAT_BLOCK_FILE)
		return is_only(watch, block->inode);
	if (event->type == PFSTAT_EVENT_PAGE)
		return is_only(watch, page->inode);
	return true;
}

/* Listens to the stream on its way: were there more processes than we know? */
static int pass_on(void *context, const struct item *item)
{
	struct watch *watch = context;
	const struct pfstat_event *event = item->event;

	if (item->type == ITEM_RECORD && watch->only_fd >= 0)
		add_only(watch, item->record->inode);
	if (item->type == ITEM_EVENT && !is_wanted(watch, event))
		return 0;
	if (item->type == ITEM_EVENT && event->type == PFSTAT_EVENT_TASK &&
	    event->flags & PFSTAT_TASK_FORK && event->pid == event->tid)
		watch->forked = true;
	return watch->options.instruments.sink(watch->options.instruments.sink_context, item);
}

static const struct member *find_member(const struct watch *watch, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < watch->nr_members; i++)
		if (watch->members[i].pid == pid && watch->members[i].pidfd >= 0)
			return &watch->members[i];
	return NULL;
}

static int append_member(struct watch *watch)
{
	struct member *members = reallocarray(watch->members, watch->nr_members + 1,
					      sizeof(*members));
	struct pollfd *polled;

	if (!members)
		return -ENOMEM;
	watch->members = members;
	polled = reallocarray(watch->polled, watch->nr_members + 2, sizeof(*polled));
	if (!polled)
		return -ENOMEM;
	watch->polled = polled;
	members[watch->nr_members++] = (struct member){ .pidfd = -1 };
	return 0;
}

/*
 * A place for one more. One that has ended gives its own, but for the first: its
 * counts are asked for at the end. A cgroup's members may change for days.
 */
static struct member *member_place(struct watch *watch)
{
	unsigned int i;

	for (i = 1; i < watch->nr_members; i++)
		if (watch->members[i].pidfd < 0)
			return &watch->members[i];
	return append_member(watch) ? NULL : &watch->members[watch->nr_members - 1];
}

static int open_pidfd(pid_t pid, char *why, size_t size)
{
	int pidfd = pidfd_open(pid, 0), err = pidfd < 0 ? -errno : 0;

	if (!err && descriptors_are_short(pidfd)) {
		close(pidfd);
		err = -EMFILE;
	}
	if (err)
		snprintf(why, size, err == -ESRCH ? "there is no process %d" :
			 "cannot watch for the end of process %d: %s", pid, strerror(-err));
	return err ?: pidfd;
}

/* Who ends before it is followed is no member, and takes no place. */
static int follow(struct watch *watch, pid_t pid, char *why, size_t size)
{
	const int pidfd = open_pidfd(pid, why, size);
	struct member *member;
	int err, unmapped;

	if (pidfd < 0)
		return pidfd;
	err = instruments_follow(watch->instruments, pid, !watch->options.command, why, size);
	if (err < 0)
		goto close_pidfd;
	unmapped = err;
	member = member_place(watch);
	if (!member) {
		snprintf(why, size, "out of memory");
		err = -ENOMEM;
		goto close_pidfd;
	}
	*member = (struct member){
		.pid = pid, .pidfd = pidfd, .since_ns = clock_read_ns(CLOCK_BOOTTIME),
	};
	member->counted = !process_counts(pid, &member->before);
	return unmapped;

close_pidfd:
	close(pidfd);
	return err;
}

/*
 * It, or whoever it comes from, was made by one that was a member by then. Of an orphan
 * that cannot be told: it is watched twice rather than not at all.
 */
static bool comes_from_member(const struct watch *watch, pid_t pid)
{
	const struct member *member;
	struct process_birth birth;

	while (!process_birth(pid, &birth) && birth.parent && !process_is_first(birth.parent)) {
		member = find_member(watch, birth.parent);
		if (member)
			return birth.ns >= member->since_ns;
		pid = birth.parent;
	}
	return false;
}

/* A member's child was watched from its first moment on; eBPF knows all of these. */
static bool is_watched(const struct watch *watch, pid_t pid)
{
	if (find_member(watch, pid))
		return true;
	if (watch->options.instruments.bpf)
		return instruments_are_on(watch->instruments, pid);
	return comes_from_member(watch, pid);
}

static bool has_started(const struct watch *watch)
{
	return watch->start_ns;
}

/* Once: what cannot be done is tried again every second. */
static void warn(struct watch *watch, const char *why)
{
	if (!watch->warned)
		complain(STATUS_OK, "%s; the recording goes on without it, and without others to "
			 "which the same happens", why);
	watch->warned = true;
}

/* The first with its number; how many there were is said in the end. */
static void count_unmapped(struct watch *watch, const char *why)
{
	if (!watch->nr_unmapped++)
		complain(STATUS_OK, "%s; its faults are recorded, but files and code that it has "
			 "mapped may have no names", why);
}

/*
 * Processes come and go while they are listed: one that is gone is no error. What has
 * been recorded is worth more than one that joins.
 */
static int follow_visited(void *context, pid_t pid)
{
	struct watch *watch = context;
	char why[512];
	int err;

	if (pid == getpid() || is_watched(watch, pid))
		return 0;
	err = follow(watch, pid, why, sizeof(why));
	if (!err || err == -ESRCH || err == -EPERM)
		return 0;
	if (err > 0) {
		count_unmapped(watch, why);
		return 0;
	}
	if (has_started(watch)) {
		warn(watch, why);
		return 0;
	}
	complain(STATUS_FAILED, "%s", why);
	return -ECANCELED;
}

/* A folder of cgroup v1 has cgroup.procs, too, but lists each process in several trees. */
static bool is_of_another_kind(const char *path)
{
	struct statfs statfs_buffer;

	return !statfs(path, &statfs_buffer) && statfs_buffer.f_type != CGROUP2_SUPER_MAGIC;
}

static int follow_cgroup(struct watch *watch)
{
	const char *path = watch->options.cgroup;
	int err;

	if (is_of_another_kind(path))
		return complain(STATUS_FAILED, "cannot watch %s: it is not a folder of cgroup v2; "
				"name one, such as /sys/fs/cgroup/system.slice", path);
	err = processes_in_cgroup(path, follow_visited, watch);
	if (err == -ECANCELED)
		return STATUS_FAILED;
	if (err)
		return complain(STATUS_FAILED, "cannot list the processes of %s: %s: name a folder "
				"of cgroup v2, such as /sys/fs/cgroup/system.slice", path,
				strerror(-err));
	return STATUS_OK;
}

/* The group itself may go, and come again: a service that is started anew. */
static void look_at_cgroup(struct watch *watch)
{
	char why[512];
	int err;

	err = processes_in_cgroup(watch->options.cgroup, follow_visited, watch);
	if (!err || err == -ENOENT)
		return;
	snprintf(why, sizeof(why), "cannot list the processes of %s: %s", watch->options.cgroup,
		 strerror(-err));
	warn(watch, why);
}

static int follow_mappers(struct watch *watch)
{
	int err = processes_that_map(watch->only_fd, follow_visited, watch);

	if (err && err != -ECANCELED)
		return complain(STATUS_FAILED, "cannot find out who maps %s: %s",
				watch->options.file, strerror(-err));
	return err ? STATUS_FAILED : STATUS_OK;
}

static int hold_command(struct watch *watch)
{
	char why[512];
	int err;

	/* Its orphans become ours, so that their getrusage is not lost. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	err = command_hold(&watch->command, watch->options.command);
	if (err)
		return complain(STATUS_FAILED, "cannot start a process: %s",
				invoker_strerror(err));
	err = follow(watch, watch->command.pid, why, sizeof(why));
	return err ? complain(STATUS_FAILED, "%s", why) : STATUS_OK;
}

static int follow_pid(struct watch *watch)
{
	char why[512];
	int err;

	if (watch->options.pid == getpid())
		return complain(STATUS_USAGE, "-p: %d is pfdrive itself", watch->options.pid);
	err = follow(watch, watch->options.pid, why, sizeof(why));
	if (err < 0)
		return complain(STATUS_FAILED, "%s", why);
	if (err)
		count_unmapped(watch, why);
	return STATUS_OK;
}

static int follow_all(struct watch *watch)
{
	const struct watch_options *options = &watch->options;
	int status;

	if (options->command)
		status = hold_command(watch);
	else if (options->pid)
		status = follow_pid(watch);
	else if (options->cgroup)
		status = follow_cgroup(watch);
	else
		status = follow_mappers(watch);
	if (!status && !watch->nr_members)
		status = complain(STATUS_FAILED, "there is no process to watch: %s %s",
				  options->cgroup ? "none in" : "nobody maps",
				  options->cgroup ?: options->file);
	return status;
}

static int open_only(struct watch *watch)
{
	const char *file = watch->options.file;
	struct stat stat_buffer;

	if (!file)
		return STATUS_OK;
	watch->only_fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (watch->only_fd < 0 || fstat(watch->only_fd, &stat_buffer))
		return complain(STATUS_FAILED, "cannot open %s: %s", file, strerror(errno));
	add_only(watch, stat_buffer.st_ino);
	return STATUS_OK;
}

/* Nothing is read any more: so there is nothing to watch for. */
static void on_failure(void *context)
{
	watch_end(context);
}

static int open_instruments(struct watch *watch)
{
	struct instruments_options options = watch->options.instruments;
	char why[512];
	int err;

	options.only_fd = watch->only_fd;
	options.sink = pass_on;
	options.sink_context = watch;
	options.failed = on_failure;
	options.failed_context = watch;
	options.maps = true;
	/* Who joins a group may have inherited a counter: its faults would count twice. */
	options.no_counters |= !!watch->options.cgroup;
	err = instruments_open(&watch->instruments, &options, why, sizeof(why));
	return err ? complain(STATUS_FAILED, "%s", why) : STATUS_OK;
}

static int start(struct watch *watch)
{
	char why[512];

	/* Before there is another thread: each has capabilities of its own. */
	if (rights_reduce())
		return STATUS_FAILED;
	if (instruments_go(watch->instruments, why, sizeof(why)))
		return complain(STATUS_FAILED, "%s", why);
	watch->start_ns = clock_monotonic_ns();
	return STATUS_OK;
}

int watch_open(struct watch **opened, const struct watch_options *options)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	int status;

	*opened = watch;
	if (!watch)
		return complain(STATUS_FAILED, "out of memory");
	watch->options = *options;
	watch->command = COMMAND_NONE;
	watch->only_fd = -1;
	descriptors_raise();
	watch->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->end < 0)
		return complain(STATUS_FAILED, "cannot open an eventfd: %s", strerror(errno));
	status = open_only(watch);
	if (!status)
		status = open_instruments(watch);
	if (!status)
		status = follow_all(watch);
	if (!status)
		status = start(watch);
	return status;
}

static int let_command_go(struct watch *watch)
{
	const char *name;
	int err;

	if (!watch->options.command)
		return STATUS_OK;
	if (interrupt_signal)
		return 128 + interrupt_signal;	/* it has not begun, and never will */
	name = watch->options.command[0];
	err = command_go(&watch->command);
	if (err == -ENOENT)
		return complain(127, "there is no command %s", name);
	if (err == -EPIPE)
		return complain(126, "%s was killed before it began", name);
	return err ? complain(126, "cannot run %s: %s", name, invoker_strerror(err)) : STATUS_OK;
}

/* Does any of the processes that were there from the start still run? */
static bool anybody_lives(const struct watch *watch)
{
	unsigned int i;

	for (i = 0; i < watch->nr_members; i++)
		if (watch->members[i].pidfd >= 0)
			return true;
	return false;
}

/* Forgets who has ended; sees whether we are to. */
static void look_at_members(struct watch *watch)
{
	unsigned int i;

	watch->told_to_end = watch->polled[watch->nr_members].revents;

	for (i = 0; i < watch->nr_members; i++) {
		if (watch->members[i].pidfd < 0 || !watch->polled[i].revents)
			continue;
		close(watch->members[i].pidfd);
		watch->members[i].pidfd = -1;
	}
}

/* Until when to sleep at most: the end, or the next look at the cgroup. */
static uint64_t next_wake_ns(const struct watch *watch, uint64_t now)
{
	uint64_t wake = UINT64_MAX;

	if (watch->options.duration_ns)
		wake = watch->start_ns + watch->options.duration_ns;
	if (watch->options.cgroup && now + SECOND < wake)
		wake = now + SECOND;
	if (watch->interrupted_ns && !watch->explained &&
	    watch->interrupted_ns + SECOND < wake)
		wake = watch->interrupted_ns + SECOND;
	return wake;
}

/*
 * At a terminal Ctrl-C goes to the command, too. It is awaited, so that its end is recorded and
 * its status is known. Signals are blocked, so none comes in between.
 */
static void take_first_interrupt(struct watch *watch)
{
	if (interrupt_signal != SIGINT || !watch->options.command || watch->interrupted_ns)
		return;
	interrupt_signal = 0;
	watch->interrupted_ns = clock_monotonic_ns();
}

/* Most commands end at once. */
static void explain_wait(struct watch *watch)
{
	if (!watch->interrupted_ns || watch->explained ||
	    clock_monotonic_ns() < watch->interrupted_ns + SECOND)
		return;
	watch->explained = true;
	complain(STATUS_OK, "the watching goes on until %s has ended; a second Ctrl-C ends it now",
		 watch->options.command[0]);
}

/* Sleeps with the signals let in only here, so that none is missed. */
static int sleep_until(struct watch *watch, uint64_t wake)
{
	uint64_t now = clock_monotonic_ns(), left = wake > now ? wake - now : 0;
	const struct timespec timeout = { left / SECOND, left % SECOND };
	unsigned int i;
	sigset_t none;

	for (i = 0; i < watch->nr_members; i++)
		watch->polled[i] = (struct pollfd){ watch->members[i].pidfd, POLLIN, 0 };
	watch->polled[i] = (struct pollfd){ watch->end, POLLIN, 0 };
	sigemptyset(&none);
	return ppoll(watch->polled, watch->nr_members + 1, wake == UINT64_MAX ? NULL : &timeout,
		     &none);
}

static bool is_over(const struct watch *watch)
{
	const uint64_t duration = watch->options.duration_ns;

	return interrupt_signal || watch->told_to_end ||
	       (duration && clock_monotonic_ns() >= watch->start_ns + duration) ||
	       (!anybody_lives(watch) && !watch->options.cgroup);
}

static void wait_for_end(struct watch *watch)
{
	take_first_interrupt(watch);
	while (!is_over(watch)) {
		explain_wait(watch);
		if (sleep_until(watch, next_wake_ns(watch, clock_monotonic_ns())) > 0)
			look_at_members(watch);
		if (watch->options.cgroup)
			look_at_cgroup(watch);
		take_first_interrupt(watch);
	}
}

int watch_go(struct watch *watch)
{
	return let_command_go(watch);
}

void watch_wait(struct watch *watch)
{
	sigset_t ends, before;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
	wait_for_end(watch);
	watch->end_ns = clock_monotonic_ns();
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void watch_end(struct watch *watch)
{
	const uint64_t one = 1;

	while (write(watch->end, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

const struct code_files *watch_code_files(const struct watch *watch)
{
	return instruments_code_files(watch->instruments);
}

void watch_lost(const struct watch *watch, uint64_t *records, uint64_t *events)
{
	instruments_lost(watch->instruments, records, events);
}

/* The command, and whoever of its descendants was left to us and has ended. */
static void reap(struct watch *watch)
{
	const struct rusage none = { 0 };
	struct rusage rusage;
	struct usage part;
	int wait_status;
	pid_t pid;

	for (;;) {
		pid = wait4(-1, &wait_status, WNOHANG, &rusage);
		if (pid <= 0)
			break;
		part = usage_between(&none, &rusage);
		usage_add(&watch->usage, &part);
		if (pid == watch->command.pid) {
			watch->ended = true;
			watch->wait_status = wait_status;
		}
	}
	watch->orphans = pid == 0;
}

/* The child that waited for its exec had faults of its own before it was watched. */
static void take_rusage(const struct watch *watch, struct run_counters *counters)
{
	const struct member *member = &watch->members[0];

	counters->usage = watch->usage;
	if (member->counted) {
		counters->usage.minflt -= member->before.minflt;
		counters->usage.majflt -= member->before.majflt;
	} else {
		counters->usage.minflt = COUNT_NA;
		counters->usage.majflt = COUNT_NA;
	}
}

/* One that was there before and is there still. */
static bool read_counts(const struct watch *watch, struct process_counts *after)
{
	const struct member *member = &watch->members[0];

	return !watch->options.command && watch->nr_members == 1 && member->pidfd >= 0 &&
	       member->counted && !process_counts(member->pid, after);
}

/* Its children's counts are not in /proc. */
static void take_difference(const struct watch *watch, const struct process_counts *after,
			    struct run_counters *counters)
{
	const struct process_counts *before = &watch->members[0].before;

	if (watch->forked)
		return;
	counters->usage.minflt = after->minflt - before->minflt;
	counters->usage.majflt = after->majflt - before->majflt;
	counters->usage.utime_ns = after->utime_ns - before->utime_ns;
	counters->usage.stime_ns = after->stime_ns - before->stime_ns;
}

/* Whether it forked is known when all has been read, and no thread does any more. */
int watch_stop(struct watch *watch, struct run_counters *counters, char *why, size_t size)
{
	struct process_counts after;
	bool counted;
	int err;

	if (watch->options.command)
		reap(watch);
	counters->edges = !watch->ended;
	counters->start_ns = watch->start_ns;
	counters->end_ns = watch->end_ns;
	if (watch->nr_unmapped > 1)
		complain(STATUS_OK, "files and code that %u processes had mapped when they were "
			 "found may have no names", watch->nr_unmapped);
	counted = read_counts(watch, &after);
	err = instruments_stop(watch->instruments, counters, why, size);
	if (!err && counted)
		take_difference(watch, &after, counters);
	if (watch->ended && !watch->orphans)
		take_rusage(watch, counters);
	return err;
}

void watch_close(struct watch *watch)
{
	unsigned int i;

	if (!watch)
		return;
	instruments_close(watch->instruments);
	command_close(&watch->command);
	for (i = 0; i < watch->nr_members; i++)
		if (watch->members[i].pidfd >= 0)
			close(watch->members[i].pidfd);
	if (watch->only_fd >= 0)
		close(watch->only_fd);
	if (watch->end >= 0)
		close(watch->end);
	free(watch->members);
	free(watch->polled);
	free(watch);
}

int watch_status(const struct watch *watch)
{
	if (!watch->ended)
		return STATUS_OK;
	if (WIFSIGNALED(watch->wait_status))
		return 128 + WTERMSIG(watch->wait_status);
	return WEXITSTATUS(watch->wait_status);
}
