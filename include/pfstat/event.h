/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What the eBPF programs say. Times are nanoseconds of CLOCK_MONOTONIC
 * (bpf_ktime_get_ns), the module's clock. Plain fixed-width types, no holes.
 */
#ifndef PFSTAT_EVENT_H
#define PFSTAT_EVENT_H

#include <linux/types.h>

/* Where pfdrive pins its maps and programs while it runs. */
#define PFSTAT_PIN_DIR "/sys/fs/bpf/pfstat"

enum pfstat_event_type {
	PFSTAT_EVENT_OFF_CPU,
};

/* One stay of a target's thread off the CPU, sent when it runs again. */
struct pfstat_off_cpu {
	__u32 type;		/* PFSTAT_EVENT_OFF_CPU */
	__u32 pid;		/* process (tgid) */
	__u32 tid;
	__u32 state;		/* task state it left with: 0 = was runnable (preempted) */
	__u64 off_ns;
	__u64 on_ns;
};

/* Key of the map `syscalls`: result is 0 for success or a positive errno. */
struct pfstat_syscall_key {
	__u32 number;
	__u32 error;
};

#define PFSTAT_SYSCALL_BUCKETS 40

/* Value of the map `syscalls`, one a CPU. */
struct pfstat_syscall_value {
	__u64 count;
	__u64 total_ns;
	__u64 log2_ns[PFSTAT_SYSCALL_BUCKETS];	/* [n]: 2^(n-1) <= ns < 2^n; [0]: 0 ns */
};

/* Value of the map `counts`, one a CPU: everything that was seen or missed. */
enum pfstat_count {
	PFSTAT_COUNT_OFF_CPU,		/* off-CPU events sent */
	PFSTAT_COUNT_OFF_CPU_LOST,	/* no room in the ring buffer */
	PFSTAT_COUNT_SYSCALL_LOST,	/* no room in a map */
	PFSTAT_NR_COUNTS
};

/* Value of the map `targets`; its key is a pid (tgid) or a tid. */
enum pfstat_target {
	PFSTAT_TARGET_PROCESS = 1,	/* key is a tgid: all its threads */
	PFSTAT_TARGET_THREAD = 2,	/* key is a tid: this thread alone */
};

_Static_assert(sizeof(struct pfstat_off_cpu) == 32, "ABI");
_Static_assert(sizeof(struct pfstat_syscall_key) == 8, "ABI");
_Static_assert(sizeof(struct pfstat_syscall_value) == 336, "ABI");

#endif
