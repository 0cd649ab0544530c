// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules that are checked even if faults took a small share of the run, and the sentence for a
 * run in which nothing is wrong. Evidence: failed faults, the longest faults, cgroup throttling,
 * and thread activity.
 */
#include <inttypes.h>
#include <math.h>
#include <sys/mman.h>

#include "model/call_kind.h"
#include "model/fault_class.h"
#include "verdict/verdict_rules.h"
#include "report/view.h"
#include "util/kernel_release.h"

#define FEW_FAILED   100
#define FEW_LOST     0.1   /* of the recorded faults */
#define FAILED_SHARE 0.1   /* of all faults */
#define FAILED_RATE  100.0 /* in a second */
#define TAIL_SHARE   0.005 /* of the run */
#define TAIL_NS	     5000000ULL
#define TAIL_FAULTS  0.01 /* of all faults, with … */
#define TAIL_MOST    0.5  /* … of their time */

static const struct syscall_total *find_calls(const struct report *run, const char *name)
{
	const int number = view_syscall_number(run, name);
	size_t i;

	for (i = 0; i < run->extras.nr_syscalls; i++)
		if (run->extras.syscalls[i].number == (uint32_t)number)
			return &run->extras.syscalls[i];
	return NULL;
}

static void add_calls(const struct report *run, struct verdict_cause *cause, const char *name)
{
	const struct syscall_total *calls = find_calls(run, name);

	if (calls && calls->calls >= FEW_FAILED)
		verdict_add(cause, " The program called %s() %" PRIu64 " times.", name,
			    calls->calls);
}

/*
 * The failed faults' time is not known: the kernel handled none of them. The weight is their share
 * of all faults.
 */
bool verdict_nothing_failed(const struct verdict *verdict, const struct report *run,
			    struct verdict_cause *cause)
{
	const uint64_t failed = run->evidence.failed_faults;
	const uint64_t all = run->faults.all.count;

	if (failed == COUNT_NA || failed < FEW_FAILED ||
	    (failed < FAILED_SHARE * all && failed < FAILED_RATE * verdict->wall_ns / 1e9))
		return false;
	/* A failed access and its signal cost as much as a few faults, so a few do not come first. */
	cause->outside = failed >= FAILED_SHARE * all;
	cause->weight = (double)failed / (failed + all);
	verdict_state(cause,
		      "%" PRIu64
		      " accesses to memory failed with SIGSEGV or SIGBUS, and the program "
		      "handled the signal. Each costs a fault, a signal and its return, which are "
		      "not in the time above.",
		      failed);
	add_calls(run, cause, "mprotect");
	add_calls(run, cause, "mmap");
	verdict_advise(cause, "keep data and counters that are written often off pages that are "
			      "protected or executed; for write barriers, userfaultfd's write "
			      "protection; perf record -e page-faults -c 1 -g names the accesses.");
	return true;
}

static void add_longest(const struct report *run, struct verdict_cause *cause)
{
	const struct longest_fault *longest = &run->evidence.tail.longest;
	const struct longest_names *names = &run->longest;
	char span[VERDICT_SPAN];

	verdict_add(cause, " The longest took %s: class %s (%s)",
		    verdict_span(span, longest->duration_ns), fault_class_name(longest->class),
		    fault_classes[longest->class].title);
	if (longest->inode && names->file)
		verdict_add(cause, " of %.120s", names->file);
	if (names->thread[0])
		verdict_add(cause, ", in thread %.15s (%" PRIu32 ")", names->thread, longest->tid);
	if (longest->parts_known)
		verdict_add(cause, ", %.0f %% of it %s",
			    100.0 * longest->part_ns / longest->duration_ns,
			    part_name(longest->part));
	if (names->cause)
		verdict_add(cause, ", waiting for %s", names->cause);
	verdict_add(cause, ".");
	if (longest->parts_known && parts_with(PART_ON_CPU) & VERDICT_PART(longest->part))
		verdict_add(cause, " If it is long for its class, an interrupt or the host of a "
				   "virtual machine had the CPU (hi, si and st of top).");
}

static void advise_slowest(struct verdict_cause *cause)
{
	verdict_advise(cause, "pfdrive report --slowest 10 RECORDING describes the waits of the "
			      "longest ones; pfdrive check --max-fault MS guards a limit.");
}

/* True if few faults have most fault time. A cause for this time replaces the tail. */
static bool verdict_tail_has_most(const struct report *run, struct verdict_cause *cause)
{
	const struct fault_tail *tail = &run->evidence.tail;
	const double share = (double)tail->count / run->faults.all.count;

	if (!run->faults.all.count || share > TAIL_FAULTS ||
	    verdict_share_of(run, tail->total_ns) < TAIL_MOST)
		return false;
	cause->certain = false;
	cause->last = true;
	cause->claim = (struct verdict_claim){ VERDICT_CLASS(tail->longest.class), VERDICT_ALL };
	cause->weight = verdict_share_of(run, tail->total_ns);
	verdict_state(cause,
		      "the tail has most of the time: %" PRIu64
		      " faults (%.2g %%) took 1 ms or more, and %.0f %% of the faults' time.",
		      tail->count, 100 * share, 100 * cause->weight);
	add_longest(run, cause);
	advise_slowest(cause);
	return true;
}

bool verdict_nothing_slow_tail(const struct verdict *verdict, const struct report *run,
			       struct verdict_cause *cause)
{
	const struct fault_tail *tail = &run->evidence.tail;
	char span[VERDICT_SPAN];

	if (tail->longest.duration_ns < TAIL_NS || tail->total_ns < TAIL_SHARE * verdict->wall_ns)
		return false;
	if (!verdict->small && !verdict->idle)
		return verdict_tail_has_most(run, cause);
	cause->outside = true;
	cause->weight = verdict_share_of(run, tail->total_ns);
	verdict_state(cause,
		      "faults took little of the run, but %" PRIu64 " of them %s over 1 ms (%s).",
		      tail->count, tail->count == 1 ? "was" : "were",
		      verdict_span(span, tail->total_ns));
	add_longest(run, cause);
	advise_slowest(cause);
	return true;
}

#define STALLED_SHARE 0.25 /* of the thread's life */
#define STALLED_RUN   0.01 /* of the run, in this thread's faults */

bool verdict_nothing_stalled(const struct verdict *verdict, const struct report *run,
			     struct verdict_cause *cause)
{
	const struct thread_activity *stalled = &run->evidence.activity.stalled;
	char faults[VERDICT_SPAN], life[VERDICT_SPAN];
	const struct group *thread;

	if (!verdict->small || !stalled->tid ||
	    stalled->fault_ns < STALLED_SHARE * activity_own_ns(stalled) ||
	    stalled->fault_ns < STALLED_RUN * verdict->wall_ns)
		return false;
	cause->certain = false;
	cause->weight = verdict_share_of(run, stalled->fault_ns);
	thread = verdict_code_thread(run, stalled->tid);
	verdict_state(cause, "faults took little of the run, but %.0f %% of one thread's time: ",
		      100.0 * stalled->fault_ns / activity_own_ns(stalled));
	if (thread)
		verdict_add(cause, "%.100s", thread->name);
	else
		verdict_add(cause, "thread %" PRIu32, stalled->tid);
	verdict_add(cause, " existed for %s%s and was in faults for %s.",
		    verdict_span(life, activity_own_ns(stalled)),
		    stalled->waiting_ns ? " without its waits for a CPU," : "",
		    verdict_span(faults, stalled->fault_ns));
	verdict_advise(cause, "pfdrive report --by thread RECORDING; a recording of that thread's "
			      "process alone, while it runs, names the cause.");
	return true;
}

static bool does_populate(const struct shaping_call *call)
{
	switch (call->kind) {
	case PFSTAT_CALL_MADVISE:
	case PFSTAT_CALL_PROCESS_MADVISE:
		return call->detail == MADV_POPULATE_READ || call->detail == MADV_POPULATE_WRITE;
	case PFSTAT_CALL_MMAP:
		return call->detail & MAP_POPULATE;
	case PFSTAT_CALL_MLOCK:
	case PFSTAT_CALL_MLOCK2:
	case PFSTAT_CALL_MLOCKALL:
		return true;
	default:
		return false;
	}
}

/*
 * Before Linux 6.5 get_user_pages() fills memory of hugetlbfs without handle_mm_fault(), so the
 * program's longest work may have no fault.
 */
bool verdict_nothing_populating(const struct verdict *verdict, const struct report *run,
				struct verdict_cause *cause)
{
	const unsigned int release = kernel_release_number(run->environment.kernel);
	const struct shaping_call *call, *longest = NULL;
	char detail[128], span[VERDICT_SPAN];
	uint64_t count = 0, total_ns = 0;
	size_t i;

	for (i = 0; i < run->calls.nr; i++) {
		call = &run->calls.rows[i].sum;
		if (!does_populate(call))
			continue;
		count += call->count;
		total_ns += call->total_ns;
		if (!longest || call->total_ns > longest->total_ns)
			longest = call;
	}
	if (!verdict->small || total_ns < VERDICT_WRONG_SHARE * verdict->wall_ns ||
	    run->evidence.kernel_ns > total_ns / 2)
		return false;
	call_kind_print_detail(longest->kind, longest->detail, detail, sizeof(detail));
	cause->certain = false;
	cause->weight = (double)total_ns / verdict->wall_ns;
	verdict_state(cause,
		      "faults took little of the run, but calls that populate memory took %s, most "
		      "of it outside of known faults: %" PRIu64 ", the longest of %s(%s).",
		      verdict_span(span, total_ns), count, call_kind_name(longest->kind), detail);
	if (release && release < 6005)
		verdict_add(cause, " Before Linux 6.5 such a call fills memory of hugetlbfs "
				   "without a fault.");
	verdict_advise(cause, "the table of calls names their callers; perf record -a -g shows the "
			      "work in them.");
	return true;
}

/* No share proves that the faults delay nothing: another thread may wait for one in a fault. */
static void state_little(const struct verdict *verdict, struct verdict_cause *cause)
{
	const struct active_share *active = &verdict->active;

	cause->certain = isnan(active->most) || active->most < VERDICT_WRONG_SHARE;
	verdict_state(cause, "page faults took little time: %.2f %% of the run",
		      100 * verdict->share);
	if (!isnan(active->most)) {
		verdict_add(cause, ", and ");
		if (!cause->certain)
			verdict_add(cause, "%.2f to ", 100 * active->least);
		verdict_add(cause,
			    "%.2f %% of the time that its threads were on a CPU or in a fault",
			    100 * active->most);
	}
	verdict_add(cause, ". What waits for a thread in a fault is not measured.");
}

void verdict_nothing_state(const struct verdict *verdict, const struct report *run,
			   struct verdict_cause *cause)
{
	const uint64_t lost = view_faults_lost(run);

	cause->rule = "nothing-wrong";
	cause->weight = 1;
	cause->certain = view_sees_all_faults(run);
	if (view_perf_ended(run)) {
		cause->certain = false;
		verdict_state(cause,
			      "the faults that perf saw cost little. The kernel ended perf's "
			      "events when a process executed %s; the faults after that are not "
			      "known.",
			      run->losses.ended_name);
		verdict_advise(cause, "record as root with the module or eBPF, which see faults "
				      "in set-user-ID programs.");
	} else if (lost > FEW_LOST * run->faults.all.count) {
		cause->certain = false;
		verdict_state(cause,
			      "the recorded faults cost little, but up to %" PRIu64
			      " more were lost.",
			      lost);
		verdict_advise(cause, "record again with a larger --ring-size.");
	} else if (!cause->certain && view_source_is_perf(run)) {
		verdict_state(cause, "the faults that perf shows to this user cost little; those "
				     "in system calls are not among them.");
		verdict_advise(cause, "record as root, or with kernel.perf_event_paranoid=1.");
	} else if (!cause->certain) {
		verdict_state(cause,
			      "only faults of hooked files are known, and they cost little.");
		verdict_advise(cause, "record as root with eBPF, which sees all faults.");
	} else if (verdict->idle) {
		cause->certain = false;
		verdict_add_idle(cause, verdict);
		verdict_advise(cause, "record while it is busy; pfdrive report --by thread names "
				      "the threads that faulted.");
	} else {
		state_little(verdict, cause);
		verdict_advise(cause, "perf record for the CPU's time, perf trace -s for system "
				      "calls.");
	}
}
