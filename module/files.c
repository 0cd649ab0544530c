// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of the module's files. They check the opener's privileges, translate, and call
 * session.c, which decides. debugfs.c and device.c make the files.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <pfstat/control.h>

#include "access.h"
#include "fault.h"
#include "files.h"
#include "files_show.h"
#include "session.h"

/* Executes the lines in one write. The first failing line ends it. */
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

int pfstat_file_open(struct inode *inode, struct file *file)
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
	.open = pfstat_file_open,
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

/* For eBPF, to recognise a hooked VMA by the ->fault. */
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

const struct module_file pfstat_files[PFSTAT_NR_FILES] = {
	{ PFSTAT_FILE_LOG, 0444, &pfstat_log_fops },
	{ PFSTAT_FILE_STATS, 0444, &pfstat_stats_fops },
	{ PFSTAT_FILE_FAULTS, 0444, &pfstat_faults_fops },
	{ PFSTAT_FILE_TARGETS, 0444, &pfstat_targets_fops },
	{ PFSTAT_FILE_CONTROL, 0666, &control_fops },
	{ PFSTAT_FILE_SESSION, 0666, &session_fops },
};
