// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wrappers for ->fault and ->map_pages, with the fast path. Nearly all calls take it: a
 * program's own fault, solved at once from the page cache, by a single-page folio, without a
 * context switch. The result implies the page state, so the page cache is not looked up. All such
 * calls of one kind have one class, and all such records in one wrapping have one template. So a
 * record is stored without a further decision. Everything that can be decided before the call is
 * decided there, so few values must be kept until the call returns. Other calls continue on the
 * slow path (attempt.c).
 *
 * Each instruction on the fast path is part of every fault (Documentation/user/overhead.rst). The
 * fast path takes no lock, allocates nothing and calls nothing but the original operation.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "attempt.h"
#include "clock.h"
#include "compat.h"
#include "fault_fast.h"
#include "here.h"
#include "in_flight.h"
#include "mm_record.h"
#include "mm_thread.h"
#include "page_table.h"
#include "ring.h"
#include "tally.h"
#include "trace.h"

/*
 * The values kept for a call on the fast path. The struct has no address, so each member is in a
 * register.
 */
struct fast_call {
	const struct fault_wrapping *wrapping;
	u64 inode;
	unsigned long switches;
	u64 start;  /* cycles, or ns with the kernel's clock */
	bool in_ns; /* it is ns */
};

/* From the flags in PFSTAT_CLOCK_GATE, those in the first attempt at a program's own fault. */
#define FAST_CALLER_FLAGS (FAULT_FLAG_USER | FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_KILLABLE)

/*
 * May the call stay on the fast path? If the thread faults on its own memory, for the first
 * time, and has suspended no other fault.
 */
static __always_inline bool is_fast_caller(const struct vm_fault *vmf, u32 gate)
{
	const u32 flags = vmf->flags & gate;

	return likely(flags == FAST_CALLER_FLAGS ||
		      (flags == (FAST_CALLER_FLAGS | FAULT_FLAG_WRITE) && !vmf->cow_page)) &&
	       likely(pfstat_mm_thread_is_clear());
}

/* Like !PageCompound(), but tested in memory. A tail's link to the head is where lru starts. */
static __always_inline bool is_single(const struct page *page)
{
	return likely(!(compat_folio_flags((const struct folio *)page) & BIT(PG_head))) &&
	       /* Reclaim may change lru, but lru's bit 0 is set only in a tail. */
	       likely(!(data_race((unsigned long)page->lru.next) & 1));
}

/*
 * The frame mapped by a ->map_pages call at the faulting address, if it is a single-page folio.
 * Otherwise, or if another CPU has unmapped it meanwhile, PFSTAT_NO_PFN.
 */
static __always_inline unsigned long mapped_single_pfn(const struct vm_fault *vmf)
{
	const unsigned long pfn = page_table_pfn(vmf);

	if (unlikely(pfn == PFSTAT_NO_PFN))
		return PFSTAT_NO_PFN;
	return likely(is_single(pfn_to_page(pfn))) ? pfn : PFSTAT_NO_PFN;
}

static __always_inline void store_template(struct pfstat_record *record,
					   const struct fault_template *template)
{
	/* Loads come before stores, so that arm64 takes one instruction for each pair. */
	const u64 first = template->words[0], second = template->words[1];

	pfstat_record_set(record, offsetof(struct pfstat_record, dev), first);
	pfstat_record_set(record, offsetof(struct pfstat_record, op), second);
}

static_assert(offsetof(struct pfstat_record, op) == offsetof(struct pfstat_record, dev) + 8);
static_assert(offsetof(struct pfstat_record, cpu) ==
	      offsetof(struct pfstat_record, dev) + sizeof(struct fault_template));

/*
 * Leaves what only this call knows in the thread's slot, for the end of the fault (mm_fault.c).
 * False: the thread's faults are not counted, or this one is not on the fast path. Preemption is
 * off.
 */
static __always_inline bool fast_leave(struct fast_call call, struct clock_span span,
				       const struct vm_fault *vmf, enum fast_kind kind,
				       unsigned long pfn, struct around_window around)
{
	const struct task_struct *task = compat_current_anew();
	struct mm_thread *thread = pfstat_mm_thread_home(task);
	struct pfstat_record *record = &thread->record;

	/* data_race: not READ_ONCE(), so each is compared in memory. */
	if (unlikely(data_race(thread->owner) != (unsigned long)task) ||
	    unlikely(thread->state != MM_STATE_OPEN) ||
	    unlikely(!data_race(pfstat_attempt_recording)) || /* see above */
	    trace_pfstat_fault_enabled())
		return false;
	thread->state = MM_STATE_CALLED;
	record->start_ns = span.start_ns;
	record->duration_ns = span.duration_ns;
	record->pgoff = vmf->pgoff;
	record->pfn = pfn;
	record->inode = call.inode;
	store_template(record, &call.wrapping->templates[kind]);
	if (kind == FAST_MAP_PAGES)
		record->around_before = around.before;
	record->around_pages = around.pages;
	record->before_ns = clock_length(call.start - thread->start);
	pfstat_tally_add_fast(kind, span.duration_ns);
	return true;
}

/*
 * Stores the record for a call that stayed on the fast path. False: nothing was stored, because the
 * thread was switched meanwhile, or the ring needs the slow path.
 */
static __always_inline bool fast_store_span(struct fast_call call, struct clock_span span,
					    const struct vm_fault *vmf, enum fast_kind kind,
					    unsigned long pfn, struct around_window around)
{
	const struct task_struct *task = compat_current_anew();
	struct pfstat_record *record;
	struct ring_writer *ring;
	bool stored = false;
	u64 sequence;

	if (unlikely(pfstat_attempt_switches(task) != call.switches))
		return false;
	preempt_disable();
	if (static_branch_likely(&pfstat_mm_holds)) {
		stored = fast_leave(call, span, vmf, kind, pfn, around);
		/* Then records may have members not stored below. */
		if (stored || READ_ONCE(pfstat_mm_record_times))
			goto out;
	}

	ring = pfstat_here(pfstat_rings);
	if (unlikely(!pfstat_ring_is_fast(ring, &sequence)))
		goto out;
	stored = true;
	record = pfstat_ring_reserve_fast(ring);
	record->start_ns = span.start_ns;
	record->duration_ns = span.duration_ns;
	record->earlier_ns = 0;
	record->address = vmf->real_address;
	record->pgoff = vmf->pgoff;
	record->pfn = pfn;
	record->inode = call.inode;
	pfstat_record_set_ids(record, task);
	store_template(record, &call.wrapping->templates[kind]);
	if (kind == FAST_MAP_PAGES)
		record->around_before = around.before;
	record->around_pages = around.pages;
	record->flags = vmf->flags;
	record->ip = instruction_pointer(task_pt_regs((struct task_struct *)task));
	pfstat_tally_add_fast(kind, span.duration_ns);
	pfstat_ring_commit_fast(ring, record, sequence);
	/* This CPU has no other writer, so the record has not changed since. */
	trace_pfstat_fault(record);
out:
	preempt_enable();
	return stored;
}

static __always_inline bool fast_store(struct fast_call call, u64 cycles,
				       const struct vm_fault *vmf, enum fast_kind kind,
				       unsigned long pfn, struct around_window around)
{
	struct clock_span span;

	return likely(pfstat_clock_span(call.start, cycles, &span)) &&
	       likely(fast_store_span(call, span, vmf, kind, pfn, around));
}

/* The end of a call that started on the fast path and must be recorded on the slow path. */
static __always_inline void fault_end(struct fast_call call, struct clock_span span,
				      const struct vm_fault *vmf, vm_fault_t result)
{
	const struct attempt attempt = {
		.wrapping = call.wrapping,
		.start.ns = span.start_ns,
		.inode = call.inode,
		.before = pfstat_attempt_met(vmf, result,
					     (struct retry_start){ call.start, call.in_ns }),
		.switches = call.switches,
		.op = PFSTAT_OP_FAULT,
		.cause = PFSTAT_NR_CLASSES,
		.duration_ns = span.duration_ns,
		.result = result,
	};

	pfstat_attempt_end(&attempt, vmf);
}

/* As fault_end(), for ->map_pages. It keeps the lock, so the VMA still exists. */
static __always_inline void map_pages_end(struct fast_call call, struct clock_span span,
					  const struct vm_fault *vmf, vm_fault_t result,
					  struct around_window around)
{
	const struct attempt attempt = {
		.wrapping = call.wrapping,
		.start.ns = span.start_ns,
		.inode = file_inode(vmf->vma->vm_file)->i_ino,
		.before = PFSTAT_BEFORE_UNKNOWN,
		.switches = call.switches,
		.op = PFSTAT_OP_MAP_PAGES,
		.cause = PFSTAT_NR_CLASSES,
		.around = around,
		.duration_ns = span.duration_ns,
		.result = result,
	};

	pfstat_attempt_end(&attempt, vmf);
}

/*
 * Unless the call stayed on the fast path, the wrappers end with one of the functions below, which
 * also count the call out. The functions are out of line, and have no more arguments than registers
 * for them: otherwise a call on the fast path would start and end with a dozen more instructions.
 */
static noinline vm_fault_t fault_end_locked(const struct vm_fault *vmf,
					    const struct fault_wrapping *wrapping, u64 inode,
					    unsigned long switches, u64 start, u64 cycles)
{
	fault_end((struct fast_call){ wrapping, inode, switches, start },
		  pfstat_clock_span_slow(start, cycles), vmf, VM_FAULT_LOCKED);
	pfstat_in_flight_leave();
	return VM_FAULT_LOCKED;
}

/* The wrapper jumps here right after the call: the end is now. */
static noinline vm_fault_t fault_end_other(const struct vm_fault *vmf,
					   const struct fault_wrapping *wrapping, u64 inode,
					   unsigned long switches, u64 start, vm_fault_t result)
{
	u64 cycles = pfstat_clock_end_cycles() - start;

	fault_end((struct fast_call){ wrapping, inode, switches, start },
		  pfstat_clock_span_slow(start, cycles), vmf, result);
	pfstat_in_flight_leave();
	return result;
}

static noinline vm_fault_t map_pages_end_solved(const struct vm_fault *vmf,
						const struct fault_wrapping *wrapping,
						unsigned long switches, u64 start, u64 cycles,
						struct around_window around)
{
	map_pages_end((struct fast_call){ wrapping, 0, switches, start },
		      pfstat_clock_span_slow(start, cycles), vmf, VM_FAULT_NOPAGE, around);
	pfstat_in_flight_leave();
	return VM_FAULT_NOPAGE;
}

static noinline vm_fault_t map_pages_end_other(const struct vm_fault *vmf,
					       const struct fault_wrapping *wrapping,
					       unsigned long switches, u64 start, vm_fault_t result,
					       struct around_window around)
{
	u64 cycles = pfstat_clock_end_cycles() - start;

	map_pages_end((struct fast_call){ wrapping, 0, switches, start },
		      pfstat_clock_span_slow(start, cycles), vmf, result, around);
	pfstat_in_flight_leave();
	return result;
}

/* The VMA does not lead here any more. */
static noinline vm_fault_t fault_unwrapped(const struct vm_operations_struct *ops,
					   struct vm_fault *vmf)
{
	const struct vm_operations_struct now = { .fault = READ_ONCE(ops->fault) };
	vm_fault_t result = now.fault(vmf);

	pfstat_in_flight_leave();
	return result;
}

static noinline vm_fault_t map_pages_unwrapped(const struct vm_operations_struct *ops,
					       struct vm_fault *vmf, pgoff_t start_pgoff,
					       pgoff_t end_pgoff)
{
	const struct vm_operations_struct now = { .map_pages = READ_ONCE(ops->map_pages) };
	vm_fault_t result = now.map_pages(vmf, start_pgoff, end_pgoff);

	pfstat_in_flight_leave();
	return result;
}

static __always_inline struct clock_span span_since(u64 start_ns)
{
	const u64 end_ns = ktime_get_mono_fast_ns();

	/* The clocks of two CPUs may differ by a little. */
	return (struct clock_span){ start_ns, end_ns > start_ns ? end_ns - start_ns : 0 };
}

/* May the call stay on the fast path, although time is not made of the counter? */
static __always_inline bool is_fast_by_kernel_clock(const struct vm_fault *vmf)
{
	return pfstat_clock_is_shut() && is_fast_caller(vmf, PFSTAT_CLOCK_GATE);
}

static __always_inline vm_fault_t fault_by_kernel_clock(const struct fault_wrapping *wrapping,
							struct vm_fault *vmf)
{
	struct fast_call call = {
		.wrapping = wrapping,
		.inode = file_inode(vmf->vma->vm_file)->i_ino,
		.switches = pfstat_attempt_switches(current),
		.in_ns = true,
	};
	struct clock_span span;
	vm_fault_t result;

	call.start = ktime_get_mono_fast_ns();
	result = wrapping->pristine.fault(vmf); /* vma dead from here */
	span = span_since(call.start);
	if (result != VM_FAULT_LOCKED || !is_single(vmf->page) ||
	    !fast_store_span(call, span, vmf, FAST_FAULT, page_to_pfn(vmf->page),
			     (struct around_window){}))
		fault_end(call, span, vmf, result);
	return result;
}

static __always_inline vm_fault_t map_pages_by_kernel_clock(const struct fault_wrapping *wrapping,
							    struct vm_fault *vmf,
							    pgoff_t start_pgoff, pgoff_t end_pgoff)
{
	const struct around_window around = {
		.before = vmf->pgoff - start_pgoff,
		.pages = end_pgoff - start_pgoff + 1,
	};
	struct fast_call call = {
		.wrapping = wrapping,
		.switches = pfstat_attempt_switches(current),
	};
	unsigned long pfn = PFSTAT_NO_PFN;
	struct clock_span span;
	vm_fault_t result;

	call.start = ktime_get_mono_fast_ns();
	result = wrapping->pristine.map_pages(vmf, start_pgoff, end_pgoff);
	span = span_since(call.start);
	call.inode = file_inode(vmf->vma->vm_file)->i_ino;
	if (result == VM_FAULT_NOPAGE)
		pfn = mapped_single_pfn(vmf);
	if (pfn == PFSTAT_NO_PFN || !fast_store_span(call, span, vmf, FAST_MAP_PAGES, pfn, around))
		map_pages_end(call, span, vmf, result, around);
	return result;
}

/* The call did not pass the gate. If the reason is the clock, the kernel's is read instead. */
static noinline vm_fault_t fault_not_fast(const struct fault_wrapping *wrapping,
					  struct vm_fault *vmf)
{
	vm_fault_t result;

	if (is_fast_by_kernel_clock(vmf))
		result = fault_by_kernel_clock(wrapping, vmf);
	else
		result = pfstat_attempt_fault(wrapping, vmf);
	pfstat_in_flight_leave();
	return result;
}

static noinline vm_fault_t map_pages_not_fast(const struct fault_wrapping *wrapping,
					      struct vm_fault *vmf, pgoff_t start_pgoff,
					      pgoff_t end_pgoff)
{
	vm_fault_t result;

	if (is_fast_by_kernel_clock(vmf))
		result = map_pages_by_kernel_clock(wrapping, vmf, start_pgoff, end_pgoff);
	else
		result = pfstat_attempt_map_pages(wrapping, vmf, start_pgoff, end_pgoff);
	pfstat_in_flight_leave();
	return result;
}

notrace vm_fault_t pfstat_fault_fast(struct vm_fault *vmf)
{
	const struct vm_operations_struct *ops;
	struct fast_call call;
	unsigned long pfn;
	vm_fault_t result;
	u64 cycles;

	pfstat_in_flight_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	/* data_race: not READ_ONCE(), so it is compared in memory. */
	if (unlikely(data_race(ops->fault) != pfstat_fault_fast))
		return fault_unwrapped(ops, vmf);
	call.wrapping = pfstat_wrapping_of(ops);
	if (unlikely(!is_fast_caller(vmf, READ_ONCE(pfstat_clock.gate))))
		return fault_not_fast(call.wrapping, vmf);
	call.inode = file_inode(vmf->vma->vm_file)->i_ino;
	call.switches = pfstat_attempt_switches(current);
	/* The clock comes last, so the duration contains nothing from the module itself. */
	call.start = pfstat_clock_start_cycles();
	result = call.wrapping->pristine.fault(vmf); /* vma dead from here */
	if (unlikely(result != VM_FAULT_LOCKED))
		return fault_end_other(vmf, call.wrapping, call.inode, call.switches, call.start,
				       result);
	cycles = pfstat_clock_end_cycles() - call.start;
	pfn = page_to_pfn(vmf->page);
	OPTIMIZER_HIDE_VAR(pfn); /* computed here, where it takes the fewest instructions */
	if (unlikely(!is_single(vmf->page)) ||
	    unlikely(!fast_store(call, cycles, vmf, FAST_FAULT, pfn, (struct around_window){})))
		return fault_end_locked(vmf, call.wrapping, call.inode, call.switches, call.start,
					cycles);
	pfstat_in_flight_leave();
	return VM_FAULT_LOCKED;
}

/* The kernel may call it under RCU (since 6.4): it never sleeps, and keeps the lock. */
notrace vm_fault_t pfstat_map_pages_fast(struct vm_fault *vmf, pgoff_t start_pgoff,
					 pgoff_t end_pgoff)
{
	const struct vm_operations_struct *ops;
	struct around_window around;
	unsigned long pfn;
	struct fast_call call;
	vm_fault_t result;
	u64 cycles;

	pfstat_in_flight_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	/* data_race: as above. */
	if (unlikely(data_race(ops->map_pages) != pfstat_map_pages_fast))
		return map_pages_unwrapped(ops, vmf, start_pgoff, end_pgoff);
	call.wrapping = pfstat_wrapping_of(ops);
	if (unlikely(!is_fast_caller(vmf, READ_ONCE(pfstat_clock.gate))))
		return map_pages_not_fast(call.wrapping, vmf, start_pgoff, end_pgoff);
	around.before = vmf->pgoff - start_pgoff;
	around.pages = end_pgoff - start_pgoff + 1;
	call.switches = pfstat_attempt_switches(current);
	call.start = pfstat_clock_start_cycles();
	result = call.wrapping->pristine.map_pages(vmf, start_pgoff, end_pgoff);
	if (unlikely(result != VM_FAULT_NOPAGE))
		return map_pages_end_other(vmf, call.wrapping, call.switches, call.start, result,
					   around);
	cycles = pfstat_clock_end_cycles() - call.start;
	call.inode = file_inode(vmf->vma->vm_file)->i_ino;
	pfn = mapped_single_pfn(vmf);
	if (unlikely(pfn == PFSTAT_NO_PFN) ||
	    unlikely(!fast_store(call, cycles, vmf, FAST_MAP_PAGES, pfn, around)))
		return map_pages_end_solved(vmf, call.wrapping, call.switches, call.start, cycles,
					    around);
	pfstat_in_flight_leave();
	return VM_FAULT_NOPAGE;
}

/* A template is the part of a record between dev and the first differing member. */
static struct fault_template template_of(const struct pfstat_record *record)
{
	struct fault_template template;

	memcpy(&template, (const void *)record + offsetof(struct pfstat_record, dev),
	       sizeof(template));
	return template;
}

void pfstat_fault_fast_templates(struct fault_wrapping *wrapping)
{
	const struct pfstat_record fault = {
		.dev = wrapping->dev,
		.result = (__force u32)VM_FAULT_LOCKED,
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_LONG,
		.before = PFSTAT_BEFORE_CACHED,
		.facts = wrapping->shared ? PFSTAT_FACT_SHARED : 0,
	};
	const struct pfstat_record map_pages = {
		.dev = wrapping->dev,
		.result = (__force u32)VM_FAULT_NOPAGE,
		.op = PFSTAT_OP_MAP_PAGES,
		.class = PFSTAT_CLASS_AROUND,
		.before = PFSTAT_BEFORE_UNKNOWN,
		.facts = wrapping->shared ? PFSTAT_FACT_SHARED : 0,
	};

	wrapping->templates[FAST_FAULT] = template_of(&fault);
	wrapping->templates[FAST_MAP_PAGES] = template_of(&map_pages);
}
