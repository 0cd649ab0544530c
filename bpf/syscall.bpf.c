// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls of the targets: their number and duration by number and error, in the map
 * `syscalls`. A call counts if the thread was a target when it entered and left; the call that
 * makes a thread a target, and the one that ends it, do not count. Successful calls of madvise(2)
 * are also sent as events, because a replay repeats them.
 */
#include "arch.bpf.h"
#include "common.bpf.h"

#define MAX_ERRNO 4095

struct entered {
	__u64 start_ns;
	__u32 number;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32); /* tid */
	__type(value, struct entered);
} in_syscall SEC(".maps");

/*
 * Allocated in advance, 0.17 MB for each CPU.
 * Allocated on demand, entries would come from a few pages that the kernel keeps for atomic
 * allocations: a program's first calls on many CPUs may find none, and would be lost.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 512);
	__type(key, struct pfstat_syscall_key);
	__type(value, struct pfstat_syscall_value);
} syscalls SEC(".maps");

static const struct pfstat_syscall_value nothing;

/* 1 if n has more than `bits` bits. A comparison would be a branch: clang 21 sees one here. */
static __always_inline __u64 is_longer(__u64 n, unsigned int bits)
{
	__u64 rest = (1ULL << bits) - 1 - n;

	barrier_var(rest);
	return rest >> 63;
}

/*
 * 0 for 0, else one more than the position of the highest bit, of ns < 2^63. The
 * verifier walks each way through the branches before it, of which there would be 64.
 */
static __always_inline __u64 bit_length(__u64 ns)
{
	__u64 length = 0, shift;
	unsigned int bits;

#pragma unroll
	for (bits = 32; bits; bits /= 2) {
		shift = is_longer(ns, bits) * bits;
		ns >>= shift;
		length += shift;
	}
	return length + ns;
}

static __always_inline void add(const struct pfstat_syscall_key *key, __u64 duration_ns)
{
	struct pfstat_syscall_value *value;
	__u64 bucket;

	if (stopped)
		return;
	value = bpf_map_lookup_elem(&syscalls, key);
	if (!value) {
		/* Another CPU may insert it first: then its entry is used. */
		bpf_map_update_elem(&syscalls, key, &nothing, BPF_NOEXIST);
		value = bpf_map_lookup_elem(&syscalls, key);
	}
	if (!value) {
		count(PFSTAT_COUNT_SYSCALL_LOST);
		return;
	}
	value->count++;
	value->total_ns += duration_ns;
	bucket = bit_length(duration_ns);
	/* The verifier of 6.1 wants the very register compared that is the index. */
	barrier_var(bucket);
	if (bucket >= PFSTAT_SYSCALL_BUCKETS)
		bucket = PFSTAT_SYSCALL_BUCKETS - 1; /* the last has no upper end */
	value->log2_ns[bucket]++;
}

static __always_inline void send_advice(const struct pt_regs___kernel *regs, __u64 id,
					__u64 start_ns, __u64 ns)
{
	const __u64 advice = BPF_CORE_READ(regs, ARCH_ARGUMENT_3);
	struct pfstat_advice event = {
		.event = {
			.type = PFSTAT_EVENT_ADVICE, .size = sizeof(event), .pid = id >> 32,
			.tid = id, .ns = ns,
		},
		.start_ns = start_ns,
		.address = BPF_CORE_READ(regs, ARCH_ARGUMENT_1),
		.bytes = BPF_CORE_READ(regs, ARCH_ARGUMENT_2),
		.advice = advice,
	};

	if (advice <= 31 && PFSTAT_ADVICES & 1U << advice)
		event_send(&event, sizeof(event));
}

static __always_inline int call_begins(long number, bool again)
{
	struct entered entered = { .number = number };
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = id;

	if (!is_target(id >> 32, tid))
		return 0;
	if (again && bpf_map_lookup_elem(&in_syscall, &tid))
		return 0;
	entered.start_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&in_syscall, &tid, &entered, BPF_ANY))
		count(PFSTAT_COUNT_SYSCALL_LOST);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, void *regs, long number)
{
	return call_begins(number, false);
}

/*
 * The programs whose names end in _again repeat the work of the first one if the kernel skipped it:
 * it skips a program on a CPU while another thread is preempted in it. See hooks.c.
 */
SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter_again, void *regs, long number)
{
	return call_begins(number, true);
}

/* The first of the two that comes takes the entry. */
static __always_inline int call_ends(const void *regs, long ret)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct pfstat_syscall_key key = {};
	struct entered *entered;
	__u64 start_ns, ns;
	__u32 tid = id;

	if (!may_be_target(id >> 32, tid))
		return 0;
	entered = bpf_map_lookup_elem(&in_syscall, &tid);
	if (!entered)
		return 0;
	ns = bpf_ktime_get_ns();
	start_ns = entered->start_ns;
	key.number = entered->number;
	bpf_map_delete_elem(&in_syscall, &tid);
	if (!is_target(id >> 32, tid))
		return 0;
	/* The result of rt_sigreturn(2) is a register of the interrupted code. */
	if (ret < 0 && ret >= -MAX_ERRNO && key.number != ARCH_NR_RT_SIGRETURN)
		key.error = -ret;
	add(&key, ns - start_ns);
	if (key.number == ARCH_NR_MADVISE && !ret)
		send_advice(regs, id, start_ns, ns);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, void *regs, long ret)
{
	return call_ends(regs, ret);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit_again, void *regs, long ret)
{
	return call_ends(regs, ret);
}

/* exit(2) does not return, nor does a call that a fatal signal ends. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_process_exit, struct task_struct *task)
{
	__u32 tid = task->pid;

	bpf_map_delete_elem(&in_syscall, &tid);
	return 0;
}

/* execve of a thread that is not the first: it comes back with the first one's tid. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_process_exec, struct task_struct *task, int old_tid)
{
	__u32 before = old_tid, tid = task->pid;
	struct entered *entered, kept;

	if (before == tid)
		return 0;
	entered = bpf_map_lookup_elem(&in_syscall, &before);
	if (!entered)
		return 0;
	kept = *entered;
	bpf_map_delete_elem(&in_syscall, &before);
	if (bpf_map_update_elem(&in_syscall, &tid, &kept, BPF_ANY))
		count(PFSTAT_COUNT_SYSCALL_LOST);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
