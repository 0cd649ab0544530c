// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rule about mmap_lock, the address space lock. The evidence for each sleep is the kernel
 * stack, the thread that passed the lock on, and this thread's system call. A fault mostly waits
 * before handle_mm_fault(), and its time does not include this wait.
 */
#include <inttypes.h>
#include <string.h>

#include "model/wait_cause.h"
#include "verdict/verdict_rules.h"
#include "report/view.h"
#include "util/array.h"

/* Minimum share of the run to report sleeps before the faults. */
#define BEFORE_SHARE 0.05

/* Calls that take mmap_lock for writing, and how to need fewer of them. */
static const struct lock_call {
	const char *names[5], *remedy;
} lock_calls[] = {
	{ { "munmap", "mremap", "brk" },
	  "keep memory and use it again instead of unmapping it (malloc: M_MMAP_THRESHOLD and "
	  "M_TRIM_THRESHOLD of mallopt(3)), or give pages back with MADV_DONTNEED, which takes the "
	  "lock for reading only" },
	{ { "mmap", "shmat" },
	  "map large ranges once, before the threads start (malloc: M_MMAP_THRESHOLD and M_TOP_PAD "
	  "of mallopt(3))" },
	{ { "mprotect", "pkey_mprotect" },
	  "protect large ranges in few calls; pkey_set(3) changes rights without the lock" },
	{ { "madvise", "process_madvise" },
	  "advise large ranges once, before the threads start; MADV_DONTNEED, MADV_FREE and "
	  "MADV_WILLNEED take the lock for reading only" },
	{ { "fork", "vfork", "clone", "clone3" },
	  "a fork holds the lock while it copies the page tables: start programs with "
	  "posix_spawn(3), or fork before the memory is filled; MADV_DONTFORK leaves memory out" },
	{ { "mlock", "mlock2", "mlockall", "munlock" }, "lock memory once, in few calls" },
};

static const char *const general_remedy =
	"map once and keep the memory; make mappings before the threads start, or use processes; "
	"Linux 6.4 and later fault under a lock of the mapping.";

/* NULL: not in the table */
static const struct lock_call *lock_call_of(const struct report *run, uint32_t doing)
{
	const int number = (int)doing - PFSTAT_WAKER_CALL;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(lock_calls) && number >= 0; i++)
		for (j = 0; j < ARRAY_SIZE(lock_calls[i].names) && lock_calls[i].names[j]; j++)
			if (view_syscall_number(run, lock_calls[i].names[j]) == number)
				return &lock_calls[i];
	return NULL;
}

/* The threads with the same activity that ended half of the sleep time. */
struct lock_end {
	uint32_t doing;
	uint64_t total_ns;
	const struct lock_waker_row *longest; /* NULL: no activity ended half of the time */
	size_t threads;
};

static struct lock_end main_end(const struct report_mmap_lock *lock)
{
	const struct lock_waker_row *end = lock->rows + lock->nr, *row, *other;
	struct lock_end found;

	for (row = lock->rows; row < end; row++) {
		if (!row->tid || row->doing == PFSTAT_WAKER_KILL)
			continue;
		found = (struct lock_end){ .doing = row->doing, .longest = row };
		for (other = lock->rows; other < end; other++) {
			if (!other->tid || other->doing != row->doing)
				continue;
			found.total_ns += other->total_ns;
			found.threads++;
		}
		if (found.total_ns >= VERDICT_WAIT_SHARE * lock->total_ns)
			return found;
	}
	return (struct lock_end){ 0 };
}

static void add_end(struct verdict_cause *cause, const struct report *run,
		    const struct lock_end *end)
{
	const struct lock_waker_row *longest = end->longest;
	char call[VIEW_WAKER], name[VIEW_WAKER], ended[VERDICT_SPAN], all[VERDICT_SPAN];

	view_waker_call(call, run, end->doing);
	verdict_add(cause, " Of all such waits (%s), %s ended when ",
		    verdict_span(all, run->mmap_lock.total_ns), verdict_span(ended, end->total_ns));
	if (longest->total_ns >= VERDICT_WAIT_SHARE * end->total_ns)
		verdict_add(cause, "%s passed the lock on", view_waker_name(name, longest));
	else
		verdict_add(cause, "one of %zu threads passed the lock on", end->threads);
	if (call[0])
		verdict_add(cause, " in %s.", call);
	else
		verdict_add(cause, "%s.",
			    end->doing == PFSTAT_WAKER_EXCEPTION ? ", in no system call" : "");
}

/* Returns the costliest call that takes mmap_lock to change mappings. NULL: none is known. */
static const struct syscall_total *changes_of_mappings(const struct report *run, const char **name)
{
	static const char *const names[] = { "mmap",   "munmap", "mprotect",
					     "mremap", "brk",	 "madvise" };
	const struct syscall_total *row, *most = NULL;
	size_t i;

	for (row = run->extras.syscalls; row < run->extras.syscalls + run->extras.nr_syscalls;
	     row++)
		for (i = 0; i < ARRAY_SIZE(names); i++) {
			if (view_syscall_number(run, names[i]) != (int)row->number ||
			    (most && most->total_ns >= row->total_ns))
				continue;
			most = row;
			*name = names[i];
		}
	return most;
}

static void explain_lock(struct verdict_cause *cause, const struct report *run)
{
	const struct lock_end end = main_end(&run->mmap_lock);
	const struct lock_call *table = lock_call_of(run, end.doing);
	const struct syscall_total *call;
	const char *name;

	verdict_add(cause, " Calls that change mappings hold it, or wait for it while another "
			   "program reads /proc/PID/smaps, and faults wait behind them.");
	if (end.longest) {
		add_end(cause, run, &end);
	} else {
		call = changes_of_mappings(run, &name);
		if (call)
			verdict_add(cause, " The costliest of the calls is %s(): %" PRIu64 ".",
				    name, call->calls);
	}
	if (table)
		verdict_advise(cause, "%s; or use processes.", table->remedy);
	else
		verdict_advise(cause, "%s", general_remedy);
}

/* A fault that perf recorded contains the wait for the lock. */
static uint64_t before_faults_ns(const struct report *run)
{
	const struct report_mmap_lock *lock = &run->mmap_lock;

	if (view_source_is_perf(run))
		return 0;
	return lock->total_ns > lock->in_faults_ns ? lock->total_ns - lock->in_faults_ns : 0;
}

bool verdict_lock_mmap(const struct verdict *verdict, const struct report *run,
		       struct verdict_cause *cause)
{
	static const char *const waits[] = { WAIT_MMAP_LOCK, WAIT_VMA_LOCK, NULL };
	const uint64_t before_ns = before_faults_ns(run);
	char span[VERDICT_SPAN];

	if (before_ns >= BEFORE_SHARE * verdict->wall_ns && before_ns) {
		verdict_claim_outside(cause, verdict, before_ns);
		verdict_state(cause,
			      "threads waited %s for the lock of their address space (mmap_lock) "
			      "before their faults began, which is not in the faults' time.",
			      verdict_span(span, before_ns));
	} else {
		if (verdict->small || !verdict_wait_claim(cause, run, waits))
			return false;
		verdict_state(cause,
			      "for %.0f %% of the faults' time threads waited for the lock of "
			      "their address space (mmap_lock).",
			      100 * cause->weight);
	}
	explain_lock(cause, run);
	return true;
}
