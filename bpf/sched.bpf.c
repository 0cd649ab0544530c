// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler: when a target's thread left the CPU, when it ran again. One
 * event a stay, sent when it ends.
 */
#include "common.bpf.h"

#define TASK_DEAD 0x80	/* the kernel's; it never runs again */

/*
 * Nobody is woken by a single event: the reader drains when it needs them, and
 * must not disturb what it measures. Only a ring half full is reason enough.
 */
#define EVENTS_BYTES (1U << 20)

const volatile bool watch_processes = false;

struct left {
	__u64 off_ns;
	__u32 state;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, EVENTS_BYTES);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);	/* tid */
	__type(value, struct left);
} off_since SEC(".maps");

static __always_inline void leave(const struct task_struct *task, __u32 state)
{
	struct left left = { .state = state };
	__u32 tid = task->pid;

	if (state == TASK_DEAD || !is_target(task->tgid, tid))
		return;
	left.off_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&off_since, &tid, &left, BPF_ANY))
		count(PFSTAT_COUNT_EVENTS_LOST);
}

static __always_inline void send(const struct task_struct *task, const struct left *left)
{
	struct pfstat_off_cpu *stay;
	__u64 flags;

	stay = bpf_ringbuf_reserve(&events, sizeof(*stay), 0);
	if (!stay) {
		count(PFSTAT_COUNT_EVENTS_LOST);
		return;
	}
	*stay = (struct pfstat_off_cpu){
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU,
			.size = sizeof(*stay),
			.pid = task->tgid,
			.tid = task->pid,
			.ns = bpf_ktime_get_ns(),
		},
		.state = left->state,
		.off_ns = left->off_ns,
	};
	flags = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > EVENTS_BYTES / 2 ?
		BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	bpf_ringbuf_submit(stay, flags);
	count(PFSTAT_COUNT_OFF_CPU);
	count(PFSTAT_COUNT_EVENTS);
}

/* Whoever left as a target has an entry; so this is the filter. */
static __always_inline void enter(const struct task_struct *task)
{
	__u32 tid = task->pid;
	struct left *left;

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

char LICENSE[] SEC("license") = "GPL";
