// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct reclaim, compaction and throttling in the targets' threads. Each is one event, sent when
 * it ends. The kernel does not nest them: a thread in reclaim may not enter reclaim again.
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

/* Throttled threads, which may reclaim meanwhile. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_RECLAIMING);
	__type(key, __u32); /* tid */
	__type(value, struct reclaim_start);
} in_throttle SEC(".maps");

static __always_inline int reclaim_begins(void *starts)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	const struct reclaim_start start = {
		.start_ns = bpf_ktime_get_ns(),
		.start_time = task->start_time,
	};
	__u32 tid = task->pid;

	if (!is_target(task->tgid, tid))
		return 0;
	if (bpf_map_update_elem(starts, &tid, &start, BPF_ANY))
		count(PFSTAT_COUNT_EVENTS_LOST);
	return 0;
}

/* Without an entry, the thread became a target meanwhile, or the map was full. */
static __always_inline int reclaim_ends(void *starts, __u32 kind, __u64 pages)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	struct pfstat_reclaim reclaim = {
		.event = {
			.type = PFSTAT_EVENT_RECLAIM,
			.size = sizeof(reclaim),
			.flags = kind,
			.pid = task->tgid,
			.tid = task->pid,
			.ns = bpf_ktime_get_ns(),
		},
		.pages = pages,
	};
	const struct reclaim_start *start;
	__u32 tid = task->pid;
	bool same;

	if (!may_be_target(task->tgid, tid))
		return 0;
	start = bpf_map_lookup_elem(starts, &tid);
	if (!start)
		return 0;
	same = start->start_time == task->start_time;
	reclaim.start_ns = start->start_ns;
	bpf_map_delete_elem(starts, &tid);
	if (same && is_target(task->tgid, tid))
		event_send(&reclaim, sizeof(reclaim));
	return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_direct_reclaim_begin)
{
	return reclaim_begins(&in_reclaim);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_direct_reclaim_end, unsigned long pages)
{
	return reclaim_ends(&in_reclaim, PFSTAT_RECLAIM_DIRECT, pages);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_cgroup_reclaim_begin)
{
	return reclaim_begins(&in_reclaim);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_cgroup_reclaim_end, unsigned long pages)
{
	return reclaim_ends(&in_reclaim, PFSTAT_RECLAIM_CGROUP, pages);
}

SEC("tp_btf/mm_compaction_begin")
int BPF_PROG(on_compaction_begin)
{
	return reclaim_begins(&in_reclaim);
}

SEC("tp_btf/mm_compaction_end")
int BPF_PROG(on_compaction_end)
{
	return reclaim_ends(&in_reclaim, PFSTAT_RECLAIM_COMPACTION, 0);
}

/*
 * The kernel calls it on the way back to the program, and within a large charge. It returns at once
 * if no charge was above memory.high. In newer kernels an inline function checks this first.
 */
static __always_inline int throttle_begins(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();

	return task->memcg_nr_pages_over_high ? reclaim_begins(&in_throttle) : 0;
}

SEC("fentry/mem_cgroup_handle_over_high")
int BPF_PROG(on_over_high)
{
	return throttle_begins();
}

SEC("fexit/mem_cgroup_handle_over_high")
int BPF_PROG(on_over_high_done)
{
	return reclaim_ends(&in_throttle, PFSTAT_RECLAIM_THROTTLE, 0);
}

SEC("fentry/__mem_cgroup_handle_over_high")
int BPF_PROG(on_over_high_inner)
{
	return throttle_begins();
}

SEC("fexit/__mem_cgroup_handle_over_high")
int BPF_PROG(on_over_high_inner_done)
{
	return reclaim_ends(&in_throttle, PFSTAT_RECLAIM_THROTTLE, 0);
}

char LICENSE[] SEC("license") = "GPL";
