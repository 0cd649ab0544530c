/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The events sent by the eBPF programs. Times are CLOCK_MONOTONIC nanoseconds (bpf_ktime_get_ns),
 * the module's clock. Plain fixed-width types, no holes.
 *
 * An event is sent when its subject ends, and `event.ns` is this end. The module also writes
 * records at their end, so both streams can be merged by time. Device numbers are major << 20 |
 * minor, as in <pfstat/record.h>.
 */
#ifndef PFSTAT_EVENT_H
#define PFSTAT_EVENT_H

#include <linux/types.h>

/* Where pfdrive pins maps and programs while running. */
#define PFSTAT_PIN_DIR "/sys/fs/bpf/pfstat"

/*
 * The events: EVENT(name, spelling). struct pfstat_SPELLING is the event. All other code takes the
 * types and their sizes from this table. A new event is appended, so the numbers in older
 * recordings keep their meaning.
 */
#define PFSTAT_EVENTS(EVENT)                                          \
	/* only in old recordings: pfstat_off_cpu without total_ns */ \
	EVENT(OFF_CPU_1, off_cpu_1)                                   \
	/* a request to a block device */                             \
	EVENT(BLOCK, block)                                           \
	/* a handle_mm_fault() call */                                \
	EVENT(FAULT, fault)                                           \
	/* pages left the page cache, or memory for swap */           \
	EVENT(PAGE, page)                                             \
	/* a thread starts, executes a program, is renamed, ends */   \
	EVENT(TASK, task)                                             \
	/* a fault's user stack */                                    \
	EVENT(STACK, stack)                                           \
	/* a thread was off the CPU */                                \
	EVENT(OFF_CPU, off_cpu)                                       \
	/* a madvise(2) changing which pages are read */              \
	EVENT(ADVICE, advice)                                         \
	/* a thread freed memory for its own allocation */            \
	EVENT(RECLAIM, reclaim)                                       \
	/* the kernel stack for a sleep in a fault */                 \
	EVENT(WAIT, wait)                                             \
	/* a mapping's state */                                       \
	EVENT(MAPPING, mapping)                                       \
	/* a system call shaping mappings */                          \
	EVENT(CALL, call)                                             \
	/* a handler of userfaultfd has read a fault */               \
	EVENT(USERFAULT, userfault)                                   \
	/* the task that a thread waited for a CPU behind */          \
	EVENT(CPU_TASK, cpu_task)                                     \
	/* a fork copied page tables */                               \
	EVENT(FORK, fork)

#define PFSTAT_EVENT_ENUM(name, spelling) PFSTAT_EVENT_##name,
enum pfstat_event_type { PFSTAT_EVENTS(PFSTAT_EVENT_ENUM) PFSTAT_NR_EVENTS };

#define PFSTAT_EVENT_SIZE(name, spelling) sizeof(struct pfstat_##spelling),

#define PFSTAT_EVENT_SIZES { PFSTAT_EVENTS(PFSTAT_EVENT_SIZE) }

#define PFSTAT_EVENT_SPELLING(name, spelling) #spelling,

#define PFSTAT_EVENT_NAMES { PFSTAT_EVENTS(PFSTAT_EVENT_SPELLING) }

/* The header for every event. */
struct pfstat_event {
	__u16 type;  /* enum pfstat_event_type */
	__u16 size;  /* bytes, including this header */
	__u32 flags; /* depend on the type, see below */
	__u32 pid;   /* process (tgid) */
	__u32 tid;
	__u64 ns; /* the subject's end */
};

/* pfstat_off_cpu.event.flags */
#define PFSTAT_OFF_CPU_PREEMPTED 0x1 /* the thread was runnable all the time */
#define PFSTAT_OFF_CPU_IOWAIT	 0x2 /* the thread called io_schedule() */
#define PFSTAT_OFF_CPU_WOKEN	 0x4 /* woken_ns is known */
/* perf: the thread slept, the state is not known, and iowait only with a kernel stack */
#define PFSTAT_OFF_CPU_ASLEEP 0x8
/* The CPU on which the thread runs again. If neither: not known */
#define PFSTAT_OFF_CPU_AFTER_IDLE 0x10 /* was idle right before */
#define PFSTAT_OFF_CPU_AFTER_TASK 0x20 /* ran another task right before */
/* When the thread left its CPU, the cgroup's CPU time limit held the thread back. */
#define PFSTAT_OFF_CPU_THROTTLED 0x40
#define PFSTAT_OFF_CPU_LIMITS	 0x80 /* flag 0x40 is valid */
/* From this bit on: enum pfstat_waker. 0 in older recordings */
#define PFSTAT_OFF_CPU_WAKER_SHIFT 16

/* The activity of a thread that wakes another one, or removes pages. */
enum pfstat_waker {
	PFSTAT_WAKER_UNKNOWN,	/* also for an interrupt */
	PFSTAT_WAKER_EXCEPTION, /* no system call: a page fault, or on the way to user mode */
	PFSTAT_WAKER_KERNEL,	/* a thread of the kernel */
	PFSTAT_WAKER_KILL,	/* any: the sleeping thread has a fatal signal pending */
	PFSTAT_WAKER_CALL = 16	/* plus the number of the system call */
};

/* Greater numbers are not known. */
#define PFSTAT_WAKER_MAX 0xffff

/* One off-CPU interval in a target's thread. event.ns: the thread runs again. */
struct pfstat_off_cpu {
	struct pfstat_event event;
	__u64 off_ns;
	__u64 woken_ns; /* runnable from here on, or 0 without PFSTAT_OFF_CPU_WOKEN */
	__u32 state;	/* task state at switch-out, 0 if runnable */
	__u32 waker;	/* waking thread, 0 if unknown, an interrupt or idle */
	/*
	 * The total off-CPU time of the thread so far, including this interval. It grows by
	 * more than this interval if an event was lost in between. 0: not known.
	 */
	__u64 total_ns;
};

/* pfstat_off_cpu in version 1 recordings. */
struct pfstat_off_cpu_1 {
	struct pfstat_event event;
	__u64 off_ns;
	__u64 woken_ns;
	__u32 state;
	__u32 waker;
};

/* Shorter waits for a CPU are not sent: a switch of threads takes microseconds. */
#define PFSTAT_CPU_TASK_MIN_NS 10000

/* pfstat_cpu_task.event.flags */
#define PFSTAT_CPU_TASK_KERNEL 0x1 /* a thread of the kernel */

/*
 * The process that ran on a CPU while a target's thread, which then got this CPU, could run: the
 * one with the longest time in one go, of any user. event.ns: that of the off-CPU interval, whose
 * event follows.
 */
struct pfstat_cpu_task {
	struct pfstat_event event;
	__u64 off_ns; /* that of the off-CPU interval */
	/*
	 * The process had this CPU so long during the wait; at least, because only the last
	 * switches are known. In older recordings the thread that ran last, in one go, also before
	 * the wait. 0: not known.
	 */
	__u64 ran_ns;
	__u32 task_pid;
	__u32 task_tid;
	char comm[16]; /* of the first thread of task_pid */
};

/* pfstat_block.event.flags */
#define PFSTAT_BLOCK_WRITE     0x1
#define PFSTAT_BLOCK_READAHEAD 0x2
#define PFSTAT_BLOCK_ERROR     0x4
#define PFSTAT_BLOCK_FILE      0x8  /* fs_dev, inode, pgoff are known */
#define PFSTAT_BLOCK_SWAP      0x10 /* an anonymous memory page */
/*
 * From this bit on: the sectors of the first page, up to 127, before the transfer. A file system
 * whose blocks are smaller than pages may read a page with several requests.
 */
#define PFSTAT_BLOCK_IN_PAGE_SHIFT 8
#define PFSTAT_BLOCK_IN_PAGE_MASK  0xffU

/*
 * One request that a target's thread (event.pid, event.tid) submitted to a block device. event.ns:
 * the completion.
 */
struct pfstat_block {
	struct pfstat_event event;
	__u64 insert_ns; /* entered the queue, = issue_ns if issued directly */
	__u64 issue_ns;	 /* passed to the driver */
	__u64 sector;	 /* in 512-byte units, on `dev` */
	__u64 inode;	 /* for the file whose page is the first one transferred */
	__u64 pgoff;	 /* the first page transferred */
	__u32 dev;	 /* the disk */
	__u32 fs_dev;	 /* the file's super block, as in pfstat_record */
	__u32 bytes;
	__u32 file_bytes; /* contiguous bytes in this file, the rest is unknown */
};

/*
 * The kinds of handle_mm_fault() calls: KIND(name, spelling). All other code takes the kinds from
 * this table. A new kind is appended.
 */
#define PFSTAT_FAULT_KINDS(KIND)                                      \
	/* a file operation wrapped by the module: it left records */ \
	KIND(HOOKED, "hooked")                                        \
	PFSTAT_OTHER_FAULT_KINDS(KIND)

/* The kinds not recorded by the module. */
#define PFSTAT_OTHER_FAULT_KINDS(KIND)                                                         \
	/* a file operation, not wrapped */                                                    \
	KIND(FILE, "file")                                                                     \
	/* a new anonymous page */                                                             \
	KIND(ANON, "anon")                                                                     \
	/* do_swap_page(): swapped out, or migrating */                                        \
	KIND(SWAP, "swap")                                                                     \
	/* do_wp_page() on a private page */                                                   \
	KIND(COW, "cow")                                                                       \
	/* solved meanwhile, NUMA hint, huge page */                                           \
	KIND(OTHER, "other")                                                                   \
	/* perf: faulted before, then written again, dropped with madvise(), or swapped out */ \
	KIND(AGAIN, "again")

#define PFSTAT_FAULT_KIND_ENUM(name, spelling) PFSTAT_FAULT_##name,
enum pfstat_fault_kind { PFSTAT_FAULT_KINDS(PFSTAT_FAULT_KIND_ENUM) PFSTAT_NR_FAULT_KINDS };

#define PFSTAT_FAULT_KIND_SPELLING(name, spelling) spelling,

#define PFSTAT_FAULT_KIND_NAMES { PFSTAT_FAULT_KINDS(PFSTAT_FAULT_KIND_SPELLING) }

/* The origin of a fault. */
enum pfstat_fault_origin {
	PFSTAT_ORIGIN_USER,   /* the program's own access */
	PFSTAT_ORIGIN_KERNEL, /* the kernel's access to user memory, in a system call */
	PFSTAT_ORIGIN_GUP,    /* get_user_pages(): populate, O_DIRECT, ptrace, … */
	PFSTAT_NR_ORIGINS
};

#define PFSTAT_FAULT_ORIGIN_NAMES { "user", "kernel", "gup" }

/* The outcome of a handle_mm_fault() call. */
enum pfstat_fault_outcome {
	PFSTAT_OUTCOME_MINOR, /* solved, with minor and major as the kernel counts them */
	PFSTAT_OUTCOME_MAJOR,
	PFSTAT_OUTCOME_RETRY, /* the kernel will repeat the same fault */
	PFSTAT_OUTCOME_ERROR,
	PFSTAT_NR_OUTCOMES
};

#define PFSTAT_FAULT_OUTCOME_NAMES { "minor", "major", "retry", "error" }

/*
 * Where the content comes from in a page that a fault mapped or made writable: CONTENT(name,
 * spelling). All other code takes the contents from this table. A new content is appended.
 */
#define PFSTAT_CONTENTS(CONTENT)                                        \
	/* not known, or none of the following */                       \
	CONTENT(UNKNOWN, "unknown")                                     \
	/* a copy of the zero page, which a read had mapped */          \
	CONTENT(ZERO, "zero")                                           \
	/* a copy of a page merged by KSM */                            \
	CONTENT(KSM, "ksm")                                             \
	/* a private copy of a file page */                             \
	CONTENT(FILE, "file")                                           \
	/* a copy of an anonymous page shared by a fork */              \
	CONTENT(FORK, "fork")                                           \
	/* no copy: no other process has the anonymous page any more */ \
	CONTENT(REUSED, "reused")                                       \
	/* shared memory (tmpfs): the fault added the page */           \
	CONTENT(NEW, "new")                                             \
	/* shared memory: the page was in the page cache, or in swap */ \
	CONTENT(PRESENT, "present")

#define PFSTAT_CONTENT_ENUM(name, spelling) PFSTAT_CONTENT_##name,
enum pfstat_content { PFSTAT_CONTENTS(PFSTAT_CONTENT_ENUM) PFSTAT_NR_CONTENTS };

#define PFSTAT_CONTENT_SPELLING(name, spelling) spelling,

#define PFSTAT_CONTENT_NAMES { PFSTAT_CONTENTS(PFSTAT_CONTENT_SPELLING) }

/*
 * pfstat_fault.page, and page in a record with op PFSTAT_OP_MM_FAULT: enum pfstat_content, and the
 * order of the huge page mapped by the fault, or 0. Both are 0 in recordings without them, and
 * after a fault that failed or is retried.
 */
#define PFSTAT_PAGE_CONTENT_MASK    0x7
#define PFSTAT_PAGE_ORDER_SHIFT	    3
#define PFSTAT_PAGE(content, order) ((content) | (order) << PFSTAT_PAGE_ORDER_SHIFT)

/*
 * The entry of the page table that a fault met: NOTE(name, spelling). Functions that only rare
 * faults reach note the entry before they change it, and the first note counts. All other code
 * takes the notes from this table. A new note is appended.
 */
#define PFSTAT_NOTES(NOTE)                                                             \
	/* not known: an older recording, perf, or not all functions are traced */     \
	NOTE(UNKNOWN, "unknown")                                                       \
	/* no entry, or no function noted one */                                       \
	NOTE(EMPTY, "empty")                                                           \
	/* an entry of swap */                                                         \
	NOTE(SWAP, "swap")                                                             \
	/* the page was being moved, or its huge page split: the fault waited */       \
	NOTE(MIGRATION, "migration")                                                   \
	/* NUMA balancing had made it inaccessible, and the page stayed on its node */ \
	NOTE(NUMA_STAYED, "numa_stayed")                                               \
	/* the same, and the kernel moved the page to the thread's node */             \
	NOTE(NUMA_MOVED, "numa_moved")                                                 \
	/* it allowed the access: another thread was first, or the TLB was stale */    \
	NOTE(PRESENT, "present")                                                       \
	/* a write to an entry that is read-only, none of the following */             \
	NOTE(READ_ONLY, "read_only")                                                   \
	/* the same, not soft-dirty: cleared, or a shared page was never written */    \
	NOTE(CLEAN, "clean")                                                           \
	/* the same, and userfaultfd had protected the entry */                        \
	NOTE(UFFD, "uffd")                                                             \
	/* the same, for an anonymous page not marked as this process's own */         \
	NOTE(FORKED, "forked")                                                         \
	/* the same, for a page that is marked so; with FORKED only from the module */ \
	NOTE(OWN, "own")                                                               \
	/* the fault waited for a handler of userfaultfd */                            \
	NOTE(USERFAULT, "userfault")                                                   \
	/* as read_only, and the entry is soft-dirty: it was written before */         \
	NOTE(DIRTY, "dirty")

#define PFSTAT_NOTE_ENUM(name, spelling) PFSTAT_NOTE_##name,
enum pfstat_note { PFSTAT_NOTES(PFSTAT_NOTE_ENUM) PFSTAT_NR_NOTES };

/*
 * Index for the map `faults`, whose values are pfstat_fault_value, one per CPU. The map counts
 * every handle_mm_fault() return in a target.
 */
#define PFSTAT_FAULT_INDEX(kind, origin, outcome) \
	(((kind) * PFSTAT_NR_ORIGINS + (origin)) * PFSTAT_NR_OUTCOMES + (outcome))
#define PFSTAT_NR_FAULT_INDICES (PFSTAT_NR_FAULT_KINDS * PFSTAT_NR_ORIGINS * PFSTAT_NR_OUTCOMES)

/* A pfdrive query to eBPF: ->fault and the file in this process's mapping at an address. */
struct pfstat_handler_query {
	__u64 address;
	__u64 handler; /* 0: none */
	__u64 inode;   /* as in a record, 0 if no file */
	__u32 dev;
	__u32 reserved;
};

struct pfstat_fault_value {
	__u64 count;
	__u64 total_ns; /* by the module: not for kind HOOKED, whose records have it */
};

/*
 * How much the tasks' own counts (min_flt, maj_flt) exceed those in `faults`, mod 2^64, at the last
 * fault that eBPF saw in each thread, or at the thread's exit.
 */
struct pfstat_missed {
	__u64 minor;
	__u64 major;
};

/*
 * One handle_mm_fault() call. A call of kind HOOKED is sent only if no record has the call's time:
 * it made no file operation call, or the records of these calls have no fault_ns. event.ns: the
 * return. Before version 9, HOOKED was sent for every such fault, or for none. event.flags:
 * PFSTAT_FAULT_FLAGS(), before version 11 only the kind.
 */
struct pfstat_fault {
	struct pfstat_event event;
	__u64 start_ns;
	__u64 address;
	__u64 ip;    /* user-mode instruction, 0: unknown */
	__u64 pgoff; /* page in the file, or by address without a file */
	__u64 inode; /* 0: no file */
	__u32 dev;
	__u32 fault_flags; /* PFSTAT_FLAG_* */
	__u32 result;	   /* PFSTAT_RESULT_* */
	__u8 origin;	   /* enum pfstat_fault_origin */
	__u8 outcome;	   /* enum pfstat_fault_outcome */
	__u8 perf;	   /* PFSTAT_PERF_*, 0 if not recorded by perf */
	__u8 page;	   /* PFSTAT_PAGE() */
};

/* pfstat_fault.event.flags: enum pfstat_fault_kind and enum pfstat_note */
#define PFSTAT_FAULT_FLAGS(kind, note) ((kind) | (note) << 8)
#define PFSTAT_FAULT_KIND(flags)       ((flags) & 0xff)
#define PFSTAT_FAULT_NOTE(flags)       ((flags) >> 8)

/* pfstat_fault.perf */
#define PFSTAT_PERF_SAMPLED  0x1 /* whether it is a write is not known, nor a page's order */
#define PFSTAT_PERF_NO_END   0x2 /* event.ns is the thread's next sign, an error only */
#define PFSTAT_PERF_AGAIN    0x4 /* the process had faulted the page before */
#define PFSTAT_PERF_WRITABLE 0x8 /* the mapping is writable */
/* The process had faulted … */
#define PFSTAT_PERF_OFTEN    0x10 /* the page at least twice, in the same mapping */
#define PFSTAT_PERF_REMAPPED 0x20 /* anonymous memory there, in an earlier mapping only */
#define PFSTAT_PERF_MAPPED   0x40 /* the file's page, at any address, and this is another mapping */
#define PFSTAT_PERF_HISTORY  0x80 /* flags 0x10 to 0x40 are known */

/* pfstat_page.event.flags. If neither 0x1 nor 0x2: not known */
#define PFSTAT_PAGE_RECLAIMED 0x1 /* memory was short: the thread was in reclaim */
#define PFSTAT_PAGE_DROPPED   0x2 /* requested: advice, truncation, drop_caches, … */
#define PFSTAT_PAGE_ANON      0x4 /* anonymous memory: it is in swap only */
#define PFSTAT_PAGE_PROACTIVE 0x8 /* DROPPED: a write to memory.reclaim requested reclaim */
/* From this bit on: enum pfstat_waker, for the thread removing them. 0 in older recordings */
#define PFSTAT_PAGE_DOING_SHIFT 16

/*
 * Pages of a file that a target read from a block device left the page cache, or anonymous pages
 * of a target left the swap cache. event.pid, .tid: the thread that removed them. event.flags:
 * PFSTAT_PAGE_*.
 */
struct pfstat_page {
	struct pfstat_event event;
	__u64 inode; /* ANON: the process that owns the pages */
	__u64 pgoff; /* the first; ANON: of the address */
	__u32 dev;   /* ANON: 0 */
	__u32 pages;
	char comm[16]; /* of the thread removing them, rarely a target */
};

/* pfstat_task.event.flags. If 0: the thread existed before, and this is the name */
#define PFSTAT_TASK_FORK   0x1 /* event.tid starts: a target's child or thread */
#define PFSTAT_TASK_EXEC   0x2
#define PFSTAT_TASK_EXIT   0x4 /* the last event for event.tid */
#define PFSTAT_TASK_RENAME 0x8 /* comm is the new name */

struct pfstat_task {
	struct pfstat_event event;
	__u32 parent;	  /* fork: the parent's tid, exec: tid before it */
	__u32 parent_pid; /* the parent's process */
	char comm[16];
};

/* pfstat_fork.event.flags */
#define PFSTAT_FORK_PAGES 0x1 /* pages is known */

/*
 * A fork in a target's thread, not into the same address space. It comes within the system call.
 * event.ns: the copy is complete.
 */
struct pfstat_fork {
	struct pfstat_event event;
	/* The entries that were copied, for pages and swap. A huge page counts as its pages. */
	__u64 pages;
	__u64 table_bytes; /* the child's page tables */
	__u32 child;	   /* pid */
	__u32 reserved;
};

#define PFSTAT_STACK_FRAMES 64

/*
 * The user stack of a thread that has just faulted, found by frame pointers. event.ns: the start of
 * the fault. Sent if stacks were requested, once for a fault and the retries. If the per-VMA lock
 * did not suffice, the fault starts again under the mmap lock, and the stack is sent again.
 * event.flags: 0.
 */
struct pfstat_stack {
	struct pfstat_event event;
	__u64 address; /* the faulting address */
	__u32 frames;  /* number of ips, PFSTAT_STACK_FRAMES if there may be more */
	__u32 reserved;
	__u64 ips[PFSTAT_STACK_FRAMES]; /* innermost first, then return addresses, the rest is 0 */
};

/* Bits 1 << advice for MADV_NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED and POPULATE_READ. */
#define PFSTAT_ADVICES (1U << 0 | 1U << 1 | 1U << 2 | 1U << 3 | 1U << 4 | 1U << 22)

/* A successful madvise(2) with one of these advices. event.ns: the return. event.flags: 0. */
struct pfstat_advice {
	struct pfstat_event event;
	__u64 start_ns;
	__u64 address;
	__u64 bytes;
	__u32 advice;
	__u32 reserved;
};

/* pfstat_reclaim.event.flags */
enum pfstat_reclaim_kind {
	PFSTAT_RECLAIM_DIRECT, /* an allocation found too little free memory */
	PFSTAT_RECLAIM_CGROUP, /* a charge met a cgroup limit */
	PFSTAT_RECLAIM_COMPACTION,
	/*
	 * Above memory.high: reclaim and a sleep on the way back to the program, after the fault,
	 * or within the fault only for a large charge. The interval may contain events of kind
	 * CGROUP. pages: 0.
	 */
	PFSTAT_RECLAIM_THROTTLE,
	PFSTAT_NR_RECLAIM_KINDS
};

/* A target's thread reclaimed or compacted memory itself. event.ns: the end. */
struct pfstat_reclaim {
	struct pfstat_event event;
	__u64 start_ns;
	__u64 pages; /* reclaimed, 0 for compaction */
};

#define PFSTAT_WAIT_FRAMES 40
#define PFSTAT_WAIT_BYTES  (8 * PFSTAT_WAIT_FRAMES)

/* pfstat_wait.event.flags */
#define PFSTAT_WAIT_NAMED 0x1 /* `functions` is valid, else `ips` */
#define PFSTAT_WAIT_OWN	  0x2 /* the thread may have waited for its own read */

/*
 * The kernel stack of a target's thread that goes to sleep in a page fault. eBPF and perf send
 * addresses, and pfdrive replaces them by names when it reads the event. eBPF sends none for a wait
 * for the thread's own read.
 */
struct pfstat_wait {
	struct pfstat_event event;
	__u64 off_ns; /* same as in the off-CPU interval, whose event follows */
	__u32 frames; /* number of ips, 0 with names */
	__u32 reserved;
	union {
		__u64 ips[PFSTAT_WAIT_FRAMES]; /* innermost first */
		/*
		 * "folio_wait_bit_common<filemap_fault": innermost first, without the scheduler and
		 * the callers of handle_mm_fault(), filled up with zeros. "<..." at the end: more.
		 */
		char functions[PFSTAT_WAIT_BYTES];
	};
};

#define PFSTAT_SYMBOL_BYTES 56

/* A pfdrive query to eBPF: the name of the kernel function at an address. */
struct pfstat_symbol_query {
	__u64 address;
	char name[PFSTAT_SYMBOL_BYTES]; /* "0x…" if none, "name [module]" */
};

/*
 * The state of a file mapping: when the kernel removes pages from it, for the last time when the
 * mapping ends, or when the recording ends. With perf: when pfdrive looked at the process. event.ns:
 * this moment. event.flags: 0.
 */
#define PFSTAT_MAPPING_UNKNOWN 0xffffffffU

struct pfstat_mapping {
	struct pfstat_event event;
	__u64 address;
	__u64 bytes;
	__u32 advice; /* MADV_NORMAL, MADV_RANDOM or MADV_SEQUENTIAL */
	/* Both are PFSTAT_MAPPING_UNKNOWN with perf. */
	__u32 ra_pages;	 /* the most that a read-ahead on the open file reads, 0 if none */
	__u32 mmap_miss; /* from a certain number of misses on, the kernel reads only one page */
	__u32 reserved;
};

enum pfstat_call_kind {
	PFSTAT_CALL_MADVISE,
	PFSTAT_CALL_PROCESS_MADVISE,
	PFSTAT_CALL_MMAP,
	PFSTAT_CALL_FADVISE64,
	PFSTAT_CALL_MLOCK,
	PFSTAT_CALL_MLOCK2,
	PFSTAT_CALL_MLOCKALL,
	PFSTAT_CALL_FORK,
	PFSTAT_CALL_VFORK,
	PFSTAT_CALL_CLONE,
	PFSTAT_CALL_CLONE3,
	PFSTAT_CALL_MUNMAP,
	PFSTAT_CALL_MREMAP,
	PFSTAT_CALL_BRK,
	PFSTAT_NR_CALLS
};

/* A mapping-shaping system call in a target's thread. event.ns: the return. event.flags: 0. */
struct pfstat_call {
	struct pfstat_event event;
	__u64 start_ns;
	__u64 args[6];
	__s64 result; /* below 0: a negative errno */
	/*
	 * The return address of the function that made the system call, such as madvise() in the C
	 * library. A call instruction precedes the address. 0: not known.
	 */
	__u64 caller;
	__u32 kind; /* enum pfstat_call_kind */
	__u32 reserved;
};

/*
 * A handler of userfaultfd has read a fault of a target. event.pid, .tid: the handler's thread,
 * which is often no target. event.ns: its read(2) returns. event.flags: 0.
 */
struct pfstat_userfault {
	struct pfstat_event event;
	__u64 address; /* as the handler got it: the start of the page, mostly */
	__u32 target;  /* the process that faulted */
	__u32 reserved;
	char comm[16]; /* of the handler's process */
};

/* Added to the number of a 32-bit call, which is from another table. No call has so high a one. */
#define PFSTAT_SYSCALL_COMPAT (1U << 31)

/* Key in the map `syscalls`. error: 0 for success, or a positive errno. */
struct pfstat_syscall_key {
	__u32 number;
	__u32 error;
};

#define PFSTAT_SYSCALL_BUCKETS 40

/* Value in the map `syscalls`, one per CPU. */
struct pfstat_syscall_value {
	__u64 count;
	__u64 total_ns;
	__u64 log2_ns[PFSTAT_SYSCALL_BUCKETS]; /* [n]: 2^(n-1) <= ns < 2^n, [0]: 0 ns */
};

/*
 * Key in the map `swap_pairs`: the process causing anonymous pages to be swapped out, and their
 * owner process (0: several, or unknown). The value counts those pages read again.
 */
struct pfstat_swap_pair {
	__u32 evictor;
	__u32 owner;
};

/* Pages on the whole machine. read = the sum of all pairs + not_seen. */
struct pfstat_swap_counts {
	__u64 evicted;	/* left memory, and are only in swap */
	__u64 read;	/* read from swap */
	__u64 not_seen; /* read from swap, but the evictor is not known */
};

/* Index for the map `counts`, one per CPU. */
enum pfstat_count {
	PFSTAT_COUNT_OFF_CPU,	   /* off-CPU events sent */
	PFSTAT_COUNT_EVENTS,	   /* events of all types sent */
	PFSTAT_COUNT_EVENTS_LOST,  /* no room in the ring buffer, or in a map */
	PFSTAT_COUNT_SYSCALL_LOST, /* no room in a map */
	/* Requests for files beyond the limit: removals of these files' pages are not sent. */
	PFSTAT_COUNT_UNTRACKED,
	/* SIGSEGV after an access without a mapping, or without the right to it. */
	PFSTAT_COUNT_SEGV,
	/* SIGBUS after an access to an unreadable page. */
	PFSTAT_COUNT_BUS,
	PFSTAT_NR_COUNTS
};

/* Value in the map `targets`. The key is a pid (tgid) or a tid. */
enum pfstat_target {
	PFSTAT_TARGET_PROCESS = 1, /* key is a tgid: all threads in the process */
	PFSTAT_TARGET_THREAD = 2,  /* key is a tid: only this thread */
	PFSTAT_TARGET_FOLLOW = 3,  /* as PROCESS, and also all descendants */
};

_Static_assert(PFSTAT_FAULT_OTHER == 5, "ABI");
_Static_assert(PFSTAT_CONTENT_PRESENT == PFSTAT_PAGE_CONTENT_MASK, "ABI");
_Static_assert(sizeof(struct pfstat_event) == 24, "ABI");
_Static_assert(sizeof(struct pfstat_off_cpu) == 56, "ABI");
_Static_assert(sizeof(struct pfstat_off_cpu_1) == 48, "ABI");
_Static_assert(sizeof(struct pfstat_cpu_task) == 64, "ABI");
_Static_assert(sizeof(struct pfstat_block) == 80, "ABI");
_Static_assert(sizeof(struct pfstat_fault) == 80, "ABI");
_Static_assert(sizeof(struct pfstat_missed) == 16, "ABI");
_Static_assert(sizeof(struct pfstat_page) == 64, "ABI");
_Static_assert(sizeof(struct pfstat_task) == 48, "ABI");
_Static_assert(sizeof(struct pfstat_fork) == 48, "ABI");
_Static_assert(sizeof(struct pfstat_stack) == 40 + 8 * PFSTAT_STACK_FRAMES, "ABI");
_Static_assert(sizeof(struct pfstat_advice) == 56, "ABI");
_Static_assert(sizeof(struct pfstat_reclaim) == 40, "ABI");
_Static_assert(sizeof(struct pfstat_wait) == 40 + PFSTAT_WAIT_BYTES, "ABI");
_Static_assert(sizeof(struct pfstat_mapping) == 56, "ABI");
_Static_assert(sizeof(struct pfstat_call) == 104, "ABI");
_Static_assert(sizeof(struct pfstat_userfault) == 56, "ABI");
_Static_assert(sizeof(struct pfstat_swap_pair) == 8, "ABI");
_Static_assert(sizeof(struct pfstat_swap_counts) == 24, "ABI");
_Static_assert(sizeof(struct pfstat_syscall_key) == 8, "ABI");
_Static_assert(sizeof(struct pfstat_syscall_value) == 336, "ABI");

#endif
