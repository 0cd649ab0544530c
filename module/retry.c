// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes for classifying ->fault calls after they have returned RETRY, so the many other calls need
 * not look into the page cache first.
 *
 * filemap_fault() returns RETRY without MAJOR in three cases (6.1 to 7.3). It met the mark and
 * called page_cache_async_ra(). It met a locked folio and waited for the lock in
 * folio_wait_bit_common(). __folio_lock_killable() between them is compiled in line. Or the folio
 * was neither locked nor up to date, and filemap_read_folio() read it anew. Probes at the entry of
 * the three functions note the folio flags. They are reached only if the fault submits a read or
 * waits, so a fault solved from the page cache never meets them.
 *
 * A thread has one note of each kind. Only the thread itself writes and reads the note. Another
 * thread may evict it if a set is full of newer notes. Times distinguish a call's own note from an
 * older one, such as a note from read(2), whose faults start after it. A note has both clocks'
 * times, because the start of a call is a number from one clock: a start converted later, after NTP
 * has changed the factors, may be later than the call's note.
 */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu_counter.h"
#include "retry.h"

/* Of each kind, 1792 threads have a note: so many can be in such a call or in read(2) at once. */
#define RETRY_SETS 256
#define RETRY_WAYS 7

/* How long after a session the probes stay enabled: the next one often begins at once. */
#define RETRY_REST_AFTER HZ

struct retry_note {
	u64 cycles;
	u64 ns; /* 0: free */
	u32 flags;
	pid_t tid;
};

/* The flags that make up a page's state are among the stored flags. */
static_assert(PG_locked < 32 && PG_uptodate < 32 && PG_readahead < 32 && PG_writeback < 32);

struct retry_set {
	raw_spinlock_t lock;
	struct retry_note notes[RETRY_WAYS];
} ____cacheline_aligned;

static struct retry_set retry_marked[RETRY_SETS], retry_locked[RETRY_SETS];
/* Calls without a note. */
static atomic64_t retry_unknown;

/* The thread's note, or else the oldest note. The set is locked. */
static struct retry_note *retry_find(struct retry_set *set, pid_t tid)
{
	struct retry_note *note, *oldest = set->notes;

	for (note = set->notes; note < set->notes + RETRY_WAYS; note++) {
		if (note->tid == tid)
			return note;
		if (note->ns < oldest->ns)
			oldest = note;
	}
	return oldest;
}

/*
 * A probe that is not optimized is a breakpoint, which the kernel handles like an NMI. It still
 * runs in a process, so no lock holder was interrupted. lockdep accepts the trial only.
 */
static void retry_write(struct retry_set *sets, unsigned long flags)
{
	struct retry_set *set = &sets[(u32)current->pid % RETRY_SETS];

	while (!raw_spin_trylock(&set->lock))
		cpu_relax();
	*retry_find(set, current->pid) = (struct retry_note){
		.cycles = pfstat_counter_read_ordered(),
		.ns = ktime_get_mono_fast_ns(),
		.flags = flags,
		.tid = current->pid,
	};
	raw_spin_unlock(&set->lock);
}

static bool retry_is_since(const struct retry_note *note, struct retry_start since)
{
	/* A difference, as the counter may wrap. */
	return since.in_ns ? note->ns >= since.time : (s64)(note->cycles - since.time) >= 0;
}

/* False: current made no note since then. */
static bool retry_read(struct retry_set *sets, struct retry_start since, unsigned long *flags)
{
	struct retry_set *set = &sets[(u32)current->pid % RETRY_SETS];
	const struct retry_note *note;
	bool found;

	preempt_disable();
	raw_spin_lock(&set->lock);
	note = retry_find(set, current->pid);
	found = note->tid == current->pid && retry_is_since(note, since);
	*flags = note->flags;
	raw_spin_unlock(&set->lock);
	preempt_enable();
	return found;
}

/*
 * A fault may be a program's exception, or the kernel's exception in a system call from the
 * program.
 */
static bool retry_may_be_fault(void)
{
	return current->mm && !(current->flags & PF_KTHREAD);
}

static int on_async_readahead(struct kprobe *probe, struct pt_regs *regs)
{
	const struct folio *folio = (const struct folio *)regs_get_kernel_argument(regs, 1);

	/* Another thread may have cleared the mark since this one met it. */
	if (retry_may_be_fault())
		retry_write(retry_marked, compat_folio_flags(folio) | BIT(PG_readahead));
	return 0;
}

/*
 * The first value in the kernel's enum behavior: wait to take the lock, not only for the release.
 */
#define BEHAVIOR_EXCLUSIVE 0

static int on_folio_wait(struct kprobe *probe, struct pt_regs *regs)
{
	const struct folio *folio = (const struct folio *)regs_get_kernel_argument(regs, 0);
	const unsigned int bit = regs_get_kernel_argument(regs, 1);
	const unsigned int behavior = regs_get_kernel_argument(regs, 3);

	/* The lock was held a moment ago. The kernel ignores a mark that comes only now. */
	if (bit == PG_locked && behavior == BEHAVIOR_EXCLUSIVE && retry_may_be_fault())
		retry_write(retry_locked,
			    (compat_folio_flags(folio) | BIT(PG_locked)) & ~BIT(PG_readahead));
	return 0;
}

/* An earlier read of the folio failed. This thread may have waited for the folio's lock before. */
static int on_folio_read(struct kprobe *probe, struct pt_regs *regs)
{
	if (retry_may_be_fault())
		retry_write(retry_locked, 0); /* neither locked nor up to date */
	return 0;
}

bool pfstat_retry_folio_flags(struct retry_start since, unsigned long *flags)
{
	if (retry_read(retry_marked, since, flags) || retry_read(retry_locked, since, flags))
		return true;
	atomic64_inc(&retry_unknown);
	return false;
}

u64 pfstat_retry_unknown(void)
{
	return atomic64_read(&retry_unknown);
}

void pfstat_retry_reset(void)
{
	atomic64_set(&retry_unknown, 0);
}

/*
 * A kernel may be built without the last function, in line. Then such a fault has no note, which is
 * counted.
 */
static struct kprobe mark_probe, wait_probe, check_probe, read_probe;
static struct kprobe *retry_probes[] = { &check_probe, &mark_probe, &wait_probe, &read_probe };
#define RETRY_PROBES_NEEDED (ARRAY_SIZE(retry_probes) - 1)
/* So many are registered. All but the first are disabled some time after a session. */
static unsigned int retry_probed;

static_assert(__same_type(&page_cache_async_ra,
			  void (*)(struct readahead_control *, struct folio *, unsigned long)));

/* A probed function in the module itself, which shows whether probes are called. */
static unsigned int retry_checks;

static noinline void retry_check(void)
{
	barrier(); /* so the call remains */
}

static int on_retry_check(struct kprobe *probe, struct pt_regs *regs)
{
	retry_checks++;
	return 0;
}

/* debugfs's kprobes/enabled and the sysctl kernel.ftrace_enabled disable existing probes. */
static bool retry_probes_work(void)
{
	const unsigned int before = retry_checks;

	retry_check();
	return READ_ONCE(retry_checks) != before;
}

static int retry_register(void)
{
	int err;

	/* A kprobe is not registered twice. */
	mark_probe = (struct kprobe){
		.symbol_name = "page_cache_async_ra",
		.pre_handler = on_async_readahead,
	};
	wait_probe = (struct kprobe){
		.symbol_name = "folio_wait_bit_common",
		.pre_handler = on_folio_wait,
	};
	check_probe = (struct kprobe){
		.addr = (kprobe_opcode_t *)retry_check,
		.pre_handler = on_retry_check,
	};
	read_probe = (struct kprobe){
		.symbol_name = "filemap_read_folio",
		.pre_handler = on_folio_read,
	};
	err = register_kprobes(retry_probes, RETRY_PROBES_NEEDED);
	if (!err)
		retry_probed = RETRY_PROBES_NEEDED + !register_kprobe(&read_probe);
	return err;
}

static int retry_enable(void)
{
	unsigned int i;
	int err = 0;

	for (i = 1; !err && i < retry_probed; i++)
		err = enable_kprobe(retry_probes[i]);
	return err;
}

/* Returns an errno that no other command failure has, except for lack of memory. */
static int retry_explain(int err)
{
	if (!err || err == -ENOMEM)
		return err;
	pr_err("cannot probe page_cache_async_ra() and folio_wait_bit_common(): error %d; use a kernel that has them and allows kprobes\n",
	       err);
	return -ENODEV;
}

static void retry_rest(struct work_struct *work)
{
	unsigned int i;

	for (i = 1; i < retry_probed; i++)
		disable_kprobe(retry_probes[i]);
}

static DECLARE_DELAYED_WORK(retry_rest_work, retry_rest);

int pfstat_retry_start(void)
{
	int err, i;

	cancel_delayed_work_sync(&retry_rest_work);
	/* A note left by an earlier session is older than every call in this one. */
	for (i = 0; i < RETRY_SETS && !retry_probed; i++) {
		raw_spin_lock_init(&retry_marked[i].lock);
		raw_spin_lock_init(&retry_locked[i].lock);
	}
	err = retry_explain(retry_probed ? retry_enable() : retry_register());
	if (err || retry_probes_work())
		return err;
	pr_info_ratelimited(
		"kprobes are disabled; write 1 to /sys/kernel/debug/kprobes/enabled and to /proc/sys/kernel/ftrace_enabled\n");
	return -ENODEV;
}

void pfstat_retry_stop(void)
{
	schedule_delayed_work(&retry_rest_work, RETRY_REST_AFTER);
}

void pfstat_retry_exit(void)
{
	cancel_delayed_work_sync(&retry_rest_work);
	if (retry_probed)
		unregister_kprobes(retry_probes, retry_probed);
}
