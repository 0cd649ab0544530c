// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds ->fault and the file for one of the caller's mappings. The program is attached to no event:
 * pfdrive runs it once, before anything is watched. See user/collect/fault_cost.c.
 */
#include <linux/errno.h>

#include "common.bpf.h"
#include "page.bpf.h"
#include "rb_tree.bpf.h"
#include "vma.bpf.h"

/* There until v6.1. */
struct mm_struct___tree {
	struct rb_root mm_rb;
} __attribute__((preserve_access_index));

struct vm_area_struct___tree {
	struct rb_node vm_rb;
} __attribute__((preserve_access_index));

/* More than the height of any mapping tree. */
#define MAX_TREE_LEVELS 48

/* All reads are safe, because find_vma() gets addresses only. */
static long read_handler(struct task_struct *task, struct vm_area_struct *vma,
			 struct pfstat_handler_query *query)
{
	const struct vm_operations_struct *ops = BPF_CORE_READ(vma, vm_ops);
	const struct file *file = BPF_CORE_READ(vma, vm_file);

	if (ops)
		query->handler = (__u64)BPF_CORE_READ(ops, fault);
	if (file) {
		query->inode = BPF_CORE_READ(file, f_inode, i_ino);
		query->dev = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	}
	return 0;
}

/* For a kernel before v5.17, which has no bpf_find_vma(). The mappings are the caller's own. */
static __always_inline long find_vma(struct task_struct *task, struct pfstat_handler_query *query)
{
	const struct mm_struct___tree *mm = (const void *)task->mm;
	const struct rb_node *node = BPF_CORE_READ(mm, mm_rb.rb_node);
	struct vm_area_struct *vma;
	int level;

	for (level = 0; level < MAX_TREE_LEVELS && node; level++) {
		vma = (void *)node - bpf_core_field_offset(struct vm_area_struct___tree, vm_rb);
		if (query->address < BPF_CORE_READ(vma, vm_start))
			node = BPF_CORE_READ(node, rb_left);
		else if (query->address >= BPF_CORE_READ(vma, vm_end))
			node = BPF_CORE_READ(node, rb_right);
		else
			return read_handler(task, vma, query);
	}
	return -ENOENT;
}

SEC("syscall")
int find_handler(struct pfstat_handler_query *query)
{
	struct pfstat_handler_query found = { .address = query->address };
	struct task_struct *task = bpf_get_current_task_btf();
	long err;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		err = bpf_find_vma(task, found.address, read_handler, &found, 0);
	else
		err = find_vma(task, &found);
	*query = found;
	return err;
}
