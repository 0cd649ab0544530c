// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspended faults, one a thread at most, in a set-associative table.
 *
 * Only a thread itself stores and takes the slot that carries its tid, so a
 * look-up needs no lock: in the common case it reads one word that is
 * zero, in a cache line that only those who suspend write. A full set (its threads
 * were killed between two attempts, or there are very many) gives up its oldest
 * link, counted.
 *
 *	tags[way]:  0 --claim--> BUSY --fields written--> tag --taken--> 0
 *	                          ^--------- evicted -------'
 *
 * Fields are written under BUSY only, and a taker's compare-and-swap fails
 * when it was evicted while it read them.
 */
#include <linux/atomic.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>
#include <pfstat/record.h>

#include "chain.h"

#define CHAIN_BUSY U16_MAX
static_assert((PID_MAX_LIMIT >> CHAIN_SET_BITS) + 1 < CHAIN_BUSY);

struct suspended {
	u64 page_address;
	u64 start_ns;
	u64 born;		/* the thread's start: tids are used again */
	u64 faults;		/* faults that the thread had completed */
	u8 cause;
};

struct chain_ways {
	struct suspended ways[CHAIN_WAYS];
} ____cacheline_aligned;

/* A set is an entry of each. */
union chain_tags pfstat_chain_tags[1 << CHAIN_SET_BITS];
static struct chain_ways *chain_ways;
static atomic64_t chain_evicted;

static u16 tag_of(pid_t tid)
{
	return ((u32)tid >> CHAIN_SET_BITS) + 1;
}

/* Moves whenever a fault of current completes (mm_account_fault()). */
static u64 completed_faults(void)
{
	return current->min_flt + current->maj_flt;
}

struct chain pfstat_chain_resume(unsigned long page_address)
{
	struct chain chain = PFSTAT_CHAIN_NONE;
	u32 set = pfstat_chain_set(current->pid);
	u16 *tags = pfstat_chain_tags[set].tags, tag = tag_of(current->pid);
	struct suspended found;
	int way;

	for (way = 0; way < CHAIN_WAYS; way++)
		if (READ_ONCE(tags[way]) == tag)
			break;
	if (way == CHAIN_WAYS)
		return chain;

	found = chain_ways[set].ways[way];
	if (cmpxchg(&tags[way], tag, 0) != tag)
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

static int oldest_way(const struct suspended *ways)
{
	int way, oldest = 0;

	for (way = 1; way < CHAIN_WAYS; way++)
		if (READ_ONCE(ways[way].start_ns) < READ_ONCE(ways[oldest].start_ns))
			oldest = way;
	return oldest;
}

/* Claims a slot of the set, now BUSY; -1 when others were faster at every try. */
static int claim_way(u32 set)
{
	u16 *tags = pfstat_chain_tags[set].tags;
	u16 holder;
	int way;

	for (way = 0; way < CHAIN_WAYS; way++)
		if (!READ_ONCE(tags[way]) && !cmpxchg(&tags[way], 0, CHAIN_BUSY))
			return way;

	atomic64_inc(&chain_evicted);
	way = oldest_way(chain_ways[set].ways);
	holder = READ_ONCE(tags[way]);
	if (holder == CHAIN_BUSY || cmpxchg(&tags[way], holder, CHAIN_BUSY) != holder)
		return -1;
	return way;
}

void pfstat_chain_suspend(unsigned long page_address, u64 start_ns, u8 cause)
{
	u32 set = pfstat_chain_set(current->pid);
	int way = claim_way(set);

	if (way < 0)
		return;
	chain_ways[set].ways[way] = (struct suspended) {
		.page_address = page_address,
		.start_ns = start_ns,
		.born = current->start_time,
		.faults = completed_faults(),
		.cause = cause,
	};
	/* Pairs with the cmpxchg() of whoever takes or evicts it. */
	smp_store_release(&pfstat_chain_tags[set].tags[way], tag_of(current->pid));
}

void pfstat_chain_reset(void)
{
	memset(pfstat_chain_tags, 0, sizeof(pfstat_chain_tags));
	memset(chain_ways, 0, sizeof(*chain_ways) << CHAIN_SET_BITS);
	atomic64_set(&chain_evicted, 0);
}

u64 pfstat_chain_evicted(void)
{
	return atomic64_read(&chain_evicted);
}

size_t pfstat_chain_bytes(void)
{
	return sizeof(*chain_ways) << CHAIN_SET_BITS;
}

int pfstat_chain_init(void)
{
	chain_ways = vzalloc(sizeof(*chain_ways) << CHAIN_SET_BITS);
	return chain_ways ? 0 : -ENOMEM;
}

void pfstat_chain_exit(void)
{
	vfree(chain_ways);
}
