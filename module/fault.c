// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wrappers of the VMA fault operations: time the call, classify it, store
 * one record. No allocation, no lock (but of those who wait for a full ring), no formatting.
 *
 * ->fault() may drop the lock it was called under (it then returns RETRY);
 * from there on the VMA may be gone, so everything that the record needs of
 * it is copied before the call. struct vm_fault is the caller's and stays.
 *
 * Nearly all calls are plain: a program's own fault, solved at once from the page cache
 * by a page that is a folio of its own, without a switch to another thread. Each kind of
 * them has one class and one template, and is stored without another question; what can
 * be asked before the call is asked then, so that little has to be kept until it is
 * over. Each instruction there is one of every fault (Documentation/overhead.rst); the
 * calls that turn out otherwise pay for it.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/userfaultfd_k.h>

#include "chain.h"
#include "classify.h"
#include "clock.h"
#include "compat.h"
#include "fault.h"
#include "page_cache.h"
#include "ring.h"
#include "shadow.h"
#include "tally.h"
#include "trace.h"

/* A call: what must be kept until it is over, then what became of it. */
struct attempt {
	const struct shadow *shadow;
	struct moment start;
	u64 inode;
	unsigned long cached;	/* the folio's flags before the call, or one of NOT_* */
	unsigned long switches;	/* see switches_of() */
	u64 earlier_ns;		/* see struct chain */
	u8 cause;
	bool remote;		/* of another's memory */
	u64 duration_ns;
	struct page *page;	/* mapped, or NULL */
	vm_fault_t result;
	u16 around_before;	/* of map_pages: the window, see record.h */
	u16 around_pages;
};

/* All flags at once, or all but one: no folio has them. */
#define NOT_CACHED (~0UL)
#define NOT_LOOKED_UP (~1UL)

/* What is kept of a call that may be plain. Each member in a register: it has no address. */
struct plain {
	const struct shadow *shadow;
	u64 inode;
	unsigned long switches;
	u64 start;		/* cycles */
};

struct window {
	u16 before;
	u16 pages;
};

DEFINE_PER_CPU(long, pfstat_in_flight);
static bool recording __read_mostly;
static u64 recording_since __read_mostly;

void pfstat_fault_record(bool on)
{
	WRITE_ONCE(recording, on);
	/* A record is stored with preemption off: none is half stored after this. */
	if (on)
		return;
	synchronize_rcu();
	/* Plain calls do not look at it, and nobody opens the rings for them any more. */
	pfstat_ring_shut();
	synchronize_rcu();
}

void pfstat_fault_forget(void)
{
	WRITE_ONCE(recording_since, ktime_get_mono_fast_ns());
}

long pfstat_fault_in_flight(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&pfstat_in_flight, cpu));
	return sum;
}

static enum pfstat_before folio_state(unsigned long flags)
{
	const bool marked = flags & BIT(PG_readahead);

	if (flags == NOT_LOOKED_UP)
		return PFSTAT_BEFORE_UNKNOWN;
	if (flags == NOT_CACHED)
		return PFSTAT_BEFORE_ABSENT;
	if (!(flags & BIT(PG_uptodate))) {
		/* A page is locked while it is read. */
		if (!(flags & BIT(PG_locked)))
			return PFSTAT_BEFORE_STALE;
		return marked ? PFSTAT_BEFORE_IN_FLIGHT_MARKED : PFSTAT_BEFORE_IN_FLIGHT;
	}
	if (!marked)
		return PFSTAT_BEFORE_CACHED;
	/* PG_reclaim has the same bit; it goes with writeback. */
	return flags & BIT(PG_writeback) ? PFSTAT_BEFORE_RECLAIM : PFSTAT_BEFORE_MARKED;
}

/*
 * The page cache at a file offset, by reading flags without a reference: under
 * RCU the page's struct stays, and what it says may be a moment old in any case.
 */
static unsigned long cached_flags(struct address_space *mapping, pgoff_t pgoff)
{
	unsigned long flags = NOT_CACHED;
	struct folio *folio;

	preempt_disable();
	folio = pfstat_page_cache_peek(mapping, pgoff);
	if (folio)
		flags = compat_folio_flags(folio);
	preempt_enable();
	return flags;
}

/* As do_async_mmap_readahead() and its caller decide. */
static bool obeys_mark(const struct vm_fault *vmf)
{
	return !(vmf->flags & FAULT_FLAG_TRIED) && !(vmf->vma->vm_flags & VM_RAND_READ) &&
	       READ_ONCE(vmf->vma->vm_file->f_ra.ra_pages);
}

/* The flags of the faulting page's folio, without a mark that this call ignores. */
static unsigned long flags_before(const struct vm_fault *vmf, u8 op)
{
	const struct file *file = vmf->vma->vm_file;
	unsigned long flags;

	/* The class depends on the page cache for these alone; DAX has none. */
	if ((op != PFSTAT_OP_FAULT && op != PFSTAT_OP_HUGE_FAULT) || IS_DAX(file_inode(file)))
		return NOT_LOOKED_UP;
	flags = cached_flags(file->f_mapping, vmf->pgoff);
	if (flags != NOT_CACHED && !obeys_mark(vmf))
		flags &= ~BIT(PG_readahead);
	return flags;
}

/*
 * Both counts of a thread's switches in one, which takes one register over the call. Not a
 * power of two: so it is a multiplication by a constant, of an operand in memory.
 */
#define PREEMPTED_UNIT 1000000007UL

static __always_inline unsigned long switches_of(const struct task_struct *task)
{
	return task->nivcsw * PREEMPTED_UNIT + task->nvcsw;
}

static bool has_slept(const struct attempt *attempt)
{
	return (switches_of(current) - attempt->switches) % PREEMPTED_UNIT;
}

static bool was_preempted(const struct attempt *attempt)
{
	return (switches_of(current) - attempt->switches) / PREEMPTED_UNIT;
}

/* Is it a further attempt of a fault that current has begun already? */
static void attempt_resume(struct attempt *attempt, const struct vm_fault *vmf)
{
	struct chain chain = pfstat_chain_resume(vmf->real_address & PAGE_MASK);

	attempt->earlier_ns = chain.earlier_ns;
	attempt->cause = chain.cause;
}

static struct attempt attempt_begin(const struct shadow *shadow, const struct vm_fault *vmf, u8 op)
{
	const struct file *file = vmf->vma->vm_file;
	struct attempt attempt = {
		.shadow = shadow,
		.inode = file_inode(file)->i_ino,
		.cached = flags_before(vmf, op),
		.switches = switches_of(current),
		.cause = PFSTAT_NR_CLASSES,
		/* FAULT_FLAG_REMOTE is not handed on to page_mkwrite. */
		.remote = vmf->flags & FAULT_FLAG_REMOTE || vmf->vma->vm_mm != current->mm,
	};

	if (!pfstat_chain_is_clear(current))
		attempt_resume(&attempt, vmf);
	return attempt;
}

static enum pfstat_class attempt_classify(const struct attempt *attempt, u8 op)
{
	const struct pfstat_facts facts = {
		.op = op,
		.before = folio_state(attempt->cached),
		.cause = attempt->cause,
		.slept = has_slept(attempt),
		.result = (__force u32)attempt->result,
	};

	return pfstat_classify(&facts);
}

/*
 * Another attempt of this fault will follow: leave a note for it. After a wait for another
 * thread's lock it maps a page that was in the cache all the time: that is long, unless the
 * fault had met the disk before.
 */
static void attempt_suspend(const struct attempt *attempt, const struct vm_fault *vmf,
			    enum pfstat_class class)
{
	const bool disk = class == PFSTAT_CLASS_DISK || class == PFSTAT_CLASS_WAIT ||
			  class == PFSTAT_CLASS_READAHEAD;
	u8 cause = disk ? class : attempt->cause;

	pfstat_chain_suspend(vmf->real_address & PAGE_MASK, attempt->start.ns, cause);
}

static u8 shared_fact(const struct shadow *shadow)
{
	return shadow->kind.shared ? PFSTAT_FACT_SHARED : 0;
}

/*
 * Will the kernel map the folio of the page that ->fault() hands over, not the page alone?
 * As finish_fault() decides: if all of it lies in the VMA, in one page table, and in the file.
 */
static bool is_mapped_whole(const struct vm_fault *vmf, struct page *page)
{
	struct vm_area_struct *vma = vmf->vma;
	struct folio *folio = page_folio(page);
	unsigned long pages = folio_nr_pages(folio);
	unsigned long before = folio_page_idx(folio, page);
	unsigned long in_vma = vmf->pgoff - vma->vm_pgoff;
	unsigned long in_table = pte_index(vmf->address);

	if (!COMPAT_FAULT_MAPS_FOLIO || pages == 1 || userfaultfd_armed(vma))
		return false;
	return before <= in_vma && in_vma - before + pages <= vma_pages(vma) &&
	       before <= in_table && in_table - before + pages <= PTRS_PER_PTE &&
	       vmf->pgoff - before + pages <=
		       DIV_ROUND_UP(i_size_read(file_inode(vma->vm_file)), PAGE_SIZE);
}

static u8 folio_fact(const struct vm_fault *vmf, u8 op, struct page *page)
{
	return op == PFSTAT_OP_FAULT && page && is_mapped_whole(vmf, page) ? PFSTAT_FACT_FOLIO : 0;
}

static u8 attempt_facts(const struct attempt *attempt, bool cow)
{
	return (has_slept(attempt) ? PFSTAT_FACT_SLEPT : 0) |
	       (was_preempted(attempt) ? PFSTAT_FACT_PREEMPTED : 0) |
	       shared_fact(attempt->shadow) | (cow ? PFSTAT_FACT_COW : 0);
}

/*
 * Where the program was. A fault of somebody else's memory (ptrace) has no
 * instruction in the current program, nor has a kernel thread a program.
 */
static u64 attempt_ip(const struct attempt *attempt)
{
	if (attempt->remote || current->flags & PF_KTHREAD)
		return 0;
	return instruction_pointer(task_pt_regs(current));
}

static void record_fill(struct pfstat_record *record, const struct attempt *attempt,
			const struct vm_fault *vmf, u8 op, enum pfstat_class class)
{
	struct page *page = attempt->page;

	record->start_ns = attempt->start.ns;
	record->duration_ns = attempt->duration_ns;
	record->earlier_ns = attempt->earlier_ns;
	record->address = vmf->real_address;
	record->pgoff = vmf->pgoff;
	record->pfn = page ? page_to_pfn(page) : PFSTAT_NO_PFN;
	record->inode = attempt->inode;
	record->tid = current->pid;
	record->pid = current->tgid;
	record->dev = attempt->shadow->kind.dev;
	record->result = (__force u32)attempt->result;
	record->op = op;
	record->class = class;
	record->order = page ? folio_order(page_folio(page)) : 0;
	record->before = folio_state(attempt->cached);
	record->facts = attempt_facts(attempt, page && page == vmf->cow_page) |
			folio_fact(vmf, op, page);
	record->reserved = 0;
	record->around_before = attempt->around_before;
	record->cpu = smp_processor_id();
	record->around_pages = attempt->around_pages;
	record->flags = vmf->flags;
	record->ip = attempt_ip(attempt);
}

static void attempt_store(const struct attempt *attempt, const struct vm_fault *vmf, u8 op,
			  enum pfstat_class class)
{
	struct pfstat_record *room = pfstat_ring_reserve();
	struct pfstat_record *record = room ?: pfstat_ring_refuse();

	record_fill(record, attempt, vmf, op, class);
	pfstat_tally_add(op, class, attempt->duration_ns, attempt->result & VM_FAULT_RETRY);
	trace_pfstat_fault(record);
	if (room)
		pfstat_ring_commit(record);
}

static void attempt_end(const struct attempt *attempt, const struct vm_fault *vmf, u8 op)
{
	enum pfstat_class class = attempt_classify(attempt, op);

	preempt_disable();
	if (READ_ONCE(recording) && attempt->start.ns >= READ_ONCE(recording_since)) {
		attempt_store(attempt, vmf, op, class);
		if (class == PFSTAT_CLASS_PASS || attempt->result & VM_FAULT_RETRY)
			attempt_suspend(attempt, vmf, class);
	}
	preempt_enable();
}

/* The page that ->fault() hands over to be mapped; only without these results. */
static struct page *fault_page(const struct vm_fault *vmf, vm_fault_t ret)
{
	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_RETRY))
		return NULL;
	return vmf->cow_page ?: vmf->page;
}

/* The page that map_pages mapped at the faulting offset; still in the cache. */
static struct page *around_page(const struct vm_fault *vmf, vm_fault_t ret)
{
	struct page *page = NULL;
	struct folio *folio;

	if (!(ret & VM_FAULT_NOPAGE))
		return NULL;
	preempt_disable();
	folio = pfstat_page_cache_peek(vmf->vma->vm_file->f_mapping, vmf->pgoff);
	if (folio)
		page = folio_file_page(folio, vmf->pgoff);
	preempt_enable();
	return page;
}

/* May the call become a plain one? It is the thread's own, and begins a fault. */
static __always_inline bool is_plain_caller(const struct vm_fault *vmf, u32 gate)
{
	const u32 flags = vmf->flags & gate;

	return likely(flags == FAULT_FLAG_USER ||
		      (flags == (FAULT_FLAG_USER | FAULT_FLAG_WRITE) && !vmf->cow_page)) &&
	       likely(pfstat_chain_is_clear(current));
}

/* The folio at a file offset if it has some flags, and others not; without a reference. */
static __always_inline struct folio *folio_at(struct address_space *mapping, pgoff_t pgoff,
					      unsigned long with, unsigned long without)
{
	struct folio *folio;

	preempt_disable();
	folio = pfstat_page_cache_peek(mapping, pgoff);
	if (unlikely(!folio || (compat_folio_flags(folio) & (with | without)) != with))
		folio = NULL;
	preempt_enable();
	return folio;
}

/* To members that are neighbours, with one instruction. */
static __always_inline void store_u32(struct pfstat_record *record, size_t offset, u32 value)
{
	*(u32 *)((void *)record + offset) = value;
}

static __always_inline void store_u64(struct pfstat_record *record, size_t offset, u64 value)
{
	*(u64 *)((void *)record + offset) = value;
}

static __always_inline void record_ids(struct pfstat_record *record,
				       const struct task_struct *task)
{
	/* Unless the kernel's structs are shuffled. */
	if (offsetof(struct task_struct, tgid) == offsetof(struct task_struct, pid) + 4) {
		store_u64(record, offsetof(struct pfstat_record, tid),
			  *(const u64 *)((const void *)task + offsetof(struct task_struct, pid)));
	} else {
		record->tid = task->pid;
		record->pid = task->tgid;
	}
}

static __always_inline void record_template(struct pfstat_record *record,
					    const struct fault_template *template)
{
	store_u64(record, offsetof(struct pfstat_record, dev), template->words[0]);
	store_u64(record, offsetof(struct pfstat_record, op), template->words[1]);
}

/* Did it turn out plain, and was there room? Else nothing was stored. */
static __always_inline bool plain_store_span(struct plain plain, struct span span,
					     const struct vm_fault *vmf, enum plain_kind kind,
					     const struct page *page, struct window window)
{
	const struct task_struct *task = compat_current_anew();
	struct pfstat_record *record;
	u64 sequence;

	if (unlikely(switches_of(task) != plain.switches))
		return false;

	preempt_disable();
	if (unlikely(!pfstat_ring_is_quick(&sequence))) {
		preempt_enable();
		return false;
	}
	record = pfstat_ring_reserve_quickly();
	record->start_ns = span.start_ns;
	record->duration_ns = span.duration_ns;
	record->earlier_ns = 0;
	record->address = vmf->real_address;
	record->pgoff = vmf->pgoff;
	record->pfn = page_to_pfn(page);
	record->inode = plain.inode;
	record_ids(record, task);
	record_template(record, &plain.shadow->templates[kind]);
	if (kind == PLAIN_MAP_PAGES)
		record->around_before = window.before;
	store_u32(record, offsetof(struct pfstat_record, cpu),
		  smp_processor_id() | (u32)window.pages << 16);
	record->flags = vmf->flags;
	record->ip = instruction_pointer(task_pt_regs((struct task_struct *)task));
	pfstat_tally_add_plain(kind, span.duration_ns);
	pfstat_ring_commit_quickly(record, sequence);
	/* Nobody else writes on this CPU, so it is the same as before. */
	trace_pfstat_fault(record);
	preempt_enable();
	return true;
}

static __always_inline bool plain_store(struct plain plain, u64 cycles, const struct vm_fault *vmf,
					enum plain_kind kind, const struct page *page,
					struct window window)
{
	struct span span;

	return likely(pfstat_clock_span(plain.start, cycles, &span)) &&
	       likely(plain_store_span(plain, span, vmf, kind, page, window));
}

/* It began as a plain call, and did not end as one; or there is something to do in the ring. */
static __always_inline struct attempt attempt_of_span(struct plain plain, struct span span)
{
	return (struct attempt){
		.shadow = plain.shadow,
		.start.ns = span.start_ns,
		.inode = plain.inode,
		.cached = BIT(PG_uptodate),
		.switches = plain.switches,
		.cause = PFSTAT_NR_CLASSES,
		.duration_ns = span.duration_ns,
	};
}

static __always_inline void plain_fault_end(struct plain plain, struct span span,
					    const struct vm_fault *vmf, vm_fault_t result)
{
	struct attempt attempt = attempt_of_span(plain, span);

	attempt.page = fault_page(vmf, result);
	attempt.result = result;
	attempt_end(&attempt, vmf, PFSTAT_OP_FAULT);
}

/*
 * The wrappers of ->fault and ->map_pages end with one of these, unless the call was plain,
 * and leave it to them to count it out. They are out of line, and have no more arguments
 * than there are registers for them: else a plain call began and ended with a dozen
 * instructions more.
 */
static noinline vm_fault_t plain_fault_locked(const struct vm_fault *vmf,
					      const struct shadow *shadow, u64 inode,
					      unsigned long switches, u64 start, u64 cycles)
{
	plain_fault_end((struct plain){ shadow, inode, switches, start },
			pfstat_clock_span_slowly(start, cycles), vmf, VM_FAULT_LOCKED);
	pfstat_leave();
	return VM_FAULT_LOCKED;
}

/* Comes right after the call: the end is now. */
static noinline vm_fault_t plain_fault_other(const struct vm_fault *vmf,
					     const struct shadow *shadow, u64 inode,
					     unsigned long switches, u64 start, vm_fault_t result)
{
	u64 cycles = rdtsc_ordered() - start;

	plain_fault_end((struct plain){ shadow, inode, switches, start },
			pfstat_clock_span_slowly(start, cycles), vmf, result);
	pfstat_leave();
	return result;
}

/* The VMA is still there: map_pages keeps the lock. */
static __always_inline void plain_map_pages_end(struct plain plain, struct span span,
						const struct vm_fault *vmf, vm_fault_t result,
						struct window window)
{
	struct attempt attempt = attempt_of_span(plain, span);

	attempt.inode = file_inode(vmf->vma->vm_file)->i_ino;
	attempt.cached = NOT_LOOKED_UP;
	attempt.page = around_page(vmf, result);
	attempt.result = result;
	attempt.around_before = window.before;
	attempt.around_pages = window.pages;
	attempt_end(&attempt, vmf, PFSTAT_OP_MAP_PAGES);
}

static noinline vm_fault_t plain_map_pages_solved(const struct vm_fault *vmf,
						  const struct shadow *shadow,
						  unsigned long switches, u64 start, u64 cycles,
						  struct window window)
{
	plain_map_pages_end((struct plain){ shadow, 0, switches, start },
			    pfstat_clock_span_slowly(start, cycles), vmf, VM_FAULT_NOPAGE, window);
	pfstat_leave();
	return VM_FAULT_NOPAGE;
}

static noinline vm_fault_t plain_map_pages_other(const struct vm_fault *vmf,
						 const struct shadow *shadow,
						 unsigned long switches, u64 start,
						 vm_fault_t result, struct window window)
{
	u64 cycles = rdtsc_ordered() - start;

	plain_map_pages_end((struct plain){ shadow, 0, switches, start },
			    pfstat_clock_span_slowly(start, cycles), vmf, result, window);
	pfstat_leave();
	return result;
}

/* The VMA does not lead here any more. */
static noinline vm_fault_t fault_unwrapped(const struct vm_operations_struct *ops,
					   struct vm_fault *vmf)
{
	const struct vm_operations_struct now = { .fault = READ_ONCE(ops->fault) };
	vm_fault_t result = now.fault(vmf);

	pfstat_leave();
	return result;
}

static noinline vm_fault_t map_pages_unwrapped(const struct vm_operations_struct *ops,
					       struct vm_fault *vmf, pgoff_t start_pgoff,
					       pgoff_t end_pgoff)
{
	const struct vm_operations_struct now = { .map_pages = READ_ONCE(ops->map_pages) };
	vm_fault_t result = now.map_pages(vmf, start_pgoff, end_pgoff);

	pfstat_leave();
	return result;
}

static __always_inline struct span span_since(u64 start_ns)
{
	const u64 end_ns = ktime_get_mono_fast_ns();

	/* The clocks of two CPUs may differ by a little. */
	return (struct span){ start_ns, end_ns > start_ns ? end_ns - start_ns : 0 };
}

/* May the call become a plain one, although time is not made of the counter? */
static __always_inline bool is_plain_by_kernel_clock(const struct vm_fault *vmf)
{
	return pfstat_clock_is_shut() && is_plain_caller(vmf, PFSTAT_CLOCK_GATE);
}

/* False: the call was not made; it cannot become a plain one. */
static __always_inline bool fault_by_kernel_clock(const struct shadow *shadow,
						  struct vm_fault *vmf, vm_fault_t *result)
{
	const struct file *file = vmf->vma->vm_file;
	struct folio *folio = folio_at(file->f_mapping, vmf->pgoff, BIT(PG_uptodate),
				       BIT(PG_readahead) | BIT(PG_head));
	struct plain plain = { .shadow = shadow };
	struct span span;

	if (!folio)
		return false;
	plain.inode = file_inode(file)->i_ino;
	plain.switches = switches_of(current);
	plain.start = ktime_get_mono_fast_ns();
	*result = shadow->pristine.fault(vmf);	/* vma dead from here */
	span = span_since(plain.start);
	if (*result != VM_FAULT_LOCKED || vmf->page != &folio->page ||
	    !plain_store_span(plain, span, vmf, PLAIN_FAULT, &folio->page, (struct window){ }))
		plain_fault_end(plain, span, vmf, *result);
	return true;
}

static noinline vm_fault_t fault_slowly(const struct shadow *shadow, struct vm_fault *vmf)
{
	struct attempt attempt = attempt_begin(shadow, vmf, PFSTAT_OP_FAULT);

	/* The clock last, so that nothing of ours is in the time. */
	attempt.start = pfstat_clock_now();
	attempt.result = shadow->pristine.fault(vmf);	/* vma dead from here */
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	attempt.page = fault_page(vmf, attempt.result);
	attempt_end(&attempt, vmf, PFSTAT_OP_FAULT);
	pfstat_leave();
	return attempt.result;
}

/* The fast path of a kernel whose time is not made of the counter; else the slow one. */
static noinline vm_fault_t fault_unless_plain(const struct shadow *shadow, struct vm_fault *vmf)
{
	vm_fault_t result;

	if (!is_plain_by_kernel_clock(vmf) || !fault_by_kernel_clock(shadow, vmf, &result))
		return fault_slowly(shadow, vmf);
	pfstat_leave();
	return result;
}

/*
 * Every wrapper first counts itself in flight and then looks whether the VMA
 * still leads here: the operations may have been taken back after the kernel
 * loaded the pointer to the wrapper. See pfstat_exit() for the other side.
 */
static vm_fault_t shadow_fault(struct vm_fault *vmf)
{
	const struct vm_operations_struct *ops;
	const struct file *file;
	struct plain plain;
	struct folio *folio;
	vm_fault_t result;
	u64 cycles;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	/* data_race: not READ_ONCE(), so that it is compared where it lies. */
	if (unlikely(data_race(ops->fault) != shadow_fault))
		return fault_unwrapped(ops, vmf);
	plain.shadow = pfstat_shadow_of(ops);
	if (unlikely(!is_plain_caller(vmf, READ_ONCE(pfstat_clock.gate))))
		return fault_unless_plain(plain.shadow, vmf);
	file = vmf->vma->vm_file;
	folio = folio_at(file->f_mapping, vmf->pgoff, BIT(PG_uptodate),
			 BIT(PG_readahead) | BIT(PG_head));
	if (unlikely(!folio))
		return fault_slowly(plain.shadow, vmf);
	plain.inode = file_inode(file)->i_ino;
	plain.switches = switches_of(current);
	/* The clock last, so that nothing of ours is in the time. */
	plain.start = pfstat_clock_start_cycles();
	result = plain.shadow->pristine.fault(vmf);	/* vma dead from here */
	if (unlikely(result != VM_FAULT_LOCKED))
		return plain_fault_other(vmf, plain.shadow, plain.inode, plain.switches,
					 plain.start, result);
	cycles = rdtsc_ordered() - plain.start;
	if (unlikely(vmf->page != &folio->page) ||
	    unlikely(!plain_store(plain, cycles, vmf, PLAIN_FAULT, &folio->page,
				  (struct window){ })))
		return plain_fault_locked(vmf, plain.shadow, plain.inode, plain.switches,
					  plain.start, cycles);
	pfstat_leave();
	return VM_FAULT_LOCKED;
}

static vm_fault_t shadow_huge_fault(struct vm_fault *vmf, compat_huge_size_t size)
{
	const struct vm_operations_struct *ops;
	struct attempt attempt;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (unlikely(READ_ONCE(ops->huge_fault) != shadow_huge_fault)) {
		attempt.result = ops->huge_fault(vmf, size);
		goto out;
	}

	attempt = attempt_begin(pfstat_shadow_of(ops), vmf, PFSTAT_OP_HUGE_FAULT);
	attempt.start = pfstat_clock_now();
	attempt.result = attempt.shadow->pristine.huge_fault(vmf, size);
	/* vma dead from here */
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	attempt.page = NULL;	/* it maps by itself, and says not what */
	attempt_end(&attempt, vmf, PFSTAT_OP_HUGE_FAULT);
out:
	pfstat_leave();
	return attempt.result;
}

static noinline vm_fault_t map_pages_slowly(const struct shadow *shadow, struct vm_fault *vmf,
					    pgoff_t start_pgoff, pgoff_t end_pgoff)
{
	struct attempt attempt = attempt_begin(shadow, vmf, PFSTAT_OP_MAP_PAGES);

	attempt.start = pfstat_clock_now();
	attempt.result = shadow->pristine.map_pages(vmf, start_pgoff, end_pgoff);
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	attempt.page = around_page(vmf, attempt.result);
	attempt.around_before = vmf->pgoff - start_pgoff;
	attempt.around_pages = end_pgoff - start_pgoff + 1;
	attempt_end(&attempt, vmf, PFSTAT_OP_MAP_PAGES);
	pfstat_leave();
	return attempt.result;
}

static __always_inline vm_fault_t map_pages_by_kernel_clock(const struct shadow *shadow,
							    struct vm_fault *vmf,
							    pgoff_t start_pgoff,
							    pgoff_t end_pgoff)
{
	const struct window window = {
		.before = vmf->pgoff - start_pgoff, .pages = end_pgoff - start_pgoff + 1,
	};
	struct plain plain = { .shadow = shadow, .switches = switches_of(current) };
	struct folio *folio = NULL;
	struct span span;
	vm_fault_t result;

	plain.start = ktime_get_mono_fast_ns();
	result = shadow->pristine.map_pages(vmf, start_pgoff, end_pgoff);
	span = span_since(plain.start);
	plain.inode = file_inode(vmf->vma->vm_file)->i_ino;
	if (result == VM_FAULT_NOPAGE)
		folio = folio_at(vmf->vma->vm_file->f_mapping, vmf->pgoff, 0, BIT(PG_head));
	if (!folio ||
	    !plain_store_span(plain, span, vmf, PLAIN_MAP_PAGES, &folio->page, window))
		plain_map_pages_end(plain, span, vmf, result, window);
	return result;
}

/* As fault_unless_plain(). */
static noinline vm_fault_t map_pages_unless_plain(const struct shadow *shadow,
						  struct vm_fault *vmf, pgoff_t start_pgoff,
						  pgoff_t end_pgoff)
{
	vm_fault_t result;

	if (!is_plain_by_kernel_clock(vmf))
		return map_pages_slowly(shadow, vmf, start_pgoff, end_pgoff);
	result = map_pages_by_kernel_clock(shadow, vmf, start_pgoff, end_pgoff);
	pfstat_leave();
	return result;
}

/* Called under RCU since 6.4 (maybe so here too): never sleeps, keeps the lock. */
static vm_fault_t shadow_map_pages(struct vm_fault *vmf, pgoff_t start_pgoff, pgoff_t end_pgoff)
{
	const struct vm_operations_struct *ops;
	struct window window;
	struct plain plain;
	struct folio *folio;
	vm_fault_t result;
	u64 cycles;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	/* data_race: as above. */
	if (unlikely(data_race(ops->map_pages) != shadow_map_pages))
		return map_pages_unwrapped(ops, vmf, start_pgoff, end_pgoff);
	plain.shadow = pfstat_shadow_of(ops);
	if (unlikely(!is_plain_caller(vmf, READ_ONCE(pfstat_clock.gate))))
		return map_pages_unless_plain(plain.shadow, vmf, start_pgoff, end_pgoff);
	window.before = vmf->pgoff - start_pgoff;
	window.pages = end_pgoff - start_pgoff + 1;
	plain.switches = switches_of(current);
	plain.start = pfstat_clock_start_cycles();
	result = plain.shadow->pristine.map_pages(vmf, start_pgoff, end_pgoff);
	if (unlikely(result != VM_FAULT_NOPAGE))
		return plain_map_pages_other(vmf, plain.shadow, plain.switches, plain.start,
					     result, window);
	cycles = rdtsc_ordered() - plain.start;
	plain.inode = file_inode(vmf->vma->vm_file)->i_ino;
	folio = folio_at(vmf->vma->vm_file->f_mapping, vmf->pgoff, 0, BIT(PG_head));
	if (unlikely(!folio) ||
	    unlikely(!plain_store(plain, cycles, vmf, PLAIN_MAP_PAGES, &folio->page, window)))
		return plain_map_pages_solved(vmf, plain.shadow, plain.switches, plain.start,
					      cycles, window);
	pfstat_leave();
	return VM_FAULT_NOPAGE;
}

static vm_fault_t shadow_page_mkwrite(struct vm_fault *vmf)
{
	const struct vm_operations_struct *ops;
	struct attempt attempt;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (unlikely(READ_ONCE(ops->page_mkwrite) != shadow_page_mkwrite)) {
		attempt.result = ops->page_mkwrite(vmf);
		goto out;
	}

	attempt = attempt_begin(pfstat_shadow_of(ops), vmf, PFSTAT_OP_PAGE_MKWRITE);
	attempt.start = pfstat_clock_now();
	attempt.result = attempt.shadow->pristine.page_mkwrite(vmf);
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	attempt.page = vmf->page;	/* the caller has a reference, whatever the result */
	attempt_end(&attempt, vmf, PFSTAT_OP_PAGE_MKWRITE);
out:
	pfstat_leave();
	return attempt.result;
}

static vm_fault_t shadow_pfn_mkwrite(struct vm_fault *vmf)
{
	const struct vm_operations_struct *ops;
	struct attempt attempt;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (unlikely(READ_ONCE(ops->pfn_mkwrite) != shadow_pfn_mkwrite)) {
		attempt.result = ops->pfn_mkwrite(vmf);
		goto out;
	}

	attempt = attempt_begin(pfstat_shadow_of(ops), vmf, PFSTAT_OP_PFN_MKWRITE);
	attempt.start = pfstat_clock_now();
	attempt.result = attempt.shadow->pristine.pfn_mkwrite(vmf);
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	attempt.page = NULL;
	attempt_end(&attempt, vmf, PFSTAT_OP_PFN_MKWRITE);
out:
	pfstat_leave();
	return attempt.result;
}

/* What lies between the first of its members and the first that differs. */
static struct fault_template template_of(const struct pfstat_record *record)
{
	struct fault_template template;

	memcpy(&template, (const void *)record + offsetof(struct pfstat_record, dev),
	       sizeof(template));
	return template;
}

static void make_templates(struct shadow *shadow)
{
	const struct pfstat_record fault = {
		.dev = shadow->kind.dev,
		.result = (__force u32)VM_FAULT_LOCKED,
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_LONG,
		.before = PFSTAT_BEFORE_CACHED,
		.facts = shared_fact(shadow),
	};
	const struct pfstat_record map_pages = {
		.dev = shadow->kind.dev,
		.result = (__force u32)VM_FAULT_NOPAGE,
		.op = PFSTAT_OP_MAP_PAGES,
		.class = PFSTAT_CLASS_AROUND,
		.before = PFSTAT_BEFORE_UNKNOWN,
		.facts = shared_fact(shadow),
	};

	shadow->templates[PLAIN_FAULT] = template_of(&fault);
	shadow->templates[PLAIN_MAP_PAGES] = template_of(&map_pages);
}

void pfstat_fault_wrap(struct shadow *shadow)
{
	struct vm_operations_struct *ops = &shadow->ops;

	if (ops->fault)
		ops->fault = shadow_fault;
	if (ops->map_pages)
		ops->map_pages = shadow_map_pages;
	if (ops->huge_fault)
		ops->huge_fault = shadow_huge_fault;
	if (ops->page_mkwrite)
		ops->page_mkwrite = shadow_page_mkwrite;
	if (ops->pfn_mkwrite)
		ops->pfn_mkwrite = shadow_pfn_mkwrite;
	make_templates(shadow);
}

unsigned long pfstat_fault_wrapper(void)
{
	return (unsigned long)shadow_fault;
}

void pfstat_fault_unwrap(struct vm_operations_struct *ops,
			 const struct vm_operations_struct *original)
{
	WRITE_ONCE(ops->fault, original->fault);
	WRITE_ONCE(ops->map_pages, original->map_pages);
	WRITE_ONCE(ops->huge_fault, original->huge_fault);
	WRITE_ONCE(ops->page_mkwrite, original->page_mkwrite);
	WRITE_ONCE(ops->pfn_mkwrite, original->pfn_mkwrite);
}

/* What is stored with one instruction. */
static_assert(offsetof(struct pfstat_record, pid) == offsetof(struct pfstat_record, tid) + 4);
static_assert(offsetof(struct pfstat_record, op) == offsetof(struct pfstat_record, dev) + 8);
static_assert(offsetof(struct pfstat_record, cpu) ==
	      offsetof(struct pfstat_record, dev) + sizeof(struct fault_template));
static_assert(offsetof(struct pfstat_record, around_pages) ==
	      offsetof(struct pfstat_record, cpu) + 2);

/* record.h states the kernel's values for user space; they must be the same. */
static_assert(PFSTAT_FLAG_WRITE == FAULT_FLAG_WRITE);
static_assert(PFSTAT_FLAG_ALLOW_RETRY == FAULT_FLAG_ALLOW_RETRY);
static_assert(PFSTAT_FLAG_TRIED == FAULT_FLAG_TRIED);
static_assert(PFSTAT_FLAG_USER == FAULT_FLAG_USER);
static_assert(PFSTAT_FLAG_REMOTE == FAULT_FLAG_REMOTE);
static_assert(PFSTAT_FLAG_INSTRUCTION == FAULT_FLAG_INSTRUCTION);
#ifdef PFSTAT_HAVE_VMA_LOCK
static_assert(PFSTAT_FLAG_VMA_LOCK == FAULT_FLAG_VMA_LOCK);
#endif
static_assert((PFSTAT_RESULT_ERROR | PFSTAT_RESULT_FALLBACK) == (__force u32)VM_FAULT_ERROR);
static_assert(PFSTAT_RESULT_MAJOR == (__force u32)VM_FAULT_MAJOR);
static_assert(PFSTAT_RESULT_NOPAGE == (__force u32)VM_FAULT_NOPAGE);
static_assert(PFSTAT_RESULT_LOCKED == (__force u32)VM_FAULT_LOCKED);
static_assert(PFSTAT_RESULT_RETRY == (__force u32)VM_FAULT_RETRY);
static_assert(PFSTAT_RESULT_FALLBACK == (__force u32)VM_FAULT_FALLBACK);
