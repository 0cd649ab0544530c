// SPDX-License-Identifier: GPL-2.0-only
/*
 * The targets' system calls: count and duration by number and error, in the map `syscalls`. A call
 * counts if the thread was a target when it entered and left. The call making a thread a target,
 * and the call ending it, do not count. Successful madvise(2) calls are also sent as events,
 * because a replay repeats them. Calls shaping mappings are sent with their arguments and their
 * caller.
 */
#include "arch.bpf.h"
#include "common.bpf.h"
#include "preempt.bpf.h"

const volatile bool have_preempt_disable;

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
 * 0 for 0, else one more than the highest bit's position, for ns < 2^63. The verifier walks each
 * way through the branches before it, of which there would be 64.
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
		/* Another CPU may insert it first: then the other CPU's entry is used. */
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
	/* The 6.1 verifier wants the comparison on the very register used as the index. */
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

/* Returns PFSTAT_NR_CALLS for a call shaping no mapping, and for all 32-bit calls. */
static __always_inline __u32 call_kind_of(__u32 number)
{
	switch (number) {
	case ARCH_NR_MADVISE:
		return PFSTAT_CALL_MADVISE;
	case ARCH_NR_PROCESS_MADVISE:
		return PFSTAT_CALL_PROCESS_MADVISE;
	case ARCH_NR_MMAP:
		return PFSTAT_CALL_MMAP;
	case ARCH_NR_FADVISE64:
		return PFSTAT_CALL_FADVISE64;
	case ARCH_NR_MLOCK:
		return PFSTAT_CALL_MLOCK;
	case ARCH_NR_MLOCK2:
		return PFSTAT_CALL_MLOCK2;
	case ARCH_NR_MLOCKALL:
		return PFSTAT_CALL_MLOCKALL;
#ifdef ARCH_NR_FORK
	case ARCH_NR_FORK:
		return PFSTAT_CALL_FORK;
	case ARCH_NR_VFORK:
		return PFSTAT_CALL_VFORK;
#endif
	case ARCH_NR_CLONE:
		return PFSTAT_CALL_CLONE;
	case ARCH_NR_CLONE3:
		return PFSTAT_CALL_CLONE3;
	case ARCH_NR_MUNMAP:
		return PFSTAT_CALL_MUNMAP;
	case ARCH_NR_MREMAP:
		return PFSTAT_CALL_MREMAP;
	case ARCH_NR_BRK:
		return PFSTAT_CALL_BRK;
	default:
		return PFSTAT_NR_CALLS;
	}
}

/* Returns the caller of the C library's function, or 0. */
static __always_inline __u64 caller_of(const struct pt_regs___kernel *regs)
{
	const __u64 address = arch_return_address(regs);
	__u8 code[ARCH_CALL_BYTES];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(address - sizeof(code))) ||
	    !arch_is_call(code))
		return 0;
	return address;
}

static __always_inline void send_call(const struct pt_regs___kernel *regs, __u64 id, __u32 kind,
				      __u64 start_ns, __u64 ns, long result)
{
	struct pfstat_call event = {
		.event = {
			.type = PFSTAT_EVENT_CALL, .size = sizeof(event), .pid = id >> 32,
			.tid = id, .ns = ns,
		},
		.start_ns = start_ns,
		.args = {
			regs->ARCH_ARGUMENT_1, regs->ARCH_ARGUMENT_2, regs->ARCH_ARGUMENT_3,
			regs->ARCH_ARGUMENT_4, regs->ARCH_ARGUMENT_5, regs->ARCH_ARGUMENT_6,
		},
		.result = result,
		.caller = caller_of(regs),
		.kind = kind,
	};

	event_send(&event, sizeof(event));
}

static __always_inline void call_note(__u32 tid, long number)
{
	struct entered entered = { .number = number, .start_ns = bpf_ktime_get_ns() };

	if (bpf_map_update_elem(&in_syscall, &tid, &entered, BPF_ANY))
		count(PFSTAT_COUNT_SYSCALL_LOST);
}

static __always_inline int call_begins(const struct pt_regs___kernel *regs, long number, bool again)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = id;

	if (!is_target(id >> 32, tid))
		return 0;
	preempt_off();
	if (arch_is_compat(bpf_get_current_task_btf(), regs))
		number |= PFSTAT_SYSCALL_COMPAT;
	if (!again || !bpf_map_lookup_elem(&in_syscall, &tid))
		call_note(tid, number);
	preempt_on();
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, const struct pt_regs___kernel *regs, long number)
{
	return call_begins(regs, number, false);
}

/*
 * The programs whose names end in _again repeat the work of the first one if the kernel skipped it:
 * it skips a program on a CPU while another thread is preempted in it. See bpf_programs.c.
 */
SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter_again, const struct pt_regs___kernel *regs, long number)
{
	return call_begins(regs, number, true);
}

/* Its result is a register from the interrupted code. */
static __always_inline bool is_sigreturn(__u32 number)
{
	return number == ARCH_NR_RT_SIGRETURN || number == ARCH_COMPAT_SIGRETURN ||
	       number == ARCH_COMPAT_RT_SIGRETURN;
}

/* The first of the two programs to run takes the entry. */
static __always_inline void call_take(const struct pt_regs___kernel *regs, __u64 id, long ret)
{
	struct pfstat_syscall_key key = {};
	struct entered *entered;
	__u64 start_ns, ns;
	__u32 kind, tid = id;

	entered = bpf_map_lookup_elem(&in_syscall, &tid);
	if (!entered)
		return;
	ns = bpf_ktime_get_ns();
	start_ns = entered->start_ns;
	key.number = entered->number;
	bpf_map_delete_elem(&in_syscall, &tid);
	if (!is_target(id >> 32, tid))
		return;
	if (ret < 0 && ret >= -MAX_ERRNO && !is_sigreturn(key.number))
		key.error = -ret;
	add(&key, ns - start_ns);
	kind = call_kind_of(key.number);
	if (kind == PFSTAT_NR_CALLS)
		return;
	if (kind == PFSTAT_CALL_MADVISE && !ret)
		send_advice(regs, id, start_ns, ns);
	send_call(regs, id, kind, start_ns, ns, ret);
}

static __always_inline int call_ends(const struct pt_regs___kernel *regs, long ret)
{
	__u64 id = bpf_get_current_pid_tgid();

	if (!may_be_target(id >> 32, id))
		return 0;
	preempt_off();
	call_take(regs, id, ret);
	preempt_on();
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, const struct pt_regs___kernel *regs, long ret)
{
	return call_ends(regs, ret);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit_again, const struct pt_regs___kernel *regs, long ret)
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

/* execve in a thread that is not the first: it comes back with the first thread's tid. */
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
