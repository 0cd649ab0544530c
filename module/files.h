/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's files, which are in debugfs and in /dev/pfstat, see <pfstat/control.h>. */
#ifndef PFSTAT_FILES_H
#define PFSTAT_FILES_H

#include <linux/fs.h>

#define PFSTAT_NR_FILES 6 /* besides the rings */

struct module_file {
	const char *name;
	umode_t mode; /* for all users, in /dev, where each open checks the capability */
	const struct file_operations *fops;
};

extern const struct module_file pfstat_files[PFSTAT_NR_FILES];

/* An ->open() for files opened by nothing else. */
int pfstat_file_open(struct inode *inode, struct file *file);

#endif
