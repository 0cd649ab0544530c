/* SPDX-License-Identifier: GPL-2.0-only */
/* A mapping, and what the mapping's file or driver does for it. */
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

struct file_ra_state {
	unsigned int ra_pages;
	unsigned int mmap_miss;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
	struct address_space *f_mapping;
	struct file_ra_state f_ra;
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

struct page;

#define HAVE_REAL_ADDRESS bpf_core_field_exists(((struct vm_fault *)0)->real_address)

enum fault_flag { FAULT_FLAG_ALL = 0x7fffffff };

/* Also in v6.1, where flags is a number: see flags_of_call(). */
struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long pgoff;
	unsigned long address;
	unsigned long real_address;
	enum fault_flag flags;
	struct page *cow_page;
	struct page *page;
	struct {
		unsigned long pte;
	} orig_pte;
} __attribute__((preserve_access_index));

#endif
