// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds ->fault and the file of one of the caller's mappings. The program is attached to no event:
 * pfdrive runs it once, before anything is watched; see user/collect/bpf_cost.c.
 */
#include "common.bpf.h"
#include "page.bpf.h"
#include "vma.bpf.h"

static long read_handler(struct task_struct *task, struct vm_area_struct *vma,
			 struct pfstat_handler_query *query)
{
	const struct vm_operations_struct *ops = vma->vm_ops;
	const struct file *file = vma->vm_file;

	if (ops)
		query->handler = (__u64)ops->fault;
	if (file) {
		query->inode = file->f_inode->i_ino;
		query->dev = file->f_inode->i_sb->s_dev;
	}
	return 0;
}

SEC("syscall")
int find_handler(struct pfstat_handler_query *query)
{
	struct pfstat_handler_query found = { .address = query->address };
	long err = bpf_find_vma(bpf_get_current_task_btf(), found.address, read_handler, &found, 0);

	*query = found;
	return err;
}
