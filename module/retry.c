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
 * A thread has one note of each kind, in its slot (mm_thread.h). Only the thread itself writes and
 * reads the note. Times distinguish a call's own note from an older one, such as a note from
 * read(2), whose faults start after it. The time comes from the clock of which the start of a call
 * is a number: a start converted later, after NTP has changed the factors, may be later than the
 * call's note. If the kernel takes another clock in the call, the call has no note.
 */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "clock.h"
#include "compat.h"
#include "cpu_counter.h"
#include "mm_thread.h"
#include "retry.h"

/* How long after a session the probes stay enabled: the next one often begins at once. */
#define RETRY_REST_AFTER HZ

/* Between start and stop: notes are made. */
static bool (*retry_is_target)(struct mm_struct *mm);
/* Calls without a note. */
static atomic64_t retry_unknown;

enum pfstat_before pfstat_retry_state(unsigned long flags)
{
	const bool marked = flags & BIT(PG_readahead);

	if (!(flags & BIT(PG_uptodate))) {
		/* A page is locked while it is read. */
		if (!(flags & BIT(PG_locked)))
			return PFSTAT_BEFORE_STALE;
		return marked ? PFSTAT_BEFORE_IN_FLIGHT_MARKED : PFSTAT_BEFORE_IN_FLIGHT;
	}
	if (!marked)
		return PFSTAT_BEFORE_CACHED;
	/* PG_reclaim has the same bit, and goes with writeback. */
	return flags & BIT(PG_writeback) ? PFSTAT_BEFORE_RECLAIM : PFSTAT_BEFORE_MARKED;
}

/* In a probe, so preemption is off. Other processes have no slot, and get none. */
static void retry_write(enum mm_note note, unsigned long flags)
{
	bool (*is_target)(struct mm_struct *mm) = READ_ONCE(retry_is_target);
	struct mm_thread *thread;

	if (!is_target)
		return;
	thread = pfstat_mm_thread_of(current);
	if (!thread && is_target(current->mm))
		thread = pfstat_mm_thread_any();
	if (!thread)
		return;
	thread->note_before[note] = pfstat_retry_state(flags);
	thread->note_in_ns[note] = pfstat_clock_is_shut();
	thread->note_time[note] = thread->note_in_ns[note] ? ktime_get_mono_fast_ns() :
							     pfstat_counter_read_ordered();
}

/* Current has made the note since then. */
static bool retry_is_since(const struct mm_thread *thread, enum mm_note note,
			   struct retry_start since)
{
	/* A difference, as the counter may wrap. */
	return thread->note_in_ns[note] == since.in_ns &&
	       (s64)(thread->note_time[note] - since.time) >= 0;
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
		retry_write(MM_NOTE_MARKED, compat_folio_flags(folio) | BIT(PG_readahead));
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
		retry_write(MM_NOTE_LOCKED,
			    (compat_folio_flags(folio) | BIT(PG_locked)) & ~BIT(PG_readahead));
	return 0;
}

/* An earlier read of the folio failed. This thread may have waited for the folio's lock before. */
static int on_folio_read(struct kprobe *probe, struct pt_regs *regs)
{
	if (retry_may_be_fault())
		retry_write(MM_NOTE_LOCKED, 0); /* neither locked nor up to date */
	return 0;
}

enum pfstat_before pfstat_retry_before(struct retry_start since)
{
	enum pfstat_before before = PFSTAT_BEFORE_UNKNOWN;
	const struct mm_thread *thread;
	enum mm_note note;

	preempt_disable();
	thread = pfstat_mm_thread_of(current);
	for (note = 0; thread && note < NR_MM_NOTES; note++) {
		if (retry_is_since(thread, note, since)) {
			before = thread->note_before[note];
			break;
		}
	}
	preempt_enable();
	if (before == PFSTAT_BEFORE_UNKNOWN)
		atomic64_inc(&retry_unknown);
	return before;
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

int pfstat_retry_start(bool (*is_target)(struct mm_struct *mm))
{
	int err;

	cancel_delayed_work_sync(&retry_rest_work);
	/* A note left by an earlier session is older than every call in this one. */
	WRITE_ONCE(retry_is_target, is_target);
	err = retry_explain(retry_probed ? retry_enable() : retry_register());
	if (err || retry_probes_work())
		return err;
	pr_info_ratelimited(
		"kprobes are disabled; write 1 to /sys/kernel/debug/kprobes/enabled and to /proc/sys/kernel/ftrace_enabled\n");
	return -ENODEV;
}

void pfstat_retry_stop(void)
{
	WRITE_ONCE(retry_is_target, NULL);
	schedule_delayed_work(&retry_rest_work, RETRY_REST_AFTER);
}

void pfstat_retry_exit(void)
{
	cancel_delayed_work_sync(&retry_rest_work);
	if (retry_probed)
		unregister_kprobes(retry_probes, retry_probed);
}
