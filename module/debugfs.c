// SPDX-License-Identifier: GPL-2.0-only
/* Makes the module's files in debugfs. */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <pfstat/control.h>

#include "access.h"
#include "debugfs.h"
#include "files.h"
#include "ring.h"

static struct dentry *debugfs_dir;

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
	.open = pfstat_file_open,
	.mmap = ring_file_mmap,
	.poll = ring_file_poll,
	.llseek = noop_llseek,
};

/* The module is useless if one file is missing, and nothing else would report it. */
static int debugfs_made(const char *name, const struct dentry *dentry)
{
	if (!IS_ERR(dentry))
		return 0;
	pr_err("cannot make %s in debugfs: %ld\n", name, PTR_ERR(dentry));
	return PTR_ERR(dentry);
}

/* debugfs belongs to root. */
static int debugfs_make_file(const struct module_file *made)
{
	return debugfs_made(made->name, debugfs_create_file(made->name, made->mode & 0700,
							    debugfs_dir, NULL, made->fops));
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
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < PFSTAT_NR_FILES; i++)
		err = debugfs_make_file(&pfstat_files[i]);
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
