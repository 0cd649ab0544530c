// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's files in debugfs. They check the opener's privileges, translate, and call session.c,
 * which decides, and ring.c.
 */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <pfstat/control.h>

#include "access.h"
#include "debugfs.h"
#include "debugfs_show.h"
#include "fault.h"
#include "ring.h"
#include "session.h"

static struct dentry *debugfs_dir;

/* Executes the lines of one write; the first that fails ends it. */
static int run_lines(enum session_user user, char *text, bool frames)
{
	char *line;
	int err = 0;

	while (!err && (line = strsep(&text, "\n")))
		err = pfstat_session_command(user, line, frames);
	return err;
}

static ssize_t write_commands(enum session_user user, const struct file *file,
			      const char __user *buffer, size_t count)
{
	char *text;
	int err;

	if (count > PFSTAT_COMMAND_MAX)
		return -EOVERFLOW;
	text = memdup_user_nul(buffer, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	err = run_lines(user, text, pfstat_access_may_see_frames(file));
	kfree(text);
	return err ?: count;
}

static int guarded_open(struct inode *inode, struct file *file)
{
	return pfstat_access_may_open() ?: simple_open(inode, file);
}

static ssize_t control_write(struct file *file, const char __user *buffer, size_t count,
			     loff_t *ppos)
{
	return write_commands(SESSION_CONTROL, file, buffer, count);
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = guarded_open,
	.write = control_write,
	.llseek = noop_llseek,
};

static int session_file_open(struct inode *inode, struct file *file)
{
	return pfstat_access_may_open() ?: pfstat_session_open();
}

static int session_file_release(struct inode *inode, struct file *file)
{
	pfstat_session_close();
	return 0;
}

static ssize_t session_file_write(struct file *file, const char __user *buffer, size_t count,
				  loff_t *ppos)
{
	return write_commands(SESSION_PROGRAM, file, buffer, count);
}

/* For eBPF, to recognise a hooked VMA by its ->fault. */
static ssize_t session_file_read(struct file *file, char __user *buffer, size_t count, loff_t *ppos)
{
	char text[32];
	int length;

	if (!pfstat_access_may_see_addresses(file))
		return -EPERM;
	length = scnprintf(text, sizeof(text), "wrapper 0x%lx\n", pfstat_fault_wrapper());
	return simple_read_from_buffer(buffer, count, ppos, text, length);
}

static const struct file_operations session_fops = {
	.owner = THIS_MODULE,
	.open = session_file_open,
	.release = session_file_release,
	.read = session_file_read,
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
	err = pfstat_ring_mmap(ring_cpu(file), vma, pfstat_access_may_see_frames(file));
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

/* A module without one of its files is of no use, and nothing else would report it. */
static int debugfs_made(const char *name, const struct dentry *dentry)
{
	if (!IS_ERR(dentry))
		return 0;
	pr_err("cannot make %s in debugfs: %ld\n", name, PTR_ERR(dentry));
	return PTR_ERR(dentry);
}

static int debugfs_make_file(const char *name, umode_t mode, const struct file_operations *fops)
{
	return debugfs_made(name, debugfs_create_file(name, mode, debugfs_dir, NULL, fops));
}

static int debugfs_make_ring_file(struct dentry *dir, unsigned long cpu)
{
	char name[16];

	snprintf(name, sizeof(name), "cpu%lu", cpu);
	return debugfs_made(name,
			    debugfs_create_file_unsafe(name, 0600, dir, (void *)cpu, &ring_fops));
}

static int debugfs_make_ring_files(void)
{
	struct dentry *dir = debugfs_create_dir(PFSTAT_DIR_RING, debugfs_dir);
	int cpu, err = debugfs_made(PFSTAT_DIR_RING, dir);

	for_each_possible_cpu(cpu) {
		if (err)
			break;
		err = debugfs_make_ring_file(dir, cpu);
	}
	return err;
}

static int debugfs_make_files(void)
{
	int err;

	err = debugfs_make_file(PFSTAT_FILE_LOG, 0400, &pfstat_log_fops);
	if (!err)
		err = debugfs_make_file(PFSTAT_FILE_STATS, 0400, &pfstat_stats_fops);
	if (!err)
		err = debugfs_make_file(PFSTAT_FILE_TARGETS, 0400, &pfstat_targets_fops);
	if (!err)
		err = debugfs_make_file(PFSTAT_FILE_CONTROL, 0600, &control_fops);
	if (!err)
		err = debugfs_make_file(PFSTAT_FILE_SESSION, 0600, &session_fops);
	return err ?: debugfs_make_ring_files();
}

int pfstat_debugfs_init(void)
{
	int err;

	debugfs_dir = debugfs_create_dir("pfstat", NULL);
	err = debugfs_made("pfstat", debugfs_dir);
	if (err)
		return err;
	err = debugfs_make_files();
	if (err)
		pfstat_debugfs_exit();
	return err;
}

void pfstat_debugfs_exit(void)
{
	debugfs_remove(debugfs_dir);
}
