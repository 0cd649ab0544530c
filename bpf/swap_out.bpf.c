// SPDX-License-Identifier: GPL-2.0-only
/*
 * Anonymous pages of the targets that leave the swap cache in reclaim, and so memory. The page's
 * address in its process is the key by which a later fault finds it: it comes from the mapping in
 * the page's anon_vma that made the page. Pages that a fork shares count for that process only.
 */
#include <linux/ptrace.h>

#include "anon_vma.bpf.h"
#include "common.bpf.h"
#include "page.bpf.h"
#include "removal.bpf.h"

/* Steps in the tree, each of which costs the verifier much. Pages that need more are not sent. */
#define MAX_DEPTH 5

struct found_vma {
	const struct vm_area_struct___anon *vma; /* NULL: none */
	__u64 address;
};

/* Fills *found if the mapping made the page. */
static __always_inline void check_vma(const struct anon_vma *anon_vma,
				      const struct vm_area_struct___anon *vma, __u64 index,
				      struct found_vma *found)
{
	const __u64 start = BPF_CORE_READ(vma, vm_start), end = BPF_CORE_READ(vma, vm_end);
	const __u64 first = BPF_CORE_READ(vma, vm_pgoff);

	if (index < first || index - first >= (end - start) >> page_shift ||
	    BPF_CORE_READ(vma, anon_vma) != anon_vma)
		return;
	found->vma = vma;
	found->address = start + ((index - first) << page_shift);
}

/* As the kernel searches: a subtree whose last page is before the page cannot contain it. */
static __always_inline void find_mapping(const struct anon_vma *anon_vma, __u64 index,
					 struct found_vma *found)
{
	const struct rb_node *node = BPF_CORE_READ(anon_vma, rb_root.rb_root.rb_node);
	const struct rb_node *left;
	int depth;

	found->vma = NULL;
	for (depth = 0; depth < MAX_DEPTH && node; depth++) {
		check_vma(anon_vma, BPF_CORE_READ(chain_of(node), vma), index, found);
		if (found->vma)
			return;
		left = BPF_CORE_READ(node, rb_left);
		if (left && BPF_CORE_READ(chain_of(left), rb_subtree_last) >= index)
			node = left;
		else
			node = BPF_CORE_READ(node, rb_right);
	}
}

/* Only reclaim passes a shadow. A page that was read ahead and not used has no anon_vma. */
static __always_inline int swap_out(const struct folio *folio, const void *shadow)
{
	const struct anon_vma *anon_vma = folio_anon_vma(folio);
	struct file_page first = {};
	const struct task_struct *owner;
	struct found_vma found;
	__u32 pid;

	if (!shadow || !anon_vma)
		return 0;
	find_mapping(anon_vma, FOLIO_READ(folio, index), &found);
	if (!found.vma)
		return 0;
	owner = vma_owner(found.vma);
	if (!owner)
		return 0;
	pid = BPF_CORE_READ(owner, tgid);
	if (!is_target(pid, BPF_CORE_READ(owner, pid)))
		return 0;
	first.inode = pid;
	first.pgoff = found.address >> page_shift;
	removal_send(folio, &first, PFSTAT_PAGE_ANON);
	return 0;
}

/* A kernel has one of these functions: see swap.bpf.c. */
SEC("kprobe/__delete_from_swap_cache")
int BPF_KPROBE(on_swap_out, struct folio *folio, __u64 entry, void *shadow)
{
	(void)entry;
	return swap_out(folio, shadow);
}

SEC("kprobe/__swap_cache_del_folio")
int BPF_KPROBE(on_swap_out_inner, void *cluster, struct folio *folio, __u64 entry, void *shadow)
{
	(void)cluster;
	(void)entry;
	return swap_out(folio, shadow);
}

char LICENSE[] SEC("license") = "GPL";
