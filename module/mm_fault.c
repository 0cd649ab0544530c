// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code at handle_mm_fault() for watched threads. mm_fault_entry.S lets the others go on. A
 * fault is counted and recorded when the function returns. If the fault called a wrapped operation,
 * the last call's record has waited in the thread's slot (fault_fast.c, attempt.c), and gets the
 * time of the whole function.
 *
 * A fault's kind comes from the mapping, from the two functions that the kernel calls for pages in
 * swap and for copies on write, and from the result. The kernel may drop the lock in the call, and
 * then returns RETRY or COMPLETED: the VMA is read before the call, and after the call only with
 * other results.
 *
 * The fast path is a program's own fault on a hooked file, solved by a call on the fast path of the
 * wrapped operation.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <pfstat/record.h>

#include "attempt.h"
#include "clock.h"
#include "fault.h"
#include "mm_content.h"
#include "mm_counts.h"
#include "mm_fault.h"
#include "mm_fault_entry.h"
#include "mm_record.h"
#include "mm_thread.h"
#include "mm_watch.h"
#include "ring.h"

/* One fault off the fast path. */
struct mm_call {
	struct mm_thread *thread;
	unsigned long address;
	unsigned int flags;
	bool has_regs;
	bool is_sure; /* kind is sure */
	u8 kind;      /* enum pfstat_fault_kind */
	u8 vma_kind;  /* by the mapping only */
	u8 content;   /* PFSTAT_PAGE() */
	u8 note;      /* enum pfstat_note */
	struct mm_page page;
	u64 start_ns;
	vm_fault_t result;
	u64 duration_ns;
};

static unsigned long mm_handler __read_mostly;
static bool mm_imitates __read_mostly; /* the handler is not the module's */
static bool mm_recording __read_mostly;
bool pfstat_mm_fault_has_notes __read_mostly;

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
		WRITE_ONCE(mm_imitates, false);
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
	WRITE_ONCE(mm_imitates, true);
	return 0;
}

static __always_inline bool mm_is_hooked(const struct vm_operations_struct *ops)
{
	return (unsigned long)READ_ONCE(ops->fault) == mm_handler;
}

/* No operation is called for hugetlbfs huge pages. */
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

/* Outside of a fault the kernel calls the functions below also: MADV_COLLAPSE reads from swap. */
static struct mm_thread *mm_noting_thread(void)
{
	struct mm_thread *thread;

	preempt_disable();
	thread = pfstat_mm_thread_in_fault();
	preempt_enable();
	return thread;
}

static void mm_note(struct mm_thread *thread, const struct vm_fault *vmf, u8 kind)
{
	thread->kind = kind;
	thread->page = mm_page_of(vmf->vma, vmf->address);
	thread->state = MM_STATE_SLOW | MM_STATE_NOTED;
}

/* The kernel may call do_wp_page() after it. */
void pfstat_mm_fault_note_swap(const struct vm_fault *vmf)
{
	struct mm_thread *thread = mm_noting_thread();

	if (!thread)
		return;
	mm_note(thread, vmf, PFSTAT_FAULT_SWAP);
	thread->note = PFSTAT_NOTE_SWAP;
}

void pfstat_mm_fault_note_write(const struct vm_fault *vmf)
{
	struct mm_thread *thread = mm_noting_thread();

	if (!thread || (thread->state & MM_STATE_NOTED && thread->kind == PFSTAT_FAULT_SWAP))
		return;
	mm_note(thread, vmf, mm_kind_of_write(vmf->vma));
	pfstat_mm_content_note_write(thread, vmf);
}

/* Without a huge page to copy to, the kernel splits this one, and calls do_wp_page(). */
void pfstat_mm_fault_note_huge_write(const struct vm_fault *vmf)
{
	struct mm_thread *thread = mm_noting_thread();

	if (!thread)
		return;
	mm_note(thread, vmf, mm_kind_of_write(vmf->vma));
	pfstat_mm_content_note_huge_write(thread, vmf);
}

/*
 * do_swap_page() calls the function that waits for a migration. Otherwise the first note counts,
 * since what follows it has changed the entry. The fault's call, if there was one, met no page.
 */
void pfstat_mm_fault_note(u8 note)
{
	struct mm_thread *thread = mm_noting_thread();

	if (!thread || thread->waits || thread->state == MM_STATE_CALLED)
		return;
	if (thread->state == MM_STATE_OPEN) {
		pfstat_mm_content_begin(thread);
		thread->state = MM_STATE_SLOW;
	}
	if (thread->note != PFSTAT_NOTE_UNKNOWN && note != PFSTAT_NOTE_MIGRATION)
		return;
	thread->note = note;
	thread->state |= MM_STATE_MET;
}

void pfstat_mm_fault_note_shared(unsigned long expected)
{
	struct mm_thread *thread = mm_noting_thread();

	if (thread)
		pfstat_mm_content_note_shared(thread, expected);
}

void pfstat_mm_fault_note_huge(const struct vm_fault *vmf)
{
	struct mm_thread *thread = mm_noting_thread();

	if (thread)
		pfstat_mm_content_note_huge(thread, vmf);
}

static void mm_take_note(struct mm_call *call)
{
	call->kind = call->thread->kind;
	call->is_sure = true;
	call->page = call->thread->page;
}

/*
 * Neither do_wp_page() nor do_swap_page() was called, and by the result no file operation. An
 * operation that leaves no page locked returns the same result. Such an operation belongs to a
 * device, the vDSO or the like, whose mapping has no pages in the page cache. So if the file has
 * pages there, no operation was called: another thread had solved the fault, or NUMA balancing
 * caused it. The locks are still held.
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

static u32 mm_guest_flag(const struct mm_call *call)
{
	return !call->has_regs && compat_runs_guest() ? PFSTAT_FLAG_GUEST : 0;
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

/* A record for the return itself. Preemption is off. */
static void mm_store_return(const struct mm_call *call, u8 origin, u8 outcome)
{
	struct pfstat_record *record = pfstat_ring_reserve();

	if (!record) {
		this_cpu_inc(pfstat_mm_counts->lost);
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
	record->page = call->content;
	record->around_before = call->note;
	record->around_pages = 0;
	record->flags = call->flags | mm_guest_flag(call);
	record->ip = instruction_pointer(task_pt_regs(current));
	record->fault_ns = 0;
	record->before_ns = 0;
	pfstat_ring_commit(record);
	this_cpu_inc(pfstat_mm_counts->stored);
}

static void mm_store_call(const struct mm_call *call)
{
	struct pfstat_record *record = &call->thread->record;

	if (record->op == PFSTAT_OP_PAGE_MKWRITE || record->op == PFSTAT_OP_PFN_MKWRITE) {
		record->flags = call->flags | FAULT_FLAG_WRITE; /* the kernel replaced them */
		record->around_before = call->note;
	}
	record->flags |= mm_guest_flag(call);
	record->fault_ns = call->duration_ns;
	record->before_ns = record->start_ns - min(record->start_ns, call->start_ns);
	pfstat_mm_record_store(call->thread);
}

static void mm_count(const struct mm_call *call)
{
	const u8 origin = mm_origin_of(call), outcome = mm_outcome_of(call);
	const unsigned int index = PFSTAT_FAULT_INDEX(call->kind, origin, outcome);

	this_cpu_inc(pfstat_mm_counts->faults[index].count);
	if (call->kind != PFSTAT_FAULT_HOOKED)
		this_cpu_add(pfstat_mm_counts->faults[index].total_ns, call->duration_ns);
	if (outcome == PFSTAT_OUTCOME_MINOR)
		call->thread->minor++;
	else if (outcome == PFSTAT_OUTCOME_MAJOR)
		call->thread->major++;
	pfstat_mm_thread_settle(call->thread, current);
	if (call->thread->waits)
		mm_store_call(call);
	else
		mm_store_return(call, origin, outcome);
}

/* No page of these is new, and no file operation was called. */
static bool mm_was_mapped(u8 note)
{
	return note == PFSTAT_NOTE_PRESENT || note == PFSTAT_NOTE_NUMA_STAYED ||
	       note == PFSTAT_NOTE_NUMA_MOVED;
}

static void mm_find_note(struct mm_call *call)
{
	if (!pfstat_mm_fault_has_notes)
		call->note = PFSTAT_NOTE_UNKNOWN;
	else if (call->thread->note == PFSTAT_NOTE_UNKNOWN)
		call->note = PFSTAT_NOTE_EMPTY;
	else
		call->note = call->thread->note;
}

static void mm_find_kind(struct mm_call *call, const struct vm_area_struct *vma)
{
	mm_find_note(call);
	if (call->thread->state & MM_STATE_NOTED)
		mm_take_note(call);
	else if (mm_was_mapped(call->note) && call->vma_kind != PFSTAT_FAULT_OTHER)
		call->kind = PFSTAT_FAULT_OTHER;
	else if (!call->is_sure && !(call->result & MM_RESULT_OF_FILE) && !call->thread->waits)
		mm_look_closer(call, vma);
	/* A userfaultfd marker was in the page's place. */
	if (call->kind == PFSTAT_FAULT_SWAP && call->result & VM_FAULT_LOCKED)
		call->kind = call->vma_kind;
	if (call->thread->waits)
		call->kind = PFSTAT_FAULT_HOOKED;
}

/*
 * Only for a solved fault. COMPLETED: a shared page became dirty, and the VMA may be gone. A new
 * page was noted.
 */
static void mm_find_content(struct mm_call *call, const struct vm_area_struct *vma)
{
	if (call->result & VM_FAULT_COMPLETED)
		call->content = call->kind == PFSTAT_FAULT_FILE &&
						call->thread->content == PFSTAT_CONTENT_NEW ?
					PFSTAT_CONTENT_NEW :
					PFSTAT_CONTENT_UNKNOWN;
	else if (!(call->result & (VM_FAULT_ERROR | VM_FAULT_RETRY)))
		call->content = pfstat_mm_content_of(call->thread, vma, call->kind, call->flags);
}

/*
 * The thread is no longer watched, or recording has ended. A waiting record was counted as a call,
 * so it is stored here or by pfstat_mm_fault_flush(), whichever comes first.
 */
static void mm_end_late(struct mm_thread *thread)
{
	unsigned long flags;

	spin_lock_irqsave(&pfstat_mm_lock, flags);
	if ((thread->owner & ~MM_THREAD_LEFT) != (unsigned long)current)
		goto unlock;
	pfstat_mm_thread_pass_over(thread);
	if (thread->state == MM_STATE_CALLED)
		pfstat_mm_record_complete(thread, current);
	if (thread->waits && pfstat_attempt_is_recording())
		pfstat_mm_record_store(thread);
	thread->state = MM_STATE_NONE;
unlock:
	spin_unlock_irqrestore(&pfstat_mm_lock, flags);
}

/* vma: see above. */
static void mm_end(struct mm_call *call, const struct vm_area_struct *vma)
{
	struct mm_thread *thread = call->thread;

	preempt_disable();
	if (!pfstat_mm_thread_is_owner(thread, current) || !READ_ONCE(mm_recording)) {
		mm_end_late(thread);
	} else if (thread->state == MM_STATE_NONE) {
		pfstat_mm_thread_pass_over(thread);
	} else {
		if (thread->state == MM_STATE_CALLED)
			pfstat_mm_record_complete(thread, current);
		mm_find_kind(call, vma);
		mm_find_content(call, vma);
		mm_count(call);
		thread->state = MM_STATE_NONE;
	}
	preempt_enable();
}

static void mm_flush(struct mm_thread *thread)
{
	const struct task_struct *task = (void *)(thread->owner & ~MM_THREAD_LEFT);

	if (!task)
		return;
	if (thread->state == MM_STATE_CALLED)
		pfstat_mm_record_complete(thread, task); /* it has a slot, so it is not freed */
	if (thread->waits)
		pfstat_mm_record_store(thread);
}

static void mm_forget(struct mm_thread *thread)
{
	thread->waits = false;
	thread->state = MM_STATE_NONE;
}

void pfstat_mm_fault_flush(bool store)
{
	pfstat_mm_thread_each(store ? mm_flush : mm_forget);
}

static __always_inline void mm_enter(void)
{
	this_cpu_inc(pfstat_mm_in_flight);
	barrier(); /* the call counts before it does anything else */
}

static __always_inline void mm_leave(void)
{
	barrier();
	this_cpu_dec(pfstat_mm_in_flight);
}

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
		.page = mm_page_of(vma, address),
	};
	struct moment start;

	thread->state = MM_STATE_SLOW;
	pfstat_mm_content_begin(thread);
	start = pfstat_clock_now();
	call.result = pfstat_mm_fault_body(vma, address, flags, regs);
	call.start_ns = start.ns;
	call.duration_ns = pfstat_clock_since(&start);
	mm_end(&call, vma);
	mm_leave();
	return call.result;
}

/*
 * A fault inside another one of the same thread, as when a driver's ->fault uses the program's
 * memory. The slot is the outer fault's, which finds at its end that the task counted another one:
 * a missed fault. It comes from the kernel, so it is never on the fast path.
 */
static noinline vm_fault_t mm_fault_inner(struct vm_area_struct *vma, unsigned long address,
					  unsigned int flags, struct pt_regs *regs)
{
	const vm_fault_t result = pfstat_mm_fault_body(vma, address, flags, regs);

	mm_leave();
	return result;
}

static noinline void mm_settle(struct mm_thread *thread)
{
	pfstat_mm_thread_settle(thread, current);
}

/* Neighbouring members with one instruction. */
static __always_inline void mm_copy_u64(struct pfstat_record *to, const struct pfstat_record *from,
					size_t offset)
{
	pfstat_record_set(to, offset, *(const u64 *)((const void *)from + offset));
}

/*
 * Stores the call's record, with the fault time. False: nothing was stored, because the thread is
 * no longer watched, or the ring or the clock needs the slow path.
 */
static __always_inline bool mm_end_fast(struct mm_thread *thread, u64 cycles)
{
	const struct task_struct *task = compat_current_anew();
	const struct pfstat_record *call = &thread->record;
	struct pfstat_record *record;
	struct ring_writer *ring;
	u64 sequence;

	/* data_race: not READ_ONCE(), so each is compared in memory. */
	if (unlikely(cycles >= data_race(pfstat_clock.limit)))
		return false;
	preempt_disable();
	ring = pfstat_here(pfstat_rings);
	if (unlikely(data_race(thread->owner) != (unsigned long)task) || /* see above */
	    unlikely(!data_race(mm_recording)) ||			 /* see above */
	    unlikely(!pfstat_ring_is_fast(ring, &sequence))) {
		preempt_enable();
		return false;
	}
	record = pfstat_ring_reserve_fast(ring);
	record->start_ns = call->start_ns;
	record->duration_ns = call->duration_ns;
	record->earlier_ns = 0;
	record->address = thread->address;
	record->pgoff = call->pgoff;
	record->pfn = call->pfn;
	record->inode = call->inode;
	pfstat_record_set_ids(record, task);
	mm_copy_u64(record, call, offsetof(struct pfstat_record, dev));
	mm_copy_u64(record, call, offsetof(struct pfstat_record, op));
	record->around_pages = call->around_pages;
	record->flags = thread->flags;
	record->ip = instruction_pointer(task_pt_regs((struct task_struct *)task));
	record->fault_ns = clock_length(cycles);
	record->before_ns = call->before_ns;
	pfstat_ring_commit_fast(ring, record, sequence);
	this_cpu_inc(pfstat_mm_fast);
	thread->state = MM_STATE_NONE;
	thread->minor++;
	if (unlikely(thread->minor != task->min_flt))
		mm_settle(thread);
	preempt_enable();
	return true;
}

/*
 * While pfdrive measures the total cost, pfdrive's mapping is hooked in name only: no wrapper was
 * called, and the stored record is meaningless. pfdrive discards it.
 */
static __always_inline bool mm_is_imitated(const struct mm_thread *thread)
{
	/* data_race: compared where it lies, as in mm_end_fast(). */
	return data_race(mm_imitates) && thread->state == MM_STATE_OPEN;
}

/* The fault began on the fast path. After RETRY or COMPLETED the VMA may be gone. */
static noinline void mm_fault_end_slow(struct mm_thread *thread, vm_fault_t result, u64 cycles)
{
	const struct clock_span span = pfstat_clock_span_slow(thread->start, cycles);
	struct mm_call call = {
		.thread = thread,
		.address = thread->address,
		.flags = thread->flags,
		.has_regs = true,
		.kind = PFSTAT_FAULT_HOOKED,
		.vma_kind = PFSTAT_FAULT_HOOKED,
		.page.pgoff = thread->address >> PAGE_SHIFT,
		.start_ns = span.start_ns,
		.duration_ns = span.duration_ns,
		.result = result,
	};

	if (!(thread->state & (MM_STATE_NOTED | MM_STATE_MET)))
		pfstat_mm_content_begin(thread);
	mm_end(&call, thread->vma);
}

/*
 * Each instruction here is part of every fault in a watched thread. The arguments that may be
 * needed at the end lie in the thread's slot, so few registers must be saved.
 */
notrace vm_fault_t pfstat_mm_fault(struct vm_area_struct *vma, unsigned long address,
				   unsigned int flags, struct pt_regs *regs,
				   struct mm_thread *thread)
{
	const struct vm_operations_struct *ops;
	vm_fault_t result;
	u64 cycles;

	mm_enter();
	ops = READ_ONCE(vma->vm_ops);
	if (unlikely(!ops) || unlikely(!mm_is_hooked(ops)) || unlikely(!regs) ||
	    unlikely((flags & MM_FAST_MASK) != FAULT_FLAG_USER) ||
	    unlikely(!data_race(pfstat_clock.gate))) /* as in mm_end_fast() */
		return thread->state == MM_STATE_NONE ?
			       mm_fault_slow(thread, vma, address, flags, regs) :
			       mm_fault_inner(vma, address, flags, regs);
	thread->vma = vma;
	thread->address = address;
	thread->flags = flags;
	thread->state = MM_STATE_OPEN;
	thread->start = pfstat_clock_start_cycles();
	result = pfstat_mm_fault_body(vma, address, flags, regs); /* vma dead from here */
	cycles = pfstat_clock_end_cycles() - thread->start;
	if (unlikely(thread->state != MM_STATE_CALLED && !mm_is_imitated(thread)) ||
	    unlikely(result != VM_FAULT_LOCKED && result != VM_FAULT_NOPAGE) ||
	    unlikely(!mm_end_fast(thread, cycles)))
		mm_fault_end_slow(thread, result, cycles);
	mm_leave();
	return result;
}
