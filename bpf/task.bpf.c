// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread forks, execs, exits and renames. The first three decide which threads are targets, and all
 * are sent as events. A followed process's children become targets before they run.
 */
#include "common.bpf.h"
#include "off_cpu.bpf.h"
#include "preempt.bpf.h"
#include "rss.bpf.h"

static __always_inline void task_send(const struct task_struct *task, const char *comm, __u32 what,
				      __u32 parent, __u32 parent_pid)
{
	struct pfstat_task event = {
		.event = {
			.type = PFSTAT_EVENT_TASK,
			.size = sizeof(event),
			.flags = what,
			.pid = task->tgid,
			.tid = task->pid,
			.ns = bpf_ktime_get_ns(),
		},
		.parent = parent,
		.parent_pid = parent_pid,
	};

	bpf_probe_read_kernel_str(event.comm, sizeof(event.comm), comm);
	event_send(&event, sizeof(event));
}

/* 0: not as a whole. */
static __always_inline __u32 process_target(__u32 tgid)
{
	const __u32 *target;

	if (!may_be_target(tgid, tgid))
		return 0;
	target = bpf_map_lookup_elem(&targets, &tgid);
	return !target || *target == PFSTAT_TARGET_THREAD ? 0 : *target;
}

struct mm_struct___tables {
	struct atomic_rss pgtables_bytes;
} __attribute__((preserve_access_index));

/* The child has not run yet: its address space has only the copied entries. */
static __always_inline void fork_send(const struct task_struct *parent,
				      const struct task_struct *child)
{
	const struct mm_struct *own = BPF_CORE_READ(child, mm);
	const struct mm_struct___tables *mm = (const void *)own;
	struct pfstat_fork event = {
		.event = {
			.type = PFSTAT_EVENT_FORK,
			.size = sizeof(event),
			.pid = parent->tgid,
			.tid = parent->pid,
			.ns = bpf_ktime_get_ns(),
		},
		.child = child->pid,
	};

	if (!own || own == BPF_CORE_READ(parent, mm))
		return;
	if (rss_of(own, &event.pages))
		event.event.flags |= PFSTAT_FORK_PAGES;
	event.table_bytes = BPF_CORE_READ(mm, pgtables_bytes.counter);
	event_send(&event, sizeof(event));
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_task_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 target = process_target(parent->tgid), tid = child->pid;

	if (!target)
		return 0;
	fork_send(parent, child);
	if (tid == child->tgid) {
		if (target != PFSTAT_TARGET_FOLLOW)
			return 0;
		seen[tid % NR_SEEN] = 1;
		if (bpf_map_update_elem(&targets, &tid, &target, BPF_ANY)) {
			count(PFSTAT_COUNT_EVENTS_LOST);
			return 0;
		}
	}
	task_send(child, child->comm, PFSTAT_TASK_FORK, parent->pid, parent->tgid);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_task_exec, struct task_struct *task, int old_tid)
{
	if (!is_target(task->tgid, task->pid))
		return 0;
	/* The thread has the first one's tid from now on. */
	if (task->pid != old_tid)
		forget_off_cpu(old_tid);
	task_send(task, task->comm, PFSTAT_TASK_EXEC, old_tid, task->tgid);
	return 0;
}

/*
 * prctl(PR_SET_NAME), or a write to /proc/PID/comm. The event comes before the thread has the name.
 * execve(2) sends a separate event.
 */
SEC("tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *task, const char *comm)
{
	if (bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD(task, in_execve))
		return 0;
	if (is_target(task->tgid, task->pid))
		task_send(task, comm, PFSTAT_TASK_RENAME, 0, 0);
	return 0;
}

static __always_inline void task_ends(const struct task_struct *task)
{
	__u32 tid = task->pid;
	const __u32 *target;

	forget_off_cpu(tid);
	if (!is_target(task->tgid, tid))
		return;
	task_send(task, task->comm, PFSTAT_TASK_EXIT, 0, 0);
	target = bpf_map_lookup_elem(&targets, &tid);
	if (target && *target == PFSTAT_TARGET_THREAD)
		bpf_map_delete_elem(&targets, &tid);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_task_exit, struct task_struct *task)
{
	if (!may_be_target(task->tgid, task->pid))
		return 0;
	preempt_off();
	task_ends(task);
	preempt_on();
	return 0;
}

/*
 * A process stays a target until all threads have reported their exit. The first thread is freed
 * last, and on_task_exit cannot know which thread exits last. After execve() in another thread the
 * freed thread has the other thread's tid.
 */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_task_free, struct task_struct *task)
{
	__u32 tid = task->pid;

	if (tid == task->tgid)
		bpf_map_delete_elem(&targets, &tid);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
