// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules about copies on write. The kernel side reports what was copied: a page shared by a
 * fork, the zero page, a page merged by KSM, or a file page.
 */
#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "verdict/verdict_rules.h"

#define MIB (1024.0 * 1024)

#define FEW_COPIES    256
#define FEW_PRIVATE   1024 /* fewer are the data segments of a starting program */
#define COPIES_A_FORK 64   /* fewer are the child's stack and data before it executes a program */
#define MAIN_SHARE    0.5
#define LONG_FORKS_NS 1000000ULL

/* Claims the on-CPU time for copying one content. */
static bool claim_copies(struct verdict_cause *cause, const struct report *run,
			 enum pfstat_content content)
{
	const struct evidence_sum *sum = &run->contents.by[content];

	cause->weight = verdict_share_of(run, sum->total_ns - sum->off_cpu_ns);
	return sum->count >= FEW_COPIES && verdict_is_worth(run, cause->weight);
}

static double copied_mib(const struct report *run, uint64_t pages)
{
	return pages * (double)run->environment.page_bytes / MIB;
}

static double copy_us(const struct evidence_sum *sum)
{
	return sum->count ? sum->total_ns / 1e3 / sum->count : 0;
}

/*
 * clone(2) without CLONE_VM is a fork. The flags of clone3(2) are unknown, so each call must have
 * copied page tables.
 */
static bool is_fork(const struct shaping_call *call)
{
	return call->kind == PFSTAT_CALL_FORK ||
	       (call->kind == PFSTAT_CALL_CLONE && !(call->detail & CLONE_VM)) ||
	       (call->kind == PFSTAT_CALL_CLONE3 && call->forks == call->count);
}

/* The call copies the page tables. The program's thread does nothing else meanwhile. */
static void add_fork_time(const struct report *run, struct verdict_cause *cause)
{
	const struct report_call *row;
	uint64_t count = 0, total_ns = 0, counted = 0, pages = 0;
	char span[VERDICT_SPAN];
	size_t i;

	for (i = 0; i < run->calls.nr; i++) {
		row = &run->calls.rows[i];
		if (!is_fork(&row->sum))
			continue;
		count += row->sum.count;
		total_ns += row->sum.total_ns;
		counted += row->sum.forks_counted;
		pages += row->sum.fork_pages;
	}
	if (!count || total_ns < LONG_FORKS_NS)
		return;
	verdict_add(cause, " The call%s of fork() took %s", count == 1 ? "" : "s",
		    verdict_span(span, total_ns));
	if (counted == count)
		verdict_add(cause, " and copied the page-table entries of %" PRIu64 " pages",
			    pages);
	verdict_add(cause, ".");
}

bool verdict_copy_after_fork(const struct verdict *verdict, const struct report *run,
			     struct verdict_cause *cause)
{
	const struct evidence_sum *sum = &run->contents.by[PFSTAT_CONTENT_FORK];
	const uint64_t followed = run->contents.after_fork.count, forks = run->evidence.forks;
	/* The command itself is also executed. */
	const uint64_t own = run->environment.command[0] && run->evidence.execs;
	const uint64_t execs = run->evidence.execs - own;

	(void)verdict;
	if (!claim_copies(cause, run, PFSTAT_CONTENT_FORK))
		return false;
	if (followed >= MAIN_SHARE * sum->count && sum->count < COPIES_A_FORK * forks)
		return false;
	verdict_state(cause,
		      "fork shared the pages, and writes copied them: %" PRIu64
		      " pages (%.0f MiB), %.2f µs each",
		      sum->count, copied_mib(run, sum->count), copy_us(sum));
	if (followed >= MAIN_SHARE * sum->count)
		verdict_add(cause, ", %.0f after each of %" PRIu64 " fork%s.",
			    (double)followed / forks, forks, forks == 1 ? "" : "s");
	else
		verdict_add(cause, ", most of them after a fork before the recording.");
	add_fork_time(run, cause);
	if (forks && execs >= MAIN_SHARE * forks)
		verdict_advise(cause,
			       "posix_spawn() or vfork() for a child that executes a program; "
			       "MADV_DONTFORK for memory that it does not use.");
	else
		verdict_advise(cause,
			       "fork before the memory is filled, or keep data that the processes "
			       "write apart from shared data: counts of references (one array "
			       "instead of many objects), marks of a collector (gc.freeze() of "
			       "Python, which does not keep the counts; Process.warmup of Ruby). "
			       "MADV_DONTFORK for memory that children do not use.");
	return true;
}

/*
 * The module knows the pages of a fork. eBPF knows only that neither the soft-dirty bit nor
 * userfaultfd is the reason. Older recordings do not know even that.
 */
static struct evidence_sum pages_of_forks(const struct report *run)
{
	const struct evidence_sum *forked = &run->contents.mechanisms[MECHANISM_WRITABLE_FORK];

	if (forked->count)
		return *forked;
	return run->contents.notes ? run->contents.mechanisms[MECHANISM_WRITABLE_UNKNOWN] :
				     run->contents.by[PFSTAT_CONTENT_REUSED];
}

/* Without a fork, a page that was read from swap or moved to another node is also read-only. */
static bool are_others_read_only(const struct report *run, uint64_t followed)
{
	return run->faults.classes[FAULT_SWAP].count >= MAIN_SHARE * followed ||
	       run->contents.mechanisms[MECHANISM_NUMA_MOVED].count >= MAIN_SHARE * followed;
}

bool verdict_copy_reused(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const bool exact = run->contents.mechanisms[MECHANISM_WRITABLE_FORK].count;
	const struct evidence_sum sum = pages_of_forks(run);
	const uint64_t after_fork = run->contents.reused_after_fork.count;
	const uint64_t followed = exact || after_fork > sum.count ? sum.count : after_fork;
	const uint64_t forks = run->evidence.forks;

	(void)verdict;
	cause->weight = verdict_share_of(run, sum.total_ns - sum.off_cpu_ns);
	if (sum.count < FEW_COPIES || !verdict_is_worth(run, cause->weight) ||
	    followed < MAIN_SHARE * sum.count || followed < COPIES_A_FORK * forks)
		return false;
	cause->certain = !are_others_read_only(run, followed);
	verdict_state(cause,
		      "a fork write-protected %" PRIu64
		      " pages (%.0f MiB), and the first write to each is a fault, %.2f µs each. "
		      "Nothing was copied, because the other process had ended or executed a "
		      "program.",
		      followed, copied_mib(run, followed), copy_us(&sum));
	add_fork_time(run, cause);
	verdict_advise(cause, "posix_spawn() or vfork() for a child that executes a program; else "
			      "fork before the memory is filled. MADV_DONTFORK for memory that "
			      "children do not use.");
	return true;
}

bool verdict_copy_zero(const struct verdict *verdict, const struct report *run,
		       struct verdict_cause *cause)
{
	const struct evidence_sum *sum = &run->contents.by[PFSTAT_CONTENT_ZERO];

	(void)verdict;
	if (!claim_copies(cause, run, PFSTAT_CONTENT_ZERO))
		return false;
	verdict_state(cause,
		      "%" PRIu64
		      " pages (%.0f MiB) of anonymous memory were read before they were written, "
		      "%.2f µs each: the read maps the zero page, and the write is a second fault.",
		      sum->count, copied_mib(run, sum->count), copy_us(sum));
	verdict_advise(cause, "write the memory first, or MADV_POPULATE_WRITE for the range.");
	return true;
}

bool verdict_copy_ksm(const struct verdict *verdict, const struct report *run,
		      struct verdict_cause *cause)
{
	const struct evidence_sum *sum = &run->contents.by[PFSTAT_CONTENT_KSM];

	(void)verdict;
	if (!claim_copies(cause, run, PFSTAT_CONTENT_KSM))
		return false;
	verdict_state(cause,
		      "KSM had merged equal pages, and writes copied them: %" PRIu64
		      " pages (%.0f MiB), %.2f µs each.",
		      sum->count, copied_mib(run, sum->count), copy_us(sum));
	verdict_advise(cause, "no MADV_MERGEABLE for memory that is written often; echo 2 > "
			      "/sys/kernel/mm/ksm/run takes all pages apart.");
	return true;
}

bool verdict_copy_private(const struct verdict *verdict, const struct report *run,
			  struct verdict_cause *cause)
{
	const struct evidence_sum *sum = &run->contents.by[PFSTAT_CONTENT_FILE];

	if (!claim_copies(cause, run, PFSTAT_CONTENT_FILE) || sum->count < FEW_PRIVATE)
		return false;
	verdict_state(cause,
		      "%" PRIu64
		      " stores to a private mapping of a file copied its pages (%.0f MiB), %.2f µs "
		      "each.",
		      sum->count, copied_mib(run, sum->count), copy_us(sum));
	if (strstr(verdict->code.name, "/ld-linux") || strstr(verdict->code.name, "/ld-musl"))
		verdict_advise(cause,
			       "the dynamic linker relocates pointers: start fewer programs, "
			       "link without -pie, or keep fewer pointers in tables.");
	else
		verdict_advise(cause, "MAP_SHARED if the stores may reach the file; otherwise "
				      "read() it once into memory that the program keeps: one "
				      "copy, and no further faults.");
	return true;
}

/* A recording made before this version, or by the module without eBPF. */
bool verdict_copy_unknown(const struct verdict *verdict, const struct report *run,
			  struct verdict_cause *cause)
{
	const struct fault_figures *cow = &run->faults.classes[FAULT_COW];
	const uint64_t forks = run->evidence.forks;

	(void)verdict;
	if (run->contents.by[PFSTAT_CONTENT_UNKNOWN].count < MAIN_SHARE * cow->count ||
	    cow->count < FEW_COPIES ||
	    !verdict_claim_time(cause, run, VERDICT_CLASS(FAULT_COW), parts_with(PART_ON_CPU)))
		return false;
	cause->certain = false;
	verdict_state(cause,
		      "%" PRIu64 " writes copied private pages (%.0f MiB), %.2f µs each. Their "
		      "origin is not known: pages that %" PRIu64
		      " fork%s shared, the zero page, pages of a file, or of KSM.",
		      cow->count, copied_mib(run, cow->count), verdict_mean_us(run, FAULT_COW),
		      forks, forks == 1 ? "" : "s");
	verdict_advise(cause, "record again with this version, whose eBPF programs and module "
			      "distinguish these copies.");
	return true;
}
