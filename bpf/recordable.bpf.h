/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides whether calls.bpf.c records a mapping's calls, by the module's rules (module/shadow.c).
 * Operations with open or close are also recordable, because they are not replaced. mm.bpf.c
 * decides it once per fault.
 */
#ifndef PFSTAT_BPF_RECORDABLE_H
#define PFSTAT_BPF_RECORDABLE_H

#include "common.bpf.h"
#include "fault_state.bpf.h"
#include "page.bpf.h"
#include "vma.bpf.h"

#define VM_SHARED    0x8UL
#define VM_PFNMAP    0x400UL
#define VM_IO	     0x4000UL
#define VM_HUGETLB   0x400000UL
#define VM_SOFTDIRTY 0x8000000UL
#define VM_MIXEDMAP  0x10000000UL
#define VM_MERGEABLE 0x80000000UL

#define TMPFS 0x01021994 /* in super_block.s_magic */

#define MODE_REGULAR 0100000 /* in inode.i_mode */
#define INODE_DAX    0x2000  /* in inode.i_flags */

/* True: calls.bpf.c records calls. */
extern const volatile bool record_calls;
/* Only for files in recorded_files. */
extern __u32 record_named_files;

#define MAX_RECORDED_FILES 1024

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_RECORDED_FILES);
	__type(key, struct file_key);
	__type(value, __u8);
} recorded_files SEC(".maps") __weak;

/* The numbers from <linux/magic.h>, which lacks some of them. */
static __always_inline bool is_file_system_of_memory(__u64 magic)
{
	switch (magic) {
	case TMPFS:
	case 0x958458f6: /* hugetlbfs */
	case 0x62656572: /* sysfs */
	case 0x0027e0eb: /* cgroup */
	case 0x63677270: /* cgroup2 */
	case 0x5345434d: /* secretmem */
	case 0x73757245: /* Coda */
	case 0x64626720: /* debugfs */
	case 0x00009fa0: /* proc */
		return true;
	default:
		return false;
	}
}

/* The inode and the device in state->record belong to the file. */
static __always_inline bool is_recordable_file(const struct fault_state *state,
					       const struct inode *inode)
{
	struct file_key key = { .inode = state->record.inode, .dev = state->record.dev };

	if ((inode->i_mode & MODE_TYPE) != MODE_REGULAR ||
	    is_file_system_of_memory(inode->i_sb->s_magic))
		return false;
	return !record_named_files || bpf_map_lookup_elem(&recorded_files, &key);
}

static __always_inline void fault_set_recordable(struct fault_state *state,
						 const struct vm_area_struct *vma)
{
	struct call_state *call = &state->call;
	const struct inode *inode;
	const struct file *file;
	__u64 vm_flags;

	call->left_record = 0;
	call->stage = CALL_NONE;
	call->is_dax = 0;
	/* pfdrive makes the mapping on which it times the programs a hooked one. */
	call->is_recordable = state->vma_kind == PFSTAT_FAULT_HOOKED;
	/* Anonymous memory has no operations. */
	if (state->vma_kind == PFSTAT_FAULT_ANON)
		return;
	vm_flags = vma->vm_flags;
	call->shared = vm_flags & VM_SHARED ? 1 : 0;
	if (call->is_recordable || vm_flags & (VM_HUGETLB | VM_PFNMAP | VM_IO))
		return;
	file = vma->vm_file;
	if (!file || !vma->vm_ops->fault)
		return;
	inode = file->f_inode;
	call->is_dax = inode->i_flags & INODE_DAX ? 1 : 0;
	call->is_recordable = is_recordable_file(state, inode);
}

#endif
