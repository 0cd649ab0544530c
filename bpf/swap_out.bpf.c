// SPDX-License-Identifier: GPL-2.0-only
/*
 * Anonymous pages of the targets that leave the swap cache in reclaim, and so memory. The page's
 * address in its process is the key by which a later fault finds it: it comes from the mapping in
 * the page's anon_vma that made the page. Pages that a fork shares count for that process only. The
 * search holds no lock, so a concurrent change may hide the page.
 */
#include <linux/ptrace.h>

#include "anon_vma.bpf.h"
#include "common.bpf.h"
#include "page.bpf.h"
#include "removal.bpf.h"

/*
 * Maximum number of steps in the tree, down and up. A tree with a million mappings has 20 levels,
 * at most 40. A page that needs more steps is not sent.
 */
#define MAX_STEPS 64
#define RB_COLOR  0x3UL /* in rb_node.__rb_parent_color: the other bits are the parent */

/* The direction from which the walk reached a mapping. */
enum walk_state {
	WALK_FROM_ABOVE,
	WALK_FROM_LEFT,
	WALK_FROM_RIGHT,
	WALK_COMPLETE, /* the maker was found, or all mappings that may have the page */
};

/*
 * A search for the page's mapping. A member is copied before BPF_CORE_READ(), because this macro
 * would look up the member in the kernel's types.
 */
struct anon_walk {
	const struct anon_vma *anon_vma;
	__u64 index; /* the page's */
	const struct rb_node *node;
	const struct vm_area_struct___anon *maker; /* NULL: not found */
	const struct vm_area_struct___anon *user;  /* may have the page; NULL: none */
	__u32 users;
	__u32 state; /* enum walk_state */
};

/* A subtree whose last page is before the page cannot contain it. */
static __always_inline bool walk_down(struct anon_walk *walk, const struct rb_node *child)
{
	const struct anon_vma_chain *chain = chain_of(child);

	if (!child || BPF_CORE_READ(chain, rb_subtree_last) < walk->index)
		return false;
	walk->node = child;
	walk->state = WALK_FROM_ABOVE;
	return true;
}

/* Returns false at the root. */
static __always_inline bool walk_up(struct anon_walk *walk)
{
	const struct rb_node *node = walk->node;
	const struct rb_node *parent =
		(const void *)(BPF_CORE_READ(node, __rb_parent_color) & ~RB_COLOR);

	if (!parent)
		return false;
	walk->state = BPF_CORE_READ(parent, rb_left) == node ? WALK_FROM_LEFT : WALK_FROM_RIGHT;
	walk->node = parent;
	return true;
}

/* Returns false at the page's maker, and at the first mapping that starts after the page. */
static __always_inline bool walk_visit(struct anon_walk *walk)
{
	const struct anon_vma_chain *chain = chain_of(walk->node);
	const struct vm_area_struct___anon *vma = BPF_CORE_READ(chain, vma);
	const __u64 first = BPF_CORE_READ(vma, vm_pgoff);
	__u64 bytes;

	if (walk->index < first)
		return false;
	bytes = BPF_CORE_READ(vma, vm_end) - BPF_CORE_READ(vma, vm_start);
	if (walk->index - first >= bytes >> page_shift)
		return true;
	walk->user = vma;
	walk->users++;
	if (BPF_CORE_READ(vma, anon_vma) != walk->anon_vma)
		return true;
	walk->maker = vma;
	return false;
}

/* Visits the mappings in the order of their first pages. Returns false at the end. */
static __always_inline bool walk_on(struct anon_walk *walk)
{
	const struct rb_node *node = walk->node;

	if (walk->state == WALK_FROM_ABOVE && walk_down(walk, BPF_CORE_READ(node, rb_left)))
		return true;
	if (walk->state == WALK_FROM_RIGHT)
		return walk_up(walk);
	if (!walk_visit(walk))
		return false;
	return walk_down(walk, BPF_CORE_READ(node, rb_right)) || walk_up(walk);
}

/*
 * The verifier checks a global function once, not for each step. Returns 1 at the end of the walk,
 * else 0.
 */
__noinline int anon_walk_step(struct anon_walk *walk)
{
	if (!walk)
		return 1;
	if (walk_on(walk))
		return 0;
	walk->state = WALK_COMPLETE;
	return 1;
}

/*
 * Returns the mapping that made the page. If this mapping has ended, as with a daemon's first
 * process, returns the only mapping left. NULL: not found, or several mappings may have the page.
 */
static __always_inline const struct vm_area_struct___anon *
find_mapping(const struct anon_vma *anon_vma, __u64 index)
{
	struct anon_walk walk = {
		.anon_vma = anon_vma,
		.index = index,
		.node = BPF_CORE_READ(anon_vma, rb_root.rb_root.rb_node),
	};
	int steps;

	if (!walk.node)
		return NULL;
	for (steps = 0; steps < MAX_STEPS; steps++)
		if (anon_walk_step(&walk))
			break;
	if (walk.maker)
		return walk.maker;
	return walk.state == WALK_COMPLETE && walk.users == 1 ? walk.user : NULL;
}

/* Only reclaim passes a shadow. A page that was read ahead and not used has no anon_vma. */
static __always_inline int swap_out(const struct folio *folio, const void *shadow)
{
	const struct anon_vma *anon_vma = folio_anon_vma(folio);
	const struct vm_area_struct___anon *vma;
	const struct task_struct *owner;
	struct file_page first = {};
	__u64 index;
	__u32 pid;

	if (!shadow || !anon_vma)
		return 0;
	index = FOLIO_READ(folio, index);
	vma = find_mapping(anon_vma, index);
	if (!vma)
		return 0;
	owner = vma_owner(vma);
	if (!owner)
		return 0;
	pid = BPF_CORE_READ(owner, tgid);
	if (!is_target(pid, BPF_CORE_READ(owner, pid)))
		return 0;
	first.inode = pid;
	first.pgoff =
		(BPF_CORE_READ(vma, vm_start) >> page_shift) + index - BPF_CORE_READ(vma, vm_pgoff);
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
