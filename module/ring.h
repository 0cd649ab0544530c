/* SPDX-License-Identifier: GPL-2.0-only */
/* The per-CPU record rings. See <pfstat/record.h> for the readers' view. */
#ifndef PFSTAT_RING_H
#define PFSTAT_RING_H

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/wait.h>
#include <pfstat/record.h>

#include "here.h"

struct vm_area_struct;

/* The writer's own view: nothing here can be reached from user space. */
struct ring_writer {
	u64 sequence;			   /* for the next record: one more than are stored */
	u64 fast_end;			   /* the fast path stores only records before this one */
	unsigned long next;		   /* address of data[(sequence - 1) % capacity] */
	struct pfstat_ring_header *header; /* the shared page, or NULL without a ring */
	u64 limit;			   /* the last before the reader's tail is looked at */
	struct pfstat_record *data;
	struct pfstat_record *end; /* behind the last element in data */
	u64 lost;		   /* calls without room */
	u64 capacity;		   /* records */
	bool overwrite;
	bool frames;		       /* records have page frame numbers */
	struct pfstat_record overflow; /* for the tracepoint, when the ring is full */
	wait_queue_head_t readers;
};

DECLARE_PER_CPU(struct ring_writer, pfstat_rings);

void pfstat_ring_init(void);
void pfstat_ring_exit(void);

/*
 * Gives every present CPU, online or not, an empty ring for `size` bytes of records. A buffer
 * already having this size is reused. No writer may be active. -ENOMEM, if there is no memory, or
 * if more was taken than ring_limit allows, leaves no rings. frames: records have page frame
 * numbers.
 */
int pfstat_ring_setup(size_t size, bool overwrite, bool frames);
void pfstat_ring_reset(void); /* no writer may be active */
/* The fast path stores no more records, until the slow path commits one. */
void pfstat_ring_close_fast(void);
size_t pfstat_ring_bytes(void); /* held by all rings */

/* Records stored. A ring never set up has none. */
static inline u64 pfstat_ring_head(const struct ring_writer *ring)
{
	/* Pairs with the release in the commits: the records before it are whole. */
	u64 sequence = smp_load_acquire(&ring->sequence);

	return sequence ? sequence - 1 : 0;
}

/* Sums over all CPUs. Exact when no writer is active. */
u64 pfstat_ring_stored(void);
u64 pfstat_ring_lost(void);

/* frames: the process may see page frame numbers. -EPERM: the ring has them, and it may not. */
int pfstat_ring_mmap(unsigned int cpu, struct vm_area_struct *vma, bool frames);
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
 * Preemption is off from reserve to commit, so that a CPU has one writer. The functions named
 * _fast are for nearly all records: they neither wrap around, nor look at the reader's tail,
 * nor wake the reader.
 */
struct pfstat_record *pfstat_ring_reserve(void); /* NULL: the ring is full */
void pfstat_ring_commit(struct pfstat_record *record);
/* Stores a copy of a record as this CPU's next record. Without room, the call counts as lost. */
void pfstat_ring_store(const struct pfstat_record *record);
/* The frame to record for a page. PFSTAT_NO_PFN: no page, or no frames in this CPU's ring. */
static inline u64 pfstat_ring_frame(const struct page *page)
{
	return page && this_cpu_read(pfstat_rings.frames) ? page_to_pfn(page) : PFSTAT_NO_PFN;
}

/* Counts a call that finds no room. The returned slot is in no ring. */
struct pfstat_record *pfstat_ring_overflow_slot(void);

/* Neighbouring record members are stored with one instruction. */
static __always_inline void pfstat_record_set(struct pfstat_record *record, size_t offset,
					      u64 value)
{
	*(u64 *)((void *)record + offset) = value;
}

static __always_inline void pfstat_record_set_ids(struct pfstat_record *record,
						  const struct task_struct *task)
{
	/* Unless the kernel's structs are shuffled. */
	if (offsetof(struct task_struct, tgid) == offsetof(struct task_struct, pid) + 4) {
		pfstat_record_set(record, offsetof(struct pfstat_record, tid),
				  *(const u64 *)((const void *)task +
						 offsetof(struct task_struct, pid)));
	} else {
		record->tid = task->pid;
		record->pid = task->tgid;
	}
}

static_assert(offsetof(struct pfstat_record, pid) == offsetof(struct pfstat_record, tid) + 4);

static __always_inline struct pfstat_record *ring_begin(struct pfstat_record *record)
{
	WRITE_ONCE(record->sequence, 0);
	/* Readers see the zero before any new field: tests/litmus/ring-overwrite.litmus. */
	smp_wmb();
	return record;
}

static __always_inline void ring_publish_record(struct pfstat_record *record, u64 sequence,
						struct pfstat_ring_header *header)
{
	/*
	 * Pairs with the acquire in pfstat_ring_copy() and in user space: ring-record.litmus and
	 * ring-head.litmus in tests/litmus/.
	 */
	smp_store_release(&record->sequence, sequence);
	/* Pairs with the reader's acquire: the records before head are whole. */
	smp_store_release(&header->head, sequence);
}

/*
 * May the fast path store the next record? Then the record has this sequence. here: of
 * pfstat_rings, as in the functions below.
 */
static __always_inline bool pfstat_ring_is_fast(const struct ring_writer *here, u64 *sequence)
{
	*sequence = pfstat_here_read(here, pfstat_rings, sequence);
	return likely(*sequence < pfstat_here_read(here, pfstat_rings, fast_end));
}

static __always_inline struct pfstat_record *pfstat_ring_reserve_fast(struct ring_writer *here)
{
	return ring_begin((struct pfstat_record *)pfstat_here_read(here, pfstat_rings, next));
}

static __always_inline void pfstat_ring_commit_fast(struct ring_writer *here,
						    struct pfstat_record *record, u64 sequence)
{
	ring_publish_record(record, sequence, pfstat_here_read(here, pfstat_rings, header));
#ifdef CONFIG_X86_64
	/* The record before the count. Pairs with pfstat_ring_head(). */
	smp_wmb();
	this_cpu_inc(pfstat_rings.sequence);
#else
	/* Also the record before the count, in one instruction. */
	smp_store_release(&here->sequence, sequence + 1);
#endif
	pfstat_here_add(here, pfstat_rings, next, sizeof(*record));
}

#endif
