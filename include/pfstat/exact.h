/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What pfdrive record --exact and the library in the watched programs share: a file of counts. The
 * library of each program adds to them.
 */
#ifndef PFSTAT_EXACT_H
#define PFSTAT_EXACT_H

#include <linux/fs.h>
#include <linux/types.h>

enum exact_count {
	EXACT_PROGRAMS,	   /* program starts that loaded the library */
	EXACT_CHECKED,	   /* programs that looked for more mappings at their exit */
	EXACT_NOT_REACHED, /* file mappings found then, not registered */
	EXACT_NOT_REACHED_BYTES,
	EXACT_MADE_PRIVATE,   /* read-only shared mappings */
	EXACT_NO_USERFAULTFD, /* processes without a descriptor */
	EXACT_CLOSED,	      /* descriptors closed by a program */
	EXACT_NR_COUNTS
};

/* Linux 6.7; older headers lack them. */
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif
#ifndef PAGEMAP_SCAN
#define PAGEMAP_SCAN	  _IOWR('f', 16, struct pm_scan_arg)
#define PAGE_IS_WPALLOWED (1 << 0)
#define PAGE_IS_FILE	  (1 << 2)
#define PAGE_IS_PRESENT	  (1 << 3)

struct page_region {
	__u64 start, end, categories;
};

struct pm_scan_arg {
	__u64 size, flags, start, end, walk_end, vec, vec_len, max_pages;
	__u64 category_inverted, category_mask, category_anyof_mask, return_mask;
};
#endif

/* How the name of the folder with the library and the counts begins. */
#define EXACT_FOLDER "pfdrive-exact-"

/* pfdrive writes the path of the counts over this text in the library. */
#define EXACT_PATH_MARK "pfdrive writes the path of its counts here"
#define EXACT_PATH_SIZE 128

#endif
