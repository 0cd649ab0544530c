// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules about faults on pages that were in the page table. The kernel side noted the entry that
 * each fault met, so nearly all of these rules are certain. They claim the on-CPU time of their mechanisms.
 */
#include <inttypes.h>

#include "analyze/fault/mechanism.h"
#include "verdict/verdict_rules.h"

#define FEW_FAULTS 256
#define MIB	   (1024.0 * 1024)

static struct evidence_sum met(const struct report *run, enum mechanism mechanism)
{
	return run->contents.mechanisms[mechanism];
}

static bool claim_met(struct verdict_cause *cause, const struct report *run,
		      const struct evidence_sum *sum)
{
	cause->weight = verdict_share_of(run, sum->total_ns - sum->off_cpu_ns);
	return sum->count >= FEW_FAULTS && verdict_is_worth(run, cause->weight);
}

static double each_us(const struct evidence_sum *sum)
{
	return sum->total_ns / 1e3 / sum->count;
}

bool verdict_met_numa(const struct verdict *verdict, const struct report *run,
		      struct verdict_cause *cause)
{
	const struct evidence_sum moved = met(run, MECHANISM_NUMA_MOVED);
	struct evidence_sum sum = met(run, MECHANISM_NUMA_STAYED);

	(void)verdict;
	sum.count += moved.count;
	sum.total_ns += moved.total_ns;
	sum.off_cpu_ns += moved.off_cpu_ns;
	if (!claim_met(cause, run, &sum))
		return false;
	verdict_state(
		cause,
		"NUMA balancing made pages inaccessible, to see which threads use them: %" PRIu64
		" faults, %.2f µs each. In %" PRIu64
		" of them the kernel moved the page to the thread's node.",
		sum.count, each_us(&sum), moved.count);
	verdict_advise(cause, "bind the threads and their memory to one node (numactl "
			      "--cpunodebind=N --membind=N), or kernel.numa_balancing=0 if the "
			      "faults cost more than remote memory.");
	return true;
}

bool verdict_met_soft_dirty(const struct verdict *verdict, const struct report *run,
			    struct verdict_cause *cause)
{
	const struct evidence_sum sum = met(run, MECHANISM_WRITABLE_SOFT_DIRTY);

	(void)verdict;
	if (!claim_met(cause, run, &sum))
		return false;
	verdict_state(cause,
		      "a write to /proc/PID/clear_refs cleared the soft-dirty bits of %" PRIu64
		      " pages (%.0f MiB), and the first write to each since then is a fault, %.2f "
		      "µs each. Nothing was copied.",
		      sum.count, sum.count * (double)run->environment.page_bytes / MIB,
		      each_us(&sum));
	verdict_advise(cause, "clear them less often. A checkpoint (CRIU --track-mem), a migration "
			      "or a write-tracking collector does it; perf trace -e openat -a "
			      "names the process.");
	return true;
}

bool verdict_met_uffd(const struct verdict *verdict, const struct report *run,
		      struct verdict_cause *cause)
{
	const struct evidence_sum sum = met(run, MECHANISM_WRITABLE_UFFD);

	(void)verdict;
	if (!claim_met(cause, run, &sum))
		return false;
	verdict_state(cause,
		      "userfaultfd had write-protected %" PRIu64
		      " pages, and the first write to each is a fault, %.2f µs each. Nothing was "
		      "copied.",
		      sum.count, each_us(&sum));
	verdict_advise(cause, "protect fewer pages, or less often. A live snapshot or a "
			      "write-tracking collector protects them (UFFDIO_WRITEPROTECT, "
			      "PAGEMAP_SCAN).");
	return true;
}

bool verdict_met_present(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct evidence_sum sum = met(run, MECHANISM_PRESENT);

	(void)verdict;
	if (!claim_met(cause, run, &sum))
		return false;
	/* A stale entry of the TLB leaves the same trace. */
	cause->certain = false;
	verdict_state(cause,
		      "%" PRIu64 " faults, %.2f µs each, found the page in the page table: another "
		      "thread's fault on the same page was first.",
		      sum.count, each_us(&sum));
	verdict_advise(cause, "let each thread begin with a range of its own, or touch the memory "
			      "in one thread or call (MADV_POPULATE_WRITE) before.");
	return true;
}
