/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record rings, in two maps that pfdrive also maps: the headers, and the records of all rings
 * one after the other. Both have the layout in <pfstat/record.h>, with one difference: a program
 * may lose the CPU between the count in `head` and the end of the record. So a reader consumes a
 * record when the record's sequence number is there. `head` is only the number of records started.
 */
#ifndef PFSTAT_BPF_RECORD_RING_H
#define PFSTAT_BPF_RECORD_RING_H

#include <pfstat/record.h>

#include "arch.bpf.h"
#include "common.bpf.h"
#include "fault_state.bpf.h"

/* The loader sets both: rings, and records per ring minus 1 (a power of two minus 1). */
extern const volatile __u32 record_rings, record_mask;

/*
 * More than the programs that can be between the look at the room and the count: the kernel never
 * runs a program twice at a time on one CPU.
 */
#define RECORD_SLACK 64

/* Two CPUs share no cache line. */
struct record_header {
	struct pfstat_ring_header header;
	/* Records with op PFSTAT_OP_MM_FAULT: stored (header.head counts them too), and lost. */
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

/* Wakes the event reader, which also drains the records. */
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

/* A CPU brought online later shares another CPU's ring. */
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
	/* Afterwards, so a reader never finds more faults than records. */
	if (!is_call)
		__sync_fetch_and_add(&slot->faults, 1);
	*sequence = begun + 1;
	index = ring * (record_mask + 1) + (begun & record_mask);
	return bpf_map_lookup_elem(&records, &index);
}

static __always_inline void record_commit(struct pfstat_record *record, __u64 sequence)
{
	/*
	 * An exchange comes after the stores before it. Pairs with the reader's acquire: see
	 * tests/litmus/, bpf-record.litmus for the exchange and bpf-tail.litmus for record reuse.
	 */
	__sync_lock_test_and_set(&record->sequence, sequence);
	if (!(sequence & (record_mask >> 1)))
		record_wake_reader();
}

/* The program's instruction. A fault on another process's memory has none. */
static __always_inline __u64 record_ip(const struct fault_state *state)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	const struct pt_regs___kernel *regs = (const void *)bpf_task_pt_regs((void *)task);

	return state->flags & PFSTAT_FLAG_REMOTE || task->flags & PF_KTHREAD ? 0 : regs->ARCH_IP;
}

/*
 * Stores the waiting record. `now` is the end of the fault around the call, or 0 if another record
 * or event has the fault's time.
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
	/* Copied in words. memcpy() copies bytes. */
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
