// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults, as the memory manager handles them: every return of
 * handle_mm_fault() of a target is counted by what it was about, and told of
 * unless the module's records do.
 */
#include <pfstat/record.h>

#include "common.bpf.h"
#include "page.bpf.h"

#define VM_SHARED 0x8UL

struct file {
	struct inode *f_inode;
} __attribute__((preserve_access_index));

struct vm_operations_struct {
	void *fault;
	void *page_mkwrite;
} __attribute__((preserve_access_index));

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_flags;
	const struct vm_operations_struct *vm_ops;
	unsigned long vm_pgoff;
	struct file *vm_file;
} __attribute__((preserve_access_index));

struct vm_fault {
	struct vm_area_struct *vma;
} __attribute__((preserve_access_index));

/* User space has a pt_regs of its own, with other names. */
struct pt_regs___kernel {
	unsigned long ip;
} __attribute__((preserve_access_index));

/* The module's ->fault: a VMA that has it is hooked. 0: there is none. */
__u64 wrapper;
/* How often a target was taken out: who was one before may be none now. */
__u32 ignored;

const volatile bool every_fault;
const volatile bool want_stacks;
/* Whether on_do_fault is there: else what has operations is thought to call them. */
const volatile bool have_do_fault = true;

/* Of a thread, from its first fault to its end; its last fault's when it is in none. */
struct begun {
	__u64 start_ns;		/* 0: in no fault */
	struct file_page page;
	__u16 kind;		/* enum pfstat_fault_kind */
	__u16 exiting;		/* nobody deletes the entry but the end of this fault */
	__u32 ignored;		/* as it was when it was seen to be a target */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);	/* tid */
	__type(value, struct begun);
} in_fault SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PFSTAT_NR_FAULT_INDICES);
	__type(key, __u32);	/* PFSTAT_FAULT_INDEX() */
	__type(value, struct pfstat_fault_value);
} faults SEC(".maps");

static const struct begun none;

static __always_inline bool is_hooked(const struct vm_operations_struct *ops)
{
	return wrapper && (__u64)ops->fault == wrapper;
}

/*
 * Of a thread on its way out there is an entry a fault: since v6.16 sched_process_exit,
 * which deletes it, comes before exit_mm(), which may fault. This is asked where entries
 * are made, not at each fault.
 */
static __always_inline struct begun *make_begun(__u32 tid)
{
	struct begun *begun;

	bpf_map_update_elem(&in_fault, &tid, &none, BPF_NOEXIST);
	begun = bpf_map_lookup_elem(&in_fault, &tid);
	if (!begun)
		count(PFSTAT_COUNT_EVENTS_LOST);
	else if (bpf_get_current_task_btf()->flags & PF_EXITING)
		begun->exiting = 1;
	return begun;
}

/*
 * NULL: the thread is no target. The entry stays, so that there is one update a
 * thread, not one a fault, and one look-up says that it is a target.
 */
static __always_inline struct begun *begun_of(__u32 tgid, __u32 tid)
{
	struct begun *begun;

	if (!may_be_target(tgid, tid))
		return NULL;
	begun = bpf_map_lookup_elem(&in_fault, &tid);
	if (begun && begun->ignored == ignored)
		return begun;
	if (!is_target(tgid, tid))
		return NULL;
	if (!begun)
		begun = make_begun(tid);
	if (begun)
		begun->ignored = ignored;
	return begun;
}

/* NULL: the current thread is no target, or in no fault. */
static __always_inline struct begun *begun_now(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct begun *begun;
	__u32 tid = id;

	if (!may_be_target(id >> 32, tid))
		return NULL;
	begun = bpf_map_lookup_elem(&in_fault, &tid);
	return begun && begun->start_ns ? begun : NULL;
}

static __always_inline __u32 first_guess(const struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = vma->vm_ops;

	if (!ops)
		return PFSTAT_FAULT_ANON;
	if (have_do_fault)
		return PFSTAT_FAULT_OTHER;
	return is_hooked(ops) ? PFSTAT_FAULT_HOOKED : PFSTAT_FAULT_FILE;
}

static __always_inline void tell_page(struct file_page *page, const struct vm_area_struct *vma,
				      __u64 address)
{
	const struct file *file = vma->vm_file;

	page->inode = 0;
	page->dev = 0;
	page->pgoff = address >> PFSTAT_PAGE_SHIFT;
	if (!file)
		return;
	page->inode = file->f_inode->i_ino;
	page->dev = file->f_inode->i_sb->s_dev;
	page->pgoff = ((address - vma->vm_start) >> PFSTAT_PAGE_SHIFT) + vma->vm_pgoff;
}

static __always_inline void send_stack(void *ctx, __u64 address, __u64 now)
{
	struct pfstat_stack *stack = event_reserve(sizeof(*stack));
	__u64 id = bpf_get_current_pid_tgid();
	long bytes;

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
	event_submit(stack);
}

/* All of the VMA is read here: after a return with RETRY it may be gone. */
SEC("fentry/handle_mm_fault")
int BPF_PROG(on_fault_enter, struct vm_area_struct *vma, unsigned long address,
	     unsigned int flags)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct begun *begun = begun_of(id >> 32, id);

	if (!begun)
		return 0;
	begun->kind = first_guess(vma);
	tell_page(&begun->page, vma, address);
	begun->start_ns = bpf_ktime_get_ns();
	if (want_stacks && !(flags & PFSTAT_FLAG_TRIED))
		send_stack(ctx, address, begun->start_ns);
	return 0;
}

SEC("fentry/do_fault")
int BPF_PROG(on_do_fault, struct vm_fault *vmf)
{
	struct begun *begun = begun_now();

	if (begun)
		begun->kind = is_hooked(vmf->vma->vm_ops) ? PFSTAT_FAULT_HOOKED :
							    PFSTAT_FAULT_FILE;
	return 0;
}

/* It may go on to do_wp_page(). */
SEC("fentry/do_swap_page")
int BPF_PROG(on_swap_page, struct vm_fault *vmf)
{
	struct begun *begun = begun_now();

	if (begun)
		begun->kind = PFSTAT_FAULT_SWAP;
	return 0;
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

SEC("fentry/do_wp_page")
int BPF_PROG(on_wp_page, struct vm_fault *vmf)
{
	struct begun *begun = begun_now();

	if (begun && begun->kind != PFSTAT_FAULT_SWAP)
		begun->kind = kind_of_write(vmf->vma);
	return 0;
}

static __always_inline __u32 origin_of(__u32 flags, const void *regs)
{
	if (!regs)
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

static __always_inline __u64 user_ip(void)
{
	const struct pt_regs___kernel *regs =
		(const void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return regs->ip;
}

/* Atomic: a fault of another thread may come in between on this CPU. */
static __always_inline void add(__u32 index, __u64 duration_ns)
{
	struct pfstat_fault_value *value = bpf_map_lookup_elem(&faults, &index);

	if (!value)
		return;
	__sync_fetch_and_add(&value->count, 1);
	__sync_fetch_and_add(&value->total_ns, duration_ns);
}

static __always_inline void send(const struct begun *begun, __u64 now,
				 const struct pfstat_fault *filled)
{
	struct pfstat_fault *fault = event_reserve(sizeof(*fault));
	__u64 id = bpf_get_current_pid_tgid();

	if (!fault)
		return;
	*fault = *filled;
	fault->event = (struct pfstat_event){
		.type = PFSTAT_EVENT_FAULT,
		.size = sizeof(*fault),
		.flags = begun->kind,
		.pid = id >> 32,
		.tid = id,
		.ns = now,
	};
	fault->start_ns = begun->start_ns;
	fault->pgoff = begun->page.pgoff;
	fault->inode = begun->page.inode;
	fault->dev = begun->page.dev;
	fault->ip = user_ip();
	event_submit(fault);
}

static __always_inline void forget_current(void)
{
	__u32 tid = bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&in_fault, &tid);
}

SEC("fexit/handle_mm_fault")
int BPF_PROG(on_fault_exit, struct vm_area_struct *vma, unsigned long address, unsigned int flags,
	     void *regs, unsigned int result)
{
	__u32 origin = origin_of(flags, regs), outcome = outcome_of(flags, result);
	struct begun *begun = begun_now();
	struct pfstat_fault fault = {};
	__u64 now;

	if (!begun)
		return 0;
	now = bpf_ktime_get_ns();
	add(PFSTAT_FAULT_INDEX(begun->kind, origin, outcome), now - begun->start_ns);
	if (every_fault || begun->kind != PFSTAT_FAULT_HOOKED) {
		fault.address = address;
		fault.fault_flags = flags;
		fault.result = result;
		fault.origin = origin;
		fault.outcome = outcome;
		send(begun, now, &fault);
	}
	begun->start_ns = 0;
	if (begun->exiting)
		forget_current();
	return 0;
}

/* If it has a fault after this, that has an entry of its own: see make_begun(). */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_fault_thread_exit, struct task_struct *task)
{
	__u32 tid = task->pid;

	bpf_map_delete_elem(&in_fault, &tid);
	return 0;
}

/* A thread that executes gets the first one's tid. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_fault_thread_exec, struct task_struct *task, int old_tid)
{
	__u32 before = old_tid;

	if (task->pid != old_tid)
		bpf_map_delete_elem(&in_fault, &before);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
