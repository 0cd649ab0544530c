/* SPDX-License-Identifier: GPL-2.0-only */
/* The per-CPU rings of records; see <pfstat/record.h> for what readers see. */
#ifndef PFSTAT_RING_H
#define PFSTAT_RING_H

#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/wait.h>
#include <pfstat/record.h>

struct vm_area_struct;

/* The writer's own view: nothing here can be reached from user space. */
struct ring {
	struct pfstat_ring_header *header;	/* the shared page; NULL: no ring */
	struct pfstat_record *next;	/* data[head % capacity] */
	u64 head;		/* records stored */
	u64 limit;		/* head may go so far before the reader's tail is looked at */
	struct pfstat_record *data;
	struct pfstat_record *end;	/* behind the last of data */
	u64 lost;		/* calls that found no room */
	u64 capacity;		/* records */
	bool overwrite;
	struct pfstat_record spill;	/* for the tracepoint, when there is no room */
	wait_queue_head_t readers;
};

DECLARE_PER_CPU(struct ring, pfstat_rings);

void pfstat_ring_init(void);
void pfstat_ring_exit(void);

/*
 * Gives every online CPU an empty ring of `size` bytes of records; a buffer
 * that already has this size is used again. No writer may be active. -ENOMEM, when
 * there is none, or more were taken than ring_limit allows, leaves no rings.
 */
int pfstat_ring_setup(size_t size, bool overwrite);
void pfstat_ring_reset(void);	/* no writer may be active */
size_t pfstat_ring_bytes(void);	/* held by all rings */

/* Sums over all CPUs; exact when no writer is active. */
u64 pfstat_ring_stored(void);
u64 pfstat_ring_lost(void);

int pfstat_ring_mmap(unsigned int cpu, struct vm_area_struct *vma);
__poll_t pfstat_ring_poll(unsigned int cpu, struct file *file, poll_table *wait);

/* Readers in the kernel hold the rings still, against setup and exit. */
void pfstat_ring_hold(void);
void pfstat_ring_release(void);
/*
 * Copies record number `position` of a CPU. False: it is not there, not yet
 * or no longer. Rings must be held.
 */
bool pfstat_ring_copy(unsigned int cpu, u64 position, struct pfstat_record *record);

/*
 * The hot path. Preemption is off from has_room to commit, so that a CPU has one
 * writer. Without room nothing may be reserved; refuse counts that, and returns the
 * spill, which goes nowhere.
 */
bool pfstat_ring_look_for_room(struct ring *ring);
struct pfstat_record *pfstat_ring_refuse(struct ring *ring);

static inline bool pfstat_ring_has_room(void)
{
	return likely(this_cpu_read(pfstat_rings.head) != this_cpu_read(pfstat_rings.limit)) ||
	       pfstat_ring_look_for_room(this_cpu_ptr(&pfstat_rings));
}

static inline struct pfstat_record *pfstat_ring_reserve(void)
{
	struct pfstat_record *record = this_cpu_read(pfstat_rings.next);

	WRITE_ONCE(record->sequence, 0);
	/* Readers see the zero before any of the new fields. */
	smp_wmb();
	return record;
}

static inline void pfstat_ring_commit(struct pfstat_record *record)
{
	u64 head = this_cpu_read(pfstat_rings.head) + 1;

	this_cpu_write(pfstat_rings.head, head);
	/* Pairs with the acquire in pfstat_ring_copy() and in user space. */
	smp_store_release(&record->sequence, head);
	/* Pairs with the reader's acquire: the records before head are whole. */
	smp_store_release(&this_cpu_read(pfstat_rings.header)->head, head);
	if (unlikely(++record == this_cpu_read(pfstat_rings.end)))
		record = this_cpu_read(pfstat_rings.data);
	this_cpu_write(pfstat_rings.next, record);
	if (unlikely(head == this_cpu_read(pfstat_rings.limit)))
		pfstat_ring_look_for_room(this_cpu_ptr(&pfstat_rings));
}

#endif
