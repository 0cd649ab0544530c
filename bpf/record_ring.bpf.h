/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rings of records, in two maps that pfdrive also maps: the headers, and the records of all
 * rings one after the other. They have the layout of <pfstat/record.h>, with one difference: a
 * program may lose the CPU between the count in `head` and the end of its record. So a reader takes
 * a record when its sequence number is there; `head` is only the number of records begun.
 */
#ifndef PFSTAT_BPF_RECORD_RING_H
#define PFSTAT_BPF_RECORD_RING_H

#include <pfstat/record.h>

#include "arch.bpf.h"
#include "common.bpf.h"
#include "fault_state.bpf.h"

/* The loader sets both: rings, and records of a ring minus 1 (a power of two minus 1). */
extern const volatile __u32 record_rings, record_mask;

#define PF_KTHREAD 0x00200000 /* of task_struct.flags */

/*
 * More than the programs that can be between the look at the room and the count: the kernel never
 * runs a program twice at a time on one CPU.
 */
#define RECORD_SLACK 64

/* Two CPUs share no cache line. */
struct record_header {
	struct pfstat_ring_header header;
	/* Records of op PFSTAT_OP_MM_FAULT: stored (header.head counts them too), and lost. */
	__u64 faults, faults_lost;
	__u8 reserved[40];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the loader sets it */
	__type(key, __u32);
	__type(value, struct record_header);
} record_headers SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the loader sets it */
	__type(key, __u32);
	__type(value, struct pfstat_record);
} records SEC(".maps") __weak;

/* Wakes the reader of the events, which drains the records too. */
static __always_inline void record_wake_reader(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&events, &cpu), *nothing;

	if (!ring)
		return;
	nothing = bpf_ringbuf_reserve(ring, 8, 0);
	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
}

/* A CPU that came online later shares the ring of another one. */
static __always_inline __u32 record_ring_of(__u32 cpu)
{
	return cpu < record_rings ? cpu : cpu % record_rings;
}

/* NULL: the ring is full, which is counted. */
static __always_inline struct pfstat_record *record_reserve(__u32 cpu, bool is_call,
							    __u64 *sequence)
{
	__u32 ring = record_ring_of(cpu), index = ring;
	struct record_header *slot = bpf_map_lookup_elem(&record_headers, &index);
	struct pfstat_ring_header *header = &slot->header;
	__u64 begun;

	if (!slot)
		return NULL;
	if (header->head + RECORD_SLACK > header->tail + record_mask) {
		__sync_fetch_and_add(is_call ? &header->lost : &slot->faults_lost, 1);
		return NULL;
	}
	begun = __sync_fetch_and_add(&header->head, 1);
	/* Afterwards, so that a reader never finds more faults than records. */
	if (!is_call)
		__sync_fetch_and_add(&slot->faults, 1);
	*sequence = begun + 1;
	index = ring * (record_mask + 1) + (begun & record_mask);
	return bpf_map_lookup_elem(&records, &index);
}

static __always_inline void record_commit(struct pfstat_record *record, __u64 sequence)
{
	/*
	 * An exchange comes after the stores before it. Pairs with the acquire of the reader: see
	 * bpf-record.litmus, and bpf-tail.litmus for the reuse of a record, in tests/litmus/.
	 */
	__sync_lock_test_and_set(&record->sequence, sequence);
	if (!(sequence & (record_mask >> 1)))
		record_wake_reader();
}

/* The instruction of the program; a fault on another process's memory has none. */
static __always_inline __u64 record_ip(const struct fault_state *state)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	const struct pt_regs___kernel *regs = (const void *)bpf_task_pt_regs((void *)task);

	return state->flags & PFSTAT_FLAG_REMOTE || task->flags & PF_KTHREAD ? 0 : regs->ARCH_IP;
}

/*
 * Stores the waiting record. `now` is the end of the fault around its call; 0: another record or
 * event has the time of that fault.
 */
static __always_inline void record_store(struct fault_state *state, __u64 ip, __u64 now)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	const __u64 *from = (const __u64 *)&state->record;
	struct pfstat_record *record;
	__u64 sequence;
	int i;

	state->call.stage = CALL_NONE;
	record = record_reserve(cpu, true, &sequence);
	if (!record)
		return;
	/* In words; memcpy() copies bytes. */
#pragma unroll
	for (i = offsetof(struct pfstat_record, start_ns) / sizeof(*from);
	     i < offsetof(struct pfstat_record, ip) / sizeof(*from); i++)
		((__u64 *)record)[i] = from[i];
	record->cpu = cpu;
	record->ip = ip;
	record->fault_ns = now ? now - state->start_ns : 0;
	record->before_ns = now ? state->record.start_ns - state->start_ns : 0;
	record_commit(record, sequence);
}

#endif
