// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler: when a target's thread left the CPU, when it was woken and by
 * whom, when it ran again. One event a stay, sent when it ends.
 */
#include "common.bpf.h"
#include "context.bpf.h"
#include "off_cpu.bpf.h"

__u8 seen[NR_SEEN];
/* The loader sets it to half a ring. */
const volatile __u64 events_half = RING_TEMPLATE_BYTES / 2;
/* Without on_sched_waking, an interval without a wake-up means nothing. */
const volatile bool have_waking = true;

/* The thread's entry; a new one if it has none. NULL: the table is full, which is counted. */
static __always_inline struct left *left_of(const struct task_struct *task)
{
	const struct left fresh = { .start_time = task->start_time };
	__u32 tid = task->pid;
	struct left *left = bpf_map_lookup_elem(&off_since, &tid);

	if (left && left->start_time == fresh.start_time)
		return left;
	if (bpf_map_update_elem(&off_since, &tid, &fresh, BPF_ANY)) {
		count(PFSTAT_COUNT_EVENTS_LOST);
		return NULL;
	}
	return bpf_map_lookup_elem(&off_since, &tid);
}

/*
 * An exiting thread sends no more: sched_process_exit comes after exit_mm(), since v6.16 before
 * it, and both may wait for something afterwards.
 */
static __always_inline void leave(const struct task_struct *task, __u32 state)
{
	struct left *left;

	if (task->flags & PF_EXITING || !is_target(task->tgid, task->pid))
		return;
	left = left_of(task);
	if (!left)
		return;
	left->woken_ns = 0;
	left->waker = 0;
	left->state = state;
	left->flags = (state ? 0 : PFSTAT_OFF_CPU_PREEMPTED) |
		      (BPF_CORE_READ_BITFIELD(task, in_iowait) ? PFSTAT_OFF_CPU_IOWAIT : 0);
	left->off_ns = bpf_ktime_get_ns();
}

/*
 * A sleeping thread is woken once. If that was not seen, it happened before the thread was
 * off: the waker, or a signal, met it on its way.
 */
static __always_inline void set_waking(struct pfstat_off_cpu *stay, const struct left *left)
{
	if (!have_waking || left->flags & PFSTAT_OFF_CPU_PREEMPTED)
		return;
	stay->event.flags |= PFSTAT_OFF_CPU_WOKEN;
	stay->woken_ns = left->woken_ns ?: left->off_ns;
	stay->waker = left->waker;
}

static __always_inline void send(const struct task_struct *task, struct left *left)
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

	/* The clocks of two CPUs may differ. */
	if (stay.event.ns > stay.off_ns)
		left->total_ns += stay.event.ns - stay.off_ns;
	stay.total_ns = left->total_ns;
	set_waking(&stay, left);
	if (event_send(&stay, sizeof(stay)))
		count(PFSTAT_COUNT_OFF_CPU);
}

/* A thread that left as a target has an entry; so this is the filter. */
static __always_inline void enter(const struct task_struct *task)
{
	__u32 tid = task->pid;
	struct left *left;

	if (!may_be_target(task->tgid, tid))
		return;
	left = bpf_map_lookup_elem(&off_since, &tid);
	if (!left || !left->off_ns || left->start_time != task->start_time)
		return;
	send(task, left);
	left->off_ns = 0;
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
	if (!left || !left->off_ns || left->woken_ns || left->flags & PFSTAT_OFF_CPU_PREEMPTED)
		return 0;
	left->woken_ns = bpf_ktime_get_ns();
	left->waker = context_tid();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
