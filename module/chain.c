// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspended faults, one a thread at most, in a set-associative table.
 *
 * Only a thread itself stores and takes the slot that carries its tid, so a
 * look-up needs no lock: in the common case it reads one word pair that is
 * zero. A full set (its threads were killed between two attempts, or there are
 * very many) gives up its oldest link, counted.
 *
 *	tids[way]:  0 --claim--> BUSY --fields written--> tid --taken--> 0
 *	                          ^--------- evicted -------'
 *
 * Fields are written under BUSY only, and a taker's compare-and-swap fails
 * when it was evicted while it read them.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>
#include <pfstat/record.h>

#include "chain.h"

#define CHAIN_SET_BITS 10
#define CHAIN_WAYS 4
#define CHAIN_BUSY (~0U)

struct suspended {
	u64 page_address;
	u64 start_ns;
	u64 born;		/* the thread's start: tids are used again */
	u64 faults;		/* faults that the thread had completed */
	u8 cause;
};

struct chain_set {
	u32 tids[CHAIN_WAYS];	/* 0: free */
	struct suspended ways[CHAIN_WAYS];
} ____cacheline_aligned;

static struct chain_set *chain_sets;
static atomic64_t chain_evicted;

static struct chain_set *chain_set_of(pid_t tid)
{
	return &chain_sets[hash_32(tid, CHAIN_SET_BITS)];
}

/* Moves whenever a fault of current completes (mm_account_fault()). */
static u64 completed_faults(void)
{
	return current->min_flt + current->maj_flt;
}

struct chain pfstat_chain_resume(unsigned long page_address)
{
	struct chain chain = { .earlier_ns = 0, .cause = PFSTAT_NR_CLASSES };
	struct chain_set *set = chain_set_of(current->pid);
	u32 tid = current->pid;
	struct suspended found;
	int way;

	for (way = 0; way < CHAIN_WAYS; way++)
		if (READ_ONCE(set->tids[way]) == tid)
			break;
	if (likely(way == CHAIN_WAYS))
		return chain;

	found = set->ways[way];
	if (cmpxchg(&set->tids[way], tid, 0) != tid)
		return chain;	/* evicted while we read */

	/*
	 * Another page, or a fault that completed in between (somebody else
	 * mapped the page, a signal handler ran): the suspended one is over.
	 */
	if (found.page_address != page_address || found.born != current->start_time ||
	    found.faults != completed_faults())
		return chain;

	chain.earlier_ns = found.start_ns;
	chain.cause = found.cause;
	return chain;
}

static int oldest_way(const struct chain_set *set)
{
	int way, oldest = 0;

	for (way = 1; way < CHAIN_WAYS; way++)
		if (READ_ONCE(set->ways[way].start_ns) < READ_ONCE(set->ways[oldest].start_ns))
			oldest = way;
	return oldest;
}

/* Claims a slot of the set, now BUSY; -1 when others were faster at every try. */
static int claim_way(struct chain_set *set)
{
	u32 holder;
	int way;

	for (way = 0; way < CHAIN_WAYS; way++)
		if (!READ_ONCE(set->tids[way]) && !cmpxchg(&set->tids[way], 0, CHAIN_BUSY))
			return way;

	atomic64_inc(&chain_evicted);
	way = oldest_way(set);
	holder = READ_ONCE(set->tids[way]);
	if (holder == CHAIN_BUSY || cmpxchg(&set->tids[way], holder, CHAIN_BUSY) != holder)
		return -1;
	return way;
}

void pfstat_chain_suspend(unsigned long page_address, u64 start_ns, u8 cause)
{
	struct chain_set *set = chain_set_of(current->pid);
	int way = claim_way(set);

	if (way < 0)
		return;
	set->ways[way] = (struct suspended) {
		.page_address = page_address,
		.start_ns = start_ns,
		.born = current->start_time,
		.faults = completed_faults(),
		.cause = cause,
	};
	/* Pairs with the cmpxchg() of whoever takes or evicts it. */
	smp_store_release(&set->tids[way], (u32)current->pid);
}

void pfstat_chain_reset(void)
{
	memset(chain_sets, 0, sizeof(*chain_sets) << CHAIN_SET_BITS);
	atomic64_set(&chain_evicted, 0);
}

u64 pfstat_chain_evicted(void)
{
	return atomic64_read(&chain_evicted);
}

int pfstat_chain_init(void)
{
	chain_sets = vzalloc(sizeof(*chain_sets) << CHAIN_SET_BITS);
	return chain_sets ? 0 : -ENOMEM;
}

void pfstat_chain_exit(void)
{
	vfree(chain_sets);
}
