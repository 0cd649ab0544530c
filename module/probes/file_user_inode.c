// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does a file below an overlay know the file by which it was opened? No: 6.1. Yes: 6.8 and later.
 */
#include <linux/fs.h>

const struct inode *probe(struct file *file);
const struct inode *probe(struct file *file)
{
	return file_user_inode(file);
}
