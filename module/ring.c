// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU rings with fixed-size records.
 *
 *	           tail                head
 *	            v                   v
 *	  ...|read |new |new |new |new |free|free|...	drop: full when head - tail == capacity
 *
 *	  slot:  sequence n+1-capacity -> 0 -> (fields) -> n+1
 *
 * Fault handlers run in process context, so with preemption off a CPU has one writer and needs no
 * lock. The sequence is zeroed first and stored last: a reader that finds n + 1 before and after
 * the copy has a whole record. The header page belongs to user space too. The writer keeps a
 * private count and reads only `tail` from the page: a wrong tail can make the writer drop or
 * overwrite, and nothing worse. The writer reads `tail` when head reaches `limit`: the mark where,
 * by the last look, the ring was half full (then readers are woken), or full, or somewhere between.
 * Records before `fast_end` reach neither this mark nor the end of the ring's memory.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/vmalloc.h>

#include "ring.h"

DEFINE_PER_CPU(struct ring_writer, pfstat_rings);

/* The maximum share of the machine's memory, in percent, for all rings together. */
#define RING_LIMIT_MIN 1
#define RING_LIMIT_MAX 90

static unsigned int ring_limit = 50;

static int set_ring_limit(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, RING_LIMIT_MIN, RING_LIMIT_MAX);
}

static const struct kernel_param_ops ring_limit_ops = {
	.set = set_ring_limit,
	.get = param_get_uint,
};

module_param_cb(ring_limit, &ring_limit_ops, &ring_limit, 0400);
MODULE_PARM_DESC(ring_limit, "memory that all rings may take, in percent: 1 to 90 (default 50)");

/* Buffers against setup and exit. Taken below the mmap lock (mmap of a ring). */
static DEFINE_MUTEX(ring_mutex);

/* A ring may be 1 GiB. */
static void clear_memory(void *memory, size_t size)
{
	size_t part;

	for (; size; memory += part, size -= part) {
		part = min_t(size_t, size, SZ_1M);
		memset(memory, 0, part);
		cond_resched();
	}
}

/* The fast path does not store the CPU: all records of a ring have the same. */
static void ring_store_cpu(struct ring_writer *ring, unsigned int cpu)
{
	struct pfstat_record *record;

	for (record = ring->data; record < ring->end; record++) {
		record->cpu = cpu;
		cond_resched();
	}
}

static void ring_empty(struct ring_writer *ring, unsigned int cpu)
{
	ring->sequence = 1;
	ring->fast_end = 0;
	ring->limit = 0;
	ring->lost = 0;
	ring->next = (unsigned long)ring->data;
	if (!ring->header)
		return;
	clear_memory(ring->header, PAGE_SIZE + ring->capacity * sizeof(*ring->data));
	ring->header->version = PFSTAT_ABI_VERSION;
	ring->header->record_size = sizeof(struct pfstat_record);
	ring->header->capacity = ring->capacity;
	ring->header->cpu = cpu;
	ring->header->overwrite = ring->overwrite;
	ring_store_cpu(ring, cpu);
}

static void ring_free(struct ring_writer *ring)
{
	vfree(ring->header); /* a mapping keeps its own pages */
	ring->header = NULL;
	ring->data = NULL;
	ring->end = NULL;
	ring->capacity = 0;
}

/* Header and records, in bytes. */
static size_t ring_memory(u64 capacity)
{
	return PAGE_SIZE + PAGE_ALIGN(capacity * sizeof(struct pfstat_record));
}

/* On the CPU's own node. Frames: a ring that was mapped without them is not used again. */
static int ring_allocate(struct ring_writer *ring, int cpu, size_t size, bool frames)
{
	u64 capacity = size / sizeof(struct pfstat_record);

	if (ring->header && ring->capacity == capacity && ring->frames == frames)
		return 0;
	ring_free(ring);
	ring->frames = frames;
	ring->header = vzalloc_node(ring_memory(capacity), cpu_to_node(cpu));
	if (!ring->header)
		return -ENOMEM;
	ring->data = (void *)ring->header + PAGE_SIZE;
	ring->end = ring->data + capacity;
	ring->capacity = capacity;
	return 0;
}

/*
 * Would rings of this size take more than they may, or leave the machine without memory? The kernel
 * fulfils an allocation as long as it can kill a process for it.
 */
static bool rings_fit(size_t size)
{
	const u64 pages = (u64)num_present_cpus() * (PFN_UP(size) + 1);

	return pages <= (u64)totalram_pages() * ring_limit / 100 &&
	       pages < si_mem_available() + PFN_DOWN(pfstat_ring_bytes());
}

static int ring_allocate_all(size_t size, bool frames)
{
	int cpu, err;

	if (!rings_fit(size))
		return -ENOMEM;
	/* An offline CPU too: it may come online while the reader has only these rings mapped. */
	for_each_present_cpu(cpu) {
		err = ring_allocate(per_cpu_ptr(&pfstat_rings, cpu), cpu, size, frames);
		if (err)
			return err;
	}
	return 0;
}

int pfstat_ring_setup(size_t size, bool overwrite, bool frames)
{
	struct ring_writer *ring;
	int cpu, err;

	/*
	 * No CPU is added meanwhile. Above our lock: that is taken below an mmap lock, which the
	 * kernel takes below this.
	 */
	cpus_read_lock();
	mutex_lock(&ring_mutex);
	err = ring_allocate_all(size, frames);
	for_each_possible_cpu(cpu) {
		ring = per_cpu_ptr(&pfstat_rings, cpu);
		/* A CPU not present has been removed since an earlier session. */
		if (err || !cpu_present(cpu))
			ring_free(ring);
		ring->overwrite = overwrite;
		ring_empty(ring, cpu);
	}
	mutex_unlock(&ring_mutex);
	cpus_read_unlock();
	return err;
}

void pfstat_ring_reset(void)
{
	int cpu;

	mutex_lock(&ring_mutex);
	for_each_possible_cpu(cpu)
		ring_empty(per_cpu_ptr(&pfstat_rings, cpu), cpu);
	mutex_unlock(&ring_mutex);
}

void pfstat_ring_close_fast(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(&pfstat_rings, cpu)->fast_end, 0);
}

size_t pfstat_ring_bytes(void)
{
	size_t bytes = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ring_writer *ring = per_cpu_ptr(&pfstat_rings, cpu);

		if (ring->header)
			bytes += ring_memory(ring->capacity);
	}
	return bytes;
}

u64 pfstat_ring_stored(void)
{
	u64 stored = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		stored += pfstat_ring_head(per_cpu_ptr(&pfstat_rings, cpu));
	return stored;
}

u64 pfstat_ring_lost(void)
{
	u64 lost = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		lost += READ_ONCE(per_cpu_ptr(&pfstat_rings, cpu)->lost);
	return lost;
}

/* remap_vmalloc_range() takes only vmalloc_user() memory, which is on the caller's node. */
static int ring_insert_pages(const struct ring_writer *ring, struct vm_area_struct *vma)
{
	const u64 pages = ring_memory(ring->capacity) >> PAGE_SHIFT;
	void *memory = (void *)ring->header + (vma->vm_pgoff << PAGE_SHIFT);
	unsigned long address;
	int err = 0;

	if (vma->vm_pgoff >= pages || vma_pages(vma) > pages - vma->vm_pgoff)
		return -EINVAL;
	for (address = vma->vm_start; !err && address < vma->vm_end; address += PAGE_SIZE) {
		err = vm_insert_page(vma, address, vmalloc_to_page(memory));
		memory += PAGE_SIZE;
		cond_resched();
	}
	return err;
}

int pfstat_ring_mmap(unsigned int cpu, struct vm_area_struct *vma, bool frames)
{
	struct ring_writer *ring = per_cpu_ptr(&pfstat_rings, cpu);
	int err = -ENODATA;

	mutex_lock(&ring_mutex);
	if (ring->header && ring->frames && !frames)
		err = -EPERM;
	else if (ring->header)
		err = ring_insert_pages(ring, vma);
	mutex_unlock(&ring_mutex);
	return err;
}

static u64 ring_unread(const struct ring_writer *ring)
{
	/* Pairs with the reader's release of tail: slots before it are free (ring-tail.litmus). */
	return pfstat_ring_head(ring) - smp_load_acquire(&ring->header->tail);
}

__poll_t pfstat_ring_poll(unsigned int cpu, struct file *file, poll_table *wait)
{
	struct ring_writer *ring = per_cpu_ptr(&pfstat_rings, cpu);
	__poll_t events = 0;

	poll_wait(file, &ring->readers, wait);
	mutex_lock(&ring_mutex);
	if (!ring->header)
		events = EPOLLERR;
	else if (ring_unread(ring) >= DIV_ROUND_UP(ring->capacity, 2))
		events = EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&ring_mutex);
	return events;
}

void pfstat_ring_hold(void)
{
	mutex_lock(&ring_mutex);
}

void pfstat_ring_release(void)
{
	mutex_unlock(&ring_mutex);
}

bool pfstat_ring_copy(unsigned int cpu, u64 position, struct pfstat_record *record)
{
	struct ring_writer *ring = per_cpu_ptr(&pfstat_rings, cpu);
	const struct pfstat_record *slot;
	u64 rest;

	if (!ring->header)
		return false;
	div64_u64_rem(position, ring->capacity, &rest);
	slot = &ring->data[rest];
	/* Pairs with the release in pfstat_ring_commit(). */
	if (smp_load_acquire(&slot->sequence) != position + 1)
		return false;
	*record = *slot;
	/* The copy is over before the sequence is looked at again. */
	smp_rmb();
	return READ_ONCE(slot->sequence) == position + 1;
}

/* The number of records until the tail must be read again. 0: the ring is full. */
static u64 ring_stretch(const struct ring_writer *ring, u64 unread, u64 half)
{
	u64 some = DIV_ROUND_UP(ring->capacity, 8);

	if (unread < half)
		return half - unread;
	if (ring->overwrite)
		return some;
	return unread < ring->capacity ? min(some, ring->capacity - unread) : 0;
}

/* Sets how far head may go, and wakes the readers of a half-full ring. */
static void ring_set_limit(struct ring_writer *ring)
{
	u64 half = DIV_ROUND_UP(ring->capacity, 2), unread = ring_unread(ring);

	ring->limit = pfstat_ring_head(ring) + ring_stretch(ring, unread, half);
	if (unread >= half && wq_has_sleeper(&ring->readers))
		wake_up_interruptible(&ring->readers);
}

struct pfstat_record *pfstat_ring_reserve(void)
{
	struct ring_writer *ring = this_cpu_ptr(&pfstat_rings);

	if (!ring->header)
		return NULL;
	if (pfstat_ring_head(ring) == ring->limit)
		ring_set_limit(ring);
	return pfstat_ring_head(ring) == ring->limit ?
		       NULL :
		       ring_begin((struct pfstat_record *)ring->next);
}

void pfstat_ring_commit(struct pfstat_record *record)
{
	struct ring_writer *ring = this_cpu_ptr(&pfstat_rings);

	ring_publish_record(record, ring->sequence, ring->header);
	if (++record == ring->end)
		record = ring->data;
	ring->next = (unsigned long)record;
	/* Pairs with pfstat_ring_head(). */
	smp_store_release(&ring->sequence, ring->sequence + 1);
	if (pfstat_ring_head(ring) == ring->limit)
		ring_set_limit(ring);
	/* The slow path stores the last record of the memory, and the one at the limit. */
	ring->fast_end = min(ring->limit, pfstat_ring_head(ring) + (ring->end - record));
	if (!ring->frames)
		ring->fast_end = 0; /* the fast path stores the frame */
}

void pfstat_ring_store(const struct pfstat_record *from)
{
	const size_t first = offsetof(struct pfstat_record, start_ns);
	struct pfstat_record *record = pfstat_ring_reserve();

	if (!record) {
		pfstat_ring_overflow_slot();
		return;
	}
	memcpy((void *)record + first, (const void *)from + first, sizeof(*record) - first);
	record->cpu = smp_processor_id();
	pfstat_ring_commit(record);
}

struct pfstat_record *pfstat_ring_overflow_slot(void)
{
	struct ring_writer *ring = this_cpu_ptr(&pfstat_rings);

	ring->lost++;
	if (ring->header)
		WRITE_ONCE(ring->header->lost, ring->lost);
	return &ring->overflow;
}

void pfstat_ring_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		init_waitqueue_head(&per_cpu_ptr(&pfstat_rings, cpu)->readers);
}

void pfstat_ring_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		ring_free(per_cpu_ptr(&pfstat_rings, cpu));
}
