// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens at handle_mm_fault(), which every page fault calls. A thread that is not watched
 * goes on to the kernel's function and never comes back here. A watched thread returns here; its
 * fault is counted, and recorded if no wrapped operation has done so (fault_fast.c).
 *
 * The kind of a fault comes from its mapping, from the two functions that the kernel calls for
 * pages in swap and for copies on write, and from the result. The kernel may drop the lock in the
 * call, and then returns RETRY or COMPLETED: the VMA is looked at before the call, and after it
 * only with other results.
 *
 * The fast path is a program's own fault on a hooked file that is solved by the wrapped
 * operation: it has no record here, so it is counted and nothing else.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <pfstat/record.h>

#include "clock.h"
#include "fault.h"
#include "mm_fault.h"
#include "mm_fault_entry.h"
#include "mm_thread.h"
#include "ring.h"

/* One fault that is not on the fast path. */
struct mm_call {
	struct mm_thread *thread;
	unsigned long address;
	unsigned int flags;
	bool has_regs;
	bool is_sure; /* of kind */
	u8 kind;      /* enum pfstat_fault_kind */
	u8 vma_kind;  /* by the mapping only */
	struct mm_page page;
	u64 start_ns;
	vm_fault_t result;
	u64 duration_ns;
};

static struct mm_fault_counts __percpu *mm_counts __read_mostly;
static unsigned long mm_handler __read_mostly;
static bool mm_recording __read_mostly;

/* A program's own fault, not a second attempt. */
#define MM_FAST_MASK (FAULT_FLAG_USER | FAULT_FLAG_TRIED)

/*
 * Results that only a file's operation returns: the page is locked, or already in the page
 * table, the locks were dropped to wait, or it failed. The kernel denies a read or write
 * (SIGSEGV) before it calls the operation.
 */
#define MM_RESULT_OF_FILE                                                         \
	(VM_FAULT_LOCKED | VM_FAULT_NOPAGE | VM_FAULT_RETRY | VM_FAULT_DONE_COW | \
	 VM_FAULT_COMPLETED | (VM_FAULT_ERROR & ~(VM_FAULT_SIGSEGV | VM_FAULT_FALLBACK)))

static_assert(PFSTAT_RESULT_COMPLETED == (__force u32)VM_FAULT_COMPLETED);

void pfstat_mm_fault_record(bool on)
{
	WRITE_ONCE(mm_recording, on);
}

int pfstat_mm_fault_imitate(unsigned long address)
{
	unsigned long handler = 0;
	struct vm_area_struct *vma;

	if (!address) {
		WRITE_ONCE(mm_handler, pfstat_fault_wrapper());
		return 0;
	}
	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	vma = vma_lookup(current->mm, address);
	if (vma && vma->vm_ops)
		handler = (unsigned long)vma->vm_ops->fault;
	mmap_read_unlock(current->mm);
	if (!handler)
		return -ENOENT;
	WRITE_ONCE(mm_handler, handler);
	return 0;
}

static __always_inline bool mm_is_hooked(const struct vm_operations_struct *ops)
{
	return (unsigned long)READ_ONCE(ops->fault) == mm_handler;
}

/* No operation is called for huge pages of hugetlbfs. */
static u8 mm_kind_of_vma(const struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = READ_ONCE(vma->vm_ops);

	if (!ops)
		return PFSTAT_FAULT_ANON;
	if (mm_is_hooked(ops))
		return PFSTAT_FAULT_HOOKED;
	return vma->vm_flags & VM_HUGETLB ? PFSTAT_FAULT_OTHER : PFSTAT_FAULT_FILE;
}

/* A write to a shared page calls page_mkwrite(), if the file has it. */
static u8 mm_kind_of_write(const struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = READ_ONCE(vma->vm_ops);

	if (!(vma->vm_flags & VM_SHARED))
		return PFSTAT_FAULT_COW;
	if (!ops || !ops->page_mkwrite)
		return PFSTAT_FAULT_OTHER;
	return mm_is_hooked(ops) ? PFSTAT_FAULT_HOOKED : PFSTAT_FAULT_FILE;
}

static struct mm_page mm_page_of(const struct vm_area_struct *vma, unsigned long address)
{
	struct mm_page page = { .pgoff = address >> PAGE_SHIFT };

	if (vma->vm_file) {
		page.inode = file_inode(vma->vm_file)->i_ino;
		page.dev = file_inode(vma->vm_file)->i_sb->s_dev;
		page.pgoff = ((address - vma->vm_start) >> PAGE_SHIFT) + vma->vm_pgoff;
	}
	return page;
}

/*
 * The slot of current, if its fault began in this module: a thread that is watched since is still
 * fresh.
 */
static struct mm_thread *mm_noting_thread(void)
{
	struct mm_thread *thread = pfstat_mm_thread_of(current);

	return thread && READ_ONCE(thread->owner) == (unsigned long)current ? thread : NULL;
}

static void mm_note(struct mm_thread *thread, const struct vm_fault *vmf, u8 kind)
{
	thread->kind = kind;
	thread->page = mm_page_of(vmf->vma, vmf->address);
	thread->noted = true;
}

/* The kernel may call do_wp_page() after it. */
void pfstat_mm_fault_note_swap(const struct vm_fault *vmf)
{
	struct mm_thread *thread = mm_noting_thread();

	if (thread)
		mm_note(thread, vmf, PFSTAT_FAULT_SWAP);
}

void pfstat_mm_fault_note_write(const struct vm_fault *vmf)
{
	struct mm_thread *thread = mm_noting_thread();

	if (thread && !(thread->noted && thread->kind == PFSTAT_FAULT_SWAP))
		mm_note(thread, vmf, mm_kind_of_write(vmf->vma));
}

static void mm_take_note(struct mm_call *call)
{
	call->kind = call->thread->kind;
	call->is_sure = true;
	call->page = call->thread->page;
	call->thread->noted = false;
}

/*
 * Neither do_wp_page() nor do_swap_page() was called, and by the result no operation of the
 * file. An operation that leaves no page locked returns the same; it belongs to a device, the
 * vDSO or the like, whose mapping has no pages in the page cache. So if the file has pages there,
 * no operation was called: another thread had solved the fault, or NUMA balancing caused it. The
 * locks are still held.
 */
static void mm_look_closer(struct mm_call *call, const struct vm_area_struct *vma)
{
	/* data_race: pages may come and go meanwhile. */
	if (!vma->vm_file || !data_race(vma->vm_file->f_mapping->nrpages))
		return;
	call->kind = PFSTAT_FAULT_OTHER;
	call->page = mm_page_of(vma, call->address);
}

static u8 mm_origin_of(const struct mm_call *call)
{
	if (!call->has_regs)
		return PFSTAT_ORIGIN_GUP;
	return call->flags & FAULT_FLAG_USER ? PFSTAT_ORIGIN_USER : PFSTAT_ORIGIN_KERNEL;
}

/* As the kernel's mm_account_fault() decides. */
static u8 mm_outcome_of(const struct mm_call *call)
{
	if (call->result & VM_FAULT_RETRY)
		return PFSTAT_OUTCOME_RETRY;
	if (call->result & VM_FAULT_ERROR & ~VM_FAULT_FALLBACK)
		return PFSTAT_OUTCOME_ERROR;
	return call->result & VM_FAULT_MAJOR || call->flags & FAULT_FLAG_TRIED ?
		       PFSTAT_OUTCOME_MAJOR :
		       PFSTAT_OUTCOME_MINOR;
}

/* Preemption is off. */
static void mm_store(const struct mm_call *call, u8 origin, u8 outcome)
{
	struct pfstat_record *record = pfstat_ring_reserve();

	if (!record) {
		this_cpu_inc(mm_counts->lost);
		return;
	}
	record->start_ns = call->start_ns;
	record->duration_ns = call->duration_ns;
	record->earlier_ns = 0;
	record->address = call->address;
	record->pgoff = call->page.pgoff;
	record->pfn = PFSTAT_NO_PFN;
	record->inode = call->page.inode;
	record->tid = current->pid;
	record->pid = current->tgid;
	record->dev = call->page.dev;
	record->result = (__force u32)call->result;
	record->op = PFSTAT_OP_MM_FAULT;
	record->class = call->kind;
	record->order = outcome;
	record->before = origin;
	record->facts = 0;
	record->reserved = 0;
	record->around_before = 0;
	record->around_pages = 0;
	record->flags = call->flags;
	record->ip = instruction_pointer(task_pt_regs(current));
	record->fault_ns = 0;
	record->before_ns = 0;
	pfstat_ring_commit(record);
	this_cpu_inc(mm_counts->stored);
}

static void mm_count(const struct mm_call *call)
{
	const u8 origin = mm_origin_of(call), outcome = mm_outcome_of(call);
	const unsigned int index = PFSTAT_FAULT_INDEX(call->kind, origin, outcome);

	this_cpu_inc(mm_counts->faults[index].count);
	if (outcome == PFSTAT_OUTCOME_MINOR)
		call->thread->minor++;
	else if (outcome == PFSTAT_OUTCOME_MAJOR)
		call->thread->major++;
	pfstat_mm_thread_settle(call->thread, current);
	if (call->kind == PFSTAT_FAULT_HOOKED)
		return;
	this_cpu_add(mm_counts->faults[index].total_ns, call->duration_ns);
	mm_store(call, origin, outcome);
}

static void mm_find_kind(struct mm_call *call, const struct vm_area_struct *vma)
{
	if (call->thread->noted)
		mm_take_note(call);
	else if (!call->is_sure && !(call->result & MM_RESULT_OF_FILE))
		mm_look_closer(call, vma);
	/* A marker of userfaultfd was in the place of a page. */
	if (call->kind == PFSTAT_FAULT_SWAP && call->result & VM_FAULT_LOCKED)
		call->kind = call->vma_kind;
}

/* vma: see above. */
static void mm_end(struct mm_call *call, const struct vm_area_struct *vma)
{
	preempt_disable();
	/* The thread may be watched no more, or again. */
	if (READ_ONCE(call->thread->owner) != (unsigned long)current)
		goto out;
	if (READ_ONCE(mm_recording)) {
		mm_find_kind(call, vma);
		mm_count(call);
	} else {
		pfstat_mm_thread_pass_over(call->thread);
	}
out:
	preempt_enable();
}

static __always_inline void mm_enter(void)
{
	this_cpu_inc(mm_counts->in_flight);
	barrier(); /* the call counts before it does anything else */
}

static __always_inline void mm_leave(void)
{
	barrier();
	this_cpu_dec(mm_counts->in_flight);
}

/* The page of a hooked file is in the module's records, so it is read only if another needs it. */
static noinline vm_fault_t mm_fault_slow(struct mm_thread *thread, struct vm_area_struct *vma,
					 unsigned long address, unsigned int flags,
					 struct pt_regs *regs)
{
	const u8 kind = mm_kind_of_vma(vma);
	struct mm_call call = {
		.thread = thread,
		.address = address,
		.flags = flags,
		.has_regs = regs,
		.kind = kind,
		.vma_kind = kind,
		.is_sure = kind != PFSTAT_FAULT_HOOKED && kind != PFSTAT_FAULT_FILE,
	};
	struct moment start;

	if (kind != PFSTAT_FAULT_HOOKED)
		call.page = mm_page_of(vma, address);
	start = pfstat_clock_now();
	call.result = pfstat_mm_fault_body(vma, address, flags, regs);
	call.start_ns = start.ns;
	call.duration_ns = pfstat_clock_since(&start);
	mm_end(&call, vma);
	mm_leave();
	return call.result;
}

/* The fault began on the fast path. */
static noinline void mm_fault_end_slow(struct mm_thread *thread, vm_fault_t result)
{
	const struct clock_span span =
		pfstat_clock_span_slow(thread->start, pfstat_clock_end_cycles() - thread->start);
	struct mm_call call = {
		.thread = thread,
		.address = thread->address,
		.flags = thread->flags,
		.has_regs = true,
		.kind = PFSTAT_FAULT_HOOKED,
		.vma_kind = PFSTAT_FAULT_HOOKED,
		.start_ns = span.start_ns,
		.duration_ns = span.duration_ns,
		.result = result,
	};

	mm_end(&call, thread->vma);
}

static noinline void mm_settle(struct mm_thread *thread)
{
	pfstat_mm_thread_settle(thread, current);
}

/*
 * For the result 0 the kernel holds the locks. If the mapping has no file (the vDSO, by which
 * pfdrive measures the cost), it has no pages in the page cache to look for.
 */
static __always_inline bool mm_is_solved_by_operation(const struct mm_thread *thread,
						      vm_fault_t result)
{
	const struct vm_area_struct *vma = READ_ONCE(thread->vma);

	if (result == VM_FAULT_LOCKED || result == VM_FAULT_NOPAGE)
		return true;
	/* Another thread may have the slot, and its VMA may be gone. */
	return !result && READ_ONCE(thread->owner) == (unsigned long)current && !vma->vm_file;
}

/*
 * Each instruction here is part of every fault of the machine, up to the first return, or of
 * every fault of a watched thread. The arguments that the end may need lie in the thread's slot,
 * so that few registers must be saved.
 */
notrace vm_fault_t pfstat_mm_fault(struct vm_area_struct *vma, unsigned long address,
				   unsigned int flags, struct pt_regs *regs)
{
	struct mm_thread *thread = pfstat_mm_thread_home(current);
	const struct vm_operations_struct *ops;
	vm_fault_t result;

	if (READ_ONCE(thread->owner) != (unsigned long)current) {
		if (likely(!READ_ONCE(thread->attention)))
			return pfstat_mm_fault_body(vma, address, flags, regs);
		thread = pfstat_mm_thread_find();
		if (!thread)
			return pfstat_mm_fault_body(vma, address, flags, regs);
	}
	mm_enter();
	ops = READ_ONCE(vma->vm_ops);
	if (unlikely(!ops) || unlikely(!mm_is_hooked(ops)) || unlikely(!regs) ||
	    unlikely((flags & MM_FAST_MASK) != FAULT_FLAG_USER) || unlikely(pfstat_clock_is_shut()))
		return mm_fault_slow(thread, vma, address, flags, regs);
	thread->vma = vma;
	thread->address = address;
	thread->flags = flags;
	thread->start = pfstat_clock_start_cycles();
	result = pfstat_mm_fault_body(vma, address, flags, regs); /* vma dead from here */
	if (unlikely(!mm_is_solved_by_operation(thread, result)) || unlikely(thread->noted) ||
	    unlikely(READ_ONCE(thread->owner) != (unsigned long)current) ||
	    unlikely(!READ_ONCE(mm_recording))) {
		mm_fault_end_slow(thread, result);
	} else {
		this_cpu_inc(mm_counts
				     ->faults[PFSTAT_FAULT_INDEX(PFSTAT_FAULT_HOOKED,
								 PFSTAT_ORIGIN_USER,
								 PFSTAT_OUTCOME_MINOR)]
				     .count);
		thread->minor++;
		if (unlikely(thread->minor != current->min_flt))
			mm_settle(thread);
	}
	mm_leave();
	return result;
}

int pfstat_mm_fault_start(void)
{
	if (!mm_counts)
		mm_counts = alloc_percpu(struct mm_fault_counts);
	return mm_counts ? 0 : -ENOMEM;
}

void pfstat_mm_fault_sum(struct mm_fault_counts *sum)
{
	const struct mm_fault_counts *counts;
	unsigned int i;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	if (!mm_counts)
		return;
	for_each_possible_cpu(cpu) {
		counts = per_cpu_ptr(mm_counts, cpu);
		for (i = 0; i < PFSTAT_NR_FAULT_INDICES; i++) {
			sum->faults[i].count += READ_ONCE(counts->faults[i].count);
			sum->faults[i].total_ns += READ_ONCE(counts->faults[i].total_ns);
		}
		sum->stored += READ_ONCE(counts->stored);
		sum->lost += READ_ONCE(counts->lost);
	}
}

u64 pfstat_mm_fault_stored(void)
{
	u64 sum = 0;
	int cpu;

	if (!mm_counts)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(mm_counts, cpu)->stored);
	return sum;
}

/* A call that has not ended decrements in_flight later, so that stays. */
void pfstat_mm_fault_reset(void)
{
	int cpu;

	if (!mm_counts)
		return;
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(mm_counts, cpu), 0, offsetof(struct mm_fault_counts, in_flight));
}

long pfstat_mm_fault_in_flight(void)
{
	long sum = 0;
	int cpu;

	if (!mm_counts)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(mm_counts, cpu)->in_flight);
	return sum;
}

void pfstat_mm_fault_exit(void)
{
	free_percpu(mm_counts);
}
