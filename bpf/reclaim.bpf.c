// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct reclaim, compaction and sleeps above memory.high in the targets' threads. Each is one
 * event, sent when it ends. The kernel does not nest them: a thread in reclaim may not enter
 * reclaim again.
 */
#include "common.bpf.h"

struct reclaim_start {
	__u64 start_ns;
	__u64 start_time; /* the thread's, because the tid may be reused */
};

/* Only threads reclaiming at the same time have an entry. */
#define MAX_RECLAIMING 4096

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_RECLAIMING);
	__type(key, __u32); /* tid */
	__type(value, struct reclaim_start);
} in_reclaim SEC(".maps");

/* A thread that reclaims above memory.high, or has done so and may be about to sleep for it. */
struct over_high {
	__u64 start_ns; /* of the reclaim or the sleep, 0: neither */
	__u64 start_time;
	__u64 switches; /* voluntary ones, at the end of the reclaim */
};

/* A thread without a sleep leaves its entry behind. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_RECLAIMING);
	__type(key, __u32); /* tid */
	__type(value, struct over_high);
} over_high SEC(".maps");

static __always_inline int reclaim_begins(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	const struct reclaim_start start = {
		.start_ns = bpf_ktime_get_ns(),
		.start_time = task->start_time,
	};
	__u32 tid = task->pid;

	if (!is_target(task->tgid, tid))
		return 0;
	if (bpf_map_update_elem(&in_reclaim, &tid, &start, BPF_ANY))
		count(PFSTAT_COUNT_EVENTS_LOST);
	return 0;
}

static __always_inline void reclaim_send(const struct task_struct *task, __u32 kind, __u64 start_ns,
					 __u64 pages)
{
	struct pfstat_reclaim reclaim = {
		.event = {
			.type = PFSTAT_EVENT_RECLAIM,
			.size = sizeof(reclaim),
			.flags = kind,
			.pid = task->tgid,
			.tid = task->pid,
			.ns = bpf_ktime_get_ns(),
		},
		.start_ns = start_ns,
		.pages = pages,
	};

	event_send(&reclaim, sizeof(reclaim));
}

/* Without an entry, the thread became a target meanwhile, or the map was full. */
static __always_inline int reclaim_ends(__u32 kind, __u64 pages)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	const struct reclaim_start *start;
	__u32 tid = task->pid;
	__u64 start_ns;
	bool same;

	if (!may_be_target(task->tgid, tid))
		return 0;
	start = bpf_map_lookup_elem(&in_reclaim, &tid);
	if (!start)
		return 0;
	same = start->start_time == task->start_time;
	start_ns = start->start_ns;
	bpf_map_delete_elem(&in_reclaim, &tid);
	if (same && is_target(task->tgid, tid))
		reclaim_send(task, kind, start_ns, pages);
	return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_direct_reclaim_begin)
{
	return reclaim_begins();
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_direct_reclaim_end, unsigned long pages)
{
	return reclaim_ends(PFSTAT_RECLAIM_DIRECT, pages);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_cgroup_reclaim_begin)
{
	return reclaim_begins();
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_cgroup_reclaim_end, unsigned long pages)
{
	return reclaim_ends(PFSTAT_RECLAIM_CGROUP, pages);
}

SEC("tp_btf/mm_compaction_begin")
int BPF_PROG(on_compaction_begin)
{
	return reclaim_begins();
}

SEC("tp_btf/mm_compaction_end")
int BPF_PROG(on_compaction_end)
{
	return reclaim_ends(PFSTAT_RECLAIM_COMPACTION, 0);
}

/*
 * mem_cgroup_handle_over_high() reclaims, and then sleeps if that was not enough. Its two callees
 * are followed instead of itself: before v6.14, a program with rseq(2) calls it at each switch.
 */
SEC("fentry/reclaim_high")
int BPF_PROG(on_reclaim_high)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	const struct over_high entry = {
		.start_ns = bpf_ktime_get_ns(),
		.start_time = task->start_time,
	};
	__u32 tid = task->pid;

	if (is_target(task->tgid, tid))
		bpf_map_update_elem(&over_high, &tid, &entry, BPF_ANY);
	return 0;
}

static __always_inline struct over_high *over_high_find(const struct task_struct *task)
{
	__u32 tid = task->pid;
	struct over_high *entry;

	if (!may_be_target(task->tgid, tid))
		return NULL;
	entry = bpf_map_lookup_elem(&over_high, &tid);
	return entry && entry->start_time == task->start_time ? entry : NULL;
}

static __always_inline void over_high_ends(const struct task_struct *task, struct over_high *entry)
{
	if (entry->start_ns && is_target(task->tgid, task->pid))
		reclaim_send(task, PFSTAT_RECLAIM_THROTTLE, entry->start_ns, 0);
	entry->start_ns = 0;
}

SEC("fexit/reclaim_high")
int BPF_PROG(on_reclaim_high_done)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct over_high *entry = over_high_find(task);

	if (!entry)
		return 0;
	over_high_ends(task, entry);
	entry->switches = task->nvcsw;
	return 0;
}

/* A thread that has slept since the reclaim is here for something else. */
SEC("fentry/schedule_timeout_killable")
int BPF_PROG(on_sleep_over_high)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct over_high *entry = over_high_find(task);

	if (entry && entry->switches == task->nvcsw)
		entry->start_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/schedule_timeout_killable")
int BPF_PROG(on_sleep_over_high_done)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct over_high *entry = over_high_find(task);

	if (entry)
		over_high_ends(task, entry);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
