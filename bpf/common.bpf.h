/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of all pfstat eBPF programs: the kernel types as far as they are used (CO-RE
 * relocates them at load time, so a build needs no kernel's BTF), the targets, and the counts. The
 * objects are linked into one. The maps below are weak, so each becomes one map.
 *
 * Programs for rare events read a pointer in the current task, or in a tracepoint's argument, with
 * BPF_CORE_READ(). For a direct load of such a pointer, the verifier of Linux 6.12 searches all
 * kernel types, which takes longer than the rest of most programs.
 */
#ifndef PFSTAT_BPF_COMMON_H
#define PFSTAT_BPF_COMMON_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include <pfstat/event.h>

struct mm_struct;

/* CONFIG_CFS_BANDWIDTH */
struct cfs_rq {
	int throttle_count; /* not 0: this queue or a parent's is throttled */
} __attribute__((preserve_access_index));

struct sched_entity {
	struct cfs_rq *cfs_rq; /* CONFIG_FAIR_GROUP_SCHED */
} __attribute__((preserve_access_index));

struct signal_set {
	unsigned long sig[1];
} __attribute__((preserve_access_index));

struct sigpending {
	struct signal_set signal;
} __attribute__((preserve_access_index));

struct reclaim_state {
	unsigned long reclaimed;
} __attribute__((preserve_access_index));

struct task_struct {
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct sched_entity se;
	int prio;			     /* below 100: real time, also for a moment */
	struct reclaim_state *reclaim_state; /* not NULL in reclaim, and always for kswapd */
	int pid;
	int tgid;
	unsigned int flags;
	char comm[16];
	unsigned int __state;
	unsigned int in_iowait : 1;
	unsigned int in_execve : 1;
	unsigned long min_flt; /* its own counts, which getrusage(2) adds up */
	unsigned long maj_flt;
	unsigned long nvcsw; /* context switches, voluntary and involuntary */
	unsigned long nivcsw;
	unsigned long long start_time; /* distinguishes threads with the same tid */
	struct sigpending pending;     /* signals for this thread only */
} __attribute__((preserve_access_index));

#define PF_EXITING     0x4 /* in task_struct.flags */
#define PF_IO_WORKER   0x10
#define PF_USER_WORKER 0x4000 /* v6.4 */
#define PF_KTHREAD     0x00200000

#define SIGKILL 9

/* Maximum number of threads followed at one time. Each needs a slot in the maps. */
#define MAX_THREADS 16384

/* The smallest ring: it only describes the rings made by the loader. */
#define RING_TEMPLATE_BYTES 4096

/*
 * An event ring for each CPU, made by the loader. CPUs share no lock, and an event left unfinished
 * by a preempted thread delays only events on the same CPU.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* the loader sets it to the number of possible CPUs */
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_RINGBUF);
			__uint(max_entries, RING_TEMPLATE_BYTES);
		});
} events SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);   /* pid or tid */
	__type(value, __u32); /* enum pfstat_target */
} targets SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PFSTAT_NR_COUNTS);
	__type(key, __u32); /* enum pfstat_count */
	__type(value, __u64);
} counts SEC(".maps") __weak;

/*
 * A byte for each id (cut to the low bits) ever used by a target. Two loads recognise most
 * non-target threads without a look-up.
 */
#define NR_SEEN 65536
extern __u8 seen[NR_SEEN];

/*
 * Set when the measurement ends: no program counts or sends after it. The programs are detached
 * later, and one after the other.
 */
extern __u32 stopped;

/* The reader is woken when more bytes than this wait in a CPU's ring. */
extern const volatile __u64 events_half;

/* A page has 1 << page_shift bytes. Set by the loader. */
extern const volatile __u32 page_shift;

/* false: it is not a target and never was one. */
static __always_inline bool may_be_target(__u32 tgid, __u32 tid)
{
	return seen[tid % NR_SEEN] || seen[tgid % NR_SEEN];
}

static __always_inline bool is_target(__u32 tgid, __u32 tid)
{
	const __u32 *target;

	if (!may_be_target(tgid, tid))
		return false;
	if (bpf_map_lookup_elem(&targets, &tid))
		return true; /* a thread, or a process by the first thread */
	if (tid == tgid)
		return false;
	target = bpf_map_lookup_elem(&targets, &tgid);
	return target && *target != PFSTAT_TARGET_THREAD;
}

static __always_inline bool current_is_target(void)
{
	__u64 id = bpf_get_current_pid_tgid();

	return is_target(id >> 32, id);
}

/* Atomic, although each CPU has a separate count: a program in an interrupt may run in between. */
static __always_inline void count(__u32 what)
{
	__u64 *value = bpf_map_lookup_elem(&counts, &what);

	if (value)
		__sync_fetch_and_add(value, 1);
}

/*
 * Copies a finished event into this CPU's ring. `size` is a constant. The caller never reserves
 * ring memory while it may be preempted. A single event wakes no one: the reader drains when it
 * needs the events, and must not disturb the measured threads. Only a half-full ring wakes the
 * reader. Returns false if the ring is full, which is counted, or if the measurement has ended.
 */
static __always_inline bool event_send(void *event, __u64 size)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring;
	__u64 flags;

	if (stopped)
		return false;
	ring = bpf_map_lookup_elem(&events, &cpu);
	if (!ring) {
		count(PFSTAT_COUNT_EVENTS_LOST);
		return false;
	}
	flags = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > events_half ? BPF_RB_FORCE_WAKEUP :
									   BPF_RB_NO_WAKEUP;
	if (bpf_ringbuf_output(ring, event, size, flags)) {
		count(PFSTAT_COUNT_EVENTS_LOST);
		return false;
	}
	count(PFSTAT_COUNT_EVENTS);
	return true;
}

#endif
