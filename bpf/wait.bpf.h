/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel stacks for targets' threads that go to sleep in a page fault. A stack shows which lock,
 * journal or server the fault waited for. A thread waiting for its own read, as nearly all do,
 * needs no stack: a stack is a long event.
 */
#ifndef PFSTAT_BPF_WAIT_H
#define PFSTAT_BPF_WAIT_H

#include "arch.bpf.h"
#include "common.bpf.h"
#include "fault_state.bpf.h"
#include "off_cpu.bpf.h"
#include "submit.bpf.h"

#define STATE_UNINTERRUPTIBLE 0x2

/* false: no program sees faults begin, so in_fault is empty. */
const volatile bool have_fault_state;

/* Too large for the stack. A thread switch is never preempted. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pfstat_wait);
} wait_space SEC(".maps");

static __always_inline bool entered_by_exception(struct task_struct *task)
{
	const struct pt_regs___kernel *regs = (const void *)bpf_task_pt_regs(task);

	return (int)regs->ARCH_ENTRY == -1;
}

/*
 * A fault in the kernel itself lies in a system call. Without the fault states, each
 * uninterruptible sleep may be in a fault, and an interruptible sleep has no stack.
 */
static __always_inline bool sleeps_in_fault(struct task_struct *task, __u32 task_state)
{
	const struct fault_state *state;

	if (entered_by_exception(task))
		return true;
	if (!have_fault_state)
		return task_state & STATE_UNINTERRUPTIBLE;
	state = fault_state_find((__u64)task->tgid << 32 | (__u32)task->pid);
	return state && state->start_ns;
}

/* `prev`, a target that goes to sleep, is still the current thread. Its interval began at off_ns. */
static __always_inline void wait_send(void *ctx, struct task_struct *prev, __u32 prev_state,
				      __u64 off_ns)
{
	struct pfstat_wait *wait;
	__u32 key = 0;
	long bytes;

	if (submit_is_pending(prev->pid) || !sleeps_in_fault(prev, prev_state))
		return;
	wait = bpf_map_lookup_elem(&wait_space, &key);
	if (!wait)
		return;
	__builtin_memset(wait->ips, 0, sizeof(wait->ips));
	bytes = bpf_get_stack(ctx, wait->ips, sizeof(wait->ips), 0);
	wait->event = (struct pfstat_event){
		.type = PFSTAT_EVENT_WAIT,
		.size = sizeof(*wait),
		.pid = prev->tgid,
		.tid = prev->pid,
		.ns = bpf_ktime_get_ns(),
	};
	wait->off_ns = off_ns;
	wait->frames = bytes < 0 ? 0 : bytes / sizeof(*wait->ips);
	wait->reserved = 0;
	event_send(wait, sizeof(*wait));
}

#endif
