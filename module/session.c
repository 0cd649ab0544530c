// SPDX-License-Identifier: GPL-2.0-only
/* The recorder; see session.h. */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/dcache.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/workqueue.h>

#include "calibrate.h"
#include "chain.h"
#include "clock.h"
#include "command.h"
#include "fault.h"
#include "follow.h"
#include "ring.h"
#include "session.h"
#include "tally.h"
#include "target.h"

/* How long stop waits for faults that are inside their handler, in I/O mostly. */
#define SESSION_DRAIN_MS 5000

static const struct session_state session_defaults = {
	.fault_around = true,
	.ring_size = PFSTAT_RING_SIZE_DEFAULT,
};

/* Above the mmap lock: it is held while address spaces are walked. */
static DEFINE_MUTEX(session_mutex);
static struct session_state session = {
	.fault_around = true,
	.ring_size = PFSTAT_RING_SIZE_DEFAULT,
};

/*
 * Of all that is watched, this file's mappings alone; no dentry: any. A path, not
 * a file: who named the open `session` itself would keep it open for ever.
 */
static struct path session_only;

void pfstat_session_state(struct session_state *state)
{
	mutex_lock(&session_mutex);
	*state = session;
	mutex_unlock(&session_mutex);
}

/* Waits until no call is inside a wrapper; false: some take too long. */
static bool session_drain(void)
{
	const unsigned long end = jiffies + msecs_to_jiffies(SESSION_DRAIN_MS);

	while (pfstat_fault_in_flight()) {
		if (time_after(jiffies, end))
			return false;
		usleep_range(1000, 2000);
	}
	return true;
}

static void session_reset_figures(void)
{
	pfstat_ring_reset();
	pfstat_tally_reset();
	pfstat_chain_reset();
}

static struct pfstat_file file_of(struct dentry *dentry)
{
	return (struct pfstat_file) { .real = d_real_inode(dentry), .opened = d_inode(dentry) };
}

/* Takes the reference over. */
static void session_set_only(struct path path)
{
	path_put(&session_only);
	session_only = path;
}

/* Before the first target: empty rings of the size asked for. */
static int session_start(void)
{
	struct pfstat_file only = { };
	int err;

	if (session.recording)
		return 0;
	/* A call of the last session may still be asleep in its handler. */
	if (!session_drain())
		return -EBUSY;
	err = pfstat_ring_setup(session.ring_size, session.overwrite);
	if (err)
		return err;
	pfstat_chain_reset();
	pfstat_clock_start();
	pfstat_fault_record(true);
	pfstat_calibrate(session.ring_size / sizeof(struct pfstat_record));
	session_reset_figures();
	if (session_only.dentry)
		only = file_of(session_only.dentry);
	pfstat_target_open(session.fault_around, &only);
	session.recording = true;
	return 0;
}

static void session_stop(void)
{
	LIST_HEAD(unhooked);

	if (!session.recording)
		return;
	pfstat_target_shut();
	pfstat_follow_stop();
	pfstat_target_unhook_all(&unhooked);
	if (!session_drain())
		pr_info("%ld faults did not end within %d ms and leave no record\n",
			pfstat_fault_in_flight(), SESSION_DRAIN_MS);
	pfstat_fault_record(false);
	pfstat_target_free(&unhooked);	/* that was a grace period */
	pfstat_clock_stop();
	session.recording = false;
}

/* The recorder is free again, with the options that a program expects. */
static void session_release(void)
{
	session_stop();
	session_set_only((struct path) { });
	session = session_defaults;
}

/* Have the targets of `control` ended by themselves? Its options stay. */
static void session_check_idle(void)
{
	if (session.user != SESSION_CONTROL || !pfstat_target_reap())
		return;
	session_stop();
	session.user = SESSION_NOBODY;
}

static void session_idle(struct work_struct *work)
{
	mutex_lock(&session_mutex);
	session_check_idle();
	mutex_unlock(&session_mutex);
}

static DECLARE_WORK(session_idle_work, session_idle);

static void session_on_idle(void)
{
	schedule_work(&session_idle_work);
}

static int session_busy(void)
{
	if (session.user == SESSION_PROGRAM)
		pr_info_ratelimited("busy: the recorder is held by %s (pid %d)\n",
				    session.comm, session.pid);
	else
		pr_info_ratelimited("busy: the recorder is held by control; 'stop' there ends it\n");
	return -EBUSY;
}

int pfstat_session_open(void)
{
	int err = 0;

	mutex_lock(&session_mutex);
	session_check_idle();
	if (session.user != SESSION_NOBODY) {
		err = session_busy();
	} else {
		session = session_defaults;
		session.user = SESSION_PROGRAM;
		session.pid = current->tgid;
		get_task_comm(session.comm, current);
	}
	mutex_unlock(&session_mutex);
	return err;
}

void pfstat_session_close(void)
{
	mutex_lock(&session_mutex);
	session_release();
	mutex_unlock(&session_mutex);
}

/* A program that it began since mm was asked for may have mapped before it was known. */
static void look_for_exec(const struct task_struct *task, const struct mm_struct *mm)
{
	/* Either exec's store is seen here, or its mappings find the process in the table. */
	smp_mb();
	if (READ_ONCE(task->mm) != mm)
		pfstat_follow_again();
}

static int watch_mm(struct task_struct *task, struct pid *pid, struct mm_struct *mm, bool future,
		    bool follow)
{
	struct pfstat_hook_result result;
	int err;

	err = pfstat_follow_start(session_on_idle);
	if (err)
		return err;
	/* Others may be watched already: what fails from here on must not leave this one half. */
	err = pfstat_target_prepare_mm(mm, NULL);
	if (err)
		return err;
	if (future)
		err = pfstat_target_add(pid, mm, task->tgid, follow);
	else
		err = pfstat_target_add_mm(mm, task->tgid, false, follow, GFP_KERNEL);
	if (err)
		return err;
	if (future)
		look_for_exec(task, mm);
	return pfstat_target_hook_mm(mm, NULL, &result);
}

static int watch_process(struct task_struct *task, struct pid *pid, bool future, bool follow)
{
	struct mm_struct *mm = get_task_mm(task);
	int err;

	if (!mm)
		return task->flags & PF_KTHREAD ? -EPERM : -ESRCH;
	err = session_start();
	if (!err)
		err = watch_mm(task, pid, mm, future, follow);
	mmput_async(mm);
	return err;
}

static int command_watch(u64 number, bool future, bool follow)
{
	/* The task's own reference to it goes when it is reaped, which may be at any time. */
	struct pid *pid = find_get_pid(number);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);
	int err = -ESRCH;

	if (task) {
		err = watch_process(task, pid, future, follow);
		put_task_struct(task);
	}
	put_pid(pid);
	return err;
}

static int watch_file(const struct pfstat_file *wanted)
{
	struct pfstat_hook_result result;
	int err;

	err = pfstat_target_prepare_mm(current->mm, wanted);
	if (err)
		return err;
	err = pfstat_target_add_mm(current->mm, current->tgid, false, false, GFP_KERNEL);
	if (err)
		return err;
	err = pfstat_target_hook_mm(current->mm, wanted, &result);
	if (err || result.hooked)
		return err;
	return result.refused ? -EOPNOTSUPP : -ENOENT;
}

static int command_file(u64 number)
{
	struct pfstat_file wanted;
	struct file *file;
	int err;

	if (session.user != SESSION_PROGRAM)
		return -EINVAL;
	file = fget(number);
	if (!file)
		return -EBADF;
	err = session_start();
	if (!err) {
		wanted = file_of(file->f_path.dentry);
		err = watch_file(&wanted);
	}
	fput(file);
	return err;
}

static int command_only(u64 number)
{
	struct file *file;

	if (session.user != SESSION_PROGRAM)
		return -EINVAL;
	if (session.recording)
		return -EBUSY;
	file = fget(number);
	if (!file)
		return -EBADF;
	path_get(&file->f_path);
	session_set_only(file->f_path);
	fput(file);
	return 0;
}

static int command_option(const struct pfstat_command *command)
{
	if (session.recording)
		return -EBUSY;
	switch (command->verb) {
	case PFSTAT_VERB_FAULT_AROUND:
		session.fault_around = command->on;
		return 0;
	case PFSTAT_VERB_RING_SIZE:
		session.ring_size = command->number;
		return 0;
	default:
		session.overwrite = command->on;
		return 0;
	}
}

static int command_clear(void)
{
	/* Calls that end meanwhile leave no record: neither before nor after. */
	if (session.recording)
		pfstat_fault_record(false);
	session_reset_figures();
	if (session.recording)
		pfstat_fault_record(true);
	return 0;
}

static int session_execute(const struct pfstat_command *command)
{
	switch (command->verb) {
	case PFSTAT_VERB_PID:
		return command_watch(command->number, !command->now, false);
	case PFSTAT_VERB_FOLLOW:
		return command_watch(command->number, true, true);
	case PFSTAT_VERB_FILE:
		return command_file(command->number);
	case PFSTAT_VERB_ONLY:
		return command_only(command->number);
	case PFSTAT_VERB_FAULT_AROUND:
	case PFSTAT_VERB_RING_SIZE:
	case PFSTAT_VERB_MODE:
		return command_option(command);
	case PFSTAT_VERB_STOP:
		session_stop();
		return 0;
	case PFSTAT_VERB_CLEAR:
		return command_clear();
	default:
		return 0;
	}
}

/* `control` holds the recorder while its targets stand, options do not count. */
static int session_claim(enum session_user user)
{
	if (session.user != user && session.user != SESSION_NOBODY)
		return session_busy();
	return 0;
}

int pfstat_session_command(enum session_user user, const char *line)
{
	struct pfstat_command command;
	bool started;
	int err;

	err = pfstat_command_parse(line, &command);
	if (err) {
		pr_info_ratelimited("not a command: '%.64s'\n", line);
		return err;
	}
	mutex_lock(&session_mutex);
	err = session_claim(user);
	if (err)
		goto unlock;
	started = session.recording;
	err = session_execute(&command);
	if (err) {
		pr_info_ratelimited("'%.64s' failed: %d\n", line, err);
		/* Nothing changed: a start that found no target is taken back. */
		if (!started && session.recording)
			session_stop();
	}
	if (user == SESSION_CONTROL)
		session.user = session.recording ? SESSION_CONTROL : SESSION_NOBODY;
unlock:
	mutex_unlock(&session_mutex);
	return err;
}

void pfstat_session_exit(void)
{
	cancel_work_sync(&session_idle_work);
	mutex_lock(&session_mutex);
	session_release();
	mutex_unlock(&session_mutex);
	cancel_work_sync(&session_idle_work);
}
