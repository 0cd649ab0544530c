// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults, as the memory manager handles them: every return of
 * handle_mm_fault() of a target is counted by what it was about, and told of
 * unless the module's records do.
 */
#include <linux/ptrace.h>

#include <pfstat/record.h>

#include "common.bpf.h"
#include "in_fault.bpf.h"
#include "page.bpf.h"
#include "vma.bpf.h"

#define VM_SHARED 0x8UL
#define VM_HUGETLB 0x400000UL

struct file {
	struct inode *f_inode;
	struct address_space *f_mapping;
} __attribute__((preserve_access_index));

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long address;
} __attribute__((preserve_access_index));

/* User space has a pt_regs of its own, with other names. */
struct pt_regs___kernel {
	unsigned long ip;
} __attribute__((preserve_access_index));

extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

/* A kprobe has addresses only: this one is an object of that type, which can be read. */
#define KERNEL_OBJECT(address, type) \
	((const type *)bpf_rdonly_cast((const void *)(address), bpf_core_type_id_kernel(type)))

/* The module's ->fault: a VMA that has it is hooked. 0: there is none. */
__u64 wrapper;
const volatile bool every_fault;
const volatile bool want_stacks;
/* Set when the programs ending in _kprobe are loaded: only such a kernel has what they call. */
const volatile bool have_graph_probes;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PFSTAT_NR_FAULT_INDICES);
	__type(key, __u32);	/* PFSTAT_FAULT_INDEX() */
	__type(value, struct pfstat_fault_value);
} faults SEC(".maps");

static __always_inline bool is_hooked(const struct vm_operations_struct *ops)
{
	__u64 fault = (__u64)ops->fault;

	return fault == wrapper && fault;
}

/* NULL: the current thread is no target, or in no fault. */
static __always_inline struct begun *begun_now(void)
{
	struct begun *begun = find_begun(bpf_get_current_pid_tgid());

	return begun && begun->start_ns ? begun : NULL;
}

/* The VMA must be there: after a return with RETRY it may be gone. */
static __always_inline void tell_page(struct begun *begun, const struct vm_area_struct *vma,
				      __u64 address)
{
	const struct file *file = vma->vm_file;

	begun->inode = 0;
	begun->dev = 0;
	begun->pgoff = address >> PFSTAT_PAGE_SHIFT;
	if (!file)
		return;
	begun->inode = file->f_inode->i_ino;
	begun->dev = file->f_inode->i_sb->s_dev;
	begun->pgoff = ((address - vma->vm_start) >> PFSTAT_PAGE_SHIFT) + vma->vm_pgoff;
}

/* Too large for the stack. The kernel never runs a program twice at a time on one CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pfstat_stack);
} stack_room SEC(".maps");

static __always_inline void send_stack(void *ctx, __u64 address, __u64 now)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct pfstat_stack *stack;
	__u32 key = 0;
	long bytes;

	stack = bpf_map_lookup_elem(&stack_room, &key);
	if (!stack)
		return;
	__builtin_memset(stack->ips, 0, sizeof(stack->ips));
	bytes = bpf_get_stack(ctx, stack->ips, sizeof(stack->ips), BPF_F_USER_STACK);
	stack->event = (struct pfstat_event){
		.type = PFSTAT_EVENT_STACK,
		.size = sizeof(*stack),
		.pid = id >> 32,
		.tid = id,
		.ns = now,
	};
	stack->address = address;
	stack->frames = bytes < 0 ? 0 : bytes / sizeof(*stack->ips);
	stack->reserved = 0;
	event_send(stack, sizeof(*stack));
}

/* Huge pages of hugetlbfs are not asked for by an operation. */
static __always_inline __u32 kind_of_vma(const struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = vma->vm_ops;

	if (!ops)
		return PFSTAT_FAULT_ANON;
	if (is_hooked(ops))
		return PFSTAT_FAULT_HOOKED;
	return vma->vm_flags & VM_HUGETLB ? PFSTAT_FAULT_OTHER : PFSTAT_FAULT_FILE;
}

/*
 * What the fault is about if nobody says more. Of a hooked file the module's records have
 * the page: it is looked at only where it turns out that they have not.
 */
static __always_inline void tell_vma(struct begun *begun, const struct vm_area_struct *vma,
				     __u64 address)
{
	const __u32 kind = kind_of_vma(vma);

	begun->kind = kind;
	begun->vma_kind = kind;
	begun->is_sure = kind != PFSTAT_FAULT_HOOKED && kind != PFSTAT_FAULT_FILE;
	if (every_fault || kind != PFSTAT_FAULT_HOOKED)
		tell_page(begun, vma, address);
}

/* NULL: the current thread is not a target. */
static __always_inline struct begun *fault_begins(void *ctx, const struct vm_area_struct *vma,
						  unsigned long address, unsigned int flags)
{
	struct begun *begun = begun_of(bpf_get_current_pid_tgid());

	if (!begun)
		return NULL;
	tell_vma(begun, vma, address);
	begun->start_ns = bpf_ktime_get_ns();
	if (want_stacks && !(flags & PFSTAT_FLAG_TRIED))
		send_stack(ctx, address, begun->start_ns);
	return begun;
}

SEC("fentry/handle_mm_fault")
int BPF_PROG(on_fault_enter, struct vm_area_struct *vma, unsigned long address,
	     unsigned int flags)
{
	fault_begins(ctx, vma, address, flags);
	return 0;
}

/*
 * The programs whose names end in _kprobe take the place of fentry and fexit where the kernel
 * preempts its own code. A thread that is preempted in an fentry program makes the kernel skip
 * that program for all other threads of the CPU until it runs again. Function-graph tracing, on
 * which these are since v6.14, disables preemption.
 */
SEC("kprobe.multi/handle_mm_fault")
int BPF_KPROBE(on_fault_enter_kprobe, void *vma, unsigned long address, unsigned int flags,
	       void *regs)
{
	struct begun *begun;

	if (!have_graph_probes)
		return 0;
	begun = fault_begins(ctx, KERNEL_OBJECT(vma, struct vm_area_struct), address, flags);
	if (!begun)
		return 0;
	begun->vma = (__u64)vma;
	begun->address = address;
	begun->flags = flags;
	begun->has_regs = !!regs;
	return 0;
}

/* It may go on to do_wp_page(). */
static __always_inline int swap_begins(const struct vm_fault *vmf)
{
	struct begun *begun = begun_now();

	if (!begun)
		return 0;
	begun->kind = PFSTAT_FAULT_SWAP;
	begun->is_sure = 1;
	if (begun->vma_kind == PFSTAT_FAULT_HOOKED)
		tell_page(begun, vmf->vma, vmf->address);
	return 0;
}

SEC("fentry/do_swap_page")
int BPF_PROG(on_swap_page, struct vm_fault *vmf)
{
	return swap_begins(vmf);
}

SEC("kprobe.multi/do_swap_page")
int BPF_KPROBE(on_swap_page_kprobe, void *vmf)
{
	return !have_graph_probes ? 0 : swap_begins(KERNEL_OBJECT(vmf, struct vm_fault));
}

/* A write to a shared page asks the file, if that wants to be asked. */
static __always_inline __u32 kind_of_write(const struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED))
		return PFSTAT_FAULT_COW;
	if (!vma->vm_ops || !vma->vm_ops->page_mkwrite)
		return PFSTAT_FAULT_OTHER;
	return is_hooked(vma->vm_ops) ? PFSTAT_FAULT_HOOKED : PFSTAT_FAULT_FILE;
}

static __always_inline int write_begins(const struct vm_fault *vmf)
{
	struct begun *begun = begun_now();

	if (!begun || begun->kind == PFSTAT_FAULT_SWAP)
		return 0;
	begun->kind = kind_of_write(vmf->vma);
	begun->is_sure = 1;
	if (begun->vma_kind == PFSTAT_FAULT_HOOKED)
		tell_page(begun, vmf->vma, vmf->address);
	return 0;
}

SEC("fentry/do_wp_page")
int BPF_PROG(on_wp_page, struct vm_fault *vmf)
{
	return write_begins(vmf);
}

SEC("kprobe.multi/do_wp_page")
int BPF_KPROBE(on_wp_page_kprobe, void *vmf)
{
	return !have_graph_probes ? 0 : write_begins(KERNEL_OBJECT(vmf, struct vm_fault));
}

static __always_inline __u32 origin_of(__u32 flags, bool has_regs)
{
	if (!has_regs)
		return PFSTAT_ORIGIN_GUP;
	return flags & PFSTAT_FLAG_USER ? PFSTAT_ORIGIN_USER : PFSTAT_ORIGIN_KERNEL;
}

/* As the kernel's mm_account_fault() decides. */
static __always_inline __u32 outcome_of(__u32 flags, __u32 result)
{
	if (result & PFSTAT_RESULT_RETRY)
		return PFSTAT_OUTCOME_RETRY;
	if (result & PFSTAT_RESULT_ERROR)
		return PFSTAT_OUTCOME_ERROR;
	return result & PFSTAT_RESULT_MAJOR || flags & PFSTAT_FLAG_TRIED ? PFSTAT_OUTCOME_MAJOR :
									   PFSTAT_OUTCOME_MINOR;
}

/* How handle_mm_fault() was called, and came back. */
struct returned {
	__u64 address;
	__u32 flags;
	__u32 result;
	__u32 origin;
	__u32 outcome;
};

static __always_inline __u64 user_ip(void)
{
	const struct pt_regs___kernel *regs =
		(const void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return regs->ip;
}

/* Atomic: a fault of another thread may come in between on this CPU. */
static __always_inline struct pfstat_fault_value *count_fault(__u32 index)
{
	struct pfstat_fault_value *value = bpf_map_lookup_elem(&faults, &index);

	if (value)
		__sync_fetch_and_add(&value->count, 1);
	return value;
}

static __always_inline void send(const struct begun *begun, __u64 now,
				 const struct returned *returned)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct pfstat_fault fault = {
		.event = {
			.type = PFSTAT_EVENT_FAULT,
			.size = sizeof(fault),
			.flags = begun->kind,
			.pid = id >> 32,
			.tid = id,
			.ns = now,
		},
		.start_ns = begun->start_ns,
		.address = returned->address,
		.ip = user_ip(),
		.pgoff = begun->pgoff,
		.inode = begun->inode,
		.dev = begun->dev,
		.fault_flags = returned->flags,
		.result = returned->result,
		.origin = returned->origin,
		.outcome = returned->outcome,
	};

	event_send(&fault, sizeof(fault));
}

/*
 * What only a file's operation leads to: the page comes back locked, or is in the page table
 * already, the locks were given up to wait, or it failed. That a read or write was denied
 * (SIGSEGV) is found out before.
 */
#define RESULT_DONE_COW 0x1000
#define RESULT_OF_FILE \
	(PFSTAT_RESULT_LOCKED | PFSTAT_RESULT_NOPAGE | PFSTAT_RESULT_RETRY | RESULT_DONE_COW | \
	 PFSTAT_RESULT_COMPLETED | (PFSTAT_RESULT_ERROR & ~PFSTAT_RESULT_SIGSEGV))

/*
 * Neither do_wp_page() nor do_swap_page() was called, and the result does not say that the
 * file was asked: then it was not, but for operations that leave no page locked. They are
 * those of devices, of the vDSO and the like, and such have nothing in the page cache; what
 * has, and did not come back with it, was solved meanwhile, or was a hint of NUMA balancing.
 * The locks are still held.
 */
static __always_inline void look_closer(struct begun *begun, const struct vm_area_struct *vma,
					__u64 address)
{
	const struct file *file = vma->vm_file;

	if (!file || !file->f_mapping->nrpages)
		return;
	begun->kind = PFSTAT_FAULT_OTHER;
	if (begun->vma_kind == PFSTAT_FAULT_HOOKED)
		tell_page(begun, vma, address);
}

static __always_inline void count_own(struct begun *begun, __u32 outcome)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();

	if (outcome == PFSTAT_OUTCOME_MINOR)
		begun->min_flt++;
	else if (outcome == PFSTAT_OUTCOME_MAJOR)
		begun->maj_flt++;
	settle(begun, task);
}

static __always_inline int fault_ends(struct begun *begun, const struct vm_area_struct *vma,
				      const struct returned *returned)
{
	struct pfstat_fault_value *value;
	__u64 now;

	if (!begun->is_sure && !(returned->result & RESULT_OF_FILE))
		look_closer(begun, vma, returned->address);
	else if (begun->kind == PFSTAT_FAULT_SWAP && returned->result & PFSTAT_RESULT_LOCKED)
		begun->kind = begun->vma_kind;	/* a marker of userfaultfd was in its place */
	value = count_fault(PFSTAT_FAULT_INDEX(begun->kind, returned->origin, returned->outcome));
	count_own(begun, returned->outcome);
	/* The module's records have the times of its faults. */
	if (every_fault || begun->kind != PFSTAT_FAULT_HOOKED) {
		now = bpf_ktime_get_ns();
		if (value)
			__sync_fetch_and_add(&value->total_ns, now - begun->start_ns);
		send(begun, now, returned);
	}
	begun->start_ns = 0;
	if (begun->exiting)
		forget(begun->id);
	return 0;
}

SEC("fexit/handle_mm_fault")
int BPF_PROG(on_fault_exit, struct vm_area_struct *vma, unsigned long address, unsigned int flags,
	     void *regs, unsigned int result)
{
	struct begun *begun = begun_now();
	struct returned returned;

	if (!begun)
		return 0;
	returned = (struct returned){
		.address = address,
		.flags = flags,
		.result = result,
		.origin = origin_of(flags, regs),
		.outcome = outcome_of(flags, result),
	};
	return fault_ends(begun, vma, &returned);
}

SEC("kretprobe.multi/handle_mm_fault")
int BPF_KRETPROBE(on_fault_exit_kprobe, unsigned int result)
{
	struct begun *begun;
	struct returned returned;

	if (!have_graph_probes)
		return 0;
	begun = begun_now();
	if (!begun)
		return 0;
	returned = (struct returned){
		.address = begun->address,
		.flags = begun->flags,
		.result = result,
		.origin = origin_of(begun->flags, begun->has_regs),
		.outcome = outcome_of(begun->flags, result),
	};
	return fault_ends(begun, KERNEL_OBJECT(begun->vma, struct vm_area_struct), &returned);
}

static __always_inline int thread_ends(const struct task_struct *task)
{
	struct begun *begun = find_begun(bpf_get_current_pid_tgid());

	if (!begun)
		return 0;
	settle(begun, task);
	forget(begun->id);
	return 0;
}

/* If it has a fault after this, that has an entry of its own: see look_again(). */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_fault_thread_exit, struct task_struct *task)
{
	return thread_ends(task);
}

/* For a thread for which the kernel skipped the first: see hooks.c. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_fault_thread_exit_again, struct task_struct *task)
{
	return thread_ends(task);
}

/* A thread that executes gets the first one's tid, and with its next fault a new entry. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_fault_thread_exec, struct task_struct *task, int old_tid)
{
	if (task->pid != old_tid)
		forget((__u64)task->tgid << 32 | (__u32)old_tid);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
