// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slow path of the wrappers. A wrapper passes a call, with the wrapping of the VMA and the
 * struct vm_fault. The record of the call goes into the ring, the tally and the tracepoint. No
 * allocation, no formatting, and no lock except for the ring's wake-up.
 *
 * ->fault() may drop the lock under which it was called (it then returns RETRY). From then on the
 * VMA may be gone, so everything the record needs from the VMA is copied before the call. The
 * struct vm_fault belongs to the caller and stays.
 */
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/userfaultfd_k.h>
#include <linux/xarray.h>

#include "attempt.h"
#include "common/classify.h"
#include "mm_record.h"
#include "mm_thread.h"
#include "retry.h"
#include "ring.h"
#include "tally.h"
#include "trace.h"

bool pfstat_attempt_recording __read_mostly;
static u64 attempt_recording_since __read_mostly;

void pfstat_attempt_record(bool on)
{
	WRITE_ONCE(pfstat_attempt_recording, on);
	/*
	 * A record is stored with preemption off: none is half stored after this. A program ending
	 * a measurement waits for the grace period, so it is expedited. See record-stop.litmus and
	 * ring-close-fast.litmus in tests/litmus/.
	 */
	if (on)
		return;
	synchronize_rcu_expedited();
	/*
	 * The fast path does not check it. From now on no slow call opens the rings for the fast
	 * path.
	 */
	pfstat_ring_close_fast();
	synchronize_rcu_expedited();
}

void pfstat_attempt_forget(void)
{
	WRITE_ONCE(attempt_recording_since, ktime_get_mono_fast_ns());
}

/* Without a reference. Preemption is off, which is an RCU read-side section. */
static struct folio *cached_folio(struct address_space *mapping, pgoff_t pgoff)
{
	void *entry = xa_load(&mapping->i_pages, pgoff);

	return xa_is_value(entry) ? NULL : entry;
}

/*
 * The page state at a file offset, read without a reference. Under RCU the struct page stays. The
 * contents may be a moment old in any case.
 */
static enum pfstat_before cached_state(struct address_space *mapping, pgoff_t pgoff, bool obey_mark)
{
	enum pfstat_before before = PFSTAT_BEFORE_ABSENT;
	struct folio *folio;
	unsigned long flags;

	preempt_disable();
	folio = cached_folio(mapping, pgoff);
	if (folio) {
		flags = compat_folio_flags(folio);
		before = pfstat_retry_state(obey_mark ? flags : flags & ~BIT(PG_readahead));
	}
	preempt_enable();
	return before;
}

/* Same decision as in do_async_mmap_readahead() and the caller. */
static bool obeys_mark(const struct vm_fault *vmf)
{
	return !(vmf->flags & FAULT_FLAG_TRIED) && !(vmf->vma->vm_flags & VM_RAND_READ) &&
	       READ_ONCE(vmf->vma->vm_file->f_ra.ra_pages);
}

/* The state of the faulting page, without a mark ignored by this call. */
static enum pfstat_before state_before(const struct vm_fault *vmf, u8 op)
{
	const struct file *file = vmf->vma->vm_file;

	/* The class of other operations does not depend on the page cache, and DAX has none. */
	if ((op != PFSTAT_OP_FAULT && op != PFSTAT_OP_HUGE_FAULT) || IS_DAX(file_inode(file)))
		return PFSTAT_BEFORE_UNKNOWN;
	return cached_state(file->f_mapping, vmf->pgoff, obeys_mark(vmf));
}

/*
 * As filemap_fault() decides, see classify.c. LOCKED at a first attempt implies an up-to-date folio
 * without a mark: otherwise the result is RETRY. It returns NOPAGE only for an absent page.
 */
enum pfstat_before pfstat_attempt_met(const struct vm_fault *vmf, vm_fault_t result,
				      struct retry_start start)
{
	if (result & VM_FAULT_LOCKED && !(result & VM_FAULT_MAJOR))
		return PFSTAT_BEFORE_CACHED;
	if (result & VM_FAULT_RETRY)
		return result & VM_FAULT_MAJOR ? PFSTAT_BEFORE_ABSENT : pfstat_retry_before(start);
	/* The call kept the lock, so the VMA still exists. */
	if (IS_DAX(file_inode(vmf->vma->vm_file)))
		return PFSTAT_BEFORE_UNKNOWN;
	if (result & (VM_FAULT_MAJOR | VM_FAULT_NOPAGE))
		return PFSTAT_BEFORE_ABSENT;
	return state_before(vmf, PFSTAT_OP_FAULT);
}

static bool has_slept(const struct attempt *attempt)
{
	return (pfstat_attempt_switches(current) - attempt->switches) % ATTEMPT_PREEMPTED_UNIT;
}

static bool was_preempted(const struct attempt *attempt)
{
	return (pfstat_attempt_switches(current) - attempt->switches) / ATTEMPT_PREEMPTED_UNIT;
}

static struct attempt attempt_begin(const struct fault_wrapping *wrapping,
				    const struct vm_fault *vmf, u8 op)
{
	const struct file *file = vmf->vma->vm_file;
	struct attempt attempt = {
		.wrapping = wrapping,
		.inode = file_inode(file)->i_ino,
		.switches = pfstat_attempt_switches(current),
		.op = op,
		.before = state_before(vmf, op),
		/* page_mkwrite does not get FAULT_FLAG_REMOTE. */
		.remote = vmf->flags & FAULT_FLAG_REMOTE || vmf->vma->vm_mm != current->mm,
	};
	struct mm_link link = MM_LINK_NONE;

	preempt_disable();
	if (pfstat_attempt_is_recording()) {
		pfstat_mm_record_next_call();
		link = pfstat_mm_thread_resume(vmf->real_address & PAGE_MASK);
	}
	preempt_enable();
	attempt.earlier_ns = link.earlier_ns;
	attempt.cause = link.cause;
	return attempt;
}

static enum pfstat_class attempt_classify(const struct attempt *attempt)
{
	const struct pfstat_facts facts = {
		.op = attempt->op,
		.before = attempt->before,
		.cause = attempt->cause,
		.slept = has_slept(attempt),
		.result = (__force u32)attempt->result,
	};

	return pfstat_classify(&facts);
}

/*
 * Another attempt at this fault will follow: leave a link for it. After a wait for another thread's
 * lock the next attempt maps a page that was in the cache all the time. Such a fault is long,
 * unless it had read the disk before.
 */
static void attempt_suspend(const struct attempt *attempt, const struct vm_fault *vmf,
			    enum pfstat_class class)
{
	const bool disk = class == PFSTAT_CLASS_DISK || class == PFSTAT_CLASS_WAIT ||
			  class == PFSTAT_CLASS_READAHEAD;
	u8 cause = disk ? class : attempt->cause;

	pfstat_mm_thread_suspend(vmf->real_address & PAGE_MASK, attempt->start.ns, cause);
}

/*
 * Does the kernel map the whole folio of the page returned by ->fault(), or only the page? Same
 * decision as in finish_fault(): the folio, if it lies completely in the VMA, in one page table,
 * and in the file.
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

static u8 attempt_facts(const struct attempt *attempt, const struct vm_fault *vmf,
			struct page *page)
{
	const bool cow = page && page == vmf->cow_page;
	const bool folio = attempt->op == PFSTAT_OP_FAULT && page && is_mapped_whole(vmf, page);

	return (has_slept(attempt) ? PFSTAT_FACT_SLEPT : 0) |
	       (was_preempted(attempt) ? PFSTAT_FACT_PREEMPTED : 0) |
	       (attempt->wrapping->shared ? PFSTAT_FACT_SHARED : 0) | (cow ? PFSTAT_FACT_COW : 0) |
	       (folio ? PFSTAT_FACT_FOLIO : 0);
}

/*
 * The faulting instruction in the program. A fault on another process's memory (ptrace) has none in
 * the current program, and a kernel thread has no program.
 */
static u64 attempt_ip(const struct attempt *attempt)
{
	if (attempt->remote || current->flags & PF_KTHREAD)
		return 0;
	return instruction_pointer(task_pt_regs(current));
}

/* The page returned by ->fault(). Only results without these bits have a page. */
static struct page *fault_page(const struct vm_fault *vmf, vm_fault_t ret)
{
	if (ret & (VM_FAULT_ERROR | VM_FAULT_NOPAGE | VM_FAULT_RETRY))
		return NULL;
	return vmf->cow_page ?: vmf->page;
}

/* The page that map_pages mapped at the faulting offset, still in the cache. */
static struct page *around_page(const struct vm_fault *vmf, vm_fault_t ret)
{
	struct page *page = NULL;
	struct folio *folio;

	if (!(ret & VM_FAULT_NOPAGE))
		return NULL;
	preempt_disable();
	folio = cached_folio(vmf->vma->vm_file->f_mapping, vmf->pgoff);
	if (folio)
		page = folio_file_page(folio, vmf->pgoff);
	preempt_enable();
	return page;
}

/* The page mapped or handed over by the call, or NULL. */
static struct page *attempt_page(const struct attempt *attempt, const struct vm_fault *vmf)
{
	switch (attempt->op) {
	case PFSTAT_OP_FAULT:
		return fault_page(vmf, attempt->result);
	case PFSTAT_OP_MAP_PAGES:
		return around_page(vmf, attempt->result);
	case PFSTAT_OP_PAGE_MKWRITE:
		return vmf->page; /* the caller has a reference, whatever the result is */
	default:
		return NULL; /* huge_fault maps the page and does not return it */
	}
}

static void record_fill(struct pfstat_record *record, const struct attempt *attempt,
			const struct vm_fault *vmf, enum pfstat_class class)
{
	struct page *page = attempt_page(attempt, vmf);

	record->start_ns = attempt->start.ns;
	record->duration_ns = attempt->duration_ns;
	record->earlier_ns = attempt->earlier_ns;
	record->address = vmf->real_address;
	record->pgoff = vmf->pgoff;
	record->pfn = pfstat_ring_frame(page);
	record->inode = attempt->inode;
	record->tid = current->pid;
	record->pid = current->tgid;
	record->dev = attempt->wrapping->dev;
	record->result = (__force u32)attempt->result;
	record->op = attempt->op;
	record->class = class;
	record->order = page ? folio_order(page_folio(page)) : 0;
	record->before = attempt->before;
	record->facts = attempt_facts(attempt, vmf, page);
	record->page = 0;
	record->around_before = attempt->around.before;
	record->cpu = smp_processor_id();
	record->around_pages = attempt->around.pages;
	record->flags = vmf->flags;
	record->ip = attempt_ip(attempt);
	record->fault_ns = 0;
	record->before_ns = 0;
}

/*
 * In a counted fault, the record of the last call waits in the thread's slot for the end of the
 * fault. After a pass another call follows.
 */
static struct pfstat_record *attempt_waits(const struct attempt *attempt, enum pfstat_class class)
{
	struct mm_thread *thread;

	if (class == PFSTAT_CLASS_PASS || attempt->result & VM_FAULT_FALLBACK)
		return NULL;
	thread = pfstat_mm_thread_in_fault();
	if (!thread)
		return NULL;
	pfstat_mm_record_next_call();
	thread->state = MM_STATE_SLOW | (thread->state & (MM_STATE_NOTED | MM_STATE_MET));
	thread->waits = true;
	return &thread->record;
}

static void attempt_store(const struct attempt *attempt, const struct vm_fault *vmf,
			  enum pfstat_class class)
{
	struct pfstat_record *waits = attempt_waits(attempt, class);
	struct pfstat_record *slot = waits ? NULL : pfstat_ring_reserve();
	struct pfstat_record *record = waits ?: slot ?: pfstat_ring_overflow_slot();

	record_fill(record, attempt, vmf, class);
	pfstat_tally_add(attempt->op, class, attempt->duration_ns,
			 attempt->result & VM_FAULT_RETRY);
	trace_pfstat_fault(record);
	if (slot)
		pfstat_ring_commit(record);
}

void pfstat_attempt_end(const struct attempt *attempt, const struct vm_fault *vmf)
{
	enum pfstat_class class = attempt_classify(attempt);

	preempt_disable();
	if (pfstat_attempt_is_recording() &&
	    attempt->start.ns >= READ_ONCE(attempt_recording_since)) {
		attempt_store(attempt, vmf, class);
		if (class == PFSTAT_CLASS_PASS || attempt->result & VM_FAULT_RETRY)
			attempt_suspend(attempt, vmf, class);
	}
	preempt_enable();
}

vm_fault_t pfstat_attempt_fault(const struct fault_wrapping *wrapping, struct vm_fault *vmf)
{
	struct attempt attempt = attempt_begin(wrapping, vmf, PFSTAT_OP_FAULT);

	/* The clock comes last, so the duration contains nothing from the module itself. */
	attempt.start = pfstat_clock_now();
	attempt.result = wrapping->pristine.fault(vmf); /* vma dead from here */
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	pfstat_attempt_end(&attempt, vmf);
	return attempt.result;
}

vm_fault_t pfstat_attempt_map_pages(const struct fault_wrapping *wrapping, struct vm_fault *vmf,
				    pgoff_t start_pgoff, pgoff_t end_pgoff)
{
	struct attempt attempt = attempt_begin(wrapping, vmf, PFSTAT_OP_MAP_PAGES);

	attempt.around.before = vmf->pgoff - start_pgoff;
	attempt.around.pages = end_pgoff - start_pgoff + 1;
	attempt.start = pfstat_clock_now();
	attempt.result = wrapping->pristine.map_pages(vmf, start_pgoff, end_pgoff);
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	pfstat_attempt_end(&attempt, vmf);
	return attempt.result;
}

vm_fault_t pfstat_attempt_huge_fault(const struct fault_wrapping *wrapping, struct vm_fault *vmf,
				     compat_huge_size_t size)
{
	struct attempt attempt = attempt_begin(wrapping, vmf, PFSTAT_OP_HUGE_FAULT);

	attempt.start = pfstat_clock_now();
	attempt.result = wrapping->pristine.huge_fault(vmf, size); /* vma dead from here */
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	pfstat_attempt_end(&attempt, vmf);
	return attempt.result;
}

vm_fault_t pfstat_attempt_page_mkwrite(const struct fault_wrapping *wrapping, struct vm_fault *vmf)
{
	struct attempt attempt = attempt_begin(wrapping, vmf, PFSTAT_OP_PAGE_MKWRITE);

	attempt.start = pfstat_clock_now();
	attempt.result = wrapping->pristine.page_mkwrite(vmf);
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	pfstat_attempt_end(&attempt, vmf);
	return attempt.result;
}

vm_fault_t pfstat_attempt_pfn_mkwrite(const struct fault_wrapping *wrapping, struct vm_fault *vmf)
{
	struct attempt attempt = attempt_begin(wrapping, vmf, PFSTAT_OP_PFN_MKWRITE);

	attempt.start = pfstat_clock_now();
	attempt.result = wrapping->pristine.pfn_mkwrite(vmf);
	attempt.duration_ns = pfstat_clock_since(&attempt.start);
	pfstat_attempt_end(&attempt, vmf);
	return attempt.result;
}
