/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run's counts, which the kernel, the module and eBPF each kept independently. A recording stores
 * them with the items (recording/), and the ledger compares them. An unavailable count is COUNT_NA
 * and prints "n/a".
 */
#ifndef PFSTAT_USER_COUNTERS_H
#define PFSTAT_USER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <pfstat/event.h>

#include "model/filesystem.h"

/* The getrusage(2) figures for a run's measured part, COUNT_NA if not known. */

struct usage {
	uint64_t utime_ns, stime_ns;
	uint64_t minflt, majflt, inblock, oublock, nvcsw, nivcsw;
	uint64_t maxrss_bytes; /* the peak, not a difference */
};

/* Sets every figure to COUNT_NA. */
void usage_init(struct usage *usage);
/* The difference between an earlier and a later getrusage(2) call. */
struct usage usage_between(const struct rusage *before, const struct rusage *after);
/* Adds another part of the same run. All figures in both must be known. */
void usage_add(struct usage *sum, const struct usage *part);

/*
 * The effect of a cgroup's limits during a run. The kernel's counters for the cgroup and each
 * parent are read at the start and at the end. They also include unwatched processes in the cgroup.
 * An unavailable count is COUNT_NA.
 */

#define CGROUP_PATH   1024
#define CGROUP_LEVELS 24 /* the cgroup and its parents; more are not read */

/* A cgroup's counters at one moment. COUNT_NA: the file, or the line in it, does not exist. */
struct cgroup_level {
	size_t length; /* bytes in the folder's path, the start of cgroup_levels.path */
	uint64_t inode;
	/* cpu.max: quota COUNT_NA: no limit. cpu.stat: nr_periods, nr_throttled, throttled_usec */
	uint64_t quota_ns, period_ns;
	uint64_t periods, throttled, throttled_ns;
	/* memory.high; memory.events.local, without the events of descendants */
	uint64_t high_bytes;
	uint64_t high, max, oom_kill;
};

/* The cgroup and its parents, without the root. */
struct cgroup_levels {
	char path[CGROUP_PATH]; /* folder of the first; "": none was read */
	unsigned int nr;
	struct cgroup_level levels[CGROUP_LEVELS];
	/* The first level's PSI: "total" in cpu.pressure and memory.pressure */
	uint64_t cpu_some_ns, cpu_full_ns, memory_some_ns, memory_full_ns;
};

/*
 * The nearest cgroup with a used-up CPU quota, or else the nearest with a quota. throttled_ns is
 * the sum over CPUs. The kernel adds a stop when the stop ends.
 */
struct cgroup_cpu_limit {
	char path[CGROUP_PATH];	      /* "": none has a quota */
	uint64_t quota_ns, period_ns; /* COUNT_NA: changed during the run */
	uint64_t periods, throttled, throttled_ns;
};

/* The nearest cgroup that met memory.high or memory.max. */
struct cgroup_memory_limit {
	char path[CGROUP_PATH]; /* "": none did, or none is known */
	uint64_t high_bytes;	/* memory.high; COUNT_NA: none, or changed during the run */
	uint64_t high, max, oom_kill;
};

/* See struct cgroup_levels. "some": at least one task waited, "full": all that wanted to run. */
struct cgroup_pressure {
	uint64_t cpu_some_ns, cpu_full_ns, memory_some_ns, memory_full_ns;
};

struct cgroup_limits {
	char path[CGROUP_PATH]; /* the cgroup's folder; "": nothing is known */
	struct cgroup_cpu_limit cpu;
	struct cgroup_memory_limit memory;
	struct cgroup_pressure pressure;
};

/* Every count is unknown. */
void cgroup_limits_init(struct cgroup_limits *limits);
/* Fills the differences between two readings. A folder made anew in between has none. */
void cgroup_limits_between(const struct cgroup_levels *before, const struct cgroup_levels *after,
			   struct cgroup_limits *limits);

#define COUNT_NA UINT64_MAX

/*
 * Optional hooks: HOOK(name, spelling, what they show). Each is a bit in counters.hooks. They are
 * eBPF's but for the last one. collect/bpf_programs.c lists the programs for each hook.
 */
#define HOOKS(HOOK)                                                                  \
	/* sched_waking */                                                           \
	HOOK(WAKEUP, "wakeup", "who ended a sleep, and the wait for a CPU after it") \
	HOOK(BLOCK_INSERT, "block_insert", "the time of disk requests in the queue") \
	/* issue and completion */                                                   \
	HOOK(BLOCK, "block", "disk requests, and the time at the device")            \
	/* handle_mm_fault: the kernel's own count; also if the module counts */     \
	HOOK(FAULT, "fault", "each fault with its whole time")                       \
	/* do_swap_page */                                                           \
	HOOK(SWAP, "swap", "swap-ins")                                               \
	/* do_wp_page */                                                             \
	HOOK(WP, "wp", "copies on write")                                            \
	/* mm_filemap_delete_from_page_cache */                                      \
	HOOK(PAGE_DELETE, "page_delete", "what became of the pages that were read")  \
	/* swap cache and reads */                                                   \
	HOOK(SWAP_IO, "swap_io", "which process swapped out whose pages")            \
	/* direct reclaim, also in a cgroup, and compaction */                       \
	HOOK(RECLAIM, "reclaim", "reclaim and compaction by the program")            \
	/* sched_switch: the kernel stacks */                                        \
	HOOK(WAIT_STACK, "wait_stack", "what sleeps in faults waited for")           \
	/* uprobe_munmap */                                                          \
	HOOK(UNMAP, "unmap", "the read-ahead state of mappings")                     \
	/* mem_cgroup_handle_over_high(), by what it calls */                        \
	HOOK(THROTTLE, "throttle", "sleeps above memory.high")                       \
	/* signal_generate */                                                        \
	HOOK(SIGNAL, "signal", "faults that end as SIGSEGV")                         \
	/* the swap cache */                                                         \
	HOOK(SWAP_OUT, "swap_out", "which pages of the program were swapped out")    \
	/* perf is the source of faults */                                           \
	HOOK(PERF, "perf", NULL)

#define HOOK_ENUM(name, spelling, shows) HOOK_##name,
enum bpf_hook { HOOKS(HOOK_ENUM) NR_HOOKS };

/* All eBPF hooks. */
#define BPF_HOOKS ((1U << HOOK_PERF) - 1)

/* What perf has of them: for any user, for one who may see the kernel, and for root with tracefs. */
#define PERF_HOOKS	  (1U << HOOK_FAULT | 1U << HOOK_PERF)
#define PERF_HOOKS_KERNEL (1U << HOOK_WAIT_STACK | 1U << HOOK_THROTTLE)
#define PERF_HOOKS_TRACED (1U << HOOK_RECLAIM)

#define HOOK_SPELLING(name, spelling, shows) spelling,
#define HOOK_NAMES			     { HOOKS(HOOK_SPELLING) }
#define HOOK_SHOWS(name, spelling, shows)    shows,

struct syscall_row {
	uint32_t number;
	uint32_t error;			   /* 0, or an errno */
	struct pfstat_syscall_value value; /* summed over CPUs */
};

/* Pages swapped out because of one process, and read again. */
struct swap_row {
	struct pfstat_swap_pair pair;
	char evictor_name[16]; /* "": not known */
	char owner_name[16];
	uint64_t pages;
};

#define PERF_LOST_ROWS 8

/* A thread's samples that are missing. */
struct perf_lost_row {
	uint32_t pid, tid;
	char name[16]; /* "": not known */
	uint64_t samples;
};

/* The threads with the most, most first. */
struct perf_lost_rows {
	struct perf_lost_row rows[PERF_LOST_ROWS];
	unsigned int nr;
};

/*
 * record --exact without the module: the programs that turned fault-around off for themselves, with
 * pfdrive's library. COUNT_NA: there was no library.
 */
struct exact_reach {
	uint64_t programs;    /* program starts that loaded the library */
	uint64_t checked;     /* of these, ended by exit(3), which looks for missed mappings */
	uint64_t not_reached; /* file mappings found then, still with fault-around */
	uint64_t not_reached_bytes;
	uint64_t made_private;	 /* read-only shared mappings, mapped private instead */
	uint64_t no_userfaultfd; /* processes in which userfaultfd(2) failed */
	uint64_t closed;	 /* times that a program closed the descriptor */
};

#define EXACT_REACH_NONE                                                                   \
	((struct exact_reach){ COUNT_NA, COUNT_NA, COUNT_NA, COUNT_NA, COUNT_NA, COUNT_NA, \
			       COUNT_NA })

struct run_counters {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC, bounds of the watched part */
	/* When all counts start. A drive prepares between it and start_ns. COUNT_NA: start_ns. */
	uint64_t counts_start_ns;
	bool hooked_only; /* only hooked files were touched, by the driver's own loop */
	bool edges;	  /* the program was running when the watching began and ended */
	/* From the module. */
	uint64_t calls;	       /* wrapper calls counted */
	uint64_t lost;	       /* of these, records not stored */
	uint64_t call_cost_ps; /* added to each call by the module, as it calibrated itself */
	uint64_t inside_ps;    /* the part of call_cost_ps within the call's recorded duration */
	/*
	 * From eBPF, or from perf if it is the fault source (HOOK_PERF). Without have_bpf the rest
	 * is meaningless.
	 */
	bool have_bpf;
	char bpf_missing[256]; /* the reason, one clause */
	/* The module counted the faults below, or else eBPF did, for this reason (a clause). */
	bool module_faults;
	char module_faults_missing[160];
	/*
	 * The module's fault records that found no room. They are counted below, without a time.
	 * And faults of threads, and children, for which its table of threads had no room.
	 */
	uint64_t faults_lost, faults_unwatched;
	bool have_advice; /* the events include madvise(2) calls */
	uint32_t hooks;	  /* 1 << enum bpf_hook: attached */
	/* Measured cost of eBPF and perf's counters for each fault, in picoseconds. */
	uint64_t bpf_hooked_ps; /* for a call wrapped by the module */
	uint64_t bpf_again_ps;	/* each time the kernel starts such a call again */
	uint64_t bpf_other_ps;	/* for any other fault: an event is sent */
	uint64_t counts[PFSTAT_NR_COUNTS];
	/* Events read by pfdrive; the programs sent counts[PFSTAT_COUNT_EVENTS]. */
	uint64_t events_received;
	uint64_t events_skipped; /* part of EVENTS_LOST: the kernel skipped a program */
	struct pfstat_fault_value faults[PFSTAT_NR_FAULT_INDICES];
	uint64_t task_minor, task_major; /* the tasks' own counts, with HOOK_FAULT */
	struct syscall_row *syscalls; /* by total time, longest first; run_counters_exit() frees */
	size_t nr_syscalls;
	/* The whole machine's, with HOOK_SWAP_IO. */
	struct pfstat_swap_counts swap;
	struct swap_row *swap_rows; /* run_counters_exit() frees */
	size_t nr_swap_rows;
	/* All watched processes, from getrusage(2), or from /proc for a running process. */
	struct usage usage;
	/* perf_event_open(2), PERF_TYPE_SOFTWARE. */
	uint64_t perf_faults, perf_minor, perf_major;
	/* Of the watched cgroup, or of its parent that has a limit: the limit, and the most used. */
	uint64_t memory_limit, memory_peak; /* bytes; COUNT_NA: not known, or no limit */
	struct cgroup_limits cgroup;	    /* the whole cgroup's, during the run */
	struct exact_reach exact;
	/* Only with perf as the fault source. */
	bool perf_user_only; /* kernel faults in system calls are not seen */
	/* Why the kernel stacks of sleeps are not known, one clause. "": they are, or old recording */
	char perf_waits_missing[160];
	uint64_t perf_failed;	  /* faults mapping no page: a signal followed */
	uint64_t perf_unpaired;	  /* samples not joined to faults, next to lost ones */
	uint64_t perf_forgotten;  /* pages beyond the history: their next faults are not `again` */
	uint64_t perf_exec_pages; /* arguments that execve(2) wrote with get_user_pages() */
	/* Executions at which the kernel removed perf's events from the process, the first's name. */
	uint64_t perf_ended;
	char perf_ended_name[16];
	bool perf_unsettled; /* threads may be missing: new ones began at each try to attach */
	/* Faults in threads that began while pfdrive attached, without a start, so not recorded. */
	uint64_t perf_partial;
	struct perf_lost_rows perf_partial_rows;
	/* The buffers had no room. Further losses cannot be attributed to a thread. */
	struct perf_lost_rows perf_lost;
	uint64_t maps_lost;	 /* mappings perf could not report for lack of space */
	uint64_t maps_late_cpus; /* CPUs brought online; mappings made there may be missing */
	uint64_t names_left_out; /* code names with no room in the recording */
	/* Those of the mapped files, as far as they are known. run_counters_exit() frees. */
	struct filesystem *filesystems;
	size_t nr_filesystems;
};

/* Sets every count to COUNT_NA, and the rest to empty. */
void run_counters_init(struct run_counters *counters);
void run_counters_exit(struct run_counters *counters);

/*
 * Faults that mapped no page: SIGSEGV, SIGBUS, and EFAULT in a mapping. COUNT_NA if the recording
 * does not have all of them.
 */
uint64_t run_counters_failed(const struct run_counters *counters);
/* The sum, or COUNT_NA if a count is unknown. */
uint64_t count_sum(uint64_t a, uint64_t b);
/* Returns from handle_mm_fault() counted by eBPF, over all origins, or COUNT_NA if unknown. */
uint64_t run_counters_returns(const struct run_counters *counters, enum pfstat_fault_kind kind,
			      enum pfstat_fault_outcome outcome);
/*
 * Events, and fault records of the module, that found no room. COUNT_NA without eBPF and perf, or
 * if not known.
 */
uint64_t run_counters_events_lost(const struct run_counters *counters);
/* Fills the tasks' own counts from the returns, and from what these missed. */
void run_counters_fill_task(struct run_counters *counters, const struct pfstat_missed *missed);

#endif
