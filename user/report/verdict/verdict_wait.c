// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules about waits that are not the device's: for a CPU, for a lock, for free memory, for a
 * read of another process or a server; and about faults of the kernel itself. The kernel
 * stacks of the sleeps name most locks and servers, but not their holders.
 */
#include <inttypes.h>
#include <string.h>

#include "report/verdict/verdict_rules.h"
#include "util/array.h"

#define KERNEL_SHARE 0.5

bool verdict_runqueue(const struct verdict *verdict, const struct report *run,
		      struct verdict_cause *cause)
{
	const double share = verdict_part_share(run, PART_RUNQUEUE);

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE ||
	    !(run->bpf.hooks & (1U << HOOK_WAKEUP | 1U << HOOK_PERF)))
		return false;
	cause->weight = share;
	verdict_state(cause,
		      "for %.0f %% of the faults' time the thread could run, but had no CPU: other "
		      "tasks ran there.",
		      100 * share);
	verdict_advise(cause, "perf sched timehist names these tasks; fewer threads, or CPUs of "
			      "their own (taskset).");
	return true;
}

bool verdict_contention(const struct verdict *verdict, const struct report *run,
			struct verdict_cause *cause)
{
	const double locked = verdict_class_share(run, FAULT_LOCK);
	const double blocked = verdict_part_share(run, PART_BLOCKED);
	const char *waited_for = verdict_wait_cause(run, PART_BLOCKED);

	(void)verdict;
	if (locked < VERDICT_CAUSE_SHARE && blocked < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = locked > blocked ? locked : blocked;
	cause->certain = locked <= blocked && waited_for;
	if (locked > blocked)
		verdict_state(
			cause,
			"%.0f %% of the faults' time is class lock: another thread had locked "
			"the page.",
			100 * locked);
	else if (waited_for)
		verdict_state(cause,
			      "for %.0f %% of the faults' time the thread was blocked, mostly "
			      "waiting for %s, as its kernel stacks show.",
			      100 * blocked, waited_for);
	else
		verdict_state(
			cause,
			"for %.0f %% of the faults' time the thread was blocked: by a lock%s or a "
			"FUSE server.",
			100 * blocked, run->bpf.hooks & 1U << HOOK_RECLAIM ? "" : ", reclaim");
	verdict_advise(cause,
		       "perf lock contention -ab -- COMMAND names the lock and its callers.");
	return true;
}

static enum pfstat_reclaim_kind longest_reclaim(const struct report *run)
{
	const struct evidence_reclaims *reclaims = run->evidence.reclaims;
	enum pfstat_reclaim_kind kind, longest = 0;

	for (kind = 0; kind < PFSTAT_NR_RECLAIM_KINDS; kind++)
		if (reclaims[kind].total_ns > reclaims[longest].total_ns)
			longest = kind;
	return longest;
}

bool verdict_reclaim(const struct verdict *verdict, const struct report *run,
		     struct verdict_cause *cause)
{
	static const char *const remedies[PFSTAT_NR_RECLAIM_KINDS] = {
		[PFSTAT_RECLAIM_DIRECT] = "use less memory, or raise vm.watermark_scale_factor, so "
					  "that kswapd frees memory earlier.",
		[PFSTAT_RECLAIM_CGROUP] = "raise memory.max and memory.high of the cgroup, or use "
					  "less memory; memory.stat shows what fills it.",
		[PFSTAT_RECLAIM_COMPACTION] =
			"echo defer > /sys/kernel/mm/transparent_hugepage/defrag lets kcompactd "
			"compact; or madvise(MADV_NOHUGEPAGE).",
	};
	const struct evidence_reclaims *reclaims = run->evidence.reclaims;
	const double share = verdict_part_share(run, PART_RECLAIM);

	(void)verdict;
	if (!(run->bpf.hooks & 1U << HOOK_RECLAIM) || share < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = share;
	verdict_state(
		cause,
		"for %.0f %% of the faults' time the thread freed or compacted memory itself. "
		"In all, its program reclaimed %" PRIu64 " times for lack of free memory, "
		"%" PRIu64 " times at a cgroup's limit (%" PRIu64 " pages), and compacted "
		"%" PRIu64 " times.",
		100 * share, reclaims[PFSTAT_RECLAIM_DIRECT].count,
		reclaims[PFSTAT_RECLAIM_CGROUP].count,
		reclaims[PFSTAT_RECLAIM_DIRECT].pages + reclaims[PFSTAT_RECLAIM_CGROUP].pages,
		reclaims[PFSTAT_RECLAIM_COMPACTION].count);
	verdict_advise(cause, "%s", remedies[longest_reclaim(run)]);
	return true;
}

/* Only a drive knows its file system. */
static bool is_remote(const char *filesystem)
{
	static const char *const remote[] = {
		"nfs", "fuse", "cifs", "smb", "9p", "ceph", "virtiofs"
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(remote); i++)
		if (!strncmp(filesystem, remote[i], strlen(remote[i])))
			return true;
	return false;
}

bool verdict_foreign(const struct verdict *verdict, const struct report *run,
		     struct verdict_cause *cause)
{
	const double share = verdict_part_share(run, PART_FOREIGN);
	const char *filesystem = run->environment.filesystem;
	const char *waited_for = verdict_wait_cause(run, PART_FOREIGN);

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE)
		return false;
	cause->weight = share;
	cause->certain = is_remote(filesystem);
	if (cause->certain) {
		verdict_state(cause, "%.0f %% of the faults' time waited for the server of %.31s.",
			      100 * share, filesystem);
		verdict_advise(cause, "nfsiostat or the server's own figures; copy the file to a "
				      "local disk.");
		return true;
	}
	if (waited_for)
		verdict_state(cause,
			      "%.0f %% of the faults' time waited for reads or writes that no "
			      "watched thread had submitted, mostly for %s, as the kernel stacks "
			      "show.",
			      100 * share, waited_for);
	else
		verdict_state(cause,
			      "%.0f %% of the faults' time waited for reads or writes that no "
			      "watched thread had submitted: of another process, a kernel thread "
			      "or a server.",
			      100 * share);
	verdict_advise(cause,
		       "findmnt -T FILE names the file system (nfs, fuse, compressed btrfs); "
		       "iotop or biosnoop names the process.");
	return true;
}

bool verdict_kernel(const struct verdict *verdict, const struct report *run,
		    struct verdict_cause *cause)
{
	const uint64_t all_ns = run->faults.all.whole.total_ns;
	/* execve(2) and write(2) also meet files that are not in the page cache: cold-file. */
	const double read = verdict_class_share(run, FAULT_DISK) +
			    verdict_class_share(run, FAULT_WAIT) +
			    verdict_class_share(run, FAULT_READAHEAD);

	(void)verdict;
	if (!all_ns || run->evidence.kernel_ns < (KERNEL_SHARE + read) * all_ns)
		return false;
	cause->weight = (double)run->evidence.kernel_ns / all_ns;
	verdict_state(cause,
		      "%.0f %% of the faults' time was taken in system calls: the kernel copied to "
		      "or from memory that was not mapped, or pinned it.",
		      100 * cause->weight);
	verdict_advise(cause, "pfdrive report --with syscalls names the calls; touch or populate "
			      "the buffers first, and reuse them.");
	return true;
}
