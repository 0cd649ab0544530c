// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds where the content of a fault's page comes from, as far as only functions within the fault
 * see it. The thread's state keeps the result, and mm.bpf.c sends it with the fault. A copy is
 * judged when do_wp_page() returns: then vmf->page is the previously mapped page, and if the kernel
 * did not copy this page, it has marked the page as the process's own.
 */
#include <linux/ptrace.h>

#include <pfstat/record.h>

#include "common.bpf.h"
#include "fault_state.bpf.h"
#include "graph_probe.bpf.h"
#include "page.bpf.h"
#include "recordable.bpf.h"
#include "vma.bpf.h"

static __always_inline bool is_exclusive(const struct page *page)
{
	return folio_has((const struct folio *)page,
			 bpf_core_enum_value(enum pageflags, PG_anon_exclusive));
}

/* The number is the page's address. */
static __always_inline __u8 content_of_page(__u64 number, __u64 vm_flags)
{
	const struct page *page = (const struct page *)number;
	__u64 mapping, pages_in;

	mapping = FOLIO_READ(page_folio(page, &pages_in), mapping);
	if ((mapping & MAPPING_FLAGS) == MAPPING_FLAGS)
		return PFSTAT_CONTENT_KSM;
	/*
	 * This was the last use of the page, and the page is free. The kernel does not copy an
	 * anonymous page that no other process has, but copies each KSM page.
	 */
	if (!mapping)
		return vm_flags & VM_MERGEABLE ? PFSTAT_CONTENT_KSM : PFSTAT_CONTENT_UNKNOWN;
	if (!(mapping & MAPPING_FLAGS))
		return PFSTAT_CONTENT_FILE;
	if (!(mapping & MAPPING_ANON) ||
	    !bpf_core_enum_value_exists(enum pageflags, PG_anon_exclusive))
		return PFSTAT_CONTENT_UNKNOWN;
	return is_exclusive(page) ? PFSTAT_CONTENT_REUSED : PFSTAT_CONTENT_FORK;
}

/* Without RETRY the VMA still exists. In one of ordinary pages, only zeros are not a page. */
static __always_inline int copy_ends(struct fault_state *state, const struct vm_fault *vmf,
				     __u32 result)
{
	__u64 page, vm_flags;

	if (!state || state->kind != PFSTAT_FAULT_COW ||
	    result & (PFSTAT_RESULT_RETRY | PFSTAT_RESULT_ERROR))
		return 0;
	page = (__u64)BPF_CORE_READ(vmf, page);
	vm_flags = vmf->vma->vm_flags;
	if (page)
		state->content = content_of_page(page, vm_flags);
	else if (!(vm_flags & (VM_PFNMAP | VM_MIXEDMAP)))
		state->content = PFSTAT_CONTENT_ZERO;
	return 0;
}

SEC("fexit/do_wp_page")
int BPF_PROG(on_wp_page_done, struct vm_fault *vmf, unsigned int result)
{
	return copy_ends(fault_state_now(), vmf, result);
}

SEC("kretprobe.multi/do_wp_page")
int BPF_KRETPROBE(on_wp_page_done_kprobe, unsigned int result)
{
	struct fault_state *state;

	if (!have_graph_probes)
		return 0;
	state = fault_state_now();
	if (!state || state->kind != PFSTAT_FAULT_COW)
		return 0;
	return copy_ends(state, KERNEL_OBJECT(state->call.vmf, vm_fault), result);
}

/* `expected` is the entry for a page in swap. A new page replaces no entry. */
static __always_inline int shared_page_is_added(const void *expected)
{
	struct fault_state *state = fault_state_now();

	if (state && !expected)
		state->content = PFSTAT_CONTENT_NEW;
	return 0;
}

SEC("fentry/shmem_add_to_page_cache")
int BPF_PROG(on_new_shared_page, void *folio, void *mapping, unsigned long index, void *expected)
{
	return shared_page_is_added(expected);
}

SEC("kprobe.multi/shmem_add_to_page_cache")
int BPF_KPROBE(on_new_shared_page_kprobe, void *folio, void *mapping, unsigned long index,
	       void *expected)
{
	return shared_page_is_added(expected);
}

/* A read maps the existing huge zero page. The last table has entries of 8 bytes. */
static __always_inline int huge_page_is_mapped(__u32 result)
{
	struct fault_state *state = fault_state_now();

	if (state && !result && state->flags & PFSTAT_FLAG_WRITE)
		state->huge_order = page_shift - 3;
	return 0;
}

SEC("fexit/do_huge_pmd_anonymous_page")
int BPF_PROG(on_huge_page, struct vm_fault *vmf, unsigned int result)
{
	return huge_page_is_mapped(result);
}

SEC("kretprobe.multi/do_huge_pmd_anonymous_page")
int BPF_KRETPROBE(on_huge_page_kprobe, unsigned int result)
{
	return huge_page_is_mapped(result);
}
