// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watches processes, as a client of a measurement. It follows the processes, waits until they have
 * ended or it is stopped, and stores their times and usage. The collector's thread calls the
 * observer in this file. Everything else runs in the caller's thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/fault_source_module.h"
#include "model/counters.h"
#include "model/item.h"
#include "privilege/invoker.h"
#include "run/measurement.h"
#include "run/watch.h"
#include "system/cgroups.h"
#include "system/own_process.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/time_ns.h"

/*
 * --file: which events concern the one watched file. The module hooks only the file named by
 * --file. eBPF cannot choose: it still counts all faults, for the ledger. eBPF events are chosen
 * here, by inode only, because the device returned by stat(2) may differ from the kernel's. An
 * overlay file's inode may differ too: the module's records have the mapped inode.
 */

/* One file's inodes: the overlay's, the one below it, and the copy's. */
#define FILE_EVENTS_INODES 4

struct file_events {
	int fd; /* for the file, -1 if all events are wanted */
	uint64_t inodes[FILE_EVENTS_INODES];
	unsigned int nr;
};

#define FILE_EVENTS_ALL ((struct file_events){ .fd = -1 })

static bool file_events_has(const struct file_events *file, uint64_t inode)
{
	unsigned int i;

	for (i = 0; i < file->nr; i++)
		if (file->inodes[i] == inode)
			return true;
	return false;
}

static void file_events_add(struct file_events *file, uint64_t inode)
{
	if (file->nr < FILE_EVENTS_INODES && !file_events_has(file, inode))
		file->inodes[file->nr++] = inode;
}

/* 0 or a negative errno. */
static int file_events_open(struct file_events *file, const char *path)
{
	struct stat stat_buffer;

	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &stat_buffer))
		return -errno;
	file_events_add(file, stat_buffer.st_ino);
	return 0;
}

static bool file_events_want(struct file_events *file, const struct item *item)
{
	const struct pfstat_event *event = item->event;
	const struct pfstat_fault *fault = (const struct pfstat_fault *)event;
	const struct pfstat_block *block = (const struct pfstat_block *)event;
	const struct pfstat_page *page = (const struct pfstat_page *)event;

	if (file->fd < 0)
		return true;
	if (item->type == ITEM_RECORD)
		file_events_add(file, item->record->inode);
	if (item->type != ITEM_EVENT)
		return true;
	if (event->type == PFSTAT_EVENT_FAULT)
		return file_events_has(file, fault->inode);
	if (event->type == PFSTAT_EVENT_BLOCK && event->flags & PFSTAT_BLOCK_FILE)
		return file_events_has(file, block->inode);
	if (event->type == PFSTAT_EVENT_PAGE)
		return !(event->flags & PFSTAT_PAGE_ANON) && file_events_has(file, page->inode);
	return true;
}

static void file_events_close(struct file_events *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/*
 * Reads a cgroup's counters at the start and at the end of a recording. This is the watched cgroup,
 * or else the cgroup of the watched process. A program may move to another cgroup after its start,
 * as with systemd-run --scope. The counters at the start are then those of the wrong cgroup.
 */

struct cgroup_watch {
	struct cgroup_levels before;
	bool moved; /* the process left the cgroup */
};

/* @folder: the cgroup; NULL: the process's cgroup */
static void cgroup_watch_start(struct cgroup_watch *watch, const char *folder, pid_t pid)
{
	char own[CGROUP_PATH];

	*watch = (struct cgroup_watch){ 0 };
	if (folder)
		cgroup_levels_read(&watch->before, folder);
	else if (!cgroup_levels_folder(own, pid))
		cgroup_levels_read(&watch->before, own);
}

/* Notes a move of the process to another cgroup. The process must not have been reaped. */
static void cgroup_watch_check(struct cgroup_watch *watch, pid_t pid)
{
	char now[CGROUP_PATH];

	if (watch->before.path[0] && !cgroup_levels_folder(now, pid) &&
	    strcmp(now, watch->before.path))
		watch->moved = true;
}

/* Fills the differences since the start. Nothing is known if the process moved. */
static void cgroup_watch_stop(const struct cgroup_watch *watch, struct cgroup_limits *limits)
{
	struct cgroup_levels after = { 0 };

	if (watch->before.path[0] && !watch->moved)
		cgroup_levels_read(&after, watch->before.path);
	cgroup_limits_between(&watch->before, &after, limits);
}

struct watch {
	struct watch_options options;
	struct result *result;
	struct measurement measurement;
	struct child command;
	struct exact exact;
	struct members members;
	struct file_events file;
	struct cgroup_watch cgroup;
	int end;      /* eventfd */
	int children; /* signalfd for SIGCHLD, -1 without a command */
	uint64_t start_ns, end_ns;
	bool told_to_end;
	uint64_t interrupted_ns; /* the first SIGINT: the command is awaited, 0 if none */
	bool explained;		 /* that it is awaited */
	bool ended;		 /* the command has, with this status: */
	int wait_status;
	struct usage usage; /* for the command and the command's orphans */
	bool orphans;	    /* some descendants run on */
	bool forked;	    /* a watched process forked, so its own counts are incomplete */
};

/* Chooses the events for --file, and notes whether there were more processes than members. */
static int watch_observe(void *context, const struct item *item)
{
	struct watch *watch = context;

	if (!file_events_want(&watch->file, item))
		return 1;
	if (item->type == ITEM_EVENT && item->event->type == PFSTAT_EVENT_TASK &&
	    item->event->flags & PFSTAT_TASK_FORK && item->event->pid == item->event->tid)
		watch->forked = true;
	return 0;
}

/* Nothing is read or recorded any more: so there is nothing to wait for. */
static void watch_on_failure(void *context)
{
	watch_end(context);
}

static int watch_prepare(struct watch *watch)
{
	const char *file = watch->options.file;
	int err;

	fd_limit_raise();
	watch->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->end < 0)
		return message(STATUS_FAILED, "cannot open an eventfd: %s", strerror(errno));
	err = file ? file_events_open(&watch->file, file) : 0;
	return err ? message(STATUS_FAILED, "cannot open %s: %s", file, strerror(-err)) : STATUS_OK;
}

static int watch_open_measurement(struct watch *watch)
{
	struct measurement_options options = {
		.instruments = watch->options.instruments,
		.groups = watch->options.groups,
		.tap = watch->options.tap,
		.tap_context = watch->options.tap_context,
		.without_analysis = watch->options.tap,
		.analyzes_later = true,
		.observer = watch_observe,
		.observer_context = watch,
	};
	int err;

	options.instruments.only_fd = watch->file.fd;
	options.instruments.failed = watch_on_failure;
	options.instruments.failed_context = watch;
	options.instruments.maps = true;
	/* A process that joins a cgroup may have inherited a counter: it would count twice. */
	options.instruments.no_counters |= !!watch->options.cgroup;
	err = measurement_open(&watch->measurement, &options, watch->result);
	return measurement_status(&watch->measurement, err);
}

/* The module turns fault-around off itself. */
static int watch_open_exact(struct watch *watch)
{
	const struct instruments_options *options = &watch->measurement.options.instruments;

	if (!options->exact || options->source == &fault_source_module)
		return STATUS_OK;
	return exact_open(&watch->exact, watch->options.command[0]);
}

static void watch_only_children(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
}

static int watch_hold_command(struct watch *watch)
{
	sigset_t signals;
	int err;

	watch_only_children(&signals);
	watch->children = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch->children < 0)
		return message(STATUS_FAILED, "cannot open a signalfd: %s", strerror(errno));
	/* The command's orphans become ours, so their getrusage is not lost. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	err = child_hold(&watch->command, watch->options.command, &watch->exact);
	if (err)
		return message(STATUS_FAILED, "cannot start a process: %s", invoker_strerror(err));
	return members_follow(&watch->members, watch->command.pid);
}

static int watch_follow(struct watch *watch)
{
	const struct watch_options *options = &watch->options;
	struct members *members = &watch->members;

	if (options->command)
		return watch_hold_command(watch);
	if (options->pid == getpid())
		return message(STATUS_USAGE, "--pid: %d is pfdrive itself; give another process",
			       options->pid);
	if (options->pid)
		return members_follow(members, options->pid);
	if (options->cgroup)
		return members_follow_cgroup(members, options->cgroup);
	return members_follow_mappers(members, watch->file.fd, options->file);
}

static int watch_check_members(const struct watch *watch)
{
	const struct watch_options *options = &watch->options;

	if (watch->members.nr)
		return STATUS_OK;
	return message(
		STATUS_FAILED,
		"there is no process to watch: no process %s %s now; start the program first",
		options->cgroup ? "is in" : "maps", options->cgroup ?: options->file);
}

/* Returns the command, or the process of --pid. 0: there is neither. */
static pid_t watch_first_process(const struct watch *watch)
{
	return watch->options.command ? watch->command.pid : watch->options.pid;
}

static int watch_start(struct watch *watch)
{
	int err;

	if (watch->options.cgroup || watch_first_process(watch))
		cgroup_watch_start(&watch->cgroup, watch->options.cgroup,
				   watch_first_process(watch));
	err = measurement_start(&watch->measurement);
	watch->start_ns = clock_monotonic_ns();
	watch->members.started = true;
	return measurement_status(&watch->measurement, err);
}

int watch_open(struct watch **opened, const struct watch_options *options, struct result *result)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	*opened = watch;
	if (!watch)
		return message(STATUS_FAILED, "out of memory");
	watch->options = *options;
	watch->result = result;
	watch->measurement = MEASUREMENT_NONE;
	watch->command = CHILD_NONE;
	watch->exact = EXACT_NONE;
	watch->file = FILE_EVENTS_ALL;
	watch->end = -1;
	watch->children = -1;
	watch->members.measurement = &watch->measurement;
	watch->members.held = options->command;
	return watch_prepare(watch)						   ?:
		       watch_open_measurement(watch)				   ?:
		       watch_open_exact(watch)					   ?:
		       measurement_record(&watch->measurement, options->recording) ?:
		       watch_follow(watch)					   ?:
		       watch_check_members(watch)				   ?:
		       watch_start(watch);
}

static int watch_let_command_go(struct watch *watch)
{
	const char *name;
	int err;

	if (!watch->options.command)
		return STATUS_OK;
	if (signals_caught)
		return 128 + signals_caught; /* it has not begun, and never will */
	name = watch->options.command[0];
	err = child_go(&watch->command);
	if (err == -ENOENT)
		return message(127, "there is no command %s", name);
	if (err == -EPIPE)
		return message(126, "%s was killed before it started", name);
	return err ? message(126, "cannot run %s: %s", name, invoker_strerror(err)) : STATUS_OK;
}

int watch_go(struct watch *watch)
{
	int status = watch_let_command_go(watch);

	if (!status)
		measurement_keep_recording(&watch->measurement);
	return status;
}

/* Until when to sleep at most: the end, or the next look at the cgroup. */
static uint64_t watch_next_wake_ns(const struct watch *watch, uint64_t now)
{
	uint64_t wake = UINT64_MAX;

	if (watch->options.duration_ns)
		wake = watch->start_ns + watch->options.duration_ns;
	if (watch->options.cgroup && now + SECOND < wake)
		wake = now + SECOND;
	if (watch->interrupted_ns && !watch->explained && watch->interrupted_ns + SECOND < wake)
		wake = watch->interrupted_ns + SECOND;
	return wake;
}

/*
 * At a terminal Ctrl-C goes to the command too. The command is awaited, to record how it ends and
 * to know its status. Signals are blocked, so none comes in between.
 */
static void watch_take_first_interrupt(struct watch *watch)
{
	if (signals_caught != SIGINT || !watch->options.command || watch->interrupted_ns)
		return;
	signals_caught = 0;
	watch->interrupted_ns = clock_monotonic_ns();
}

/* Most commands end at once. */
static void watch_explain_wait(struct watch *watch)
{
	if (!watch->interrupted_ns || watch->explained ||
	    clock_monotonic_ns() < watch->interrupted_ns + SECOND)
		return;
	watch->explained = true;
	message(STATUS_OK, "recording continues until %s exits; a second Ctrl-C stops it now",
		watch->options.command[0]);
}

/* Sleeps. Signals are let in only here, so none is missed. SIGCHLD stays in the signalfd. */
static int watch_sleep_until(struct watch *watch, uint64_t wake)
{
	uint64_t now = clock_monotonic_ns(), left = wake > now ? wake - now : 0;
	const struct timespec timeout = { left / SECOND, left % SECOND };
	struct members *members = &watch->members;
	sigset_t blocked;

	members_prepare_poll(members, watch->end, watch->children);
	watch_only_children(&blocked);
	return ppoll(members->polled, members->nr + 2, wake == UINT64_MAX ? NULL : &timeout,
		     &blocked);
}

static bool watch_is_over(const struct watch *watch)
{
	const uint64_t duration = watch->options.duration_ns;

	return signals_caught || watch->told_to_end ||
	       (duration && clock_monotonic_ns() >= watch->start_ns + duration) ||
	       (!members_any_alive(&watch->members) && !watch->options.cgroup);
}

/*
 * Reaps the command, and the ended descendants that became ours. pfdrive has no other children
 * meanwhile.
 */
static void watch_reap(struct watch *watch)
{
	struct signalfd_siginfo info;
	const struct rusage none = { 0 };
	struct rusage rusage;
	struct usage part;
	int wait_status;
	pid_t pid;

	/* The command's cgroup is known until the command is reaped. */
	if (!watch->ended)
		cgroup_watch_check(&watch->cgroup, watch->command.pid);
	/* First the signals: the next child to end sends another. */
	while (read(watch->children, &info, sizeof(info)) > 0)
		;
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

static void watch_wait_for_end(struct watch *watch)
{
	watch_take_first_interrupt(watch);
	while (!watch_is_over(watch)) {
		watch_explain_wait(watch);
		if (watch_sleep_until(watch, watch_next_wake_ns(watch, clock_monotonic_ns())) > 0)
			watch->told_to_end = members_polled(&watch->members);
		/* Else a command that runs for days, and makes daemons, exhausts the pids. */
		if (watch->options.command)
			watch_reap(watch);
		if (watch->options.cgroup)
			members_update_cgroup(&watch->members, watch->options.cgroup);
		watch_take_first_interrupt(watch);
	}
}

void watch_wait(struct watch *watch)
{
	sigset_t before, children;

	signals_block(&before);
	watch_only_children(&children);
	sigprocmask(SIG_BLOCK, &children, NULL);
	if (watch->options.command)
		watch_reap(watch); /* those ending before */
	watch_wait_for_end(watch);
	watch->end_ns = clock_monotonic_ns();
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void watch_end(struct watch *watch)
{
	const uint64_t one = 1;

	while (write(watch->end, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

uint64_t watch_start_ns(const struct watch *watch)
{
	return watch->start_ns;
}

uint32_t watch_hooks(const struct watch *watch)
{
	return instruments_hooks(watch->measurement.instruments);
}

void watch_lost(const struct watch *watch, uint64_t *records, uint64_t *events)
{
	instruments_lost(watch->measurement.instruments, records, events);
}

/* The usage of a command and all ended descendants. */
static void watch_fill_reaped_usage(const struct watch *watch, struct usage *usage)
{
	const struct member *member = &watch->members.list[0];

	if (!watch->ended || watch->orphans)
		return;
	*usage = watch->usage;
	/* Before it was watched, the child waiting for the exec had faults too. */
	if (member->counted) {
		usage->minflt -= member->before.minflt;
		usage->majflt -= member->before.majflt;
	} else {
		usage->minflt = COUNT_NA;
		usage->majflt = COUNT_NA;
	}
}

/* Reads the counts of a single process that existed before the watch and still exists. */
static bool watch_read_process(const struct watch *watch, struct process_counts *counts)
{
	const struct members *members = &watch->members;
	const struct member *member = members->list;

	return !watch->options.command && members->nr == 1 && member->pidfd >= 0 &&
	       member->counted && !process_counts(member->pid, counts);
}

/* /proc does not have the children's counts. */
static void watch_fill_process_usage(const struct watch *watch, const struct process_counts *after,
				     struct usage *usage)
{
	const struct process_counts *before = &watch->members.list[0].before;

	if (watch->forked)
		return;
	usage->minflt = after->minflt - before->minflt;
	usage->majflt = after->majflt - before->majflt;
	usage->utime_ns = after->utime_ns - before->utime_ns;
	usage->stime_ns = after->stime_ns - before->stime_ns;
}

void watch_stop(struct watch *watch)
{
	struct run_counters *counters = &watch->result->counters;
	struct process_counts after;
	bool counted;
	int err;

	if (watch->options.command)
		watch_reap(watch);
	counters->edges = !watch->ended;
	counters->start_ns = watch->start_ns;
	counters->end_ns = watch->end_ns;
	if (watch->options.cgroup)
		counters->memory_peak =
			memory_cgroup_peak(watch->options.cgroup, &counters->memory_limit);
	else if (watch->options.pid)
		cgroup_watch_check(&watch->cgroup, watch->options.pid);
	cgroup_watch_stop(&watch->cgroup, &counters->cgroup);
	members_report(&watch->members);
	counted = watch_read_process(watch, &after);
	exact_counts(&watch->exact, &counters->exact);
	err = measurement_stop(&watch->measurement);
	/* `forked` is known when all events have been read. */
	if (!err && counted)
		watch_fill_process_usage(watch, &after, &counters->usage);
	watch_fill_reaped_usage(watch, &counters->usage);
}

int watch_finish(struct watch *watch)
{
	return measurement_finish(&watch->measurement);
}

void watch_close(struct watch *watch)
{
	if (!watch)
		return;
	measurement_close(&watch->measurement);
	child_close(&watch->command);
	exact_close(&watch->exact);
	members_exit(&watch->members);
	file_events_close(&watch->file);
	if (watch->end >= 0)
		close(watch->end);
	if (watch->children >= 0)
		close(watch->children);
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
