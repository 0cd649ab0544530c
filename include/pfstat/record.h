/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The module's page fault record, and the ring carrying it.
 *
 * One record describes one call to one wrapped VMA operation (an "attempt"). Times are
 * CLOCK_MONOTONIC nanoseconds. The module, the eBPF programs and user space share this file: plain
 * fixed-width types, no holes.
 *
 * A fault is longer than the calls in it. The kernel handles the fault in one handle_mm_fault(), or
 * in several if that returns RETRY:
 *
 *	handle_mm_fault()                            handle_mm_fault()
 *	|------------------------------|    wait     |----------------------|
 *	|-- before_ns --|-- duration --|             |--|-- duration --|    |
 *	|----------- fault_ns ---------|             |------ fault_ns ------|
 *
 * A record with fault_ns describes the last call in a handle_mm_fault(), and that function.
 */
#ifndef PFSTAT_RECORD_H
#define PFSTAT_RECORD_H

#include <linux/types.h>

/* Incremented if the shape or meaning of anything below changes. */
#define PFSTAT_ABI_VERSION 12
/* The oldest version that user space reads. Each later one only appended: to tables and structs. */
#define PFSTAT_ABI_OLDEST 4
/* The first version whose records and events describe each handle_mm_fault(). */
#define PFSTAT_ABI_SPANS 9

/* Which VMA operation was called. */
enum pfstat_op {
	PFSTAT_OP_FAULT,
	PFSTAT_OP_MAP_PAGES,
	PFSTAT_OP_HUGE_FAULT,
	PFSTAT_OP_PAGE_MKWRITE,
	PFSTAT_OP_PFN_MKWRITE,
	PFSTAT_NR_OPS
};

/*
 * No operation: a handle_mm_fault() return that no other record describes, if `faults on` was
 * requested. class is enum pfstat_fault_kind, before enum pfstat_fault_origin, order enum
 * pfstat_fault_outcome (see event.h), page is set, and around_before is enum pfstat_note. The kind
 * is HOOKED if it made no call, or if the records of the calls have no fault_ns. Not counted among
 * the calls.
 */
#define PFSTAT_OP_MM_FAULT 255

#define PFSTAT_OP_NAMES { "fault", "map_pages", "huge_fault", "page_mkwrite", "pfn_mkwrite" }

/*
 * The columns in figure 1 of the page-fault study. Each column sums several classes. A class with
 * column NONE belongs to no column.
 */
enum pfstat_column {
	PFSTAT_COLUMN_DISK,
	PFSTAT_COLUMN_SHORT,
	PFSTAT_COLUMN_LONG,
	PFSTAT_NR_COLUMNS,
	PFSTAT_COLUMN_NONE = PFSTAT_NR_COLUMNS
};

/*
 * The call classes: CLASS(name, spelling, column). All other code takes the classes from this
 * table. A new class is appended, so the numbers in older recordings keep their meaning.
 */
#define PFSTAT_CLASSES(CLASS)                                          \
	/* had to start a read */                                      \
	CLASS(DISK, "disk", DISK)                                      \
	/* met a page being read by another thread */                  \
	CLASS(WAIT, "wait", DISK)                                      \
	/* met the readahead mark, submitted more */                   \
	CLASS(READAHEAD, "readahead", DISK)                            \
	/* the retry following one of these */                         \
	CLASS(SHORT, "short", SHORT)                                   \
	/* solved from the page cache */                               \
	CLASS(LONG, "long", LONG)                                      \
	/* solved by fault-around (map_pages) */                       \
	CLASS(AROUND, "around", LONG)                                  \
	/* a page becomes writable */                                  \
	CLASS(MKWRITE, "mkwrite", NONE)                                \
	/* solved nothing, waited for nothing, another call follows */ \
	CLASS(PASS, "pass", NONE)                                      \
	/* SIGBUS, OOM, poisoned page */                               \
	CLASS(ERROR, "error", NONE)                                    \
	/* met an up-to-date page locked by another thread */          \
	CLASS(LOCK, "lock", NONE)                                      \
	/* mapped no page: another thread had mapped one meanwhile */  \
	CLASS(RACED, "raced", NONE)

#define PFSTAT_CLASS_ENUM(name, spelling, column) PFSTAT_CLASS_##name,
enum pfstat_class { PFSTAT_CLASSES(PFSTAT_CLASS_ENUM) PFSTAT_NR_CLASSES };

#define PFSTAT_CLASS_SPELLING(name, spelling, column) spelling,
#define PFSTAT_CLASS_NAMES			      { PFSTAT_CLASSES(PFSTAT_CLASS_SPELLING) }

#define PFSTAT_CLASS_COLUMN(name, spelling, column) PFSTAT_COLUMN_##column,
#define PFSTAT_CLASS_COLUMNS			    { PFSTAT_CLASSES(PFSTAT_CLASS_COLUMN) }

/* The state of the page cache at the faulting offset, as the call met it. */
enum pfstat_before {
	PFSTAT_BEFORE_UNKNOWN, /* does not matter for this operation, or no page cache (DAX) */
	PFSTAT_BEFORE_ABSENT,
	PFSTAT_BEFORE_IN_FLIGHT, /* present, locked, not up to date */
	PFSTAT_BEFORE_MARKED,	 /* up to date, carries a readahead mark, and the call obeys it */
	PFSTAT_BEFORE_CACHED,	 /* up to date */
	PFSTAT_BEFORE_IN_FLIGHT_MARKED, /* in flight, carries the readahead mark */
	PFSTAT_BEFORE_STALE,		/* present, not up to date, and no thread reads it */
	PFSTAT_BEFORE_RECLAIM, /* up to date, under writeback, with PG_reclaim: the mark's bit */
	PFSTAT_NR_BEFORE
};

/* pfstat_record.facts */
#define PFSTAT_FACT_SLEPT     0x01 /* a voluntary context switch during the call */
#define PFSTAT_FACT_PREEMPTED 0x02 /* an involuntary one */
#define PFSTAT_FACT_SHARED    0x04 /* VM_SHARED mapping */
#define PFSTAT_FACT_COW	      0x08 /* pfn belongs to the private copy */
#define PFSTAT_FACT_FOLIO     0x10 /* the whole folio was mapped, not only one page */

/* pfstat_record.flags: the kernel's FAULT_FLAG_*, unchanged since v5.10. */
#define PFSTAT_FLAG_WRITE	0x0001
#define PFSTAT_FLAG_ALLOW_RETRY 0x0004
#define PFSTAT_FLAG_TRIED	0x0020
#define PFSTAT_FLAG_USER	0x0040
#define PFSTAT_FLAG_REMOTE	0x0080
#define PFSTAT_FLAG_INSTRUCTION 0x0100
#define PFSTAT_FLAG_VMA_LOCK	0x1000 /* since v6.4 */
/*
 * No flag of the kernel: a fault of get_user_pages() by a thread that runs a virtual CPU of KVM, so
 * on the guest's memory. Since version 10; not of calls whose handle_mm_fault() is not recorded.
 */
#define PFSTAT_FLAG_GUEST 0x80000000

/* pfstat_record.result: the kernel's VM_FAULT_*, unchanged since v5.1. */
#define PFSTAT_RESULT_OOM	     0x0001
#define PFSTAT_RESULT_SIGBUS	     0x0002
#define PFSTAT_RESULT_MAJOR	     0x0004
#define PFSTAT_RESULT_HWPOISON	     0x0010
#define PFSTAT_RESULT_HWPOISON_LARGE 0x0020
#define PFSTAT_RESULT_SIGSEGV	     0x0040
#define PFSTAT_RESULT_NOPAGE	     0x0100
#define PFSTAT_RESULT_LOCKED	     0x0200
#define PFSTAT_RESULT_RETRY	     0x0400
#define PFSTAT_RESULT_FALLBACK	     0x0800
#define PFSTAT_RESULT_COMPLETED	     0x4000 /* since v6.0: complete, and the lock was released */
#define PFSTAT_RESULT_ERROR                                                 \
	(PFSTAT_RESULT_OOM | PFSTAT_RESULT_SIGBUS | PFSTAT_RESULT_SIGSEGV | \
	 PFSTAT_RESULT_HWPOISON | PFSTAT_RESULT_HWPOISON_LARGE)

#define PFSTAT_NO_PFN (~(__u64)0) /* the call mapped no page */

struct pfstat_record {
	__u64 sequence; /* 1 for the first record in this CPU's ring, stored last */
	__u64 start_ns;
	__u64 duration_ns;
	__u64 earlier_ns; /* start_ns of the thread's previous attempt at this fault, or 0 */
	__u64 address;	  /* virtual, as faulted (not page-masked) */
	__u64 pgoff;	  /* page in the file */
	__u64 pfn;	  /* page frame, or PFSTAT_NO_PFN: none, or no CAP_SYS_ADMIN */
	__u64 inode;
	__u32 tid; /* thread */
	__u32 pid; /* process (tgid) of the faulting thread, initial namespace */
	/* The fields from here to `page` are equal for all fast calls of a file system. */
	__u32 dev;    /* major << 20 | minor of the file's super block */
	__u32 result; /* PFSTAT_RESULT_* */
	__u8 op;      /* enum pfstat_op */
	__u8 class;   /* enum pfstat_class */
	__u8 order;   /* log2 of the number of pages in pfn's folio */
	__u8 before;  /* enum pfstat_before */
	__u8 facts;   /* PFSTAT_FACT_* */
	__u8 page;    /* for op PFSTAT_OP_MM_FAULT: PFSTAT_PAGE(), see event.h, else 0 */
	/*
	 * map_pages may map the window of around_pages pages from pgoff - around_before on. With
	 * ops PAGE_MKWRITE, PFN_MKWRITE and MM_FAULT, around_before is enum pfstat_note (event.h)
	 * since version 11. Both are 0 otherwise.
	 */
	__u16 around_before;
	__u16 cpu; /* CPU on which the call ended */
	__u16 around_pages;
	__u32 flags; /* PFSTAT_FLAG_* and other FAULT_FLAG_* */
	__u64 ip;    /* interrupted user-mode instruction, 0 if none */
	/*
	 * The handle_mm_fault() that made the call. 0: another record has it (for a later call, or
	 * with op PFSTAT_OP_MM_FAULT), or it is not known. Since version 9.
	 */
	__u64 fault_ns;
	__u64 before_ns; /* from the start of handle_mm_fault() to start_ns, 0 without fault_ns */
};

/* The words in a record before version 9. */
#define PFSTAT_RECORD_8_BYTES 104

/*
 * One CPU's ring: a page with this header, then `capacity` records. Record number n (from 0) lies
 * at data[n % capacity]. A copied record is valid if the sequence is n + 1 both before and after
 * the copy.
 *
 * The module writes every field but `tail`, and trusts no value that it reads here. In drop mode,
 * if head - tail == capacity, a new record is not stored but counted in `lost`. In overwrite mode
 * the module ignores `tail` and overwrites the oldest record. The reader counts the missed sequence
 * numbers. Invariant: head + lost is the number of calls plus stored handle_mm_fault() records.
 */
struct pfstat_ring_header {
	__u32 version;	   /* PFSTAT_ABI_VERSION */
	__u32 record_size; /* bytes */
	__u64 capacity;	   /* records */
	__u32 cpu;
	__u32 overwrite; /* 1: overwrite mode */
	__u64 head;	 /* records stored so far, read with acquire */
	__u64 lost;	 /* calls not stored */
	__u64 reserved[3];
	__u64 tail; /* records consumed, stored by the reader with release */
};

_Static_assert(PFSTAT_CLASS_RACED == 10, "ABI");
_Static_assert(sizeof(struct pfstat_record) == 120, "ABI");
_Static_assert(sizeof(struct pfstat_ring_header) == 72, "ABI");

#endif
