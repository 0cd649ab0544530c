/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slots of threads with faults while watched, or whose fault on a hooked file was suspended. A
 * hash of the task_struct gives the slot, or, if another thread has this slot, the slot lies a few
 * slots further. The slots lie in one table, which stays until the module goes, so a fault needs no
 * lock and no reference to find the thread's slot.
 *
 *	owner:	0 --first fault--> task --ignore, stop--> task|LEFT --task freed--> 0
 *		|                   ^                        | ^
 *		|                   +--watched, next fault---+ |
 *		+--not watched, first suspended fault or note--+
 *
 * While the thread is the owner, only the thread uses the other members, with preemption off where
 * it checks ownership. After the thread has left, and an RCU grace period later, they change under
 * pfstat_mm_lock (slot-left.litmus in tests/litmus/). A slot whose thread is inside a fault is
 * never given to another thread, unless the whole table is emptied. The thread then finds that it
 * owns nothing.
 *
 * The suspended fault and the notes are the thread's even after it has left. The thread uses them
 * with preemption off, and only while calls are recorded: they change after a grace period
 * (record-stop.litmus), or when the task is freed.
 */
#ifndef PFSTAT_MM_THREAD_H
#define PFSTAT_MM_THREAD_H

/* Multiplied by this factor, an address's high bits depend on all bits. */
#define MM_HASH_FACTOR 0x9e3779b97f4a7c15

#define MM_THREAD_BITS	14
#define MM_THREAD_SHIFT 8 /* log2 of the slot size */

#ifndef __ASSEMBLY__
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <asm/current.h>
#include <pfstat/record.h>

struct page;
struct vm_area_struct;

#define MM_THREAD_SLOTS BIT(MM_THREAD_BITS)

/* In owner, with the address: the thread is not watched any more. */
#define MM_THREAD_LEFT 1UL

/* What has happened in the thread's current fault. */
enum mm_state {
	MM_STATE_NONE = 0,   /* it is in no fault, or in one leaving nothing behind */
	MM_STATE_OPEN = 1,   /* on the fast path: nothing yet */
	MM_STATE_CALLED = 2, /* on the fast path: `record` has what only the call knew */
	MM_STATE_SLOW = 4,   /* not on the fast path, see `waits` */
	MM_STATE_NOTED = 8,  /* with SLOW: a later function noted the fault's kind and page */
	MM_STATE_MET = 16,   /* with SLOW: a later function noted the entry that the fault met */
};

/* The page of a fault. inode 0: no file. Packed, so that nothing is empty after it. */
struct mm_page {
	u64 inode;
	u64 pgoff;
	u32 dev;
} __packed __aligned(4);

/* The notes about the pages met by the thread's calls, see retry.c. */
enum mm_note { MM_NOTE_MARKED, MM_NOTE_LOCKED, NR_MM_NOTES };

struct mm_thread {
	unsigned long owner;
	u16 displaced; /* the threads hashed to this slot but lying further */
	u8 cause;      /* the class making the suspended fault wait (see pfstat_facts) */
	u8 state;      /* enum mm_state */
	bool waits;    /* record is whole, and is stored when the fault ends */
	u8 kind;       /* enum pfstat_fault_kind, as noted */
	u8 content;    /* this, written and huge: see mm_content.c */
	u8 note;       /* enum pfstat_note, or UNKNOWN: none */
	/* The task's own counts, if every fault came here. */
	u64 minor;
	u64 major;
	/* The fault's arguments on the fast path, and the start in cycles. */
	struct vm_area_struct *vma;
	unsigned long address;
	u64 start;
	u32 flags;
	u8 note_before[NR_MM_NOTES];  /* enum pfstat_before */
	bool note_in_ns[NR_MM_NOTES]; /* the unit of note_time, otherwise cycles */
	struct page *written;	      /* the anonymous page met by a write */
	pmd_t *huge;		      /* the entry that may have got a huge page */
	struct mm_page page;	      /* as noted */
	u32 suspended_faults;	      /* completed by the thread when it suspended one */
	u64 suspended_page;	      /* the suspended fault's page address */
	u64 suspended_ns;	      /* start of its last attempt. 0: none is suspended */
	u64 note_time[NR_MM_NOTES];
	struct pfstat_record record; /* for the last call */
} __aligned(1 << MM_THREAD_SHIFT);

static_assert(sizeof(struct mm_thread) == 1 << MM_THREAD_SHIFT);

extern struct mm_thread *pfstat_mm_threads;

/* The threads with a suspended fault. */
extern atomic_t pfstat_mm_suspended;

/* Taken for all changes to the owners of slots, and to what is watched (mm_watch.h). */
extern spinlock_t pfstat_mm_lock;

static __always_inline unsigned int pfstat_mm_hash(const void *address, unsigned int bits)
{
	return (u64)address * MM_HASH_FACTOR >> (64 - bits);
}

static __always_inline struct mm_thread *pfstat_mm_thread_home(const struct task_struct *task)
{
	return &pfstat_mm_threads[pfstat_mm_hash(task, MM_THREAD_BITS)];
}

static __always_inline bool pfstat_mm_thread_is_owner(const struct mm_thread *thread,
						      const struct task_struct *task)
{
	return READ_ONCE(thread->owner) == (unsigned long)task;
}

/* A thread sees its own fault counted. */
static __always_inline bool mm_none_suspended(void)
{
#ifdef CONFIG_X86_64
	bool none;

	/* Not in C: the compiler loads it first. */
	asm volatile("cmpl $0, %[suspended]"
		     : "=@cce"(none)
		     : [suspended] "m"(pfstat_mm_suspended.counter));
	return none;
#else
	return !atomic_read(&pfstat_mm_suspended);
#endif
}

/* current's slot is not at home, or there is none. */
bool pfstat_mm_thread_is_clear_far(void);

/*
 * True: current has suspended no fault. The thread itself changes that, so it may be preempted
 * here. If the table is emptied meanwhile, nothing is suspended.
 */
static __always_inline bool pfstat_mm_thread_is_clear(void)
{
	const struct mm_thread *home;

	if (likely(mm_none_suspended()))
		return true;
	home = pfstat_mm_thread_home(current);
	/* data_race: not READ_ONCE(), so each is compared in memory. */
	if (data_race(home->owner) == (unsigned long)current)
		return !data_race(home->suspended_ns);
	return pfstat_mm_thread_is_clear_far();
}

/* A task's slot, even after the task has left. NULL: the task has none. */
struct mm_thread *pfstat_mm_thread_of(const struct task_struct *task);
/* current's slot, taken if it has none, also if it is not watched. NULL: there is no room. */
struct mm_thread *pfstat_mm_thread_any(void);
/*
 * Under the lock: a slot for current, watched since since_ns (as task_struct.start_time). Returns
 * NULL and counts the fault as missed if no slot is free near the thread's home.
 */
struct mm_thread *pfstat_mm_thread_begin(u64 since_ns);
/* current's slot, if current is in a counted fault, otherwise NULL. Preemption is off. */
struct mm_thread *pfstat_mm_thread_in_fault(void);
/*
 * A slot as if current were watched, for calibrate.c, which calls a wrapper outside a fault. NULL:
 * there is no room. A record still waiting in the slot at the end is dropped.
 */
struct mm_thread *pfstat_mm_thread_borrow(void);
void pfstat_mm_thread_return(struct mm_thread *thread);
/* An uncounted fault in current has ended. */
void pfstat_mm_thread_pass_over(struct mm_thread *thread);
/* Adds the difference between the task's counts and the thread's to the missed faults. */
void pfstat_mm_thread_settle(struct mm_thread *thread, const struct task_struct *task);

/* The previous attempt at a fault. */
struct mm_link {
	u64 earlier_ns; /* its start, 0 if there was none */
	u8 cause;	/* the class making the fault wait (see pfstat_facts) */
};

#define MM_LINK_NONE ((struct mm_link){ .cause = PFSTAT_NR_CLASSES })

/*
 * A wrapper call suspends the fault if it did not solve it (RETRY, or map_pages found nothing), and
 * the same thread's next call resumes it. The kernel's TRIED flag is not sufficient: it is missing
 * after a wait under the VMA lock, and for MAP_POPULATE. Both only while calls are recorded, in the
 * same section without preemption.
 */
void pfstat_mm_thread_suspend(unsigned long page_address, u64 start_ns, u8 cause);
struct mm_link pfstat_mm_thread_resume(unsigned long page_address);
/* While no calls are recorded. */
void pfstat_mm_thread_forget_suspended(void);
unsigned int pfstat_mm_thread_suspended(void);
/* Suspended faults without a slot: the next attempt is not linked to them. */
u64 pfstat_mm_thread_links_lost(void);

/* Under pfstat_mm_lock: the task is no longer watched, or the task is freed. */
void pfstat_mm_thread_leave(const struct task_struct *task);
void pfstat_mm_thread_release(const struct task_struct *task);
void pfstat_mm_thread_leave_all(void);
/* Calls it for each slot, under the lock, and may sleep between them. */
void pfstat_mm_thread_each(void (*change)(struct mm_thread *thread));
/* A child could not be watched. */
void pfstat_mm_thread_missed_child(void);

int pfstat_mm_thread_start(void); /* an empty table: 0 or -ENOMEM */
void pfstat_mm_thread_exit(void);

struct mm_missed {
	u64 minor, major; /* mod 2^64 */
	u64 threads;	  /* faults in threads without a slot */
	u64 children;	  /* that could not be watched */
};

struct mm_missed pfstat_mm_thread_missed(void);
void pfstat_mm_thread_reset(void);
size_t pfstat_mm_thread_bytes(void);
#endif

#endif
