// SPDX-License-Identifier: GPL-2.0-only
/*
 * Off-CPU intervals of the targets' threads: when a thread left the CPU, when and by which
 * thread it was woken, and when it ran again. An interval is one event, which is sent when the
 * thread runs again; until then it is in the map of off_cpu.bpf.h. If it waited for its CPU, the
 * process that ran there most of the time is an event before. If it goes to sleep in a fault, its
 * kernel stack is an event. One program does all of that, since it runs at every switch.
 */
#include "common.bpf.h"
#include "context.bpf.h"
#include "cpu_history.bpf.h"
#include "doing.bpf.h"
#include "off_cpu.bpf.h"
#include "wait.bpf.h"

__u8 seen[NR_SEEN];
__u32 stopped;
/* The loader sets it to half the ring size. */
const volatile __u64 events_half = RING_TEMPLATE_BYTES / 2;
const volatile __u32 page_shift = 12;
/* Without on_sched_waking, a missing wake-up has no meaning. */
const volatile bool have_waking = true;
const volatile bool have_prev_state;
const volatile bool have_wait_stack;

/* v6.12: a scheduler that is an eBPF program may take over ordinary tasks. */
struct sched_ext_entity {
	__u32 flags;
} __attribute__((preserve_access_index));

struct task_struct___ext {
	struct sched_ext_entity scx;
} __attribute__((preserve_access_index));

/* v6.18: the kernel holds back threads on their way to user space, and not whole queues. */
struct task_struct___throttled {
	bool throttled;
} __attribute__((preserve_access_index));

#define EXT_STATE_SHIFT	  8
#define EXT_STATE_MASK	  0x3
#define EXT_STATE_ENABLED 3

#define PRIO_MAX_REAL_TIME 100

/* Returns the thread's entry, or a new one. NULL: the map is full, which is counted. */
static __always_inline struct off_cpu_start *off_cpu_start_of(const struct task_struct *task)
{
	const struct off_cpu_start fresh = { .start_time = task->start_time };
	__u32 tid = task->pid;
	struct off_cpu_start *start = bpf_map_lookup_elem(&off_since, &tid);

	if (start && start->start_time == fresh.start_time)
		return start;
	if (bpf_map_update_elem(&off_since, &tid, &fresh, BPF_ANY)) {
		count(PFSTAT_COUNT_EVENTS_LOST);
		return NULL;
	}
	return bpf_map_lookup_elem(&off_since, &tid);
}

static __always_inline bool is_fair(const struct task_struct *task)
{
	const struct task_struct___ext *ext = (const void *)task;

	if (task->prio < PRIO_MAX_REAL_TIME)
		return false;
	return !bpf_core_field_exists(ext->scx) ||
	       (ext->scx.flags >> EXT_STATE_SHIFT & EXT_STATE_MASK) != EXT_STATE_ENABLED;
}

/*
 * The kernel throttles a queue while choosing the next task, so before sched_switch. Only the fair
 * class has the limit.
 */
static __always_inline __u32 limit_flags(const struct task_struct *task)
{
	const struct task_struct___throttled *held = (const void *)task;
	bool throttled = false;

	if (bpf_core_field_exists(held->throttled))
		throttled = held->throttled;
	else if (bpf_core_field_exists(task->se.cfs_rq->throttle_count))
		throttled = is_fair(task) && task->se.cfs_rq->throttle_count;
	return PFSTAT_OFF_CPU_LIMITS | (throttled ? PFSTAT_OFF_CPU_THROTTLED : 0);
}

/*
 * An exiting thread sends no more intervals: sched_process_exit comes after exit_mm(), since
 * v6.16 before it, and the thread may sleep after either.
 */
static __always_inline void on_switch_out(void *ctx, struct task_struct *task, __u32 state)
{
	struct off_cpu_start *start;

	if (task->flags & PF_EXITING || !is_target(task->tgid, task->pid))
		return;
	start = off_cpu_start_of(task);
	if (!start)
		return;
	start->woken_ns = 0;
	start->waker = 0;
	start->waker_doing = PFSTAT_WAKER_UNKNOWN;
	start->state = state;
	start->flags = (state ? 0 : PFSTAT_OFF_CPU_PREEMPTED | limit_flags(task)) |
		       (BPF_CORE_READ_BITFIELD(task, in_iowait) ? PFSTAT_OFF_CPU_IOWAIT : 0);
	start->off_ns = bpf_ktime_get_ns();
	if (!state)
		cpu_wait_begins(start->off_ns);
	else if (have_wait_stack)
		wait_send(ctx, task, state, start->off_ns);
}

/*
 * A sleeping thread is woken once. If no wake-up was recorded, it came before the thread had
 * left the CPU.
 */
static __always_inline void off_cpu_set_waking(struct pfstat_off_cpu *interval,
					       const struct off_cpu_start *start)
{
	if (!have_waking || start->flags & PFSTAT_OFF_CPU_PREEMPTED)
		return;
	interval->event.flags |= PFSTAT_OFF_CPU_WOKEN | start->waker_doing
								<< PFSTAT_OFF_CPU_WAKER_SHIFT;
	interval->woken_ns = start->woken_ns ?: start->off_ns;
	interval->waker = start->waker;
}

/* Each CPU's idle task has pid 0. */
static __always_inline __u32 flag_of_prev(const struct task_struct *prev)
{
	return prev->pid ? PFSTAT_OFF_CPU_AFTER_TASK : PFSTAT_OFF_CPU_AFTER_IDLE;
}

static __always_inline void cpu_task_send(const struct pfstat_off_cpu *interval,
					  const struct cpu_history *history)
{
	const __u64 from_ns = interval->event.flags & PFSTAT_OFF_CPU_PREEMPTED ? interval->off_ns :
										 interval->woken_ns;
	struct cpu_longest found = {};
	const struct cpu_stint *longest;
	struct pfstat_cpu_task task = {
		.event = {
			.type = PFSTAT_EVENT_CPU_TASK,
			.size = sizeof(task),
			.pid = interval->event.pid,
			.tid = interval->event.tid,
			.ns = interval->event.ns,
		},
		.off_ns = interval->off_ns,
	};

	if (!(interval->event.flags & PFSTAT_OFF_CPU_AFTER_TASK) || !from_ns ||
	    interval->event.ns < from_ns + PFSTAT_CPU_TASK_MIN_NS)
		return;
	if (!history || cpu_history_search(history, from_ns, &found))
		return;
	longest = &history->stints[found.number % CPU_STINTS];
	task.event.flags = longest->is_kernel ? PFSTAT_CPU_TASK_KERNEL : 0;
	task.ran_ns = found.ran_ns;
	task.task_pid = longest->tgid;
	task.task_tid = longest->tid;
	cpu_stint_name(longest, task.comm);
	event_send(&task, sizeof(task));
}

static __always_inline void off_cpu_send(const struct task_struct *task,
					 const struct task_struct *prev,
					 struct off_cpu_start *start, struct cpu_history *history)
{
	struct pfstat_off_cpu interval = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU,
			.size = sizeof(interval),
			.flags = start->flags | flag_of_prev(prev),
			.pid = task->tgid,
			.tid = task->pid,
			.ns = bpf_ktime_get_ns(),
		},
		.off_ns = start->off_ns,
		.state = start->state,
	};

	/* The clocks of two CPUs may differ. */
	if (interval.event.ns > interval.off_ns)
		start->total_ns += interval.event.ns - interval.off_ns;
	interval.total_ns = start->total_ns;
	off_cpu_set_waking(&interval, start);
	cpu_task_send(&interval, history);
	if (event_send(&interval, sizeof(interval)))
		count(PFSTAT_COUNT_OFF_CPU);
}

/* Only a thread that left the CPU as a target has an entry, so the entry is the filter. */
static __always_inline void on_switch_in(const struct task_struct *task,
					 const struct task_struct *prev,
					 struct cpu_history *history)
{
	__u32 tid = task->pid;
	struct off_cpu_start *start;

	if (!may_be_target(task->tgid, tid))
		return;
	start = bpf_map_lookup_elem(&off_since, &tid);
	if (!start || !start->off_ns || start->start_time != task->start_time)
		return;
	off_cpu_send(task, prev, start, history);
	if (start->woken_ns || start->flags & PFSTAT_OFF_CPU_PREEMPTED)
		cpu_wait_ends();
	start->off_ns = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu_history *history = waiting ? cpu_history_add(prev, next) : NULL;

	on_switch_out(ctx, prev, preempt ? 0 : state_of_prev(ctx, prev));
	on_switch_in(next, prev, history);
	return 0;
}

/*
 * This event comes from the waker. sched_wakeup may come later, from another CPU. The kernel
 * serializes a thread's wakers.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *task)
{
	__u32 tid = task->pid;
	struct off_cpu_start *start;

	if (!may_be_target(task->tgid, tid))
		return 0;
	start = bpf_map_lookup_elem(&off_since, &tid);
	if (!start || !start->off_ns || start->woken_ns || start->flags & PFSTAT_OFF_CPU_PREEMPTED)
		return 0;
	start->woken_ns = bpf_ktime_get_ns();
	cpu_wait_begins(start->woken_ns);
	start->waker = context_tid();
	if (task->pending.signal.sig[0] & 1UL << (SIGKILL - 1))
		start->waker_doing = PFSTAT_WAKER_KILL;
	else if (start->waker)
		start->waker_doing = current_doing();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
