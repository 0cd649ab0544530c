/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Links the attempts at one logical fault.
 *
 * A wrapper call suspends the fault here if it did not solve it (RETRY, or map_pages found
 * nothing). The same thread's next call resumes it. The kernel's TRIED flag is not sufficient: it
 * is missing after a wait under the VMA lock, and for MAP_POPULATE.
 */
#ifndef PFSTAT_CHAIN_H
#define PFSTAT_CHAIN_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <pfstat/record.h>

#define CHAIN_SET_BITS 10
#define CHAIN_WAYS     4

/*
 * The threads whose suspended faults are in a set. Read in every call, and zero in most. A tid's
 * low bits are the set, the other bits and 1 are the tag.
 */
union chain_tags {
	u16 tags[CHAIN_WAYS]; /* 0: free */
	u64 all;
} ____cacheline_aligned;

extern union chain_tags pfstat_chain_tags[1 << CHAIN_SET_BITS];
extern atomic_t pfstat_chain_occupied; /* slots whose tag is not 0 */

struct chain_link {
	u64 earlier_ns; /* start of the previous attempt, 0 if there was none */
	u8 cause;	/* the class making the fault wait (see pfstat_facts) */
};

#define PFSTAT_CHAIN_NONE ((struct chain_link){ .cause = PFSTAT_NR_CLASSES })

int pfstat_chain_init(void);
void pfstat_chain_exit(void);
void pfstat_chain_reset(void);
size_t pfstat_chain_bytes(void);
u64 pfstat_chain_evicted(void);		   /* links lost because a set was full */
unsigned int pfstat_chain_suspended(void); /* links waiting for the next attempt */

static inline u32 pfstat_chain_set(pid_t tid)
{
	return (u32)tid % (1 << CHAIN_SET_BITS);
}

/* A thread sees its own slot counted. */
static __always_inline bool chain_is_empty(void)
{
#ifdef CONFIG_X86_64
	bool none;

	/* Not in C: the compiler loads it first. */
	asm volatile("cmpl $0, %[occupied]"
		     : "=@cce"(none)
		     : [occupied] "m"(pfstat_chain_occupied.counter));
	return none;
#else
	return !atomic_read(&pfstat_chain_occupied);
#endif
}

/* True: no thread in current's set has suspended a fault. */
static __always_inline bool pfstat_chain_is_clear(void)
{
	if (likely(chain_is_empty()))
		return true;
	/* Once, and not as volatile: so that it is compared where it lies. */
	return !data_race(pfstat_chain_tags[pfstat_chain_set(current->pid)].all);
}

/* Takes the fault suspended at this page by current. */
struct chain_link pfstat_chain_resume(unsigned long page_address);
/*
 * Another attempt will follow current's attempt that started at start_ns. Only while calls are
 * recorded, in the same section without preemption: no call is in here in pfstat_chain_reset().
 */
void pfstat_chain_suspend(unsigned long page_address, u64 start_ns, u8 cause);

#endif
