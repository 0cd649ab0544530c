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
#include <linux/timekeeping.h>
#include <linux/xarray.h>

#include "chain.h"
#include "classify.h"
#include "compat.h"
#include "fault.h"
#include "ring.h"
#include "shadow.h"
#include "tally.h"
#include "trace.h"

struct attempt {
	u64 start_ns;
	u64 address;
	pgoff_t pgoff;
	u64 inode;
	dev_t dev;
	unsigned long switched;	/* current's nvcsw */
	unsigned long preempted;	/* current's nivcsw */
	u32 flags;
	u8 op;
	u8 before;
	bool shared;
	u16 around_before;	/* of map_pages: the window, see record.h */
	u16 around_pages;
	struct chain chain;
};

DEFINE_PER_CPU(long, pfstat_in_flight);
static bool recording __read_mostly;

void pfstat_fault_record(bool on)
{
	WRITE_ONCE(recording, on);
	/* A record is stored with preemption off: none is half stored after this. */
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

	if (flags & BIT(PG_uptodate))
		return marked ? PFSTAT_BEFORE_MARKED : PFSTAT_BEFORE_CACHED;
	return marked ? PFSTAT_BEFORE_IN_FLIGHT_MARKED : PFSTAT_BEFORE_IN_FLIGHT;
}

/*
 * The page cache at a file offset, by reading flags without a reference: under
 * RCU the page's struct stays, and what it says may be a moment old in any case.
 */
static enum pfstat_before cache_state(struct address_space *mapping, pgoff_t pgoff)
{
	enum pfstat_before before = PFSTAT_BEFORE_ABSENT;
	struct folio *folio;

	rcu_read_lock();
	folio = xa_load(&mapping->i_pages, pgoff);
	if (folio && !xa_is_value(folio))
		before = folio_state(compat_folio_flags(folio));
	rcu_read_unlock();
	return before;
}

static void attempt_begin(struct attempt *attempt, const struct vm_fault *vmf, enum pfstat_op op)
{
	const struct vm_area_struct *vma = vmf->vma;
	const struct inode *inode = file_inode(vma->vm_file);

	attempt->inode = inode->i_ino;
	attempt->dev = inode->i_sb->s_dev;
	attempt->address = vmf->real_address;
	attempt->pgoff = vmf->pgoff;
	attempt->flags = vmf->flags;
	attempt->op = op;
	attempt->shared = vma->vm_flags & VM_SHARED;
	attempt->before = PFSTAT_BEFORE_UNKNOWN;
	attempt->around_before = 0;
	attempt->around_pages = 0;
	if (op == PFSTAT_OP_FAULT || op == PFSTAT_OP_HUGE_FAULT)
		attempt->before = cache_state(vma->vm_file->f_mapping, vmf->pgoff);
	attempt->chain = pfstat_chain_resume(vmf->real_address & PAGE_MASK);
	attempt->switched = current->nvcsw;
	attempt->preempted = current->nivcsw;
	/* The clock last, so that nothing of ours is in the time. */
	attempt->start_ns = ktime_get_mono_fast_ns();
}

static enum pfstat_class attempt_classify(const struct attempt *attempt, vm_fault_t ret)
{
	const struct pfstat_facts facts = {
		.op = attempt->op,
		.before = attempt->before,
		.cause = attempt->chain.cause,
		.slept = current->nvcsw != attempt->switched,
		.result = (__force u32)ret,
	};

	return pfstat_classify(&facts);
}

/* Another attempt of this fault will follow: leave a note for it. */
static void attempt_suspend(const struct attempt *attempt, enum pfstat_class class)
{
	u8 cause = class == PFSTAT_CLASS_PASS ? attempt->chain.cause : class;

	pfstat_chain_suspend(attempt->address & PAGE_MASK, attempt->start_ns, cause);
}

static u8 attempt_facts(const struct attempt *attempt, bool cow)
{
	return (current->nvcsw != attempt->switched ? PFSTAT_FACT_SLEPT : 0) |
	       (current->nivcsw != attempt->preempted ? PFSTAT_FACT_PREEMPTED : 0) |
	       (attempt->shared ? PFSTAT_FACT_SHARED : 0) |
	       (cow ? PFSTAT_FACT_COW : 0);
}

/*
 * Where the program was. A fault of somebody else's memory (ptrace) has no
 * instruction in the current program, nor has a kernel thread a program.
 */
static u64 attempt_ip(const struct attempt *attempt)
{
	if (attempt->flags & FAULT_FLAG_REMOTE || current->flags & PF_KTHREAD)
		return 0;
	return instruction_pointer(task_pt_regs(current));
}

static void attempt_store(const struct attempt *attempt, u64 duration_ns, vm_fault_t ret,
			  enum pfstat_class class, struct page *page, bool cow)
{
	struct pfstat_record *record;
	struct ring *ring;

	preempt_disable();
	if (unlikely(!READ_ONCE(recording)))
		goto out;
	ring = this_cpu_ptr(&pfstat_rings);
	record = pfstat_ring_reserve(ring);
	record->start_ns = attempt->start_ns;
	record->duration_ns = duration_ns;
	record->earlier_ns = attempt->chain.earlier_ns;
	record->address = attempt->address;
	record->pgoff = attempt->pgoff;
	record->pfn = page ? page_to_pfn(page) : PFSTAT_NO_PFN;
	record->inode = attempt->inode;
	record->dev = attempt->dev;
	record->pid = current->tgid;
	record->tid = current->pid;
	record->flags = attempt->flags;
	record->result = (__force u32)ret;
	record->cpu = smp_processor_id();
	record->op = attempt->op;
	record->class = class;
	record->order = page ? folio_order(page_folio(page)) : 0;
	record->before = attempt->before;
	record->facts = attempt_facts(attempt, cow);
	record->reserved = 0;
	record->around_before = attempt->around_before;
	record->around_pages = attempt->around_pages;
	record->ip = attempt_ip(attempt);
	pfstat_tally_add(record);
	trace_pfstat_fault(record);
	pfstat_ring_commit(ring, record);
out:
	preempt_enable();
}

static void attempt_end(const struct attempt *attempt, u64 end_ns, vm_fault_t ret,
			struct page *page, bool cow)
{
	enum pfstat_class class = attempt_classify(attempt, ret);

	attempt_store(attempt, end_ns - attempt->start_ns, ret, class, page, cow);
	if (class == PFSTAT_CLASS_PASS || ret & VM_FAULT_RETRY)
		attempt_suspend(attempt, class);
}

/* The page that ->fault() hands over to be mapped; only without these results. */
static struct page *fault_page(const struct vm_fault *vmf, vm_fault_t ret)
{
	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_RETRY))
		return NULL;
	return vmf->cow_page ?: vmf->page;
}

/* The page that map_pages mapped at the faulting offset; still in the cache. */
static struct page *cached_page(struct address_space *mapping, pgoff_t pgoff)
{
	struct page *page = NULL;
	struct folio *folio;

	rcu_read_lock();
	folio = xa_load(&mapping->i_pages, pgoff);
	if (folio && !xa_is_value(folio))
		page = folio_file_page(folio, pgoff);
	rcu_read_unlock();
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
	struct page *page;
	vm_fault_t ret;
	u64 end_ns;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (unlikely(READ_ONCE(ops->fault) != shadow_fault)) {
		ret = ops->fault(vmf);
		goto out;
	}

	attempt_begin(&attempt, vmf, PFSTAT_OP_FAULT);
	ret = pfstat_shadow_of(ops)->original->fault(vmf);	/* vma dead from here */
	end_ns = ktime_get_mono_fast_ns();
	page = fault_page(vmf, ret);
	attempt_end(&attempt, end_ns, ret, page, page && page == vmf->cow_page);
out:
	pfstat_leave();
	return ret;
}

static vm_fault_t shadow_huge_fault(struct vm_fault *vmf, compat_huge_size_t size)
{
	const struct vm_operations_struct *ops;
	struct attempt attempt;
	vm_fault_t ret;
	u64 end_ns;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (unlikely(READ_ONCE(ops->huge_fault) != shadow_huge_fault)) {
		ret = ops->huge_fault(vmf, size);
		goto out;
	}

	attempt_begin(&attempt, vmf, PFSTAT_OP_HUGE_FAULT);
	ret = pfstat_shadow_of(ops)->original->huge_fault(vmf, size);	/* vma dead from here */
	end_ns = ktime_get_mono_fast_ns();
	/* It maps by itself, and says not what. */
	attempt_end(&attempt, end_ns, ret, NULL, false);
out:
	pfstat_leave();
	return ret;
}

/* Called under RCU since 6.4 (maybe so here too): never sleeps, keeps the lock. */
static vm_fault_t shadow_map_pages(struct vm_fault *vmf, pgoff_t start_pgoff, pgoff_t end_pgoff)
{
	const struct vm_operations_struct *ops;
	struct page *page = NULL;
	struct attempt attempt;
	vm_fault_t ret;
	u64 end_ns;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (unlikely(READ_ONCE(ops->map_pages) != shadow_map_pages)) {
		ret = ops->map_pages(vmf, start_pgoff, end_pgoff);
		goto out;
	}

	attempt_begin(&attempt, vmf, PFSTAT_OP_MAP_PAGES);
	attempt.around_before = vmf->pgoff - start_pgoff;
	attempt.around_pages = end_pgoff - start_pgoff + 1;
	ret = pfstat_shadow_of(ops)->original->map_pages(vmf, start_pgoff, end_pgoff);
	end_ns = ktime_get_mono_fast_ns();
	if (ret & VM_FAULT_NOPAGE)
		page = cached_page(vmf->vma->vm_file->f_mapping, attempt.pgoff);
	attempt_end(&attempt, end_ns, ret, page, false);
out:
	pfstat_leave();
	return ret;
}

static vm_fault_t shadow_page_mkwrite(struct vm_fault *vmf)
{
	const struct vm_operations_struct *ops;
	struct attempt attempt;
	vm_fault_t ret;
	u64 end_ns;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (unlikely(READ_ONCE(ops->page_mkwrite) != shadow_page_mkwrite)) {
		ret = ops->page_mkwrite(vmf);
		goto out;
	}

	attempt_begin(&attempt, vmf, PFSTAT_OP_PAGE_MKWRITE);
	ret = pfstat_shadow_of(ops)->original->page_mkwrite(vmf);
	end_ns = ktime_get_mono_fast_ns();
	/* The caller holds a reference, whatever the result. */
	attempt_end(&attempt, end_ns, ret, vmf->page, false);
out:
	pfstat_leave();
	return ret;
}

static vm_fault_t shadow_pfn_mkwrite(struct vm_fault *vmf)
{
	const struct vm_operations_struct *ops;
	struct attempt attempt;
	vm_fault_t ret;
	u64 end_ns;

	pfstat_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (unlikely(READ_ONCE(ops->pfn_mkwrite) != shadow_pfn_mkwrite)) {
		ret = ops->pfn_mkwrite(vmf);
		goto out;
	}

	attempt_begin(&attempt, vmf, PFSTAT_OP_PFN_MKWRITE);
	ret = pfstat_shadow_of(ops)->original->pfn_mkwrite(vmf);
	end_ns = ktime_get_mono_fast_ns();
	attempt_end(&attempt, end_ns, ret, NULL, false);
out:
	pfstat_leave();
	return ret;
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
