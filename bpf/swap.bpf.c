// SPDX-License-Identifier: GPL-2.0-only
/*
 * Swap on the whole machine: an anonymous memory page leaves the swap cache, and so the memory.
 * Later it is read again from the same slot. Meanwhile the evicting process and the owner are kept
 * for the slot (`swap_slots`). They are counted as a pair (`swap_pairs`) when the page is read.
 */
#include <linux/ptrace.h>

#include "anon_vma.bpf.h"
#include "common.bpf.h"
#include "page.bpf.h"

#define MAX_PAIRS 4096

struct slot {
	__u64 entry; /* 0 if none, since a swap area starts with a header page */
	__u32 evictor;
	__u32 owner;
};

/* One entry per slot. With several areas two slots may want the same place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slot);
} swap_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PAIRS);
	__type(key, struct pfstat_swap_pair);
	__type(value, __u64);
} swap_pairs SEC(".maps");

struct comm {
	char text[16];
};

/* The first name seen for a process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PAIRS);
	__type(key, __u32); /* process */
	__type(value, struct comm);
} swap_names SEC(".maps");

/* swap_slots.max_entries - 1: a power of two minus one. */
const volatile __u32 swap_slots_mask;

struct pfstat_swap_counts swap_counts;
/* Evictions are always kept, but counted only while the reader sets this. */
bool swap_counting;

static __always_inline void add(__u64 *value, __u64 number)
{
	if (swap_counting)
		__sync_fetch_and_add(value, number);
}

static __always_inline struct slot *slot_of(__u64 entry)
{
	__u32 index = (entry ^ entry >> 40) & swap_slots_mask;

	return bpf_map_lookup_elem(&swap_slots, &index);
}

static __always_inline void know_name(__u32 pid, const struct task_struct *task)
{
	struct comm comm = {};

	if (bpf_map_lookup_elem(&swap_names, &pid))
		return;
	bpf_probe_read_kernel(comm.text, sizeof(comm.text), task->comm);
	bpf_map_update_elem(&swap_names, &pid, &comm, BPF_NOEXIST);
}

/* NULL: the node does not exist, or belongs to no process any more. */
static __always_inline const struct task_struct *node_owner(const struct rb_node *node)
{
	return node ? vma_owner(BPF_CORE_READ(chain_of(node), vma)) : NULL;
}

/*
 * The process that owns the page. 0: several processes own it, or it is not process memory (tmpfs).
 * Only the tree's highest mapping and the two below are checked.
 */
static __always_inline __u32 folio_owner(const struct folio *folio)
{
	const struct anon_vma *anon_vma = folio_anon_vma(folio);
	const struct task_struct *owner, *other;
	const struct rb_node *node;
	__u32 pid;

	if (!anon_vma)
		return 0;
	node = BPF_CORE_READ(anon_vma, rb_root.rb_root.rb_node);
	owner = node_owner(node);
	if (!owner)
		return 0;
	other = node_owner(BPF_CORE_READ(node, rb_left));
	if (other && other != owner)
		return 0;
	other = node_owner(BPF_CORE_READ(node, rb_right));
	if (other && other != owner)
		return 0;
	pid = BPF_CORE_READ(owner, tgid);
	if (pid)
		know_name(pid, owner);
	return pid;
}

#define MAX_FOLIO_PAGES 512 /* in an anonymous folio: 2 MiB */

/* Before v5.17 there is no bpf_loop(). */
static __always_inline void visit_pages(__u32 nr, long (*visit)(__u32 number, void *context),
					void *context)
{
	__u32 i;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) {
		bpf_loop(nr, visit, context, 0);
		return;
	}
	for (i = 0; i < nr && i < MAX_FOLIO_PAGES; i++)
		visit(i, context);
}

/* The context for evict_page(). */
struct folio_pages {
	__u64 entry; /* for the first page */
	__u32 evictor;
	__u32 owner;
};

static long evict_page(__u32 number, void *context)
{
	const struct folio_pages *pages = context;
	const __u64 entry = pages->entry + number;
	struct slot *slot = slot_of(entry);

	if (!slot)
		return 0;
	slot->evictor = pages->evictor;
	slot->owner = pages->owner;
	slot->entry = entry;
	return 0;
}

/*
 * Reclaim leaves a shadow behind, so the kernel recognises a page that is read again. A process
 * freeing a page leaves none.
 */
static __always_inline int evict(const struct folio *folio, __u64 entry, const void *shadow)
{
	struct folio_pages pages = {
		.entry = entry,
		.evictor = bpf_get_current_pid_tgid() >> 32,
	};
	__u32 nr;

	if (!shadow)
		return 0;
	know_name(pages.evictor, bpf_get_current_task_btf());
	pages.owner = folio_owner(folio);
	nr = folio_pages(folio);
	add(&swap_counts.evicted, nr);
	visit_pages(nr, evict_page, &pages);
	return 0;
}

/*
 * A kernel has one of these functions, and one of the two that read. The programs are kprobes: an
 * fentry program for a missing function could not be loaded.
 */
SEC("kprobe/__delete_from_swap_cache")
int BPF_KPROBE(on_swap_cache_delete, struct folio *folio, __u64 entry, void *shadow)
{
	return evict(folio, entry, shadow);
}

/* v6.18: the function has another name, and the caller has locked the slot's cluster. */
SEC("kprobe/__swap_cache_del_folio")
int BPF_KPROBE(on_swap_cache_del_folio, void *cluster, struct folio *folio, __u64 entry,
	       void *shadow)
{
	return evict(folio, entry, shadow);
}

static long read_page(__u32 number, void *context)
{
	const __u64 entry = *(const __u64 *)context + number;
	struct slot *slot = slot_of(entry);
	struct pfstat_swap_pair pair = {};
	__u64 *count, none = 0;

	if (!slot || slot->entry != entry) {
		add(&swap_counts.not_seen, 1);
		return 0;
	}
	pair.evictor = slot->evictor;
	pair.owner = slot->owner;
	slot->entry = 0;
	if (!swap_counting)
		return 0;
	count = bpf_map_lookup_elem(&swap_pairs, &pair);
	if (!count) {
		bpf_map_update_elem(&swap_pairs, &pair, &none, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&swap_pairs, &pair);
	}
	add(count ?: &swap_counts.not_seen, 1);
	return 0;
}

static __always_inline int read_folio(const struct folio *folio, __u32 nr)
{
	/* Which slot of which swap area the page has, while it is in the swap cache. */
	__u64 entry = FOLIO_READ(folio, private);

	add(&swap_counts.read, nr);
	visit_pages(nr, read_page, &entry);
	return 0;
}

SEC("kprobe/swap_readpage")
int BPF_KPROBE(on_swap_read_page, struct page *page)
{
	return read_folio((const struct folio *)page, 1);
}

/* v7.3: the first argument is a request context, and the type has this name. */
struct swap_io_ctx {
} __attribute__((preserve_access_index));

/* v6.10: the function has another name, and takes folios. */
SEC("kprobe/swap_read_folio")
int BPF_KPROBE(on_swap_read_folio, struct folio *first, struct folio *second)
{
	const struct folio *folio;

	/* Both are read, because the 6.1 verifier rejects a choice between two arguments. */
	barrier_var(first);
	barrier_var(second);
	folio = first;
	if (bpf_core_type_exists(struct swap_io_ctx))
		folio = second;
	return read_folio(folio, folio_pages(folio));
}

char LICENSE[] SEC("license") = "GPL";
