// SPDX-License-Identifier: GPL-2.0-only
/* The module's files in debugfs: they translate, session.c decides. */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <pfstat/control.h>

#include "control.h"
#include "log.h"
#include "right.h"
#include "ring.h"
#include "session.h"

static struct dentry *control_dir;

/* Executes the lines of one write; the first that fails ends it. */
static int run_lines(enum session_user user, char *text)
{
	char *line;
	int err = 0;

	while (!err && (line = strsep(&text, "\n")))
		err = pfstat_session_command(user, line);
	return err;
}

static ssize_t write_commands(enum session_user user, const char __user *buffer, size_t count)
{
	char *text;
	int err;

	if (count > PFSTAT_COMMAND_MAX)
		return -EOVERFLOW;
	text = memdup_user_nul(buffer, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	err = run_lines(user, text);
	kfree(text);
	return err ?: count;
}

static int guarded_open(struct inode *inode, struct file *file)
{
	return pfstat_may_open() ?: simple_open(inode, file);
}

static ssize_t control_write(struct file *file, const char __user *buffer, size_t count,
			     loff_t *ppos)
{
	return write_commands(SESSION_CONTROL, buffer, count);
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = guarded_open,
	.write = control_write,
	.llseek = noop_llseek,
};

static int session_file_open(struct inode *inode, struct file *file)
{
	return pfstat_may_open() ?: pfstat_session_open();
}

static int session_file_release(struct inode *inode, struct file *file)
{
	pfstat_session_close();
	return 0;
}

static ssize_t session_file_write(struct file *file, const char __user *buffer, size_t count,
				  loff_t *ppos)
{
	return write_commands(SESSION_PROGRAM, buffer, count);
}

static const struct file_operations session_fops = {
	.owner = THIS_MODULE,
	.open = session_file_open,
	.release = session_file_release,
	.write = session_file_write,
	.llseek = noop_llseek,
};

static unsigned int ring_cpu(const struct file *file)
{
	return (unsigned long)file_inode(file)->i_private;
}

/*
 * debugfs forwards mmap only from files made "unsafe", which look after their
 * own removal: an open one holds the module (owner), and a use is bracketed.
 */
static int ring_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct dentry *dentry = file->f_path.dentry;
	int err;

	err = debugfs_file_get(dentry);
	if (err)
		return err;
	err = pfstat_ring_mmap(ring_cpu(file), vma);
	debugfs_file_put(dentry);
	return err;
}

static __poll_t ring_file_poll(struct file *file, poll_table *wait)
{
	struct dentry *dentry = file->f_path.dentry;
	__poll_t events;

	if (debugfs_file_get(dentry))
		return EPOLLERR;
	events = pfstat_ring_poll(ring_cpu(file), file, wait);
	debugfs_file_put(dentry);
	return events;
}

static const struct file_operations ring_fops = {
	.owner = THIS_MODULE,
	.open = guarded_open,
	.mmap = ring_file_mmap,
	.poll = ring_file_poll,
	.llseek = noop_llseek,
};

static void make_ring_files(void)
{
	struct dentry *dir = debugfs_create_dir(PFSTAT_DIR_RING, control_dir);
	char name[16];
	int cpu;

	for_each_possible_cpu(cpu) {
		snprintf(name, sizeof(name), "cpu%d", cpu);
		debugfs_create_file_unsafe(name, 0600, dir, (void *)(unsigned long)cpu,
					   &ring_fops);
	}
}

int pfstat_control_init(void)
{
	control_dir = debugfs_create_dir("pfstat", NULL);
	if (IS_ERR(control_dir)) {
		pr_err("cannot make the debugfs folder pfstat: %ld\n", PTR_ERR(control_dir));
		return PTR_ERR(control_dir);
	}
	debugfs_create_file(PFSTAT_FILE_LOG, 0400, control_dir, NULL, &pfstat_log_fops);
	debugfs_create_file(PFSTAT_FILE_STATS, 0400, control_dir, NULL, &pfstat_stats_fops);
	debugfs_create_file(PFSTAT_FILE_TARGETS, 0400, control_dir, NULL, &pfstat_targets_fops);
	debugfs_create_file(PFSTAT_FILE_CONTROL, 0600, control_dir, NULL, &control_fops);
	debugfs_create_file(PFSTAT_FILE_SESSION, 0600, control_dir, NULL, &session_fops);
	make_ring_files();
	return 0;
}

void pfstat_control_exit(void)
{
	debugfs_remove(control_dir);
}
