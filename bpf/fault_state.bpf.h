/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a thread's fault, from the start to the end of handle_mm_fault(). A thread has a
 * separate slot, indexed by the thread id: a fault needs no look-up in a hash map, and no slot is
 * written by two CPUs. If another thread already has the slot, a hash map has the state.
 */
#ifndef PFSTAT_BPF_FAULT_STATE_H
#define PFSTAT_BPF_FAULT_STATE_H

#include <pfstat/record.h>

#include "common.bpf.h"

#define NR_FAULT_SLOTS 4096

/* The stage of a call's record. */
enum call_stage {
	CALL_NONE,    /* stored, or there was no call */
	CALL_BEGUN,   /* the call has not returned */
	CALL_WAITING, /* complete except for the time of the fault around the call */
};

/* A file operation call within the fault, see calls.bpf.c. */
struct call_state {
	__u64 switches, preempted; /* the thread's context switches before it */
	/* The fault not solved by the thread's last call. */
	__u64 suspended_ns; /* 0: none */
	__u64 suspended_page, suspended_faults;
	__u64 flags_before; /* for the page's folio, or PAGE_NOT_CACHED */
	__u64 marked_flags; /* for a folio at whose mark the call read ahead, or 0 if none */
	__u8 stage;	    /* enum call_stage */
	__u8 cause, suspended_cause;
	__u8 is_recordable; /* from here on for the fault */
	__u8 is_dax;
	__u8 shared;
	__u8 left_record;
	__u8 reserved;
	__u64 vmf; /* the argument to the call or to do_wp_page(), for a return probe */
};

/*
 * Exists from the thread's first fault to the thread's end. Between faults it holds the last
 * fault's state.
 */
struct fault_state {
	__u64 id;	/* process << 32 | thread, or 0 if the slot is free */
	__u64 start_ns; /* 0: in no fault */
	__u64 min_flt;	/* the task's own counts, if no program was skipped */
	__u64 maj_flt;
	__u32 born;    /* low half of the thread's start_time, because tids are reused */
	__u32 ignored; /* the counter when the thread was found to be a target */
	__u8 kind;     /* enum pfstat_fault_kind */
	__u8 vma_kind; /* by the mapping only */
	__u8 is_sure;  /* kind is sure */
	__u8 exiting;  /* the end of this fault frees it, no event does */
	/* The handle_mm_fault() arguments, for a return probe without access to them. */
	__u32 flags;
	__u64 vma;
	__u32 has_regs;
	__u8 content;	 /* enum pfstat_content, as far as it is known */
	__u8 huge_order; /* for the huge page mapped by the fault, or 0 if none */
	__u8 note;	 /* enum pfstat_note, UNKNOWN: none */
	__u8 reserved;
	struct call_state call;
	/* The page of the fault, and what is known about the fault's last file operation call. */
	struct pfstat_record record;
};

/* A thread has separate cache lines: a mappable map starts at a page. */
_Static_assert(sizeof(struct fault_state) == 256, "two threads would share a cache line");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, NR_FAULT_SLOTS);
	__type(key, __u32); /* tid % NR_FAULT_SLOTS */
	__type(value, struct fault_state);
} in_fault SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32); /* tid */
	__type(value, struct fault_state);
} in_fault_more SEC(".maps") __weak;

/* How often a target was removed. If it changed, a thread may be no target any more. */
extern __u32 ignored;

/*
 * Faults in the tasks' own counts for which no program ran, see fault_state_settle(). Hardly ever
 * written, so all CPUs share it.
 */
extern struct pfstat_missed missed;

static const struct fault_state no_fault;

/* Two loads cost less than the helper for it. */
static __always_inline __u64 task_id(const struct task_struct *task)
{
	return (__u64)task->tgid << 32 | (__u32)task->pid;
}

static __always_inline struct fault_state *fault_slot_of(__u32 tid)
{
	__u32 index = tid % NR_FAULT_SLOTS;

	return bpf_map_lookup_elem(&in_fault, &index);
}

/*
 * NULL: the thread has no state. The id contains the process, because an exit for which no program
 * ran leaves an entry behind, and another thread may get the number.
 */
static __always_inline struct fault_state *fault_state_find(__u64 id)
{
	__u32 tid = id;
	struct fault_state *state = fault_slot_of(tid);

	if (state && state->id == id)
		return state;
	if (!may_be_target(id >> 32, tid))
		return NULL;
	state = bpf_map_lookup_elem(&in_fault_more, &tid);
	return state && state->id == id ? state : NULL;
}

/* NULL: the current thread is not a target, or not in a fault. */
static __always_inline struct fault_state *fault_state_now_of(const struct task_struct *task)
{
	struct fault_state *state = fault_state_find(task_id(task));

	return state && state->start_ns ? state : NULL;
}

static __always_inline struct fault_state *fault_state_now(void)
{
	return fault_state_now_of((const void *)bpf_get_current_task_btf());
}

/* NULL: the current thread is in no recorded call. */
static __always_inline struct fault_state *state_in_call(void)
{
	struct fault_state *state = fault_state_now();

	return state && state->call.stage == CALL_BEGUN ? state : NULL;
}

/* A free slot belongs to the first thread that writes an id there. */
static __always_inline struct fault_state *fault_slot_take(__u64 id)
{
	__u32 tid = id;
	struct fault_state *state = fault_slot_of(tid);

	if (state && !__sync_val_compare_and_swap(&state->id, 0, id))
		return state;
	bpf_map_update_elem(&in_fault_more, &tid, &no_fault, BPF_ANY);
	state = bpf_map_lookup_elem(&in_fault_more, &tid);
	if (!state)
		count(PFSTAT_COUNT_EVENTS_LOST);
	return state;
}

static __always_inline void fault_state_forget(__u64 id)
{
	__u32 tid = id;
	struct fault_state *slot = fault_slot_of(tid);

	if (!slot || slot->id != id) {
		bpf_map_delete_elem(&in_fault_more, &tid);
		return;
	}
	slot->start_ns = 0;
	slot->call.stage = CALL_NONE;
	/* Then another thread may take it. An exchange keeps the order of the two stores. */
	__sync_lock_test_and_set(&slot->id, 0);
}

static __always_inline void fault_state_read_counts(struct fault_state *state,
						    const struct task_struct *task)
{
	state->born = task->start_time;
	state->call.suspended_ns = 0;
	state->min_flt = task->min_flt;
	state->maj_flt = task->maj_flt;
}

/*
 * The task counts its own faults. If the task's counts differ from the counts here, the kernel
 * skipped a program. The difference is added to `missed`, so the report has the kernel's count.
 */
static __always_inline void fault_state_settle(struct fault_state *state,
					       const struct task_struct *task)
{
	__u64 minor = task->min_flt - state->min_flt, major = task->maj_flt - state->maj_flt;

	if (stopped || !(minor | major) || state->born != (__u32)task->start_time)
		return;
	__sync_fetch_and_add(&missed.minor, minor);
	__sync_fetch_and_add(&missed.major, major);
	state->min_flt += minor;
	state->maj_flt += major;
}

/*
 * The slow path of fault_state_of(). An exiting thread gets an entry for each fault: since
 * v6.16 sched_process_exit, which frees the entry, comes before exit_mm(), which may fault.
 * PF_EXITING is checked when entries are made, not at each fault.
 */
static __noinline struct fault_state *fault_state_slow(__u64 id)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct fault_state *state;

	if (!is_target(id >> 32, id))
		return NULL;
	state = fault_state_find(id);
	if (!state) {
		state = fault_slot_take(id);
		if (!state)
			return NULL;
		state->id = id;
		state->record.tid = id;
		state->record.pid = id >> 32;
		state->record.pfn = PFSTAT_NO_PFN;
		state->exiting = task->flags & PF_EXITING ? 1 : 0;
		fault_state_read_counts(state, task);
	} else if (state->ignored != ignored || state->born != (__u32)task->start_time) {
		state->start_ns = 0;
		state->exiting = task->flags & PF_EXITING ? 1 : 0;
		fault_state_read_counts(state, task);
	}
	state->ignored = ignored;
	return state;
}

/*
 * NULL: the thread is not a target. The entry stays, so that it is made once for each thread,
 * not for each fault. It also marks the thread as a target.
 */
static __always_inline struct fault_state *fault_state_of(const struct task_struct *task)
{
	const __u64 id = task_id(task);
	struct fault_state *slot = fault_slot_of(id);

	if (slot && slot->id == id && slot->ignored == ignored &&
	    slot->born == (__u32)task->start_time)
		return slot;
	return may_be_target(id >> 32, id) ? fault_state_slow(id) : NULL;
}

#endif
