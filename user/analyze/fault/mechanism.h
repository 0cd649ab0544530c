/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mechanism of a fault: the kernel's action. A fault has exactly one, so the counts of all
 * mechanisms add up to all faults.
 */
#ifndef PFSTAT_USER_MECHANISM_H
#define PFSTAT_USER_MECHANISM_H

#include "analyze/fault/explain.h"

/* The line of the report that has the mechanism's count. NONE: classes and contents show it. */
enum mechanism_line {
	MECHANISM_NONE,
	MECHANISM_COPIED,   /* copied when written */
	MECHANISM_WRITABLE, /* written without a copy */
	MECHANISM_MAPPED,   /* the page was in the page table already */
	MECHANISM_WAITED,
	NR_MECHANISM_LINES
};

/*
 * The mechanisms: MECHANISM(name, spelling, line, words in the line). The user manual describes
 * them (parts.rst). A new one is appended.
 */
#define MECHANISMS(MECHANISM)                                                                   \
	MECHANISM(UNKNOWN, "unknown", NONE, "")                                                 \
	MECHANISM(NEW_PAGE, "new_page", NONE, "")                                               \
	MECHANISM(NEW_HUGE_PAGE, "new_huge_page", NONE, "")                                     \
	MECHANISM(ZERO_PAGE, "zero_page", NONE, "")                                             \
	MECHANISM(HUGETLB, "hugetlb", NONE, "")                                                 \
	MECHANISM(NEW_SHARED, "new_shared", NONE, "")                                           \
	MECHANISM(CACHED, "cached", NONE, "")                                                   \
	MECHANISM(READ, "read", NONE, "")                                                       \
	MECHANISM(OTHER_FILE, "other_file", NONE, "")                                           \
	MECHANISM(SWAP_READ, "swap_read", NONE, "")                                             \
	MECHANISM(SWAP_CACHE, "swap_cache", NONE, "")                                           \
	MECHANISM(COPY_ZERO, "copy_zero", COPIED, "of the zero page")                           \
	MECHANISM(COPY_KSM, "copy_ksm", COPIED, "of pages merged by KSM")                       \
	MECHANISM(COPY_FILE, "copy_file", COPIED, "of file pages")                              \
	MECHANISM(COPY_FORK, "copy_fork", COPIED, "of pages shared by a fork")                  \
	MECHANISM(COPY_UNKNOWN, "copy_unknown", COPIED, "of unknown pages")                     \
	MECHANISM(WRITABLE_FORK, "writable_fork", WRITABLE, "that a fork had shared before")    \
	MECHANISM(WRITABLE_SOFT_DIRTY, "writable_soft_dirty", WRITABLE,                         \
		  "whose soft-dirty bit had been cleared")                                      \
	MECHANISM(WRITABLE_UFFD, "writable_uffd", WRITABLE, "write-protected by userfaultfd")   \
	MECHANISM(WRITABLE_OWN, "writable_own", WRITABLE, "that only this process had")         \
	MECHANISM(WRITABLE_UNKNOWN, "writable_unknown", WRITABLE,                               \
		  "that no other process has any more")                                         \
	MECHANISM(SHARED_FIRST, "shared_first", WRITABLE, "of shared files for the first time") \
	MECHANISM(SHARED_AGAIN, "shared_again", WRITABLE, "of shared files again")              \
	MECHANISM(SHARED_UNKNOWN, "shared_unknown", WRITABLE, "of shared files")                \
	MECHANISM(NUMA_STAYED, "numa_stayed", MAPPED, "NUMA hints, stayed")                     \
	MECHANISM(NUMA_MOVED, "numa_moved", MAPPED, "NUMA hints, moved")                        \
	MECHANISM(PRESENT, "present", MAPPED, "by another thread")                              \
	MECHANISM(MIGRATION, "migration", WAITED, "for a page that was moved or split")         \
	MECHANISM(USERFAULT, "userfault", WAITED, "for a handler of userfaultfd")               \
	MECHANISM(FAILED, "failed", NONE, "")                                                   \
	MECHANISM(UNFINISHED, "unfinished", NONE, "")

#define MECHANISM_ENUM(name, spelling, line, words) MECHANISM_##name,
enum mechanism { MECHANISMS(MECHANISM_ENUM) NR_MECHANISMS };

struct mechanism_traits {
	const char *spelling; /* in every format */
	const char *words;    /* after the number, in a line of the report */
	enum mechanism_line line;
};

extern const struct mechanism_traits mechanisms[NR_MECHANISMS];

enum mechanism mechanism_of(const struct explained *fault);

#endif
