// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fault source without the module. Each call to ->fault(), ->map_pages() and ->page_mkwrite()
 * in a target's recordable mapping makes a record. The programs are attached to the memory manager
 * functions that make these calls, within handle_mm_fault(). The programs on handle_mm_fault()
 * (mm.bpf.c) have already found the thread's state and the file. A record waits in the state until
 * the fault's next call starts, or until handle_mm_fault() returns: then the record gets the time
 * of handle_mm_fault().
 *
 * The page state met by a call follows from the call's result, as in the module (module/attempt.c).
 * A RETRY result leaves the state open: then it is the page cache state before the call, or the
 * state of the page at whose mark the call read ahead. The module has a probe where the call waits,
 * which no eBPF program can reach. The class comes from common/classify.c.
 *
 * The clock is read last at the start of a call and first at the end, so the duration contains the
 * kernel's own way into and out of the programs, but not the programs.
 */
#include <linux/ptrace.h>

#include <pfstat/record.h>

#include "arch.bpf.h"
#include "call_folio.bpf.h"
#include "fault_state.bpf.h"
#include "graph_probe.bpf.h"
#include "page.bpf.h"
#include "page_cache.bpf.h"
#include "record_ring.bpf.h"
#include "recordable.bpf.h"
#include "vma.bpf.h"

/* In line: the verifier checks it with the facts known to the caller. */
struct pfstat_facts;
static __always_inline enum pfstat_class pfstat_classify(const struct pfstat_facts *facts);
#include "common/classify.c"

const volatile bool record_calls;
const volatile __u32 record_rings = 1, record_mask;
__u32 record_named_files;

/* In older kernels the flags are a number, which is another type. */
struct vm_fault___number {
	unsigned int flags;
} __attribute__((preserve_access_index));

static __always_inline __u64 completed_faults(const struct task_struct *task)
{
	return task->min_flt + task->maj_flt;
}

/* As pfstat_chain_resume() in module/chain.c. */
static __always_inline void call_resume(struct fault_state *state, __u64 page,
					const struct task_struct *task)
{
	struct call_state *call = &state->call;

	state->record.earlier_ns = 0;
	call->cause = PFSTAT_NR_CLASSES;
	if (!call->suspended_ns)
		return;
	if (call->suspended_page == page && call->suspended_faults == completed_faults(task)) {
		state->record.earlier_ns = call->suspended_ns;
		call->cause = call->suspended_cause;
	}
	call->suspended_ns = 0;
}

/* As attempt_suspend() in module/attempt.c. */
static __always_inline void call_suspend(struct fault_state *state, const struct task_struct *task)
{
	const __u8 class = state->record.class;
	struct call_state *call = &state->call;
	const bool disk = class == PFSTAT_CLASS_DISK || class == PFSTAT_CLASS_WAIT ||
			  class == PFSTAT_CLASS_READAHEAD;

	if (class != PFSTAT_CLASS_PASS && !(state->record.result & PFSTAT_RESULT_RETRY))
		return;
	call->suspended_cause = disk ? class : call->cause;
	call->suspended_page = state->record.address >> page_shift;
	call->suspended_faults = completed_faults(task);
	call->suspended_ns = state->record.start_ns;
}

/* Before v5.17, struct vm_fault has only the page address. */
static __always_inline bool is_in_fault(const struct fault_state *state, const struct vm_fault *vmf)
{
	if (HAVE_REAL_ADDRESS)
		return vmf->real_address == state->record.address;
	return vmf->address >> page_shift == state->record.address >> page_shift;
}

/* Not in line: only a call following another one needs it. */
static __noinline void record_store_earlier(struct fault_state *state)
{
	record_store(state, record_ip(state), 0);
}

/*
 * Prepares a call, unless another copy of the program has started it: see hooks_choose_doubles().
 * Then the caller only reads the clock anew. NULL: the call is not recorded. The address differs if
 * the kernel skipped the programs that would have seen the last fault end and this one start.
 */
static __always_inline struct fault_state *call_begins(const struct vm_fault *vmf, __u8 op)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct fault_state *state = fault_state_now_of(task);
	struct call_state *call;

	if (!state || !state->call.is_recordable || !is_in_fault(state, vmf))
		return NULL;
	call = &state->call;
	if (call->stage == CALL_BEGUN && state->record.op == op)
		return state;
	if (call->stage == CALL_WAITING)
		record_store_earlier(state);
	state->record.op = op;
	state->record.around_before = 0;
	state->record.around_pages = 0;
	call->stage = CALL_NONE;
	if (have_graph_probes)
		call->vmf = (__u64)vmf;
	call->marked_flags = 0;
	call->flags_before = PAGE_NOT_CACHED;
	call->switches = task->nvcsw;
	call->preempted = task->nivcsw;
	call_resume(state, state->record.address >> page_shift, task);
	return state;
}

/* The clock is read last. */
static __always_inline int call_has_begun(struct fault_state *state)
{
	state->call.stage = CALL_BEGUN;
	state->record.start_ns = bpf_ktime_get_ns();
	return 0;
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
 * Like pfstat_attempt_met() in module/attempt.c. A fault that read the page itself also waited for
 * the page's lock, so MAJOR comes first. LOCKED without MAJOR implies an up-to-date page.
 */
static __always_inline __u8 call_met(const struct call_state *call,
				     const struct pfstat_record *record)
{
	const __u32 result = record->result;

	if (record->op != PFSTAT_OP_FAULT || call->is_dax || result & PFSTAT_RESULT_ERROR)
		return PFSTAT_BEFORE_UNKNOWN;
	if (result & (PFSTAT_RESULT_MAJOR | PFSTAT_RESULT_NOPAGE))
		return PFSTAT_BEFORE_ABSENT;
	if (result & PFSTAT_RESULT_LOCKED)
		return PFSTAT_BEFORE_CACHED;
	if (call->marked_flags)
		return state_of_folio(call->marked_flags);
	/* It was absent then, and another thread has begun to read it. */
	if (call->flags_before == PAGE_NOT_CACHED)
		return PFSTAT_BEFORE_ABSENT;
	return state_of_folio(call->flags_before);
}

/*
 * The op and the result are in the record already, as are the order and the facts of the page. The
 * frame stays unknown: the programs do not look it up.
 */
static __always_inline int call_ends(struct fault_state *state, __u64 now)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct pfstat_record *record = &state->record;
	struct call_state *call = &state->call;
	const bool slept = task->nvcsw != call->switches;
	const struct pfstat_facts facts = {
		.op = record->op,
		.before = call_met(call, record),
		.cause = call->cause,
		.slept = slept,
		.result = record->result,
	};

	if (stopped)
		return 0;
	record->duration_ns = now - record->start_ns;
	record->class = pfstat_classify(&facts);
	record->before = facts.before;
	record->facts |= (slept ? PFSTAT_FACT_SLEPT : 0) |
			 (task->nivcsw != call->preempted ? PFSTAT_FACT_PREEMPTED : 0) |
			 (call->shared ? PFSTAT_FACT_SHARED : 0);
	call_suspend(state, task);
	call->left_record = 1;
	call->stage = CALL_WAITING;
	return 0;
}

static __always_inline __u32 flags_of_call(const struct vm_fault *vmf)
{
	const struct vm_fault___number *number = (const void *)vmf;

	return bpf_core_field_exists(vmf->flags) ? (__u32)vmf->flags : number->flags;
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

/* A mark counts only if on_call_readahead() meets it. A retried call does not return RETRY. */
static __always_inline __u64 flags_before(const struct vm_fault *vmf)
{
	const struct file *file;
	__u64 flags;

	if (flags_of_call(vmf) & PFSTAT_FLAG_TRIED)
		return PAGE_NOT_CACHED;
	/* The mapping on which pfdrive times the programs has no file. */
	file = vmf->vma->vm_file;
	if (!file)
		return PAGE_NOT_CACHED;
	flags = cached_flags(file->f_mapping, vmf->pgoff);
	return flags == PAGE_NOT_CACHED ? flags : flags & ~folio_readahead_flag();
}

static __always_inline int fault_call_begins(const struct vm_fault *vmf)
{
	struct fault_state *state = call_begins(vmf, PFSTAT_OP_FAULT);

	if (!state)
		return 0;
	if (state->call.stage != CALL_BEGUN)
		state->call.flags_before = flags_before(vmf);
	return call_has_begun(state);
}

static __always_inline void call_set_result(struct fault_state *state, __u32 result, __u32 flags)
{
	state->record.result = result;
	state->record.flags = flags;
	state->record.order = 0;
	state->record.facts = 0;
}

/* The VMA may be gone now, the struct vm_fault belongs to the caller. */
static __always_inline int fault_call_ends(struct fault_state *state, const struct vm_fault *vmf,
					   __u32 result, __u64 now)
{
	const struct page *page = NULL;

	if (!state)
		return 0;
	call_set_result(state, result, flags_of_call(vmf));
	if (!(result & (PFSTAT_RESULT_ERROR | PFSTAT_RESULT_NOPAGE | PFSTAT_RESULT_RETRY))) {
		/* Only a write to a private mapping has it. */
		if (state->record.flags & PFSTAT_FLAG_WRITE)
			page = vmf->cow_page;
		if (page)
			state->record.facts = PFSTAT_FACT_COW;
		else
			page = vmf->page;
		if (page)
			call_set_folio(state, vmf, page);
	}
	return call_ends(state, now);
}

static __always_inline int map_pages_begins(const struct vm_fault *vmf, unsigned long first,
					    unsigned long last)
{
	struct fault_state *state = call_begins(vmf, PFSTAT_OP_MAP_PAGES);

	if (!state)
		return 0;
	state->record.around_before = vmf->pgoff - first;
	state->record.around_pages = last - first + 1;
	return call_has_begun(state);
}

static __always_inline int map_pages_ends(struct fault_state *state, const struct vm_fault *vmf,
					  __u32 result, __u64 now)
{
	if (!state)
		return 0;
	call_set_result(state, result, flags_of_call(vmf));
	if (result & PFSTAT_RESULT_NOPAGE)
		state->record.order = order_of_cached(vmf);
	return call_ends(state, now);
}

static __always_inline int mkwrite_begins(const struct vm_fault *vmf)
{
	struct fault_state *state = call_begins(vmf, PFSTAT_OP_PAGE_MKWRITE);

	return state ? call_has_begun(state) : 0;
}

/* During the call, do_page_mkwrite() replaces the fault's flags. */
static __always_inline int mkwrite_ends(struct fault_state *state, const struct vm_fault *vmf,
					__u32 result, __u64 now)
{
	if (!state)
		return 0;
	call_set_result(state, result, state->flags | PFSTAT_FLAG_WRITE);
	if (vmf->page)
		state->record.order = order_of_page(state, vmf->page);
	return call_ends(state, now);
}

/*
 * v6.7 added an argument: the helper, which came with v5.17, knows where the result is. Without it
 * the result follows the only argument.
 */
static __always_inline __u32 mkwrite_result(unsigned long long *ctx)
{
	__u64 result = 0;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_func_ret))
		return ctx[1];
	bpf_get_func_ret(ctx, &result);
	return result;
}

/* For a return probe, which does not get the argument. */
static __always_inline const struct vm_fault *vmf_of_call(const struct fault_state *state)
{
	return KERNEL_OBJECT(state->call.vmf, vm_fault);
}

SEC("?fentry/__do_fault")
int BPF_PROG(on_call_fault, struct vm_fault *vmf)
{
	return fault_call_begins(vmf);
}

SEC("?fexit/__do_fault")
int BPF_PROG(on_call_fault_done, struct vm_fault *vmf, unsigned int result)
{
	const __u64 now = bpf_ktime_get_ns();

	return fault_call_ends(state_in_call(), vmf, result, now);
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
	const __u64 now = bpf_ktime_get_ns();

	return map_pages_ends(state_in_call(), vmf, result, now);
}

SEC("?fentry/do_page_mkwrite")
int BPF_PROG(on_call_mkwrite, struct vm_fault *vmf)
{
	return mkwrite_begins(vmf);
}

SEC("?fexit/do_page_mkwrite")
int BPF_PROG(on_call_mkwrite_done, struct vm_fault *vmf)
{
	const __u64 now = bpf_ktime_get_ns();

	return mkwrite_ends(state_in_call(), vmf, mkwrite_result(ctx), now);
}

/*
 * A preemptible kernel may skip a program: see hooks_choose_doubles(). The second copies record the
 * calls for which the first copies were skipped, and find all other calls done.
 */
SEC("?fentry/__do_fault")
int BPF_PROG(on_call_fault_again, struct vm_fault *vmf)
{
	return fault_call_begins(vmf);
}

SEC("?fexit/__do_fault")
int BPF_PROG(on_call_fault_done_again, struct vm_fault *vmf, unsigned int result)
{
	const __u64 now = bpf_ktime_get_ns();

	return fault_call_ends(state_in_call(), vmf, result, now);
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
	const __u64 now = bpf_ktime_get_ns();

	return map_pages_ends(state_in_call(), vmf, result, now);
}

SEC("?fentry/do_page_mkwrite")
int BPF_PROG(on_call_mkwrite_again, struct vm_fault *vmf)
{
	return mkwrite_begins(vmf);
}

SEC("?fexit/do_page_mkwrite")
int BPF_PROG(on_call_mkwrite_done_again, struct vm_fault *vmf)
{
	const __u64 now = bpf_ktime_get_ns();

	return mkwrite_ends(state_in_call(), vmf, mkwrite_result(ctx), now);
}

/* Used instead on a preemptible kernel with such probes: see graph_probe.bpf.h. */
SEC("?kprobe.multi/__do_fault")
int BPF_KPROBE(on_call_fault_kprobe, void *vmf)
{
	return fault_call_begins(KERNEL_OBJECT(vmf, vm_fault));
}

SEC("?kretprobe.multi/__do_fault")
int BPF_KRETPROBE(on_call_fault_done_kprobe, unsigned int result)
{
	const __u64 now = bpf_ktime_get_ns();
	struct fault_state *state = state_in_call();

	return state ? fault_call_ends(state, vmf_of_call(state), result, now) : 0;
}

SEC("?kprobe.multi/filemap_map_pages")
int BPF_KPROBE(on_call_map_pages_kprobe, void *vmf, unsigned long first, unsigned long last)
{
	return map_pages_begins(KERNEL_OBJECT(vmf, vm_fault), first, last);
}

SEC("?kretprobe.multi/filemap_map_pages")
int BPF_KRETPROBE(on_call_map_pages_done_kprobe, unsigned int result)
{
	const __u64 now = bpf_ktime_get_ns();
	struct fault_state *state = state_in_call();

	return state ? map_pages_ends(state, vmf_of_call(state), result, now) : 0;
}

SEC("?kprobe.multi/do_page_mkwrite")
int BPF_KPROBE(on_call_mkwrite_kprobe, void *vmf)
{
	return mkwrite_begins(KERNEL_OBJECT(vmf, vm_fault));
}

SEC("?kretprobe.multi/do_page_mkwrite")
int BPF_KRETPROBE(on_call_mkwrite_done_kprobe, unsigned int result)
{
	const __u64 now = bpf_ktime_get_ns();
	struct fault_state *state = state_in_call();

	return state ? mkwrite_ends(state, vmf_of_call(state), result, now) : 0;
}

char LICENSE[] SEC("license") = "GPL";
