/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the file and the page contained in a page frame. All reads are safe: an unreadable member
 * is 0, and a file's inode is never 0.
 */
#ifndef PFSTAT_BPF_PAGE_H
#define PFSTAT_BPF_PAGE_H

#include "common.bpf.h"

#define MAPPING_ANON  0x1UL /* in folio.mapping, also for a KSM page */
#define MAPPING_FLAGS 0x3UL /* in folio.mapping: anonymous or movable, or KSM if both */
#define TAIL_PAGE     0x1UL /* in page.compound_head: the other bits are the head */

struct super_block {
	__u32 s_dev; /* major << 20 | minor */
	unsigned long s_magic;
	unsigned char s_blocksize_bits; /* in hugetlbfs: for huge pages */
} __attribute__((preserve_access_index));

struct inode {
	unsigned short i_mode;
	unsigned int i_flags;
	struct super_block *i_sb;
	unsigned long i_ino;
	long long i_size;
} __attribute__((preserve_access_index));

struct xarray {
	void *xa_head;
} __attribute__((preserve_access_index));

struct address_space {
	struct inode *host;
	struct xarray i_pages;
	unsigned long nrpages;
	unsigned long flags;
} __attribute__((preserve_access_index));

/*
 * Members renamed in newer kernels are in the same struct. Before v5.16 there are no folios: a
 * page, or the first page in a compound page, has a folio's members.
 */
struct page {
	unsigned long compound_head;
	unsigned long compound_info; /* v7.2: the head's address, or a mask to make it */
	unsigned long flags;
	struct address_space *mapping;
	unsigned long index;
	unsigned long private;
	unsigned int compound_nr; /* in the second page of a compound page */
} __attribute__((preserve_access_index));

/* A mask keeps the whole upper half of an address. No page structure lies that high. */
#define HEAD_MASK_BITS 0xffffffff00000000UL

struct folio {
	unsigned long flags;
	struct address_space *mapping;
	unsigned long index;
	void *private;
	unsigned int _folio_nr_pages;
	unsigned int _nr_pages; /* v6.15 */
} __attribute__((preserve_access_index));

/* v6.18: the flags are a structure. */
struct memdesc_flags___v6_18 {
	unsigned long f;
} __attribute__((preserve_access_index));

struct folio___v6_18 {
	struct memdesc_flags___v6_18 flags;
} __attribute__((preserve_access_index));

struct page___v6_18 {
	struct memdesc_flags___v6_18 flags;
} __attribute__((preserve_access_index));

enum pageflags {
	PG_locked,
	PG_uptodate,
	PG_head,
	PG_swapbacked,
	PG_swapcache,
	PG_readahead,
	PG_reclaim, /* v5.15 has no other name for the PG_readahead bit */
	PG_writeback,
	PG_anon_exclusive, /* v5.19 */
};

#define PAGE_BIT(flag) (1UL << bpf_core_enum_value(enum pageflags, flag))

/* Bit numbers in address_space.flags. */
enum mapping_flags {
	AS_LARGE_FOLIO_SUPPORT, /* until v6.11 */
	AS_FOLIO_ORDER_MAX,	/* a number's lowest bit */
};

#define HAVE_FOLIOS bpf_core_type_exists(struct folio)

/* A member from a folio, or from the page that is there instead. */
#define FOLIO_READ(folio, member)                            \
	(HAVE_FOLIOS ? (__u64)BPF_CORE_READ(folio, member) : \
		       (__u64)BPF_CORE_READ((const struct page *)(folio), member))

#define MODE_TYPE	  0170000 /* in inode.i_mode */
#define MODE_BLOCK_DEVICE 0060000

struct file_key {
	__u64 inode;
	__u32 dev;
	__u32 reserved;
};

#define MAX_FILES 65536

/* Files read by a target from a block device. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_FILES);
	__type(key, struct file_key);
	__type(value, __u8);
} files SEC(".maps") __weak;

struct file_page {
	__u64 inode; /* 0: no file's page */
	__u64 pgoff;
	__u32 dev;
	__u32 in_page; /* bytes from the start of the page to the start of a request */
};

static __always_inline __u64 folio_flags(const struct folio *folio)
{
	const struct folio___v6_18 *newer = (const void *)folio;

	if (bpf_core_field_exists(newer->flags.f))
		return BPF_CORE_READ(newer, flags.f);
	return FOLIO_READ(folio, flags);
}

static __always_inline bool folio_has(const struct folio *folio, __u64 flag)
{
	return folio_flags(folio) >> flag & 1;
}

static __always_inline __u64 folio_readahead_flag(void)
{
	if (bpf_core_enum_value_exists(enum pageflags, PG_readahead))
		return 1UL << bpf_core_enum_value(enum pageflags, PG_readahead);
	return 1UL << bpf_core_enum_value(enum pageflags, PG_reclaim);
}

static __always_inline __u32 folio_pages(const struct folio *folio)
{
	const struct page *second = (const void *)folio + bpf_core_type_size(struct page);

	if (!folio_has(folio, bpf_core_enum_value(enum pageflags, PG_head)))
		return 1;
	if (!HAVE_FOLIOS)
		return BPF_CORE_READ(second, compound_nr);
	if (bpf_core_field_exists(folio->_nr_pages))
		return BPF_CORE_READ(folio, _nr_pages);
	return BPF_CORE_READ(folio, _folio_nr_pages);
}

static __always_inline bool may_have_large_folios(const struct address_space *mapping)
{
	const __u64 flags = mapping->flags;

	if (bpf_core_enum_value_exists(enum mapping_flags, AS_FOLIO_ORDER_MAX))
		return flags >> bpf_core_enum_value(enum mapping_flags, AS_FOLIO_ORDER_MAX) & 31;
	if (!HAVE_FOLIOS)
		return 0;
	return flags >> bpf_core_enum_value(enum mapping_flags, AS_LARGE_FOLIO_SUPPORT) & 1;
}

/*
 * In the swap cache, or on the way in without the swap cache. Not every anonymous page being read
 * into.
 */
static __always_inline bool folio_is_swapped(const struct folio *folio)
{
	return folio_has(folio, bpf_core_enum_value(enum pageflags, PG_swapbacked)) &&
	       (folio_has(folio, bpf_core_enum_value(enum pageflags, PG_swapcache)) ||
		!FOLIO_READ(folio, mapping));
}

static __always_inline void folio_file(const struct folio *folio, struct file_page *file)
{
	const struct address_space *mapping = (const void *)FOLIO_READ(folio, mapping);
	const struct inode *host;

	*file = (struct file_page){};
	if (!mapping || (unsigned long)mapping & MAPPING_FLAGS)
		return;
	host = BPF_CORE_READ(mapping, host);
	/* A file system's own tables are device pages. */
	if ((BPF_CORE_READ(host, i_mode) & MODE_TYPE) == MODE_BLOCK_DEVICE)
		return;
	file->inode = BPF_CORE_READ(host, i_ino);
	file->dev = BPF_CORE_READ(host, i_sb, s_dev);
	file->pgoff = FOLIO_READ(folio, index);
}

static __always_inline unsigned long page_head(const struct page *page)
{
	unsigned long head;

	if (bpf_core_field_exists(page->compound_info))
		head = BPF_CORE_READ(page, compound_info);
	else
		head = BPF_CORE_READ(page, compound_head);
	if (!(head & TAIL_PAGE))
		return (unsigned long)page;
	if ((head & HEAD_MASK_BITS) == HEAD_MASK_BITS)
		return (unsigned long)page & head;
	return head - TAIL_PAGE;
}

/* A page's folio, and the page's index within the folio. */
static __always_inline const struct folio *page_folio(const struct page *page, __u64 *pages_in)
{
	unsigned long head = page_head(page);

	*pages_in = ((unsigned long)page - head) / bpf_core_type_size(struct page);
	return (const struct folio *)head;
}

#endif
