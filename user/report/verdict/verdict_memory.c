// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules about memory: copies after fork, swap, pages that are evicted and read again, and the
 * first touch of anonymous memory. Evidence: the classes, forks, and evictions by process.
 */
#include <inttypes.h>
#include <string.h>

#include "report/verdict/verdict_rules.h"
#include "util/array.h"

#define MIB (1024.0 * 1024)

#define COPIES_A_FORK 64 /* fewer are the child's stack and data before it executes a program */
#define FEW_COPIES    256
#define DEVICE_SHARE  0.1
#define REFAULT_SHARE 0.1 /* of the faults' time */
#define FEW_TOUCHES   256
#define FEW_SWAP_INS  64

bool verdict_fork(const struct verdict *verdict, const struct report *run,
		  struct verdict_cause *cause)
{
	const uint64_t copies = run->faults.classes[FAULT_COW].count;
	const uint64_t forks = run->evidence.forks;
	const double share = verdict_class_share(run, FAULT_COW);

	(void)verdict;
	if (!forks || copies < FEW_COPIES || copies < COPIES_A_FORK * forks ||
	    share < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = share;
	verdict_state(cause,
		      "fork shared the pages, and writes copied them: %" PRIu64
		      " pages (%.0f MiB), "
		      "%.0f after each of %" PRIu64 " fork%s.",
		      copies, copies * run->environment.page_bytes / MIB, (double)copies / forks,
		      forks, forks == 1 ? "" : "s");
	verdict_advise(cause, "posix_spawn() or vfork() for a child that executes a program; "
			      "MADV_DONTFORK for memory that it does not use; fork before the "
			      "memory is filled.");
	return true;
}

/* Names the limit at which the program itself had to free memory, if it did. */
static void state_limit(const struct report *run, struct verdict_cause *cause)
{
	const struct evidence_reclaims *cgroup = &run->evidence.reclaims[PFSTAT_RECLAIM_CGROUP];
	const struct evidence_reclaims *direct = &run->evidence.reclaims[PFSTAT_RECLAIM_DIRECT];

	if (cgroup->count && cgroup->pages >= direct->pages)
		verdict_add(cause,
			    " The limit is that of its cgroup: it was met %" PRIu64
			    " time%s, and the program had to free %" PRIu64 " pages (%.0f MiB).",
			    cgroup->count, cgroup->count == 1 ? "" : "s", cgroup->pages,
			    cgroup->pages * run->environment.page_bytes / MIB);
	else if (direct->count)
		verdict_add(cause,
			    " The limit is the memory of the machine: the program had to free "
			    "%" PRIu64 " pages (%.0f MiB), %" PRIu64 " time%s.",
			    direct->pages, direct->pages * run->environment.page_bytes / MIB,
			    direct->count, direct->count == 1 ? "" : "s");
}

static double swap_device_share(const struct report *run)
{
	const struct fault_figures *swap = &run->faults.classes[FAULT_SWAP];

	return (double)(swap->parts[PART_QUEUE].total_ns + swap->parts[PART_DEVICE].total_ns +
			swap->parts[PART_FOREIGN].total_ns) /
	       swap->whole.total_ns;
}

bool verdict_swap(const struct verdict *verdict, const struct report *run,
		  struct verdict_cause *cause)
{
	const struct fault_figures *swap = &run->faults.classes[FAULT_SWAP];
	const double share = verdict_class_share(run, FAULT_SWAP);
	double device;

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = share;
	device = swap_device_share(run);
	verdict_state(cause,
		      "memory was too small: %" PRIu64
		      " swap-ins of anonymous memory, %.0f µs each",
		      swap->count, verdict_mean_us(run, FAULT_SWAP));
	if (device < DEVICE_SHARE)
		verdict_add(cause, "; nearly none of it waited for a device, so swap is in memory "
				   "(zram) and costs CPU.");
	else
		verdict_add(cause, "; %.0f %% of it waited for the swap device.", 100 * device);
	state_limit(run, cause);
	verdict_advise(cause,
		       "raise the limit or use less memory. memory.events of the cgroup%s%.200s "
		       "counts how often memory.max was met.",
		       run->environment.cgroup[0] ? " " : "", run->environment.cgroup);
	return true;
}

/*
 * A process that evicts its own pages reclaims memory, which has an event, or it used
 * POSIX_FADV_DONTNEED or direct I/O. Recordings without these events do not show which.
 */
static bool dropped_by_itself(const struct report *run, const struct evictions_pair *pair)
{
	size_t i;

	if (!(run->bpf.hooks & 1U << HOOK_RECLAIM))
		return false;
	for (i = 0; i < ARRAY_SIZE(run->evidence.reclaims); i++)
		if (run->evidence.reclaims[i].count)
			return false;
	return pair->victim == pair->evictor;
}

bool verdict_refault(const struct verdict *verdict, const struct report *run,
		     struct verdict_cause *cause)
{
	const struct evictions_pair *pair, *most = NULL;
	uint64_t pages = 0, faults = 0, total_ns = 0;
	size_t i;

	(void)verdict;
	for (i = 0; i < run->pages.nr_pairs; i++) {
		pair = &run->pages.pairs[i];
		pages += pair->pages;
		faults += pair->faults;
		total_ns += pair->total_ns;
		if (!most || pair->total_ns > most->total_ns)
			most = pair;
	}
	if (!most || !run->faults.all.whole.total_ns ||
	    total_ns < REFAULT_SHARE * run->faults.all.whole.total_ns)
		return false;
	cause->weight = (double)total_ns / run->faults.all.whole.total_ns;
	if (dropped_by_itself(run, most)) {
		verdict_state(cause,
			      "%.15s (%" PRIu32
			      ") dropped pages of files that it read again: %" PRIu64
			      " pages, by %" PRIu64 " faults (%.0f %% of the faults' time).",
			      most->evictor_name, most->evictor, pages, faults,
			      100 * cause->weight);
		verdict_advise(cause, "use POSIX_FADV_DONTNEED only for pages that are read no "
				      "more, and no direct I/O to a file that is mapped.");
		return true;
	}
	verdict_state(cause,
		      "memory was too small: %" PRIu64
		      " pages of files were evicted and read again "
		      "by %" PRIu64 " faults (%.0f %% of the faults' time)",
		      pages, faults, 100 * cause->weight);
	if (!evictions_is_others(most))
		verdict_add(cause, ", most of them evicted by %.15s (%" PRIu32 ")",
			    most->evictor_name, most->evictor);
	verdict_add(cause, ".");
	state_limit(run, cause);
	verdict_advise(cause, "raise the limit, or map less at a time; memory.events of the cgroup "
			      "counts how often memory.max was met.");
	return true;
}

/*
 * perf's history knows the pages that faulted while it watched. Pages that were touched before, or
 * by the kernel unseen, may be copied after a fork.
 */
static bool verdict_knows_first_touches(const struct report *run)
{
	const bool whole = run->environment.command[0] &&
			   (!run->bpf.user_only || !run->evidence.forks);

	return !(run->bpf.hooks & 1U << HOOK_PERF) ||
	       (whole && !run->faults.classes[FAULT_ANON].major);
}

bool verdict_first_touch(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct fault_figures *anon = &run->faults.classes[FAULT_ANON];
	const double share = verdict_class_share(run, FAULT_ANON);
	double waited = verdict_off_cpu_share(run, FAULT_ANON);

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE || anon->count < FEW_TOUCHES)
		return false;
	waited += (double)anon->reclaim_cpu_ns / anon->whole.total_ns;
	cause->weight = share;
	cause->certain = waited < VERDICT_CAUSE_SHARE;
	if (cause->certain && !verdict_knows_first_touches(run)) {
		cause->certain = false;
		verdict_state(
			cause,
			"%" PRIu64 " faults of anonymous memory, %.2f µs each, on pages "
			"that were not seen to fault before: first touches, or copies after a "
			"fork of pages that were touched unseen.",
			anon->count, verdict_mean_us(run, FAULT_ANON));
		verdict_advise(cause, "record as root, from the start of the program.");
		return true;
	}
	verdict_state(cause,
		      "%" PRIu64 " first touches of anonymous memory, %.2f µs each: the kernel "
		      "clears each new page",
		      anon->count, verdict_mean_us(run, FAULT_ANON));
	if (cause->certain) {
		verdict_add(cause, ".");
		verdict_advise(cause, "keep and reuse memory; MADV_HUGEPAGE or "
				      "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 make fewer and larger "
				      "faults.");
	} else {
		verdict_add(cause, "; %.0f %% of it was off the CPU or in reclaim.", 100 * waited);
		verdict_advise(cause, "memory.pressure and memory.stat (pgscan_direct) of the "
				      "cgroup show reclaim.");
	}
	return true;
}

/* Files of the kernel's shared memory: MAP_SHARED without a file, tmpfs, memfd, System V. */
static bool is_shared_memory(const char *name)
{
	static const char *const names[] = { "/dev/zero", "/dev/shm/", "/memfd:", "/SYSV" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

bool verdict_shared_memory(const struct verdict *verdict, const struct report *run,
			   struct verdict_cause *cause)
{
	const struct fault_figures *faults = &run->faults.classes[FAULT_FILE];
	const double share = verdict_class_share(run, FAULT_FILE);

	if (share < VERDICT_CAUSE_SHARE || !verdict->place ||
	    !is_shared_memory(verdict->place->name))
		return false;
	/* The only device of shared memory is swap. */
	if (faults->major >= FEW_SWAP_INS) {
		cause->weight = share;
		cause->certain = !(run->bpf.hooks & 1U << HOOK_PERF);
		verdict_state(cause,
			      "memory was too small: %" PRIu64 " swap-ins of shared memory, among "
			      "%" PRIu64 " faults of %.0f µs each.",
			      faults->major, faults->count, verdict_mean_us(run, FAULT_FILE));
		state_limit(run, cause);
		verdict_advise(cause,
			       "raise the limit or use less memory. memory.events of the cgroup "
			       "counts how often memory.max was met.");
		return true;
	}
	if (faults->count < FEW_TOUCHES)
		return false;
	cause->weight = share;
	verdict_state(cause,
		      "%" PRIu64 " first touches of shared memory, %.2f µs each: the kernel "
		      "clears each new page.",
		      faults->count, verdict_mean_us(run, FAULT_FILE));
	verdict_advise(cause, "keep and reuse the memory, or MADV_POPULATE_WRITE for the range; "
			      "memory that is not shared can have huge pages.");
	return true;
}
