// SPDX-License-Identifier: GPL-2.0-only
/*
 * The advice and the read-ahead state of a file's mapping, when the kernel removes pages from it:
 * at munmap(2), execve(2) and exit, and at madvise(2) and truncate(2). The last event for a mapping
 * is sent at the mapping's end. The kernel calls uprobe_munmap() once for each file mapping from
 * which it removes pages, so no fault pays for this.
 */
#include "common.bpf.h"
#include "vma.bpf.h"

#define VM_SEQ_READ  0x8000UL
#define VM_RAND_READ 0x10000UL

/* MADV_* for madvise(2) */
#define ADVICE_NORMAL	  0
#define ADVICE_RANDOM	  1
#define ADVICE_SEQUENTIAL 2

static __always_inline __u32 advice_of(unsigned long vm_flags)
{
	if (vm_flags & VM_RAND_READ)
		return ADVICE_RANDOM;
	return vm_flags & VM_SEQ_READ ? ADVICE_SEQUENTIAL : ADVICE_NORMAL;
}

/*
 * truncate(2) and process_madvise(2) also remove pages from mappings of other processes. At exit
 * and execve(2) the thread has left the address space, and nothing uses it any more.
 */
static __always_inline bool is_of_current(const struct vm_area_struct *vma)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	const struct mm_struct *mm = vma->vm_mm;

	return mm == BPF_CORE_READ(task, mm) || !mm->mm_users.counter;
}

SEC("fentry/uprobe_munmap")
int BPF_PROG(on_unmap, struct vm_area_struct *vma)
{
	const __u64 id = bpf_get_current_pid_tgid();
	struct pfstat_mapping event = {
		.event = {
			.type = PFSTAT_EVENT_MAPPING, .size = sizeof(event),
			.pid = id >> 32, .tid = id,
		},
	};
	const struct file *file;

	if (!current_is_target())
		return 0;
	file = vma->vm_file;
	if (!file || !is_of_current(vma))
		return 0;
	event.event.ns = bpf_ktime_get_ns();
	event.address = vma->vm_start;
	event.bytes = vma->vm_end - vma->vm_start;
	event.advice = advice_of(vma->vm_flags);
	/* Direct loads, which libbpf adapts to the width that this kernel's members have. */
	event.ra_pages = file->f_ra.ra_pages;
	event.mmap_miss = file->f_ra.mmap_miss;
	event_send(&event, sizeof(event));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
