// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler: when a target's thread left the CPU, when it was woken and by
 * whom, when it ran again. One event a stay, sent when it ends.
 */
#include "common.bpf.h"
#include "context.bpf.h"

__u8 seen[NR_SEEN];
/* The loader sets it to half a ring. */
const volatile __u64 events_half = RING_TEMPLATE_BYTES / 2;
/* Whether on_sched_waking is there: only then its silence says something. */
const volatile bool have_waking = true;

struct left {
	__u64 off_ns;
	__u64 woken_ns;		/* 0: not yet */
	__u32 state;
	__u32 waker;
	__u32 flags;		/* PFSTAT_OFF_CPU_* */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);	/* tid */
	__type(value, struct left);
} off_since SEC(".maps");

/*
 * A thread on its way out says no more: sched_process_exit tells of its end after
 * exit_mm(), since v6.16 before it, and either may wait for something afterwards.
 */
static __always_inline void leave(const struct task_struct *task, __u32 state)
{
	struct left left = { .state = state };
	__u32 tid = task->pid;

	if (task->flags & PF_EXITING || !is_target(task->tgid, tid))
		return;
	left.flags = (state ? 0 : PFSTAT_OFF_CPU_PREEMPTED) |
		     (BPF_CORE_READ_BITFIELD(task, in_iowait) ? PFSTAT_OFF_CPU_IOWAIT : 0);
	left.off_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&off_since, &tid, &left, BPF_ANY))
		count(PFSTAT_COUNT_EVENTS_LOST);
}

/*
 * Who sleeps is woken once. If that was not seen, it happened before the thread
 * was off: the waker, or a signal, met it on its way.
 */
static __always_inline void tell_waking(struct pfstat_off_cpu *stay, const struct left *left)
{
	stay->woken_ns = 0;
	stay->waker = 0;
	if (!have_waking || left->flags & PFSTAT_OFF_CPU_PREEMPTED)
		return;
	stay->event.flags |= PFSTAT_OFF_CPU_WOKEN;
	stay->woken_ns = left->woken_ns ?: left->off_ns;
	stay->waker = left->waker;
}

static __always_inline void send(const struct task_struct *task, const struct left *left)
{
	struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU,
			.size = sizeof(stay),
			.flags = left->flags,
			.pid = task->tgid,
			.tid = task->pid,
			.ns = bpf_ktime_get_ns(),
		},
		.off_ns = left->off_ns,
		.state = left->state,
	};

	tell_waking(&stay, left);
	if (event_send(&stay, sizeof(stay)))
		count(PFSTAT_COUNT_OFF_CPU);
}

/* Whoever left as a target has an entry; so this is the filter. */
static __always_inline void enter(const struct task_struct *task)
{
	__u32 tid = task->pid;
	struct left *left;

	if (!may_be_target(task->tgid, tid))
		return;
	left = bpf_map_lookup_elem(&off_since, &tid);
	if (!left)
		return;
	send(task, left);
	bpf_map_delete_elem(&off_since, &tid);
}

/*
 * The fourth argument (since v5.18) is the state that prev left with;
 * prev->__state may have changed already, when prev is being woken.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	leave(prev, preempt ? 0 : prev_state);
	enter(next);
	return 0;
}

/*
 * The one that makes a thread runnable, not the one that puts it onto a queue:
 * that may be another CPU, later. Wakers of one thread take turns.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *task)
{
	__u32 tid = task->pid;
	struct left *left;

	if (!may_be_target(task->tgid, tid))
		return 0;
	left = bpf_map_lookup_elem(&off_since, &tid);
	if (!left || left->woken_ns || left->flags & PFSTAT_OFF_CPU_PREEMPTED)
		return 0;
	left->woken_ns = bpf_ktime_get_ns();
	left->waker = context_tid();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
