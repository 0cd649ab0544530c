/* SPDX-License-Identifier: GPL-2.0-only */
/* A mapping, and what its file or driver does for it. */
#ifndef PFSTAT_BPF_VMA_H
#define PFSTAT_BPF_VMA_H

struct vm_operations_struct {
	void *fault;
	void *page_mkwrite;
} __attribute__((preserve_access_index));

struct mm_struct {
	struct {
		int counter;
	} mm_users;
} __attribute__((preserve_access_index));

struct vm_area_struct {
	struct mm_struct *vm_mm;
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	const struct vm_operations_struct *vm_ops;
	unsigned long vm_pgoff;
	struct file *vm_file;
} __attribute__((preserve_access_index));

#endif
