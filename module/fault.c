// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wrappers of the VMA fault operations: time the call, classify it, store
 * one record. No allocation, no lock, no formatting.
 *
 * ->fault() may drop the lock it was called under (it then returns RETRY);
 * from there on the VMA may be gone, so everything that the record needs of
 * it is copied before the call. struct vm_fault is the caller's and stays.
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

/*
 * A call: what must be kept until it is over, then what became of it. In a wrapper
 * its members live in registers as long as nobody takes its address.
 */
struct attempt {
	struct moment start;
	u64 inode;
	u32 dev;
	unsigned long vm_flags;
	unsigned long cached;	/* the folio's flags before the call, or NOT_CACHED */
	unsigned long switched;	/* current's nvcsw */
	unsigned long preempted;	/* current's nivcsw */
	u64 earlier_ns;		/* see struct chain */
	u8 cause;
	u64 duration_ns;
	struct page *page;	/* mapped, or NULL */
	vm_fault_t result;
	u16 around_before;	/* of map_pages: the window, see record.h */
	u16 around_pages;
};

#define NOT_CACHED (~0UL)	/* all flags at once: no folio has them */

DEFINE_PER_CPU(long, pfstat_in_flight);
static bool recording __read_mostly;

void pfstat_fault_record(bool on)
{
	WRITE_ONCE(recording, on);
	/* A record is stored with preemption off: none is half stored after this. */
	if (!on)
		synchronize_rcu();
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
	/* The mark shares its bit with PG_reclaim, which goes with writeback. */
	bool marked = flags & BIT(PG_readahead) && !(flags & BIT(PG_writeback));

	if (flags == NOT_CACHED)
		return PFSTAT_BEFORE_ABSENT;
	if (flags & BIT(PG_uptodate))
		return marked ? PFSTAT_BEFORE_MARKED : PFSTAT_BEFORE_CACHED;
	return marked ? PFSTAT_BEFORE_IN_FLIGHT_MARKED : PFSTAT_BEFORE_IN_FLIGHT;
}

/* Cached and nothing else: the plainest answer of folio_state(). */
static bool is_plainly_cached(unsigned long flags)
{
	return (flags & (BIT(PG_uptodate) | BIT(PG_readahead))) == BIT(PG_uptodate);
}

/*
 * The page cache at a file offset, by reading flags without a reference: under
 * RCU the page's struct stays, and what it says may be a moment old in any case.
 */
static __always_inline unsigned long cached_flags(struct address_space *mapping, pgoff_t pgoff)
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

/* Only what ->fault() finds in the cache decides anything. */
static __always_inline bool is_looked_up(u8 op)
{
	return op == PFSTAT_OP_FAULT || op == PFSTAT_OP_HUGE_FAULT;
}

/* Is it a further attempt of a fault that current has begun already? */
static __always_inline void attempt_resume(struct attempt *attempt, const struct vm_fault *vmf)
{
	struct chain chain = pfstat_chain_resume(vmf->real_address & PAGE_MASK);

	attempt->earlier_ns = chain.earlier_ns;
	attempt->cause = chain.cause;
}

static __always_inline void attempt_begin(struct attempt *attempt, const struct vm_fault *vmf,
					  u8 op)
{
	const struct vm_area_struct *vma = vmf->vma;
	const struct task_struct *task = current;
	const struct inode *inode = file_inode(vma->vm_file);

	attempt->inode = inode->i_ino;
	attempt->dev = inode->i_sb->s_dev;
	attempt->vm_flags = vma->vm_flags;
	attempt->cached = is_looked_up(op) ?
			  cached_flags(vma->vm_file->f_mapping, vmf->pgoff) : 0;
	attempt->earlier_ns = 0;
	attempt->cause = PFSTAT_NR_CLASSES;
	if (unlikely(!pfstat_chain_is_clear(task)))
		attempt_resume(attempt, vmf);
	attempt->switched = task->nvcsw;
	attempt->preempted = task->nivcsw;
	attempt->around_before = 0;
	attempt->around_pages = 0;
	/* The clock last, so that nothing of ours is in the time. */
	attempt->start = pfstat_clock_now();
}

static enum pfstat_before attempt_before(const struct attempt *attempt, u8 op)
{
	return is_looked_up(op) ? folio_state(attempt->cached) : PFSTAT_BEFORE_UNKNOWN;
}

static enum pfstat_class attempt_classify(const struct attempt *attempt, u8 op)
{
	const struct pfstat_facts facts = {
		.op = op,
		.before = attempt_before(attempt, op),
		.cause = attempt->cause,
		.slept = current->nvcsw != attempt->switched,
		.result = (__force u32)attempt->result,
	};

	return pfstat_classify(&facts);
}

/* Another attempt of this fault will follow: leave a note for it. */
static void attempt_suspend(const struct attempt *attempt, const struct vm_fault *vmf,
			    enum pfstat_class class)
{
	u8 cause = class == PFSTAT_CLASS_PASS ? attempt->cause : class;

	pfstat_chain_suspend(vmf->real_address & PAGE_MASK, attempt->start.ns, cause);
}

static __always_inline u8 shared_fact(const struct attempt *attempt)
{
	return attempt->vm_flags & VM_SHARED ? PFSTAT_FACT_SHARED : 0;
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
	return (current->nvcsw != attempt->switched ? PFSTAT_FACT_SLEPT : 0) |
	       (current->nivcsw != attempt->preempted ? PFSTAT_FACT_PREEMPTED : 0) |
	       shared_fact(attempt) | (cow ? PFSTAT_FACT_COW : 0);
}

/*
 * Where the program was. A fault of somebody else's memory (ptrace) has no
 * instruction in the current program, nor has a kernel thread a program.
 */
static u64 attempt_ip(const struct vm_fault *vmf)
{
	if (vmf->flags & FAULT_FLAG_REMOTE || current->flags & PF_KTHREAD)
		return 0;
	return instruction_pointer(task_pt_regs(current));
}

/* What is taken over as it is; the rest of the record is the caller's. */
static __always_inline void record_fill(struct pfstat_record *record,
					const struct attempt *attempt,
					const struct vm_fault *vmf,
					const struct task_struct *task)
{
	record->start_ns = attempt->start.ns;
	record->duration_ns = attempt->duration_ns;
	record->address = vmf->real_address;
	record->pgoff = vmf->pgoff;
	record->inode = attempt->inode;
	record->dev = attempt->dev;
	record->pid = task->tgid;
	record->tid = task->pid;
	record->flags = vmf->flags;
	record->result = (__force u32)attempt->result;
	record->cpu = smp_processor_id();
	record->reserved = 0;
	record->around_before = attempt->around_before;
	record->around_pages = attempt->around_pages;
}

static void attempt_store(const struct attempt *attempt, const struct vm_fault *vmf, u8 op,
			  enum pfstat_class class)
{
	struct page *page = attempt->page;
	struct pfstat_record *record;
	bool stored;

	stored = pfstat_ring_has_room();
	record = stored ? pfstat_ring_reserve() :
			  pfstat_ring_refuse(this_cpu_ptr(&pfstat_rings));
	record_fill(record, attempt, vmf, current);
	record->earlier_ns = attempt->earlier_ns;
	record->pfn = page ? page_to_pfn(page) : PFSTAT_NO_PFN;
	record->op = op;
	record->class = class;
	record->order = page ? folio_order(page_folio(page)) : 0;
	record->before = attempt_before(attempt, op);
	record->facts = attempt_facts(attempt, page && page == vmf->cow_page) |
			folio_fact(vmf, op, page);
	record->ip = attempt_ip(vmf);
	pfstat_tally_add(op, class, attempt->duration_ns, attempt->result & VM_FAULT_RETRY);
	trace_pfstat_fault(record);
	if (stored)
		pfstat_ring_commit(record);
}

/* By value, so that the caller's own has no address. */
static noinline void attempt_finish(struct attempt attempt, const struct vm_fault *vmf, u8 op)
{
	enum pfstat_class class = attempt_classify(&attempt, op);

	preempt_disable();
	if (READ_ONCE(recording))
		attempt_store(&attempt, vmf, op, class);
	preempt_enable();
	if (class == PFSTAT_CLASS_PASS || attempt.result & VM_FAULT_RETRY)
		attempt_suspend(&attempt, vmf, class);
}

/* Member by member: a copy of the whole would be one in memory from the start. */
static __always_inline void attempt_end(const struct attempt *attempt, const struct vm_fault *vmf,
					u8 op)
{
	attempt_finish((struct attempt){
		.start.ns = attempt->start.ns,
		.inode = attempt->inode,
		.dev = attempt->dev,
		.vm_flags = attempt->vm_flags,
		.cached = attempt->cached,
		.switched = attempt->switched,
		.preempted = attempt->preempted,
		.earlier_ns = attempt->earlier_ns,
		.cause = attempt->cause,
		.duration_ns = attempt->duration_ns,
		.page = attempt->page,
		.result = attempt->result,
		.around_before = attempt->around_before,
		.around_pages = attempt->around_pages,
	}, vmf, op);
}

/*
 * The plain case, that of nearly all calls: a program's own fault, solved at once from
 * the page cache by a page that is a folio of its own, without a switch to another
 * thread. It has one class, and is stored without another question. False: it is not
 * so, or there is no room, or nothing is recorded; nothing was stored.
 */
static __always_inline bool attempt_end_plain(const struct attempt *attempt,
					      const struct vm_fault *vmf, u8 op, u8 class,
					      u8 before)
{
	const struct task_struct *task = current;
	struct pfstat_record *record;
	bool stored = false;

	if (unlikely(attempt->cause != PFSTAT_NR_CLASSES ||
		     (vmf->flags & (FAULT_FLAG_USER | FAULT_FLAG_REMOTE)) != FAULT_FLAG_USER ||
		     task->nvcsw != attempt->switched || task->nivcsw != attempt->preempted ||
		     PageCompound(attempt->page)))
		return false;

	preempt_disable();
	if (unlikely(!READ_ONCE(recording) || !pfstat_ring_has_room()))
		goto out;
	record = pfstat_ring_reserve();
	record_fill(record, attempt, vmf, task);
	record->earlier_ns = 0;
	record->pfn = page_to_pfn(attempt->page);
	record->op = op;
	record->class = class;
	record->order = 0;
	record->before = before;
	record->facts = shared_fact(attempt);
	record->ip = instruction_pointer(task_pt_regs((struct task_struct *)task));
	pfstat_tally_add(op, class, attempt->duration_ns, false);
	trace_pfstat_fault(record);
	pfstat_ring_commit(record);
	stored = true;
out:
	preempt_enable();
	return stored;
}

/* The page that ->fault() hands over to be mapped; only without these results. */
static struct page *fault_page(const struct vm_fault *vmf, vm_fault_t ret)
{
	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_RETRY))
		return NULL;
	return vmf->cow_page ?: vmf->page;
}

/* The page that map_pages mapped at the faulting offset; still in the cache. */
static __always_inline struct page *cached_page(struct address_space *mapping, pgoff_t pgoff)
{
	struct page *page = NULL;
	struct folio *folio;

	preempt_disable();
	folio = pfstat_page_cache_peek(mapping, pgoff);
	if (folio)
		page = folio_file_page(folio, pgoff);
	preempt_enable();
	return page;
}

/*
 * Every wrapper first counts itself in flight and then looks whether the VMA
 * still leads here: the operations may have been taken back after the kernel
 * loaded the pointer to the wrapper. See pfstat_exit() for the other side.
 */
static vm_fault_t shadow_fault(struct vm_fault *vmf)
{
	const struct vm_operations_struct *ops;
	struct attempt attempt;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (unlikely(READ_ONCE(ops->fault) != shadow_fault)) {
		attempt.result = ops->fault(vmf);
		goto out;
	}

	attempt_begin(&attempt, vmf, PFSTAT_OP_FAULT);
	attempt.result = pfstat_shadow_of(ops)->original->fault(vmf);	/* vma dead from here */
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	attempt.page = fault_page(vmf, attempt.result);
	if (unlikely(attempt.result != VM_FAULT_LOCKED || vmf->cow_page ||
		     !is_plainly_cached(attempt.cached) ||
		     !attempt_end_plain(&attempt, vmf, PFSTAT_OP_FAULT, PFSTAT_CLASS_LONG,
					PFSTAT_BEFORE_CACHED)))
		attempt_end(&attempt, vmf, PFSTAT_OP_FAULT);
out:
	pfstat_leave();
	return attempt.result;
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

	attempt_begin(&attempt, vmf, PFSTAT_OP_HUGE_FAULT);
	attempt.result = pfstat_shadow_of(ops)->original->huge_fault(vmf, size);
	/* vma dead from here */
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	attempt.page = NULL;	/* it maps by itself, and says not what */
	attempt_end(&attempt, vmf, PFSTAT_OP_HUGE_FAULT);
out:
	pfstat_leave();
	return attempt.result;
}

/* Called under RCU since 6.4 (maybe so here too): never sleeps, keeps the lock. */
static vm_fault_t shadow_map_pages(struct vm_fault *vmf, pgoff_t start_pgoff, pgoff_t end_pgoff)
{
	const struct vm_operations_struct *ops;
	struct attempt attempt;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (unlikely(READ_ONCE(ops->map_pages) != shadow_map_pages)) {
		attempt.result = ops->map_pages(vmf, start_pgoff, end_pgoff);
		goto out;
	}

	attempt_begin(&attempt, vmf, PFSTAT_OP_MAP_PAGES);
	attempt.result = pfstat_shadow_of(ops)->original->map_pages(vmf, start_pgoff, end_pgoff);
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	attempt.page = NULL;
	if (attempt.result & VM_FAULT_NOPAGE)
		attempt.page = cached_page(vmf->vma->vm_file->f_mapping, vmf->pgoff);
	attempt.around_before = vmf->pgoff - start_pgoff;
	attempt.around_pages = end_pgoff - start_pgoff + 1;
	if (unlikely(attempt.result != VM_FAULT_NOPAGE || !attempt.page ||
		     !attempt_end_plain(&attempt, vmf, PFSTAT_OP_MAP_PAGES, PFSTAT_CLASS_AROUND,
					PFSTAT_BEFORE_UNKNOWN)))
		attempt_end(&attempt, vmf, PFSTAT_OP_MAP_PAGES);
out:
	pfstat_leave();
	return attempt.result;
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

	attempt_begin(&attempt, vmf, PFSTAT_OP_PAGE_MKWRITE);
	attempt.result = pfstat_shadow_of(ops)->original->page_mkwrite(vmf);
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

	attempt_begin(&attempt, vmf, PFSTAT_OP_PFN_MKWRITE);
	attempt.result = pfstat_shadow_of(ops)->original->pfn_mkwrite(vmf);
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	attempt.page = NULL;
	attempt_end(&attempt, vmf, PFSTAT_OP_PFN_MKWRITE);
out:
	pfstat_leave();
	return attempt.result;
}

void pfstat_fault_wrap(struct vm_operations_struct *ops)
{
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
