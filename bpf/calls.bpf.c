// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fault source without the module. A record is written for each call of ->fault(),
 * ->map_pages() and ->page_mkwrite() in a recordable mapping of a target, when the call returns.
 * The programs are at the memory manager's functions that make these calls, within
 * handle_mm_fault(), whose programs (mm.bpf.c) have found the thread's state and the file.
 *
 * The state of the page that a call met follows from its result, as in the module
 * (module/attempt.c). A result of RETRY leaves it open: then it is that of the page cache before
 * the call, or that of the page at whose mark the call read ahead. The module has a probe where the
 * call waits, at which no eBPF program can be. The class is that of common/classify.c.
 *
 * The clock is read last at the begin of a call and first at its end, so the duration contains the
 * kernel's own way into and out of the programs, but not the programs.
 */
#include <linux/ptrace.h>

#include <pfstat/record.h>

#include "arch.bpf.h"
#include "fault_state.bpf.h"
#include "page.bpf.h"
#include "page_cache.bpf.h"
#include "record_ring.bpf.h"
#include "recordable.bpf.h"
#include "vma.bpf.h"

/* In line: the verifier checks it with the facts that its caller knows. */
struct pfstat_facts;
static __always_inline enum pfstat_class pfstat_classify(const struct pfstat_facts *facts);
#include "common/classify.c"

#define PF_KTHREAD 0x00200000 /* of task_struct.flags */
#define VM_UFFD_WP 0x1000UL   /* the only use of userfaultfd for the pages of a file */

/* do_page_mkwrite() sets these flags during the call, and restores the others after it. */
#define FLAGS_OF_MKWRITE (PFSTAT_FLAG_WRITE | 0x0002)

const volatile bool record_calls;
__u32 record_named_files;

/* In older kernels the flags are a number, which is another type. */
struct vm_fault___number {
	unsigned int flags;
} __attribute__((preserve_access_index));

#define PAGE_BIT(flag) (1UL << bpf_core_enum_value(enum pageflags, flag))

/* A call that has returned. */
struct finished_call {
	__u64 now;
	__u64 address;
	__u64 pgoff;
	__u32 result;
	__u32 flags;
	__u8 op;
	__u8 order;
	__u8 is_copy;
	__u8 is_folio; /* all of it was mapped */
};

static __always_inline __u64 completed_faults(const struct task_struct *task)
{
	return task->min_flt + task->maj_flt;
}

/* As pfstat_chain_resume() in module/chain.c. */
static __always_inline void call_resume(struct call_state *call, __u64 page,
					const struct task_struct *task)
{
	call->earlier_ns = 0;
	call->cause = PFSTAT_NR_CLASSES;
	if (!call->suspended_ns)
		return;
	if (call->suspended_page == page && call->suspended_faults == completed_faults(task)) {
		call->earlier_ns = call->suspended_ns;
		call->cause = call->suspended_cause;
	}
	call->suspended_ns = 0;
}

/* As attempt_suspend() in module/attempt.c. */
static __always_inline void call_suspend(struct call_state *call, const struct finished_call *done,
					 __u8 class, const struct task_struct *task)
{
	const bool disk = class == PFSTAT_CLASS_DISK || class == PFSTAT_CLASS_WAIT ||
			  class == PFSTAT_CLASS_READAHEAD;

	if (class != PFSTAT_CLASS_PASS && !(done->result & PFSTAT_RESULT_RETRY))
		return;
	call->suspended_cause = disk ? class : call->cause;
	call->suspended_page = done->address >> page_shift;
	call->suspended_faults = completed_faults(task);
	call->suspended_ns = call->start_ns;
}

/* Before v5.17, struct vm_fault has only the address of the page. */
static __always_inline __u64 call_address(const struct fault_state *state,
					  const struct vm_fault *vmf)
{
	return HAVE_REAL_ADDRESS ? vmf->real_address : state->address;
}

/*
 * True if the caller must begin the call, and only then read the clock. Otherwise another copy of
 * the program has begun it, and the caller only reads the clock anew: see hooks_choose_doubles().
 */
static __always_inline bool call_begins(struct call_state *call, const struct vm_fault *vmf,
					__u8 op)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();

	if (call->start_ns && call->op == op)
		return false;
	call->op = op;
	call->marked_flags = 0;
	call->around_before = 0;
	call->around_pages = 0;
	call->flags_before = PAGE_NOT_CACHED;
	call->switches = task->nvcsw;
	call->preempted = task->nivcsw;
	call_resume(call, vmf->address >> page_shift, task);
	return true;
}

/* NULL: a call of the current thread is not recorded. */
static __always_inline struct call_state *call_to_record(void)
{
	struct fault_state *state = fault_state_now();

	return state && state->call.is_recordable ? &state->call : NULL;
}

/* NULL: the current thread is in no call that is recorded. */
static __always_inline struct fault_state *state_in_call(void)
{
	struct fault_state *state = fault_state_now();

	return state && state->call.start_ns ? state : NULL;
}

/* As folio_state() in module/attempt.c. */
static __always_inline __u8 state_of_folio(__u64 flags)
{
	const bool marked = flags & folio_readahead_flag();

	if (!(flags & PAGE_BIT(PG_uptodate))) {
		if (!(flags & PAGE_BIT(PG_locked)))
			return PFSTAT_BEFORE_STALE;
		return marked ? PFSTAT_BEFORE_IN_FLIGHT_MARKED : PFSTAT_BEFORE_IN_FLIGHT;
	}
	if (!marked)
		return PFSTAT_BEFORE_CACHED;
	return flags & PAGE_BIT(PG_writeback) ? PFSTAT_BEFORE_RECLAIM : PFSTAT_BEFORE_MARKED;
}

/*
 * As pfstat_attempt_met() in module/attempt.c. A fault that read the page itself waited for its
 * lock too: so MAJOR comes first. LOCKED without it implies a page that is up to date.
 */
static __always_inline __u8 call_met(const struct call_state *call,
				     const struct finished_call *done)
{
	if (done->op != PFSTAT_OP_FAULT || call->is_dax || done->result & PFSTAT_RESULT_ERROR)
		return PFSTAT_BEFORE_UNKNOWN;
	if (done->result & (PFSTAT_RESULT_MAJOR | PFSTAT_RESULT_NOPAGE))
		return PFSTAT_BEFORE_ABSENT;
	if (done->result & PFSTAT_RESULT_LOCKED)
		return PFSTAT_BEFORE_CACHED;
	if (call->marked_flags)
		return state_of_folio(call->marked_flags);
	/* It was absent then, and another thread has begun to read it. */
	if (call->flags_before == PAGE_NOT_CACHED)
		return PFSTAT_BEFORE_ABSENT;
	return state_of_folio(call->flags_before);
}

/* The instruction of the program; a fault on another process's memory has none. */
static __always_inline __u64 call_ip(const struct fault_state *state,
				     const struct task_struct *task)
{
	const struct pt_regs___kernel *regs = (const void *)bpf_task_pt_regs((void *)task);

	return state->flags & PFSTAT_FLAG_REMOTE || task->flags & PF_KTHREAD ? 0 : regs->ARCH_IP;
}

static __always_inline __u8 call_facts(const struct call_state *call,
				       const struct finished_call *done,
				       const struct task_struct *task)
{
	return (task->nvcsw != call->switches ? PFSTAT_FACT_SLEPT : 0) |
	       (task->nivcsw != call->preempted ? PFSTAT_FACT_PREEMPTED : 0) |
	       (call->shared ? PFSTAT_FACT_SHARED : 0) | (done->is_copy ? PFSTAT_FACT_COW : 0) |
	       (done->is_folio ? PFSTAT_FACT_FOLIO : 0);
}

/* The frame stays unknown: the programs do not look it up. */
static __always_inline void call_store(const struct fault_state *state,
				       const struct finished_call *done,
				       const struct pfstat_facts *facts, __u8 class,
				       const struct task_struct *task)
{
	const struct call_state *call = &state->call;
	struct pfstat_record *record;
	__u64 sequence;

	record = record_reserve(&sequence);
	if (!record)
		return;
	record->start_ns = call->start_ns;
	record->duration_ns = done->now - call->start_ns;
	record->earlier_ns = call->earlier_ns;
	record->address = done->address;
	record->pgoff = done->pgoff;
	record->pfn = PFSTAT_NO_PFN;
	record->inode = state->inode;
	record->tid = state->id;
	record->pid = state->id >> 32;
	record->dev = state->dev;
	record->result = done->result;
	record->op = done->op;
	record->class = class;
	record->order = done->order;
	record->before = facts->before;
	record->facts = call_facts(call, done, task);
	record->reserved = 0;
	record->around_before = call->around_before;
	record->cpu = bpf_get_smp_processor_id();
	record->around_pages = call->around_pages;
	record->flags = done->flags;
	record->ip = call_ip(state, task);
	record->fault_ns = 0;
	record->before_ns = 0;
	record_commit(record, sequence);
}

static __always_inline int call_ends(struct fault_state *state, const struct finished_call *done)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct call_state *call = &state->call;
	const struct pfstat_facts facts = {
		.op = done->op,
		.before = call_met(call, done),
		.cause = call->cause,
		.slept = task->nvcsw != call->switches,
		.result = done->result,
	};
	const __u8 class = pfstat_classify(&facts);

	if (stopped)
		return 0;
	call_store(state, done, &facts, class, task);
	call_suspend(call, done, class, task);
	call->left_record = 1;
	call->start_ns = 0;
	return 0;
}

static __always_inline __u32 flags_of_call(const struct vm_fault *vmf)
{
	const struct vm_fault___number *number = (const void *)vmf;

	return bpf_core_field_exists(vmf->flags) ? (__u32)vmf->flags : number->flags;
}

/* log2 of the pages of a folio. */
static __always_inline __u8 order_of(__u32 pages)
{
	__u8 order = 0;

	while (pages >> 1 && order < 20) {
		pages >>= 1;
		order++;
	}
	return order;
}

/*
 * The folio of a page, and how many pages into it that is. The verifier allows no arithmetic with a
 * pointer of the kernel, but with a number that was stored.
 */
static __always_inline const struct folio *call_folio(struct call_state *call,
						      const struct page *page, __u64 *pages_in)
{
	*(volatile __u64 *)&call->page = (__u64)page;
	page = (const struct page *)*(volatile __u64 *)&call->page;
	return page_folio(page, pages_in);
}

/* As is_mapped_whole() in module/attempt.c. */
static __always_inline bool is_mapped_whole(const struct vm_fault *vmf, __u64 before, __u64 pages)
{
	const struct folio___v6_18 *folio = NULL;
	const struct vm_area_struct *vma = vmf->vma;
	const __u64 in_vma = vmf->pgoff - vma->vm_pgoff;
	/* The entries of a page table, of 8 bytes, fill a page. */
	const __u64 table_pages = 1ULL << (page_shift - 3);
	const __u64 in_table = vmf->address >> page_shift & (table_pages - 1);

	/* v6.18 also made the flags of a folio a structure. */
	if (!bpf_core_field_exists(folio->flags.f) || pages == 1 || vma->vm_flags & VM_UFFD_WP)
		return false;
	return before <= in_vma &&
	       in_vma - before + pages <= (vma->vm_end - vma->vm_start) >> page_shift &&
	       before <= in_table && in_table - before + pages <= table_pages &&
	       (vmf->pgoff - before + pages - 1) << page_shift <
		       (__u64)vma->vm_file->f_inode->i_size;
}

/* The call kept the lock, so the VMA still exists. The page may be the copy for a private write. */
static __always_inline void call_set_folio(struct finished_call *done, struct call_state *call,
					   const struct vm_fault *vmf, const struct page *page)
{
	__u64 pages_in;
	const __u32 pages = folio_pages(call_folio(call, page, &pages_in));

	done->order = order_of(pages);
	done->is_folio = is_mapped_whole(vmf, pages_in, pages);
}

static __always_inline __u8 order_of_page(struct call_state *call, const struct page *page)
{
	__u64 pages_in;

	return order_of(folio_pages(call_folio(call, page, &pages_in)));
}

/* The call has mapped the page at the offset, which is in the page cache. */
static __always_inline __u8 order_of_cached(const struct vm_fault *vmf)
{
	const struct file *file = vmf->vma->vm_file;
	const struct folio *folio;

	if (!file || !may_have_large_folios(file->f_mapping))
		return 0;
	folio = cached_folio(file->f_mapping, vmf->pgoff);
	return folio ? order_of(folio_pages(folio)) : 0;
}

/*
 * A mark counts only if on_call_readahead() meets it. A retried call does not return RETRY, and the
 * mapping on which pfdrive times the programs has no file.
 */
static __always_inline __u64 flags_before(const struct vm_fault *vmf)
{
	const struct file *file = vmf->vma->vm_file;
	__u64 flags;

	if (!file || flags_of_call(vmf) & PFSTAT_FLAG_TRIED)
		return PAGE_NOT_CACHED;
	flags = cached_flags(file->f_mapping, vmf->pgoff);
	return flags == PAGE_NOT_CACHED ? flags : flags & ~folio_readahead_flag();
}

static __always_inline int fault_call_begins(const struct vm_fault *vmf)
{
	struct call_state *call = call_to_record();

	if (!call)
		return 0;
	if (call_begins(call, vmf, PFSTAT_OP_FAULT))
		call->flags_before = flags_before(vmf);
	call->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* The VMA may be gone now, the struct vm_fault belongs to the caller. */
static __always_inline int fault_call_ends(const struct vm_fault *vmf, __u32 result)
{
	const __u64 now = bpf_ktime_get_ns();
	struct fault_state *state = state_in_call();
	const struct page *page;
	struct finished_call done;

	if (!state)
		return 0;
	done = (struct finished_call){
		.now = now,
		.address = call_address(state, vmf),
		.pgoff = vmf->pgoff,
		.result = result,
		.flags = flags_of_call(vmf),
		.op = PFSTAT_OP_FAULT,
	};
	if (!(result & (PFSTAT_RESULT_ERROR | PFSTAT_RESULT_NOPAGE | PFSTAT_RESULT_RETRY))) {
		page = vmf->cow_page;
		done.is_copy = page ? 1 : 0;
		if (!page)
			page = vmf->page;
		if (page)
			call_set_folio(&done, &state->call, vmf, page);
	}
	return call_ends(state, &done);
}

static __always_inline int map_pages_begins(const struct vm_fault *vmf, unsigned long first,
					    unsigned long last)
{
	struct call_state *call = call_to_record();

	if (!call)
		return 0;
	if (call_begins(call, vmf, PFSTAT_OP_MAP_PAGES)) {
		call->around_before = vmf->pgoff - first;
		call->around_pages = last - first + 1;
	}
	call->start_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int map_pages_ends(const struct vm_fault *vmf, __u32 result)
{
	const __u64 now = bpf_ktime_get_ns();
	struct fault_state *state = state_in_call();
	struct finished_call done;

	if (!state)
		return 0;
	done = (struct finished_call){
		.now = now,
		.address = call_address(state, vmf),
		.pgoff = vmf->pgoff,
		.result = result,
		.flags = flags_of_call(vmf),
		.op = PFSTAT_OP_MAP_PAGES,
		.order = result & PFSTAT_RESULT_NOPAGE ? order_of_cached(vmf) : 0,
	};
	return call_ends(state, &done);
}

static __always_inline int mkwrite_begins(const struct vm_fault *vmf)
{
	struct call_state *call = call_to_record();

	if (!call)
		return 0;
	call_begins(call, vmf, PFSTAT_OP_PAGE_MKWRITE);
	call->start_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * v6.7 added an argument: the helper, which came with v5.17, knows where the result is. Without it
 * the result follows the only argument.
 */
static __always_inline int mkwrite_ends(unsigned long long *ctx, const struct vm_fault *vmf)
{
	const __u64 now = bpf_ktime_get_ns();
	struct fault_state *state = state_in_call();
	struct finished_call done;
	__u64 result = 0;

	if (!state)
		return 0;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_func_ret))
		bpf_get_func_ret(ctx, &result);
	else
		result = ctx[1];
	done = (struct finished_call){
		.now = now,
		.address = call_address(state, vmf),
		.pgoff = vmf->pgoff,
		.result = result,
		.flags = FLAGS_OF_MKWRITE,
		.op = PFSTAT_OP_PAGE_MKWRITE,
	};
	if (vmf->page)
		done.order = order_of_page(&state->call, vmf->page);
	return call_ends(state, &done);
}

/* The call met the mark; another thread may have cleared it since. */
static __always_inline int readahead_begins(const struct folio *folio)
{
	struct fault_state *state = state_in_call();

	if (state)
		state->call.marked_flags = folio_flags(folio) | folio_readahead_flag();
	return 0;
}

SEC("?fentry/__do_fault")
int BPF_PROG(on_call_fault, struct vm_fault *vmf)
{
	return fault_call_begins(vmf);
}

SEC("?fexit/__do_fault")
int BPF_PROG(on_call_fault_done, struct vm_fault *vmf, unsigned int result)
{
	return fault_call_ends(vmf, result);
}

SEC("?fentry/filemap_map_pages")
int BPF_PROG(on_call_map_pages, struct vm_fault *vmf, unsigned long first, unsigned long last)
{
	return map_pages_begins(vmf, first, last);
}

SEC("?fexit/filemap_map_pages")
int BPF_PROG(on_call_map_pages_done, struct vm_fault *vmf, unsigned long first, unsigned long last,
	     unsigned int result)
{
	return map_pages_ends(vmf, result);
}

SEC("?fentry/do_page_mkwrite")
int BPF_PROG(on_call_mkwrite, struct vm_fault *vmf)
{
	return mkwrite_begins(vmf);
}

SEC("?fexit/do_page_mkwrite")
int BPF_PROG(on_call_mkwrite_done, struct vm_fault *vmf)
{
	return mkwrite_ends(ctx, vmf);
}

SEC("?fentry/page_cache_async_ra")
int BPF_PROG(on_call_readahead, void *control, struct folio *folio)
{
	return readahead_begins(folio);
}

/*
 * A kernel that preempts its own code may skip a program: see hooks_choose_doubles(). The second
 * copies record the calls of which the first ones were skipped, and find all others done.
 */
SEC("?fentry/__do_fault")
int BPF_PROG(on_call_fault_again, struct vm_fault *vmf)
{
	return fault_call_begins(vmf);
}

SEC("?fexit/__do_fault")
int BPF_PROG(on_call_fault_done_again, struct vm_fault *vmf, unsigned int result)
{
	return fault_call_ends(vmf, result);
}

SEC("?fentry/filemap_map_pages")
int BPF_PROG(on_call_map_pages_again, struct vm_fault *vmf, unsigned long first, unsigned long last)
{
	return map_pages_begins(vmf, first, last);
}

SEC("?fexit/filemap_map_pages")
int BPF_PROG(on_call_map_pages_done_again, struct vm_fault *vmf, unsigned long first,
	     unsigned long last, unsigned int result)
{
	return map_pages_ends(vmf, result);
}

SEC("?fentry/do_page_mkwrite")
int BPF_PROG(on_call_mkwrite_again, struct vm_fault *vmf)
{
	return mkwrite_begins(vmf);
}

SEC("?fexit/do_page_mkwrite")
int BPF_PROG(on_call_mkwrite_done_again, struct vm_fault *vmf)
{
	return mkwrite_ends(ctx, vmf);
}

SEC("?fentry/page_cache_async_ra")
int BPF_PROG(on_call_readahead_again, void *control, struct folio *folio)
{
	return readahead_begins(folio);
}

/*
 * The share of the programs in the duration of a call: the same two clock reads around a function
 * of the kernel that only adds 1. pfdrive runs it (BPF_PROG_TEST_RUN) before anything is watched.
 */
__u64 calibration_ns, calibrated_ns, calibrations;

SEC("?fentry/bpf_fentry_test1")
int BPF_PROG(on_calibrate)
{
	calibration_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?fexit/bpf_fentry_test1")
int BPF_PROG(on_calibrate_done)
{
	const __u64 now = bpf_ktime_get_ns();

	calibrated_ns += now - calibration_ns;
	calibrations++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
