/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Links the attempts of one logical fault.
 *
 * A wrapper call that did not solve its fault (RETRY, or map_pages that found
 * nothing) suspends it here; the same thread's next call resumes it. The
 * kernel's TRIED flag cannot tell: it is missing after a wait under the VMA
 * lock, and for MAP_POPULATE.
 */
#ifndef PFSTAT_CHAIN_H
#define PFSTAT_CHAIN_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <pfstat/record.h>

#define CHAIN_SET_BITS 10
#define CHAIN_WAYS 4

/*
 * Whose suspended faults a set holds; looked at in every call, and zero in most. The low
 * bits of a tid say which set, the others and 1 are its tag.
 */
union chain_tags {
	u16 tags[CHAIN_WAYS];	/* 0: free */
	u64 all;
} ____cacheline_aligned;

extern union chain_tags pfstat_chain_tags[1 << CHAIN_SET_BITS];

struct chain {
	u64 earlier_ns;		/* start of the previous attempt; 0: there was none */
	u8 cause;		/* the class that made the fault wait (see pfstat_facts) */
};

#define PFSTAT_CHAIN_NONE ((struct chain){ .cause = PFSTAT_NR_CLASSES })

int pfstat_chain_init(void);
void pfstat_chain_exit(void);
void pfstat_chain_reset(void);
size_t pfstat_chain_bytes(void);
u64 pfstat_chain_evicted(void);	/* links given up for want of room */

static inline u32 pfstat_chain_set(pid_t tid)
{
	return (u32)tid % (1 << CHAIN_SET_BITS);
}

/* True: current, which task is, has left nothing behind. Only it can change that. */
static inline bool pfstat_chain_is_clear(const struct task_struct *task)
{
	/* Once, and not as volatile: so that it is compared where it lies. */
	return !data_race(pfstat_chain_tags[pfstat_chain_set(task->pid)].all);
}

/* What current left behind for this page, and forgets it. */
struct chain pfstat_chain_resume(unsigned long page_address);
/* Current's attempt that began at start_ns will be followed by another. */
void pfstat_chain_suspend(unsigned long page_address, u64 start_ns, u8 cause);

#endif
