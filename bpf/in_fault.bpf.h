/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of a thread's fault, from the begin of handle_mm_fault() to its end. A
 * thread has a place of its own, to which its id leads: a fault needs no look-up in a
 * hash map, and no place is written by two CPUs. Where another thread has the place
 * already, there is a hash map.
 */
#ifndef PFSTAT_BPF_IN_FAULT_H
#define PFSTAT_BPF_IN_FAULT_H

#include "common.bpf.h"

#define NR_PLACES 4096

/* Of a thread, from its first fault to its end; its last fault's when it is in none. */
struct begun {
	__u64 id;		/* process << 32 | thread; 0: nobody's */
	__u64 start_ns;		/* 0: in no fault */
	__u64 min_flt;		/* what the task's own counts are, if nothing was missed */
	__u64 maj_flt;
	__u64 inode;		/* of the page of the file; 0: no file */
	__u64 pgoff;
	__u32 dev;
	__u32 born;		/* low half of the thread's start_time: tids are reused */
	__u32 ignored;		/* as it was when it was seen to be a target */
	__u8 kind;		/* enum pfstat_fault_kind */
	__u8 vma_kind;		/* what the mapping alone says */
	__u8 is_sure;		/* of kind */
	__u8 exiting;		/* nobody gives it up but the end of this fault */
	/* The arguments of handle_mm_fault(), where its return does not have them. */
	__u64 vma;
	__u64 address;
	__u32 flags;
	__u32 has_regs;
	__u64 reserved[5];
};

/* A thread has cache lines of its own; and page-aligned, as what can be mapped is. */
_Static_assert(sizeof(struct begun) == 128, "two threads would share a cache line");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, NR_PLACES);
	__type(key, __u32);	/* tid % NR_PLACES */
	__type(value, struct begun);
} in_fault SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);	/* tid */
	__type(value, struct begun);
} in_fault_more SEC(".maps");

/* How often a target was taken out: who was one before may be none now. */
__u32 ignored;

/*
 * Faults that a task's own counts have and no program was there for; see settle(). As good
 * as never written: one for all CPUs.
 */
struct pfstat_missed missed;

/*
 * Set before the first program is detached: the programs go one after the other, so a thread
 * that ends meanwhile has counted faults for which there was no program any more.
 */
__u32 counts_closed;

static const struct begun none;

static __always_inline struct begun *place_of(__u32 tid)
{
	__u32 index = tid % NR_PLACES;

	return bpf_map_lookup_elem(&in_fault, &index);
}

/*
 * NULL: it has none. By its process, too: an end that no program was there for leaves its
 * entry behind, and the number may be another's afterwards.
 */
static __always_inline struct begun *find_begun(__u64 id)
{
	__u32 tid = id;
	struct begun *begun = place_of(tid);

	if (begun && begun->id == id)
		return begun;
	if (!may_be_target(id >> 32, tid))
		return NULL;
	begun = bpf_map_lookup_elem(&in_fault_more, &tid);
	return begun && begun->id == id ? begun : NULL;
}

/* An empty place is the thread's that is the first to write its id there. */
static __always_inline struct begun *take_place(__u64 id)
{
	__u32 tid = id;
	struct begun *begun = place_of(tid);

	if (begun && !__sync_val_compare_and_swap(&begun->id, 0, id))
		return begun;
	bpf_map_update_elem(&in_fault_more, &tid, &none, BPF_ANY);
	begun = bpf_map_lookup_elem(&in_fault_more, &tid);
	if (!begun)
		count(PFSTAT_COUNT_EVENTS_LOST);
	return begun;
}

static __always_inline void forget(__u64 id)
{
	__u32 tid = id;
	struct begun *place = place_of(tid);

	if (!place || place->id != id) {
		bpf_map_delete_elem(&in_fault_more, &tid);
		return;
	}
	place->start_ns = 0;
	barrier();	/* then it may be another's; the processor keeps the order of stores */
	place->id = 0;
}

static __always_inline void read_counts(struct begun *begun, const struct task_struct *task)
{
	begun->born = task->start_time;
	begun->min_flt = task->min_flt;
	begun->maj_flt = task->maj_flt;
}

/*
 * The task counts its faults by itself. If that is not what was counted here, then a
 * program was left out: the difference is told, so that the kernel's count is known of
 * every thread, whether it lives on, and whoever waits for it.
 */
static __always_inline void settle(struct begun *begun, const struct task_struct *task)
{
	__u64 minor = task->min_flt - begun->min_flt, major = task->maj_flt - begun->maj_flt;

	if (counts_closed || !(minor | major) || begun->born != (__u32)task->start_time)
		return;
	__sync_fetch_and_add(&missed.minor, minor);
	__sync_fetch_and_add(&missed.major, major);
	read_counts(begun, task);
}

/*
 * The rare way of begun_of(). Of a thread on its way out there is an entry a fault: since
 * v6.16 sched_process_exit, which gives it up, comes before exit_mm(), which may fault.
 * This is asked where entries are made, not at each fault.
 */
static __noinline struct begun *look_again(__u64 id)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct begun *begun;

	if (!is_target(id >> 32, id))
		return NULL;
	begun = find_begun(id);
	if (!begun) {
		begun = take_place(id);
		if (!begun)
			return NULL;
		begun->id = id;
		begun->exiting = task->flags & PF_EXITING ? 1 : 0;
		read_counts(begun, task);
	} else if (begun->ignored != ignored || begun->born != (__u32)task->start_time) {
		begun->start_ns = 0;
		begun->exiting = task->flags & PF_EXITING ? 1 : 0;
		read_counts(begun, task);
	}
	begun->ignored = ignored;
	return begun;
}

/*
 * NULL: the thread is no target. The entry stays, so that it is made once a thread, not
 * once a fault, and says that it is a target.
 */
static __always_inline struct begun *begun_of(__u64 id)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct begun *place = place_of(id);

	if (place && place->id == id && place->ignored == ignored &&
	    place->born == (__u32)task->start_time)
		return place;
	return may_be_target(id >> 32, id) ? look_again(id) : NULL;
}

#endif
