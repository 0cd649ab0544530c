// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules about memory that is too small: swap, pages reclaimed and read again, pages dropped by
 * a program, direct reclaim and cgroup throttling. Evidence: the classes, the evictions by process
 * and reason, and the reclaims in the program's own threads.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/more_memory.h"
#include "report/view.h"
#include "verdict/verdict_rules.h"
#include "util/array.h"

#define MIB (1024.0 * 1024)

#define DEVICE_SHARE   0.1
#define REFAULT_SHARE  0.1 /* of the fault time */
#define MAIN_SHARE     0.5
#define UNKNOWN_SHARE  0.1  /* of the evicted pages, whose fate is not known */
#define THROTTLE_SHARE 0.05 /* of the run */
#define FEW_MAJOR      0.1  /* of the swap faults */
#define FEW_SWAP_INS   64
#define FEW_RETURNS    100  /* in pages: fewer show nothing about the share memory avoids */
#define OTHER_SHARE    0.05 /* of the faults on reclaimed pages: not those of the rule */
#define MORE_BYTES     160  /* of the text about more memory */

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

/* Faults on a page that is moved between nodes, or compacted, have the same class, and no read. */
static void state_migration(const struct report *run, struct verdict_cause *cause)
{
	const struct evidence_sum *moved = &run->contents.mechanisms[MECHANISM_MIGRATION];

	if (moved->count >= MAIN_SHARE * run->faults.classes[FAULT_SWAP].count) {
		verdict_state(cause,
			      "%" PRIu64 " faults, %.0f µs each, waited for pages that were being "
			      "moved, or for huge pages that were being split.",
			      moved->count, moved->total_ns / 1e3 / moved->count);
		verdict_advise(cause,
			       "/proc/vmstat shows who moves them: compact_stall and "
			       "compact_daemon_wake (compaction), numa_pages_migrated "
			       "(kernel.numa_balancing=0 and numactl keep pages on their node), "
			       "thp_split_page.");
		return;
	}
	cause->certain = false;
	verdict_state(cause,
		      "%" PRIu64 " faults on pages that were being migrated, or in the swap cache, "
		      "%.0f µs each; nearly none of them read a page.",
		      run->faults.classes[FAULT_SWAP].count, verdict_mean_us(run, FAULT_SWAP));
	verdict_advise(cause,
		       "/proc/vmstat (pgmigrate_success, compact_stall, pswpin) shows which; "
		       "kernel.numa_balancing=0 and numactl keep pages on their node.");
}

/* The faults of the curve: those of the rule, or also others, on files and on anonymous memory. */
static const char *faults_of_curve(const struct report *run, bool swap)
{
	const struct evictions_figures *evictions = &run->pages.evictions;
	const uint64_t all = evictions->curve.figures.faults;
	const uint64_t others = swap ? all - evictions->swaps.faults : evictions->swaps.faults;

	return others > OTHER_SHARE * all ? "the faults on reclaimed pages" : "these faults";
}

/*
 * Writes how much more memory avoids which share of the faults: swap-ins, or those on pages of
 * files. Writes nothing if they are few, or if the curve has not enough of the swap-ins.
 */
static void state_more_memory(const struct report *run, bool swap, char *text, size_t size)
{
	const char *least = more_memory_is_shared(run) ? "at least " : "";
	const struct swap_outs_figures *swaps = &run->pages.evictions.swaps;
	const char *faults = faults_of_curve(run, swap);
	const struct memory_curve_point *half, *all;

	text[0] = 0;
	if (run->pages.evictions.curve.figures.faults < FEW_RETURNS ||
	    (swap && swaps->unknown >= UNKNOWN_SHARE * swaps->faults))
		return;
	half = more_memory_for(run, 0.5);
	all = more_memory_for(run, 1);
	if (half == all)
		snprintf(text, size, ": %s%.10g MiB more avoid %s;", least,
			 more_memory_mib(run, all), faults);
	else
		snprintf(text, size,
			 ": %s%.10g MiB more avoid %.0f to %.0f %% of %s, %.10g MiB all;", least,
			 more_memory_mib(run, half), 100 * half->least.faults,
			 100 * half->most.faults, faults, more_memory_mib(run, all));
}

/* A command that pfdrive starts is in pfdrive's cgroup, unless it moves to another one. */
static void advise_own_memory(const struct report *run, const char *more,
			      struct verdict_cause *cause)
{
	const size_t length = strlen(cause->remedy);

	if (more[0] && run->environment.command[0] &&
	    run->evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count)
		snprintf(cause->remedy + length, sizeof(cause->remedy) - length,
			 " If pfdrive ran in the same cgroup, its memory is a part of that.");
}

/* eBPF sees all pages that leave for swap. */
static bool was_swapped_before(const struct report *run)
{
	const struct swap_outs_figures *swaps = &run->pages.evictions.swaps;

	return run->bpf.hooks & 1U << HOOK_SWAP_OUT &&
	       swaps->unknown >= (1 - FEW_MAJOR) * run->faults.classes[FAULT_SWAP].major &&
	       swaps->pages < FEW_MAJOR * swaps->unknown;
}

/* Whether memory was too small then, and for whom, is not known. */
static void state_swapped_before(const struct report *run, struct verdict_cause *cause)
{
	const struct swap_outs_figures *swaps = &run->pages.evictions.swaps;

	verdict_state(cause,
		      "%" PRIu64
		      " pages of anonymous memory (%.0f MiB) had gone to swap before the "
		      "recording, and were read back, %.0f µs each; %" PRIu64
		      " pages went there during it.",
		      swaps->unknown, swaps->unknown * run->environment.page_bytes / MIB,
		      verdict_mean_us(run, FAULT_SWAP), swaps->pages);
	verdict_advise(cause,
		       "if memory is free now, swapoff -a && swapon -a reads all of it back at "
		       "once. mlock(), memory.swap.max=0 of the cgroup or a lower vm.swappiness "
		       "keep it in memory the next time; memory.low protects it.");
}

/*
 * Older recordings do not have the eviction reason. A process that evicts its own pages either
 * reclaims memory, which has an event, or drops the pages.
 */
static bool is_own_drop(const struct report *run, const struct evictions_pair *pair)
{
	size_t i;

	if (pair->reason != EVICTIONS_UNKNOWN || !(run->bpf.hooks & 1U << HOOK_RECLAIM))
		return false;
	for (i = 0; i < ARRAY_SIZE(run->evidence.reclaims); i++)
		if (run->evidence.reclaims[i].count)
			return false;
	return pair->victim == pair->evictor;
}

/* The pages that came back after one reason, or one of two. */
struct returns {
	const struct evictions_pair *most; /* NULL: none */
	uint64_t pages, faults, total_ns;
	uint64_t unknown_ns; /* part of total_ns: the reason is not known */
};

static bool is_requested(const struct report *run, const struct evictions_pair *pair)
{
	return pair->reason == EVICTIONS_DROPPED || pair->reason == EVICTIONS_PROACTIVE ||
	       is_own_drop(run, pair);
}

/* @anon: pages that went to swap, else pages of files. @requested: a call requested it */
static struct returns find_returns(const struct report *run, bool anon, bool requested)
{
	struct returns returns = { 0 };
	const struct evictions_pair *pair;
	size_t i;

	for (i = 0; i < run->pages.nr_pairs; i++) {
		pair = &run->pages.pairs[i];
		if (pair->anon != anon || is_requested(run, pair) != requested)
			continue;
		returns.pages += pair->pages;
		returns.faults += pair->faults;
		returns.total_ns += pair->total_ns;
		if (pair->reason == EVICTIONS_UNKNOWN)
			returns.unknown_ns += pair->total_ns;
		if (!returns.most || pair->total_ns > returns.most->total_ns)
			returns.most = pair;
	}
	return returns;
}

/* A call that can make the kernel drop pages, and what to change. */
struct request {
	const char *call; /* "": another one, or not known */
	const char *remedy;
};

static const struct request requests[] = {
	{ "madvise()", "do not give MADV_PAGEOUT or MADV_REMOVE for pages in use." },
	{ "process_madvise()", "let that process advise MADV_PAGEOUT less often, or only for "
			       "processes that are idle." },
	{ "fadvise64()", "do not give POSIX_FADV_DONTNEED for a file in use." },
	{ "ftruncate()", "do not truncate a mapped file: write a new one, and rename() it." },
	{ "truncate()", "do not truncate a mapped file: write a new one, and rename() it." },
	{ "pwrite64()", "do not write a mapped file with O_DIRECT: write through the page cache." },
	{ "fallocate()", "do not punch holes into pages in use." },
	{ "", "strace -f -e fadvise64,madvise,ftruncate,openat,write -p PID of that process shows "
	      "the calls: POSIX_FADV_DONTNEED, a truncation, direct I/O to a mapped file, or a "
	      "write to /proc/sys/vm/drop_caches." },
};

/* Names the process that requested it, and its call. */
static void state_requester(struct verdict_cause *cause, const struct report *run,
			    const struct evictions_pair *pair)
{
	char call[VIEW_WAKER];

	view_waker_call(call, run, pair->doing);
	if (evictions_is_others(pair))
		verdict_state(cause, "several processes");
	else if (evictions_is_itself(pair))
		verdict_state(cause, "the program itself");
	else
		verdict_state(cause, "%.15s (%" PRIu32 ")", pair->evictor_name, pair->evictor);
	if (pair->reason == EVICTIONS_PROACTIVE)
		verdict_add(cause, " requested reclaim (a write to memory.reclaim)");
	else if (call[0])
		verdict_add(cause, " dropped pages with %s", call);
	else
		verdict_add(cause, " dropped pages");
}

static void advise_requester(struct verdict_cause *cause, const struct report *run,
			     const struct evictions_pair *pair)
{
	const struct request *request = requests;
	char call[VIEW_WAKER];

	if (pair->reason == EVICTIONS_PROACTIVE) {
		verdict_advise(cause, "request less: memory.pressure of the cgroup shows when "
				      "reclaim costs more than it frees.");
		return;
	}
	view_waker_call(call, run, pair->doing);
	while (request->call[0] && strcmp(request->call, call))
		request++;
	verdict_advise(cause, "%s", request->remedy);
}

/* The request is the reason for most of the time of swap-ins, or for none of it. */
static bool was_paged_out(const struct report *run, struct returns *returns)
{
	*returns = find_returns(run, true, true);
	return returns->most &&
	       returns->total_ns >= MAIN_SHARE * run->faults.classes[FAULT_SWAP].whole.total_ns;
}

static void state_paged_out(const struct report *run, const struct returns *returns,
			    struct verdict_cause *cause)
{
	state_requester(cause, run, returns->most);
	verdict_add(cause,
		    ", and %" PRIu64 " pages of anonymous memory (%.0f MiB) were read back from "
		    "swap, %.0f µs each. Memory was not short.",
		    returns->faults, returns->faults * run->environment.page_bytes / MIB,
		    returns->total_ns / 1e3 / returns->faults);
	advise_requester(cause, run, returns->most);
}

bool verdict_memory_swap(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct fault_figures *swap = &run->faults.classes[FAULT_SWAP];
	const double share = verdict_class_share(run, FAULT_SWAP);
	struct returns requested;
	char more[MORE_BYTES];
	double device;

	(void)verdict;
	if (share < VERDICT_CAUSE_SHARE)
		return false;
	verdict_claim_time(cause, run, VERDICT_CLASS(FAULT_SWAP), VERDICT_ALL);
	if (swap->major < FEW_MAJOR * swap->count) {
		state_migration(run, cause);
		return true;
	}
	if (was_paged_out(run, &requested)) {
		state_paged_out(run, &requested, cause);
		return true;
	}
	if (was_swapped_before(run)) {
		state_swapped_before(run, cause);
		return true;
	}
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
	state_more_memory(run, true, more, sizeof(more));
	verdict_advise(cause,
		       "raise the limit%s or use less memory. memory.events of the cgroup%s%.200s "
		       "counts how often memory.max was met.",
		       more, run->environment.cgroup[0] ? " " : "", run->environment.cgroup);
	advise_own_memory(run, more, cause);
	return true;
}

/* The program itself met a limit. Who pushed shared memory out otherwise is not recorded. */
static bool has_reclaimed(const struct report *run)
{
	return run->evidence.reclaims[PFSTAT_RECLAIM_CGROUP].count ||
	       run->evidence.reclaims[PFSTAT_RECLAIM_DIRECT].count;
}

bool verdict_memory_shared_swap(const struct verdict *verdict, const struct report *run,
				struct verdict_cause *cause)
{
	const struct fault_figures *faults = &run->faults.classes[FAULT_FILE];

	/* Shared memory has no device other than swap. */
	if (!verdict_touch_is_shared_memory(verdict->place) || faults->major < FEW_SWAP_INS ||
	    !verdict_claim_time(cause, run, VERDICT_CLASS(FAULT_FILE), VERDICT_ALL))
		return false;
	cause->certain = has_reclaimed(run);
	verdict_state(cause,
		      "%s%" PRIu64 " swap-ins of shared memory, among %" PRIu64
		      " faults of %.0f µs each.",
		      cause->certain ? "memory was too small: " : "", faults->major, faults->count,
		      verdict_mean_us(run, FAULT_FILE));
	if (!cause->certain) {
		verdict_add(cause, " Memory was too small, or a call pushed the pages out "
				   "(MADV_PAGEOUT, a write to memory.reclaim), perhaps before the "
				   "recording.");
		verdict_advise(cause, "memory.events of the cgroup counts how often memory.max was "
				      "met; strace -f -e madvise,process_madvise shows calls.");
		return true;
	}
	state_limit(run, cause);
	verdict_advise(cause, "raise the limit or use less memory. memory.events of the cgroup "
			      "counts how often memory.max was met.");
	return true;
}

/* True if the costliest file is a program's text. */
static bool is_program_text(const struct report *run)
{
	const struct group *file = verdict_top(run, GROUP_BY_FILE);

	return file && verdict_read_is_program(file);
}

/* "memory was too small" needs a process that reclaimed: a drop has the same events. */
bool verdict_memory_refault(const struct verdict *verdict, const struct report *run,
			    struct verdict_cause *cause)
{
	const struct returns returns = find_returns(run, false, false);
	const struct evictions_figures *evictions = &run->pages.evictions;
	char more[MORE_BYTES];

	(void)verdict;
	cause->weight = verdict_share_of(run, returns.total_ns);
	if (!returns.most || cause->weight < REFAULT_SHARE)
		return false;
	cause->certain = returns.unknown_ns <= MAIN_SHARE * returns.total_ns;
	if (is_program_text(run))
		cause->rule = "program-evicted";
	verdict_state(cause,
		      "%s: %" PRIu64 " pages of %s were evicted and read again "
		      "by %" PRIu64 " faults (%.0f %% of the faults' time)",
		      cause->certain ? "memory was too small" :
				       "memory was too small, or another program dropped pages",
		      returns.pages, is_program_text(run) ? "program text" : "files",
		      returns.faults, 100 * cause->weight);
	if (!evictions_is_others(returns.most))
		verdict_add(cause, ", most of them evicted by %.15s (%" PRIu32 ")",
			    returns.most->evictor_name, returns.most->evictor);
	verdict_add(cause, ".");
	if (evictions->overflow > UNKNOWN_SHARE * evictions->evicted)
		verdict_add(cause,
			    " The fate of %" PRIu64 " more evicted pages is not known: it may be "
			    "more.",
			    evictions->overflow);
	state_limit(run, cause);
	state_more_memory(run, false, more, sizeof(more));
	verdict_advise(cause,
		       "raise the limit%s or %s; memory.events of the cgroup counts how often "
		       "memory.max was met.",
		       more[0] ? more : ",",
		       is_program_text(run) ? "use less memory beside the program's text, which "
					      "memory.low of its cgroup protects" :
					      "map less at a time");
	advise_own_memory(run, more, cause);
	return true;
}

double verdict_memory_returned(const struct report *run, bool dropped)
{
	const struct returns returns = find_returns(run, false, dropped);
	const double share = verdict_share_of(run, returns.total_ns);

	return returns.most && share >= REFAULT_SHARE ? share : 0;
}

bool verdict_memory_is_short(const struct report *run)
{
	struct returns requested;

	return verdict_memory_returned(run, false) > 0 ||
	       (!was_paged_out(run, &requested) && !was_swapped_before(run) &&
		run->faults.classes[FAULT_SWAP].major >= FEW_SWAP_INS &&
		verdict_class_share(run, FAULT_SWAP) >= VERDICT_CAUSE_SHARE);
}

bool verdict_memory_dropped(const struct verdict *verdict, const struct report *run,
			    struct verdict_cause *cause)
{
	const struct returns returns = find_returns(run, false, true);

	(void)verdict;
	cause->weight = verdict_share_of(run, returns.total_ns);
	if (!returns.most || cause->weight < REFAULT_SHARE)
		return false;
	state_requester(cause, run, returns.most);
	verdict_add(cause,
		    ", and %" PRIu64 " pages of files were read again, by %" PRIu64
		    " faults (%.0f %% of the faults' time). Memory was not short.",
		    returns.pages, returns.faults, 100 * cause->weight);
	advise_requester(cause, run, returns.most);
	return true;
}

static enum pfstat_reclaim_kind longest_reclaim(const struct report *run)
{
	const struct evidence_reclaims *reclaims = run->evidence.reclaims;
	enum pfstat_reclaim_kind kind, longest = 0;

	/* The kinds occurring inside faults. */
	for (kind = 0; kind < PFSTAT_RECLAIM_THROTTLE; kind++)
		if (reclaims[kind].total_ns > reclaims[longest].total_ns)
			longest = kind;
	return longest;
}

bool verdict_memory_reclaim(const struct verdict *verdict, const struct report *run,
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

	(void)verdict;
	if (!(run->bpf.hooks & 1U << HOOK_RECLAIM) ||
	    !verdict_claim_time(cause, run, VERDICT_ALL, VERDICT_PART(PART_RECLAIM)))
		return false;
	if (view_source_is_perf(run) && run->losses.events)
		cause->certain = false;
	verdict_state(
		cause,
		"for %.0f %% of the faults' time the thread freed or compacted memory itself. "
		"In all, its program reclaimed %" PRIu64 " times for lack of free memory, "
		"%" PRIu64 " times at a cgroup's limit (%" PRIu64 " pages), and compacted "
		"%" PRIu64 " times.",
		100 * cause->weight, reclaims[PFSTAT_RECLAIM_DIRECT].count,
		reclaims[PFSTAT_RECLAIM_CGROUP].count,
		reclaims[PFSTAT_RECLAIM_DIRECT].pages + reclaims[PFSTAT_RECLAIM_CGROUP].pages,
		reclaims[PFSTAT_RECLAIM_COMPACTION].count);
	verdict_advise(cause, "%s", remedies[longest_reclaim(run)]);
	return true;
}

bool verdict_memory_throttled(const struct verdict *verdict, const struct report *run,
			      struct verdict_cause *cause)
{
	const struct evidence_reclaims *throttled =
		&run->evidence.reclaims[PFSTAT_RECLAIM_THROTTLE];
	char span[VERDICT_SPAN];

	if (throttled->total_ns < THROTTLE_SHARE * verdict->wall_ns)
		return false;
	verdict_claim_outside(cause, verdict, throttled->total_ns);
	verdict_state(cause,
		      "the cgroup is above memory.high: its threads were slowed down %" PRIu64
		      " time%s for %s in all, right after they had got memory; that is not in the "
		      "time of the faults.",
		      throttled->count, throttled->count == 1 ? "" : "s",
		      verdict_span(span, throttled->total_ns));
	verdict_advise(cause,
		       "raise memory.high of the cgroup%s%.200s, or use less memory; its "
		       "memory.events counts how often memory.high was met.",
		       run->environment.cgroup[0] ? " " : "", run->environment.cgroup);
	return true;
}
