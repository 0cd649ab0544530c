// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults, as the memory manager handles them. The map `faults` counts every handle_mm_fault()
 * return in a target by kind, origin and outcome. If calls are recorded, the fault's time is in the
 * record of the last call, or in a separate record. If not, the time is sent as an event. The state
 * of a thread's fault is in fault_state.bpf.h.
 */
#include <linux/ptrace.h>

#include <pfstat/record.h>

#include "arch.bpf.h"
#include "common.bpf.h"
#include "fault_state.bpf.h"
#include "graph_probe.bpf.h"
#include "guest.bpf.h"
#include "page.bpf.h"
#include "preempt.bpf.h"
#include "record_ring.bpf.h"
#include "recordable.bpf.h"
#include "vma.bpf.h"

const volatile __u32 vm_area_struct_type, vm_fault_type;
const volatile bool have_graph_probes;
/* on_new_shared_page() is loaded; those of note.bpf.c are that this kernel needs. */
const volatile bool have_new_pages, have_notes;
/* The kernel marks entries as soft-dirty. */
const volatile bool have_soft_dirty;

/* The module's ->fault: a VMA that has it is hooked. 0: the module is not used. */
__u64 wrapper;
__u32 ignored;
struct pfstat_missed missed;
const volatile bool want_stacks;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PFSTAT_NR_FAULT_INDICES);
	__type(key, __u32); /* PFSTAT_FAULT_INDEX() */
	__type(value, struct pfstat_fault_value);
} faults SEC(".maps");

static __always_inline bool is_hooked(const struct vm_operations_struct *ops)
{
	const __u64 is = wrapper;

	return is && (__u64)ops->fault == is;
}

/* The VMA must exist: after a return with RETRY it may be gone. */
static __always_inline void fault_set_page(struct fault_state *state,
					   const struct vm_area_struct *vma, __u64 address)
{
	const struct file *file = vma->vm_file;
	const struct inode *inode;

	state->record.address = address;
	if (!file) {
		state->record.inode = 0;
		state->record.dev = 0;
		state->record.pgoff = address >> page_shift;
		return;
	}
	inode = file->f_inode;
	state->record.inode = inode->i_ino;
	state->record.dev = inode->i_sb->s_dev;
	state->record.pgoff = ((address - vma->vm_start) >> page_shift) + vma->vm_pgoff;
}

/* Too large for the stack. The kernel never runs a program twice at a time on one CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pfstat_stack);
} stack_space SEC(".maps");

static __always_inline void send_stack(void *ctx, __u64 address, __u64 now)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct pfstat_stack *stack;
	__u32 key = 0;
	long bytes;

	stack = bpf_map_lookup_elem(&stack_space, &key);
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

/* No operation is called for hugetlbfs huge pages. */
static __always_inline __u32 kind_of_vma(const struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = vma->vm_ops;

	if (!ops)
		return PFSTAT_FAULT_ANON;
	if (is_hooked(ops))
		return PFSTAT_FAULT_HOOKED;
	return vma->vm_flags & VM_HUGETLB ? PFSTAT_FAULT_OTHER : PFSTAT_FAULT_FILE;
}

/* The kind of the fault by the mapping. Later programs refine the kind. */
static __always_inline void fault_set_vma(struct fault_state *state,
					  const struct vm_area_struct *vma, __u64 address)
{
	const __u32 kind = kind_of_vma(vma);

	state->kind = kind;
	state->vma_kind = kind;
	state->content = PFSTAT_CONTENT_UNKNOWN;
	state->huge_order = 0;
	state->note = PFSTAT_NOTE_UNKNOWN;
	state->is_sure = kind != PFSTAT_FAULT_HOOKED && kind != PFSTAT_FAULT_FILE;
	fault_set_page(state, vma, address);
	if (record_calls)
		fault_set_recordable(state, vma);
}

/*
 * The kernel skipped the program for the last fault's end, so nothing is known about the fault's
 * time, and the registers are gone.
 */
static __noinline void record_store_late(struct fault_state *state)
{
	record_store(state, 0, 0);
}

/* NULL: the current thread is not a target. */
static __always_inline struct fault_state *fault_begins(void *ctx, const struct vm_area_struct *vma,
							unsigned long address, unsigned int flags)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct fault_state *state = fault_state_of(task);

	if (!state)
		return NULL;
	if (record_calls && state->call.stage == CALL_WAITING)
		record_store_late(state);
	fault_set_vma(state, vma, address);
	state->flags = flags;
	state->start_ns = bpf_ktime_get_ns();
	if (want_stacks && !(flags & PFSTAT_FLAG_TRIED))
		send_stack(ctx, address, state->start_ns);
	return state;
}

SEC("fentry/handle_mm_fault")
int BPF_PROG(on_fault_enter, struct vm_area_struct *vma, unsigned long address, unsigned int flags)
{
	fault_begins(ctx, vma, address, flags);
	return 0;
}

SEC("kprobe.multi/handle_mm_fault")
int BPF_KPROBE(on_fault_enter_kprobe, void *vma, unsigned long address, unsigned int flags,
	       void *regs)
{
	struct fault_state *state;

	if (!have_graph_probes)
		return 0;
	state = fault_begins(ctx, KERNEL_OBJECT(vma, vm_area_struct), address, flags);
	if (!state)
		return 0;
	state->vma = (__u64)vma;
	state->has_regs = !!regs;
	return 0;
}

/* The kernel may call do_wp_page() after it. */
static __always_inline int fault_begins_swap(const struct vm_fault *vmf)
{
	struct fault_state *state = fault_state_now();

	if (!state)
		return 0;
	state->kind = PFSTAT_FAULT_SWAP;
	state->is_sure = 1;
	state->note = PFSTAT_NOTE_SWAP;
	return 0;
}

SEC("fentry/do_swap_page")
int BPF_PROG(on_swap_page, struct vm_fault *vmf)
{
	return fault_begins_swap(vmf);
}

SEC("kprobe.multi/do_swap_page")
int BPF_KPROBE(on_swap_page_kprobe, void *vmf)
{
	return !have_graph_probes ? 0 : fault_begins_swap(KERNEL_OBJECT(vmf, vm_fault));
}

/* A write to a shared page calls page_mkwrite(), if the file has it. */
static __always_inline __u32 kind_of_write(const struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED))
		return PFSTAT_FAULT_COW;
	if (!vma->vm_ops || !vma->vm_ops->page_mkwrite)
		return PFSTAT_FAULT_OTHER;
	return is_hooked(vma->vm_ops) ? PFSTAT_FAULT_HOOKED : PFSTAT_FAULT_FILE;
}

/* As the module's, but without the page: neither FORKED nor OWN. */
static __always_inline __u8 note_of_write(const struct vm_area_struct *vma, __u64 entry)
{
	if (entry & ARCH_ENTRY_UFFD_WP)
		return PFSTAT_NOTE_UFFD;
	if (have_soft_dirty && !(entry & ARCH_ENTRY_SOFT_DIRTY) &&
	    !(vma->vm_flags & VM_SHARED) == !(vma->vm_flags & VM_SOFTDIRTY))
		return PFSTAT_NOTE_CLEAN;
	return have_soft_dirty && entry & ARCH_ENTRY_SOFT_DIRTY ? PFSTAT_NOTE_DIRTY :
								  PFSTAT_NOTE_READ_ONLY;
}

/* A file operation call needs state->call.vmf itself. A private page makes no call. */
static __always_inline int fault_begins_write(const struct vm_fault *vmf)
{
	struct fault_state *state = fault_state_now();

	if (!state || state->kind == PFSTAT_FAULT_SWAP)
		return 0;
	state->kind = kind_of_write(vmf->vma);
	state->is_sure = 1;
	state->note = note_of_write(vmf->vma, vmf->orig_pte.pte);
	if (have_graph_probes && state->kind == PFSTAT_FAULT_COW)
		state->call.vmf = (__u64)vmf;
	return 0;
}

SEC("fentry/do_wp_page")
int BPF_PROG(on_wp_page, struct vm_fault *vmf)
{
	return fault_begins_write(vmf);
}

SEC("kprobe.multi/do_wp_page")
int BPF_KPROBE(on_wp_page_kprobe, void *vmf)
{
	return !have_graph_probes ? 0 : fault_begins_write(KERNEL_OBJECT(vmf, vm_fault));
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

/* The arguments and the result of a handle_mm_fault() call. */
struct returned {
	__u64 address;
	__u32 flags;
	__u32 result;
	__u32 origin;
	__u32 outcome;
	__u64 ip; /* the program's, like user_ip() */
};

static __always_inline __u64 user_ip(void)
{
	const struct pt_regs___kernel *regs =
		(const void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return regs->ARCH_IP;
}

/* Atomic: another thread's fault may interrupt on this CPU. */
static __always_inline struct pfstat_fault_value *count_fault(__u32 index)
{
	struct pfstat_fault_value *value = bpf_map_lookup_elem(&faults, &index);

	if (value)
		__sync_fetch_and_add(&value->count, 1);
	return value;
}

static __always_inline __u32 note_of(const struct fault_state *state)
{
	if (!have_notes)
		return PFSTAT_NOTE_UNKNOWN;
	return state->note == PFSTAT_NOTE_UNKNOWN ? PFSTAT_NOTE_EMPTY : state->note;
}

static __always_inline void fault_send(const struct fault_state *state, __u64 now,
				       const struct returned *returned)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct pfstat_fault fault = {
		.event = {
			.type = PFSTAT_EVENT_FAULT,
			.size = sizeof(fault),
			.flags = PFSTAT_FAULT_FLAGS(state->kind, note_of(state)),
			.pid = id >> 32,
			.tid = id,
			.ns = now,
		},
		.start_ns = state->start_ns,
		.address = returned->address,
		.ip = returned->ip,
		.pgoff = state->record.pgoff,
		.inode = state->record.inode,
		.dev = state->record.dev,
		.fault_flags = returned->flags,
		.result = returned->result,
		.origin = returned->origin,
		.outcome = returned->outcome,
		.page = PFSTAT_PAGE(state->content, state->huge_order),
	};

	event_send(&fault, sizeof(fault));
}

/* The same as a record, which costs less. */
static __always_inline void fault_record(const struct fault_state *state, __u64 now,
					 const struct returned *returned)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	struct pfstat_record *record;
	__u64 sequence;

	record = record_reserve(cpu, false, &sequence);
	if (!record)
		return;
	record->start_ns = state->start_ns;
	record->duration_ns = now - state->start_ns;
	record->earlier_ns = 0;
	record->address = returned->address;
	record->pgoff = state->record.pgoff;
	record->pfn = PFSTAT_NO_PFN;
	record->inode = state->record.inode;
	record->tid = state->record.tid;
	record->pid = state->record.pid;
	record->dev = state->record.dev;
	record->result = returned->result;
	record->op = PFSTAT_OP_MM_FAULT;
	record->class = state->kind;
	record->order = returned->outcome;
	record->before = returned->origin;
	record->facts = 0;
	record->page = PFSTAT_PAGE(state->content, state->huge_order);
	record->around_before = note_of(state);
	record->cpu = cpu;
	record->around_pages = 0;
	record->flags = returned->flags;
	record->ip = returned->ip;
	record->fault_ns = 0;
	record->before_ns = 0;
	record_commit(record, sequence);
}

/*
 * Results that only a file's operation returns: the page is locked, or already in the page
 * table, the locks were dropped to wait, or it failed. The kernel denies a read or write
 * (SIGSEGV) before it calls the operation.
 */
#define RESULT_DONE_COW 0x1000
#define RESULT_OF_FILE                                                                         \
	(PFSTAT_RESULT_LOCKED | PFSTAT_RESULT_NOPAGE | PFSTAT_RESULT_RETRY | RESULT_DONE_COW | \
	 PFSTAT_RESULT_COMPLETED | (PFSTAT_RESULT_ERROR & ~PFSTAT_RESULT_SIGSEGV))
#define RESULT_WITHOUT_CALL (PFSTAT_RESULT_RETRY | (PFSTAT_RESULT_ERROR & ~PFSTAT_RESULT_SIGSEGV))

/*
 * Neither do_wp_page() nor do_swap_page() was called, and by the result no file operation. An
 * operation that leaves no page locked returns the same result. Such an operation belongs to a
 * device, the vDSO or the like, whose mapping has no pages in the page cache. So if the file has
 * pages there, no operation was called: another thread had solved the fault, or NUMA balancing
 * caused it. The locks are still held.
 */
static __always_inline void look_closer(struct fault_state *state, const struct vm_area_struct *vma)
{
	const struct file *file = vma->vm_file;

	if (file && file->f_mapping->nrpages)
		state->kind = PFSTAT_FAULT_OTHER;
}

static __always_inline void count_own(struct fault_state *state, __u32 outcome)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();

	if (outcome == PFSTAT_OUTCOME_MINOR)
		state->min_flt++;
	else if (outcome == PFSTAT_OUTCOME_MAJOR)
		state->maj_flt++;
	fault_state_settle(state, task);
}

/*
 * A call in a file that is recorded. If the call did not come, the fault may not make it under the
 * VMA's own lock, or failed before.
 */
static __always_inline bool is_of_recorded(const struct fault_state *state, __u32 result)
{
	const struct call_state *call = &state->call;

	return call->left_record || (call->is_recordable && state->kind == PFSTAT_FAULT_FILE &&
				     result & RESULT_WITHOUT_CALL);
}

/* No page of these is new, and no file operation was called. */
static __always_inline bool was_mapped(const struct fault_state *state)
{
	return have_notes && state->vma_kind != PFSTAT_FAULT_OTHER &&
	       (state->note == PFSTAT_NOTE_PRESENT || state->note == PFSTAT_NOTE_NUMA_STAYED ||
		state->note == PFSTAT_NOTE_NUMA_MOVED);
}

static __always_inline void fault_find_kind(struct fault_state *state,
					    const struct vm_area_struct *vma, __u32 result)
{
	if (record_calls && is_of_recorded(state, result))
		state->kind = PFSTAT_FAULT_HOOKED;
	else if (was_mapped(state))
		state->kind = PFSTAT_FAULT_OTHER;
	else if (!state->is_sure && !(result & RESULT_OF_FILE))
		look_closer(state, vma);
	else if (state->kind == PFSTAT_FAULT_SWAP && result & PFSTAT_RESULT_LOCKED)
		state->kind = state->vma_kind; /* a userfaultfd marker was in the page's place */
}

/* /dev, whose mappings belong to drivers, also has the shared memory file system. */
static __always_inline bool is_shared_memory(const struct file *file)
{
	const struct inode *inode = file->f_inode;

	return (inode->i_mode & MODE_TYPE) == MODE_REGULAR && inode->i_sb->s_magic == TMPFS;
}

/* The locks are still held. The programs of content.bpf.c have noted what only they can see. */
static __always_inline void content_of_file(struct fault_state *state,
					    const struct vm_area_struct *vma, __u32 flags)
{
	if (flags & PFSTAT_FLAG_WRITE && !(vma->vm_flags & VM_SHARED))
		state->content = PFSTAT_CONTENT_FILE;
	else if (!have_new_pages || !vma->vm_file || !is_shared_memory(vma->vm_file))
		state->content = PFSTAT_CONTENT_UNKNOWN;
	else if (state->content != PFSTAT_CONTENT_NEW)
		state->content = PFSTAT_CONTENT_PRESENT;
}

static __always_inline void fault_find_content(struct fault_state *state,
					       const struct vm_area_struct *vma,
					       const struct returned *returned)
{
	/* COMPLETED: a shared page became dirty, and the VMA may be gone. A new page was noted. */
	if (returned->outcome > PFSTAT_OUTCOME_MAJOR ||
	    (returned->result & PFSTAT_RESULT_COMPLETED &&
	     (state->kind != PFSTAT_FAULT_FILE || state->content != PFSTAT_CONTENT_NEW))) {
		state->content = PFSTAT_CONTENT_UNKNOWN;
		state->huge_order = 0;
	} else if (returned->result & PFSTAT_RESULT_COMPLETED) {
		state->huge_order = 0;
	} else if (state->kind == PFSTAT_FAULT_FILE) {
		content_of_file(state, vma, returned->flags);
	} else if (state->kind == PFSTAT_FAULT_OTHER && vma->vm_flags & VM_HUGETLB &&
		   vma->vm_file) {
		state->huge_order = vma->vm_file->f_inode->i_sb->s_blocksize_bits - page_shift;
	}
}

/*
 * A fault on another process's memory has no instruction. record_ip() decides, if such a fault is
 * possible.
 */
static __always_inline __u64 call_ip(const struct fault_state *state,
				     const struct returned *returned)
{
	return returned->flags & PFSTAT_FLAG_USER ? returned->ip : record_ip(state);
}

static __always_inline void fault_store_call(struct fault_state *state, __u64 now,
					     const struct returned *returned)
{
	state->record.flags |= returned->flags & PFSTAT_FLAG_GUEST;
	if (state->record.op == PFSTAT_OP_PAGE_MKWRITE)
		state->record.around_before = note_of(state);
	record_store(state, call_ip(state, returned), now);
}

/* The fault's time is in the last call's record, in a separate record, or in an event. */
static __always_inline int fault_ends(struct fault_state *state, const struct vm_area_struct *vma,
				      const struct returned *returned)
{
	const __u64 now = bpf_ktime_get_ns();
	struct pfstat_fault_value *value;

	if (stopped)
		return 0;
	fault_find_kind(state, vma, returned->result);
	fault_find_content(state, vma, returned);
	value = count_fault(PFSTAT_FAULT_INDEX(state->kind, returned->origin, returned->outcome));
	if (value)
		__sync_fetch_and_add(&value->total_ns, now - state->start_ns);
	count_own(state, returned->outcome);
	if (record_calls && state->call.stage == CALL_WAITING)
		fault_store_call(state, now, returned);
	else if (record_calls)
		fault_record(state, now, returned);
	else
		fault_send(state, now, returned);
	state->start_ns = 0;
	if (state->exiting)
		fault_state_forget(state->id);
	return 0;
}

SEC("fexit/handle_mm_fault")
int BPF_PROG(on_fault_exit, struct vm_area_struct *vma, unsigned long address, unsigned int flags,
	     const struct pt_regs___kernel *regs, unsigned int result)
{
	struct fault_state *state = fault_state_now();
	struct returned returned;

	/* Another address: the program was skipped that would have seen this fault begin. */
	if (!state || state->record.address != address)
		return 0;
	returned = (struct returned){
		.address = address,
		.flags = flags | guest_flag(regs),
		.result = result,
		.origin = origin_of(flags, regs),
		.outcome = outcome_of(flags, result),
		/* The program's own exception: these are the program's registers. */
		.ip = regs && flags & PFSTAT_FLAG_USER ? regs->ARCH_IP : user_ip(),
	};
	return fault_ends(state, vma, &returned);
}

SEC("kretprobe.multi/handle_mm_fault")
int BPF_KRETPROBE(on_fault_exit_kprobe, unsigned int result)
{
	struct fault_state *state;
	struct returned returned;

	if (!have_graph_probes)
		return 0;
	state = fault_state_now();
	if (!state)
		return 0;
	returned = (struct returned){
		.address = state->record.address,
		.flags = state->flags | guest_flag(state->has_regs),
		.result = result,
		.origin = origin_of(state->flags, state->has_regs),
		.outcome = outcome_of(state->flags, result),
		.ip = user_ip(),
	};
	return fault_ends(state, KERNEL_OBJECT(state->vma, vm_area_struct), &returned);
}

static __always_inline void thread_forget(struct fault_state *state)
{
	if (record_calls && state->call.stage == CALL_WAITING)
		record_store_late(state);
	fault_state_forget(state->id);
}

static __always_inline int thread_ends(const struct task_struct *task)
{
	struct fault_state *state;

	preempt_off();
	state = fault_state_find(bpf_get_current_pid_tgid());
	if (state) {
		fault_state_settle(state, task);
		thread_forget(state);
	}
	preempt_on();
	return 0;
}

/* A later fault in the thread gets another entry, see fault_state_slow(). */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_fault_thread_exit, struct task_struct *task)
{
	return thread_ends(task);
}

/* For a thread for which the kernel skipped the first program: see bpf_programs.c. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_fault_thread_exit_again, struct task_struct *task)
{
	return thread_ends(task);
}

/* After execve() a thread has the first thread's tid. The thread's next fault makes a new entry. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_fault_thread_exec, struct task_struct *task, int old_tid)
{
	struct fault_state *state;

	if (task->pid == old_tid)
		return 0;
	state = fault_state_find((__u64)task->tgid << 32 | (__u32)old_tid);
	if (state)
		thread_forget(state);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
