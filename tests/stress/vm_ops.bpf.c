// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists each file mapping in each process with its vm_ops: by name if they belong to the kernel or
 * a module, otherwise by address. This finds a VMA that points to pfstat memory even if the module
 * does not know about it.
 *
 *	PID START OPERATIONS FAULT
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* The used fields in the kernel's types, relocated when this program is loaded. */
struct task_struct {
	int pid;
	int tgid;
} __attribute__((preserve_access_index));

struct vm_operations_struct {
	void *fault;
} __attribute__((preserve_access_index));

struct vm_area_struct {
	unsigned long vm_start;
	const struct vm_operations_struct *vm_ops;
	void *vm_file;
} __attribute__((preserve_access_index));

struct bpf_iter_meta {
	void *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
} __attribute__((preserve_access_index));

char _license[] SEC("license") = "GPL";

SEC("iter/task_vma")
int list_vm_ops(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;

	if (!task || !vma || !vma->vm_file || !vma->vm_ops || task->pid != task->tgid)
		return 0;
	BPF_SEQ_PRINTF(ctx->meta->seq, "%d %lx %ps %ps\n", task->pid, vma->vm_start, vma->vm_ops,
		       vma->vm_ops->fault);
	return 0;
}
