// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspended faults, one a thread at most, in a set-associative table.
 *
 * A thread stores and takes only the slot carrying the thread's tid, so a look-up needs no lock: in
 * the common case it reads one zero word, in a cache line written only by suspending threads. A
 * thread finding other threads' slots in its set drops the slots whose faults are over: their
 * threads died between two attempts, or another thread mapped the page. A full set without a
 * finished fault drops the oldest link, counted.
 *
 *	tags[way]:  0 --claim--> BUSY --fields written--> tag --taken, dropped--> 0
 *	                          ^--------- evicted -------'
 *
 * Fields are written under BUSY only. The compare-and-swap in a thread taking a slot fails if the
 * slot was evicted while the thread read the fields.
 */
#include <linux/atomic.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
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
	u64 born;   /* the thread's start: tids are used again */
	u64 faults; /* faults completed by the thread */
	u8 cause;
};

struct chain_ways {
	struct suspended ways[CHAIN_WAYS];
} ____cacheline_aligned;

/* A set is an entry in each array. */
union chain_tags pfstat_chain_tags[1 << CHAIN_SET_BITS];
atomic_t pfstat_chain_occupied;
static struct chain_ways *chain_ways;
static atomic64_t chain_evicted;

/* False: another thread has evicted the slot, or taken it. */
static bool chain_free_slot(u16 *slot, u16 tag)
{
	if (cmpxchg(slot, tag, 0) != tag)
		return false;
	atomic_dec(&pfstat_chain_occupied);
	return true;
}

static bool chain_claim_slot(u16 *slot)
{
	/* Counted first: the slot's owner thread finds it counted. */
	atomic_inc(&pfstat_chain_occupied);
	if (!cmpxchg(slot, 0, CHAIN_BUSY))
		return true;
	atomic_dec(&pfstat_chain_occupied);
	return false;
}

static u16 tag_of(pid_t tid)
{
	return ((u32)tid >> CHAIN_SET_BITS) + 1;
}

static pid_t tid_of(u16 tag, u32 set)
{
	return ((pid_t)(tag - 1) << CHAIN_SET_BITS) + set;
}

/* Moves whenever a fault in the thread completes (mm_account_fault()). */
static u64 completed_faults(const struct task_struct *task)
{
	/* Another thread may be counting meanwhile: then that fault is over a moment later. */
	return data_race(task->min_flt) + data_race(task->maj_flt);
}

/* True: the thread will not come back for the fault that it suspended. */
static bool chain_is_over(const struct suspended *suspended, pid_t tid)
{
	const struct task_struct *task;
	bool over;

	rcu_read_lock();
	task = pid_task(find_pid_ns(tid, &init_pid_ns), PIDTYPE_PID);
	over = !task || READ_ONCE(task->exit_state) || task->start_time != suspended->born ||
	       completed_faults(task) != suspended->faults;
	rcu_read_unlock();
	return over;
}

/*
 * Preemption is off, so a slot's thread hardly has the time to take the slot and suspend another
 * fault there between the look and the exchange: that link would be lost.
 */
static void drop_over(u32 set)
{
	u16 *tags = pfstat_chain_tags[set].tags, tag;
	struct suspended found;
	int way;

	preempt_disable();
	for (way = 0; way < CHAIN_WAYS; way++) {
		/* Pairs with the release in pfstat_chain_suspend(): chain-suspend.litmus. */
		tag = smp_load_acquire(&tags[way]);
		if (!tag || tag == CHAIN_BUSY)
			continue;
		/* An eviction meanwhile changes the tag. */
		found = data_race(chain_ways[set].ways[way]);
		if (chain_is_over(&found, tid_of(tag, set)))
			chain_free_slot(&tags[way], tag);
	}
	preempt_enable();
}

struct chain_link pfstat_chain_resume(unsigned long page_address)
{
	struct chain_link chain = PFSTAT_CHAIN_NONE;
	u32 set = pfstat_chain_set(current->pid);
	u16 *tags = pfstat_chain_tags[set].tags, tag = tag_of(current->pid);
	struct suspended found;
	int way;

	for (way = 0; way < CHAIN_WAYS; way++)
		if (READ_ONCE(tags[way]) == tag)
			break;
	if (way == CHAIN_WAYS) {
		drop_over(set);
		return chain;
	}

	/* An eviction meanwhile makes the exchange fail: chain-evict.litmus. */
	found = data_race(chain_ways[set].ways[way]);
	if (!chain_free_slot(&tags[way], tag))
		return chain; /* evicted while we read */

	/*
	 * Another page, or a fault that completed in between (another thread
	 * mapped the page, a signal handler ran): the suspended one is over.
	 */
	if (found.page_address != page_address || found.born != current->start_time ||
	    found.faults != completed_faults(current))
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

/* Claims a free slot, now BUSY, or returns -1 if there is none. */
static int claim_free_way(u16 *tags)
{
	int way;

	for (way = 0; way < CHAIN_WAYS; way++)
		if (!READ_ONCE(tags[way]) && chain_claim_slot(&tags[way]))
			return way;
	return -1;
}

/* Claims a slot in the set, now BUSY, or returns -1 if other threads were faster at every try. */
static int claim_way(u32 set)
{
	u16 *tags = pfstat_chain_tags[set].tags;
	int way = claim_free_way(tags);
	u16 holder;

	if (way < 0) {
		drop_over(set);
		way = claim_free_way(tags);
	}
	if (way >= 0)
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
	const struct suspended suspended = {
		.page_address = page_address,
		.start_ns = start_ns,
		.born = current->start_time,
		.faults = completed_faults(current),
		.cause = cause,
	};
	u32 set = pfstat_chain_set(current->pid);
	int way = claim_way(set);

	if (way < 0)
		return;
	/* A thread reading it meanwhile finds another tag afterwards. */
	data_race(chain_ways[set].ways[way] = suspended);
	/* Pairs with the cmpxchg() in a thread that takes, drops or evicts the slot. */
	smp_store_release(&pfstat_chain_tags[set].tags[way], tag_of(current->pid));
}

void pfstat_chain_reset(void)
{
	memset(pfstat_chain_tags, 0, sizeof(pfstat_chain_tags));
	atomic_set(&pfstat_chain_occupied, 0);
	memset(chain_ways, 0, sizeof(*chain_ways) << CHAIN_SET_BITS);
	atomic64_set(&chain_evicted, 0);
}

unsigned int pfstat_chain_suspended(void)
{
	unsigned int set, way, suspended = 0;

	for (set = 0; set < ARRAY_SIZE(pfstat_chain_tags); set++)
		for (way = 0; way < CHAIN_WAYS; way++)
			suspended += !!READ_ONCE(pfstat_chain_tags[set].tags[way]);
	return suspended;
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
