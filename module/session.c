// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder, see session.h. Commands come from the debugfs files. They start and stop recording
 * and watch processes and files. After a stop every shadow leads to the original operations. All
 * state is under session_mutex. session_lock protects the copy used by readers.
 */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "attempt.h"
#include "calibrate.h"
#include "clock.h"
#include "command.h"
#include "follow.h"
#include "hook.h"
#include "in_flight.h"
#include "mm_counts.h"
#include "mm_fault.h"
#include "mm_hook.h"
#include "mm_thread.h"
#include "mm_watch.h"
#include "retry.h"
#include "ring.h"
#include "session.h"
#include "settle.h"
#include "shadow.h"
#include "tally.h"
#include "target.h"

#define SESSION_DEFAULTS { .fault_around = true, .ring_size = PFSTAT_RING_SIZE_DEFAULT }

static const struct session_state session_defaults = SESSION_DEFAULTS;

/*
 * Above the mmap lock: it is held while address spaces are walked. The holder waits for seconds at
 * most, or until it is killed.
 */
static DEFINE_MUTEX(session_mutex);
static struct session_state session = SESSION_DEFAULTS;

/* Protects session_shown, which readers use without the mutex. */
static DEFINE_SPINLOCK(session_lock);
static struct session_state session_shown = SESSION_DEFAULTS;

/*
 * Only this file's mappings are hooked, or any file's without a dentry. A path, not a file: the
 * file may be the open `session` itself, which would never be closed then.
 */
static struct path session_only;

void pfstat_session_state(struct session_state *state)
{
	spin_lock(&session_lock);
	*state = session_shown;
	spin_unlock(&session_lock);
}

static void session_unlock(void)
{
	spin_lock(&session_lock);
	session_shown = session;
	spin_unlock(&session_lock);
	mutex_unlock(&session_mutex);
}

static void session_reset_figures(void)
{
	pfstat_ring_reset();
	pfstat_tally_reset();
	pfstat_retry_reset();
	pfstat_mm_counts_reset();
	pfstat_mm_thread_forget_suspended();
	pfstat_mm_thread_reset();
}

static struct pfstat_file file_of(struct dentry *dentry)
{
	return (struct pfstat_file){ .real = d_real_inode(dentry), .opened = d_inode(dentry) };
}

/* Takes the reference over. */
static void session_set_only(struct path path)
{
	path_put(&session_only);
	session_only = path;
}

/* Makes empty rings with the session's size. Called before the first target is added. */
static int session_start(void)
{
	struct pfstat_file only = {};
	int err;

	if (session.recording)
		return 0;
	err = pfstat_ring_setup(session.ring_size, session.overwrite, session.frames) ?:
		      pfstat_mm_watch_open();
	if (err)
		return err;
	err = pfstat_retry_start(pfstat_target_is_watched) ?:
		      pfstat_shadow_open(!pfstat_target_retired());
	if (err) {
		pfstat_retry_stop();
		pfstat_mm_watch_close();
		return err;
	}
	pfstat_clock_start();
	pfstat_attempt_record(true);
	pfstat_mm_fault_record(true);
	pfstat_calibrate(session.ring_size / sizeof(struct pfstat_record));
	session_reset_figures();
	if (session_only.dentry)
		only = file_of(session_only.dentry);
	pfstat_settle_hold();
	pfstat_target_open(session.fault_around, &only);
	session.recording = true;
	return 0;
}

/* Takes no target's lock. VMAs that stay hooked lead to the original operations. */
static void session_stop_recording(void)
{
	if (!session.recording)
		return;
	pfstat_mm_fault_record(false);
	pfstat_target_shut();
	pfstat_shadow_shut();
	pfstat_follow_stop();
	pfstat_target_retire();
	if (!pfstat_settle_drain())
		pr_info("%ld faults have not ended and leave no record\n", pfstat_in_flight_sum());
	pfstat_attempt_record(false);
	pfstat_mm_fault_flush(true);
	pfstat_mm_thread_forget_suspended();
	pfstat_attempt_forget();
	pfstat_retry_stop();
	pfstat_clock_stop();
	/* No new fault enters, so from here on the in-flight count only falls. */
	pfstat_mm_ignore_all();
	pfstat_mm_watch_close();
	session.recording = false;
	pfstat_settle_stop();
}

static void session_stop(void)
{
	session_stop_recording();
	pfstat_mm_hook_drop();
}

/* The recorder is free again, with the options a program expects. */
static void session_release(void)
{
	session_stop();
	session_set_only((struct path){});
	session = session_defaults;
}

/* Stops if the targets given to `control` have ended by themselves. The options stay. */
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
	session_unlock();
}

static DECLARE_WORK(session_idle_work, session_idle);

static void session_on_idle(void)
{
	schedule_work(&session_idle_work);
}

static int session_busy(void)
{
	if (session.user == SESSION_PROGRAM)
		pr_info_ratelimited("the recorder is held by %s (pid %d); wait until it ends\n",
				    session.comm, session.pid);
	else
		pr_info_ratelimited(
			"the recorder is held by targets of control; write 'stop' to control first\n");
	return -EBUSY;
}

int pfstat_session_open(void)
{
	int err = mutex_lock_killable(&session_mutex);

	if (err)
		return err;
	session_check_idle();
	if (session.user != SESSION_NOBODY) {
		err = session_busy();
	} else {
		session = session_defaults;
		session.user = SESSION_PROGRAM;
		session.pid = current->tgid;
		get_task_comm(session.comm, current);
	}
	session_unlock();
	return err;
}

void pfstat_session_close(void)
{
	mutex_lock(&session_mutex);
	session_release();
	session_unlock();
	pfstat_settle_wait();
}

/* A program that it executed since mm was looked up may have mapped before it was in the table. */
static void look_for_exec(const struct task_struct *task, const struct mm_struct *mm)
{
	/*
	 * Either exec's store is seen here, or the mappings made by exec find the process in the
	 * table: see tests/litmus/exec-seen.litmus.
	 */
	smp_mb();
	if (READ_ONCE(task->mm) != mm)
		pfstat_follow_again();
}

static int watch_mm(struct task_struct *task, struct pid *pid, struct mm_struct *mm, bool future,
		    bool follow)
{
	const bool known = pfstat_target_is_known(pid, mm);
	struct pfstat_hook_result result;
	int err;

	err = pfstat_follow_start(session_on_idle);
	if (err)
		return err;
	/* Others may be watched already: a failure from here on must not leave this one half. */
	err = pfstat_hook_prepare(mm, NULL);
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
	err = pfstat_hook_mm(mm, NULL, &result);
	if (err && !known) {
		pfstat_target_forget(pid, mm);
		pfstat_settle_soon();
	}
	return err;
}

static int watch_process(struct task_struct *task, struct pid *pid, bool future, bool follow)
{
	struct mm_struct *mm = pfstat_target_grab_mm(task);
	int err;

	if (!mm)
		return task->flags & PF_KTHREAD ? -EPERM : -ESRCH;
	err = session_start();
	if (!err)
		err = watch_mm(task, pid, mm, future, follow);
	mmdrop(mm);
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

	err = pfstat_hook_prepare(current->mm, wanted);
	if (err)
		return err;
	err = pfstat_target_add_mm(current->mm, current->tgid, false, false, GFP_KERNEL);
	if (err)
		return err;
	err = pfstat_hook_mm(current->mm, wanted, &result);
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
	/* Calls ending meanwhile leave no record: neither before nor after. */
	pfstat_mm_fault_record(false);
	if (session.recording) {
		pfstat_attempt_record(false);
		pfstat_mm_fault_flush(false);
	}
	session_reset_figures();
	if (session.recording)
		pfstat_attempt_record(true);
	pfstat_mm_fault_record(session.recording);
	return 0;
}

static int command_faults(bool on)
{
	if (session.user != SESSION_PROGRAM)
		return -EINVAL;
	if (on)
		return pfstat_mm_hook_take();
	/* The rings have records of whole faults, whose members the fast path does not clear. */
	return session.recording ? -EBUSY : pfstat_mm_hook_drop_now();
}

/* The rings exist from the first process on. */
static int command_watch_faults(u64 number, enum pfstat_target how)
{
	int err;

	if (!pfstat_mm_hook_is_taken())
		return -EINVAL;
	err = session_start();
	return err ?: pfstat_mm_watch(number, how);
}

static int command_ignore_faults(u64 number)
{
	if (!pfstat_mm_hook_is_taken())
		return -EINVAL;
	pfstat_mm_ignore(number);
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
	case PFSTAT_VERB_FAULTS:
		return command_faults(command->on);
	case PFSTAT_VERB_HANDLER:
		/* The address is in the caller's memory. Only `session` has one caller. */
		return session.user != SESSION_PROGRAM ? -EINVAL :
							 pfstat_mm_fault_imitate(command->number);
	case PFSTAT_VERB_WATCH:
		return command_watch_faults(command->number, command->how);
	case PFSTAT_VERB_IGNORE:
		return command_ignore_faults(command->number);
	case PFSTAT_VERB_STOP:
		session_stop();
		return 0;
	case PFSTAT_VERB_CLEAR:
		return command_clear();
	default:
		return 0;
	}
}

/* `control` holds the recorder while it has targets. Options do not count. */
static int session_claim(enum session_user user)
{
	if (session.user != user && session.user != SESSION_NOBODY)
		return session_busy();
	return 0;
}

static void session_log_failure(const char *line, int err)
{
	if (err == -ETIMEDOUT)
		pr_info_ratelimited(
			"'%.64s' failed: a call holds the memory map of the process, maybe on a file system that is frozen or hangs; try again after it has returned\n",
			line);
	else
		pr_info_ratelimited("'%.64s' failed: %pe\n", line, ERR_PTR(err));
}

int pfstat_session_command(enum session_user user, const char *line, bool frames)
{
	struct pfstat_command command;
	unsigned int stops;
	bool started;
	int err;

	err = pfstat_command_parse(line, &command);
	if (err) {
		pr_info_ratelimited("invalid command '%.64s'; use %s\n", line,
				    pfstat_command_usage(line));
		return err;
	}
	err = mutex_lock_killable(&session_mutex);
	if (err)
		return err;
	stops = pfstat_settle_stops();
	err = session_claim(user);
	if (err)
		goto unlock;
	started = session.recording;
	if (!started)
		session.frames = frames;
	err = session_execute(&command);
	if (err) {
		session_log_failure(line, err);
		/* Nothing changed: undo a start without a target. */
		if (!started)
			session_stop_recording();
	}
	if (user == SESSION_CONTROL)
		session.user = session.recording ? SESSION_CONTROL : SESSION_NOBODY;
unlock:
	stops -= pfstat_settle_stops();
	session_unlock();
	if (stops)
		pfstat_settle_wait();
	return err;
}

/* Nothing is hooked: the module could not go otherwise. */
void pfstat_session_exit(void)
{
	cancel_work_sync(&session_idle_work);
	pfstat_settle_exit();
	session_set_only((struct path){});
}
