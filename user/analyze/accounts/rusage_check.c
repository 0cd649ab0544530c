// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the kernel counts, which makes the reasons: inblock in submit_bio(), 512 bytes
 * each; oublock in folio_account_dirtied(), when a page becomes dirty, whoever writes it
 * later; nvcsw and nivcsw in __schedule(), by the same test that sched_switch shows.
 */
#include "analyze/accounts/rusage_check.h"

#define SECTOR 512
#define KIB 1024
#define US 1000

static uint64_t in(uint64_t fact, uint64_t unit)
{
	return fact == FACT_NONE ? FACT_NONE : fact / unit;
}

static bool has_hook(const struct facts *facts, enum fact_hook hook)
{
	return facts->have_bpf && facts->hooks & 1U << hook;
}

static uint64_t faults_of(const struct facts *facts, enum pfstat_fault_outcome outcome)
{
	enum pfstat_fault_kind kind;
	uint64_t sum = 0;

	if (!has_hook(facts, HOOK_FAULT))
		return FACT_NONE;
	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++)
		sum = facts_sum(sum, facts_returns(facts, kind, outcome));
	return sum;
}

static uint64_t calls_of(const struct facts *facts)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < facts->nr_syscalls; i++)
		sum += facts->syscalls[i].value.count;
	return facts->have_bpf ? sum : FACT_NONE;
}

static uint64_t on_cpu_us(const struct facts *facts, const struct usage_seen *seen)
{
	if (!facts->have_bpf || !seen->one_thread || seen->elapsed_ns == FACT_NONE ||
	    seen->off_cpu_ns > seen->elapsed_ns)
		return FACT_NONE;
	return (seen->elapsed_ns - seen->off_cpu_ns) / US;
}

/* A command began, and ended, outside of what eBPF watched of it. */
static const char *edge_reason(const struct facts *facts)
{
	if (facts->edges)
		return "it ran on while the watching began and ended";
	return facts->hooked_only ? "a switch between the two beginnings or the two ends" :
		"getrusage also has the child before its exec, and the last switch of each process";
}

static void fill_times(struct usage_line *lines, const struct facts *facts,
		       const struct usage_seen *seen)
{
	static const char no_mode[] = "eBPF does not see the changes of mode";

	lines[USAGE_UTIME] = (struct usage_line){
		"utime", "utime_us", "µs", in(facts->usage.utime_ns, US), FACT_NONE, no_mode, NULL };
	lines[USAGE_STIME] = (struct usage_line){
		"stime", "stime_us", "µs", in(facts->usage.stime_ns, US), FACT_NONE, no_mode, NULL };
	lines[USAGE_CPU] = (struct usage_line){
		"utime + stime", "cpu_us", "µs",
		in(facts_sum(facts->usage.utime_ns, facts->usage.stime_ns), US),
		on_cpu_us(facts, seen),
		seen->one_thread ? "time of the loop, less the stays off the CPU" :
				   "of several threads, or processes, it is not known",
		"getrusage's clock moves at ticks and switches; interrupts are in eBPF's" };
}

static void fill_memory(struct usage_line *lines, const struct facts *facts)
{
	const char *const edges = facts->edges ? edge_reason(facts) : NULL;

	lines[USAGE_MAXRSS] = (struct usage_line){
		"maxrss", "maxrss_kb", "KiB", in(facts->usage.maxrss_bytes, KIB), FACT_NONE,
		"of the whole process, ever: no event", NULL };
	lines[USAGE_MINFLT] = (struct usage_line){
		"minflt", "minflt", "", facts->usage.minflt, faults_of(facts, PFSTAT_OUTCOME_MINOR),
		"returns of handle_mm_fault()", edges };
	lines[USAGE_MAJFLT] = (struct usage_line){
		"majflt", "majflt", "", facts->usage.majflt, faults_of(facts, PFSTAT_OUTCOME_MAJOR),
		"returns of handle_mm_fault()", edges };
}

static void fill_io(struct usage_line *lines, const struct facts *facts,
		    const struct usage_seen *seen)
{
	const bool known = has_hook(facts, HOOK_BLOCK);

	lines[USAGE_INBLOCK] = (struct usage_line){
		"inblock", "inblock", "× 512 B", facts->usage.inblock,
		known ? seen->bytes_read / SECTOR : FACT_NONE, "read requests of its threads",
		"requests not complete at the end, or of disks made of disks" };
	lines[USAGE_OUBLOCK] = (struct usage_line){
		"oublock", "oublock", "× 512 B", facts->usage.oublock,
		known ? seen->bytes_written / SECTOR : FACT_NONE, "write requests of its threads",
		"getrusage counts pages made dirty; who writes them, and when, is another matter" };
}

static void fill_switches(struct usage_line *lines, const struct facts *facts,
			  const struct usage_seen *seen)
{
	lines[USAGE_NVCSW] = (struct usage_line){
		"nvcsw", "nvcsw", "", facts->usage.nvcsw, facts->have_bpf ? seen->voluntary : FACT_NONE,
		"stays off the CPU, asleep", edge_reason(facts) };
	lines[USAGE_NIVCSW] = (struct usage_line){
		"nivcsw", "nivcsw", "", facts->usage.nivcsw,
		facts->have_bpf ? seen->preempted : FACT_NONE,
		"stays off the CPU, runnable", edge_reason(facts) };
	lines[USAGE_SYSCALLS] = (struct usage_line){
		"system calls", "syscalls", "", FACT_NONE, calls_of(facts),
		"entered and left while watched", NULL };
}

/* What eBPF did not see is the first reason there is; of oublock the usual one says more. */
static void fill_losses(struct usage_line *lines, const struct facts *facts)
{
	static const enum usage_name of_events[] = {
		USAGE_CPU, USAGE_INBLOCK, USAGE_NVCSW, USAGE_NIVCSW };
	size_t i;

	if (!facts->have_bpf)
		return;
	if (facts->counts[PFSTAT_COUNT_EVENTS_LOST])
		for (i = 0; i < sizeof(of_events) / sizeof(of_events[0]); i++)
			lines[of_events[i]].reason = "events of eBPF were lost";
	if (facts->events_skipped) {
		lines[USAGE_MINFLT].reason = "the kernel left out programs of eBPF";
		lines[USAGE_MAJFLT].reason = lines[USAGE_MINFLT].reason;
	}
}

void usage_compare(struct usage_line lines[USAGE_NR], const struct facts *facts,
		   const struct usage_seen *seen)
{
	fill_times(lines, facts, seen);
	fill_memory(lines, facts);
	fill_io(lines, facts, seen);
	fill_switches(lines, facts, seen);
	fill_losses(lines, facts);
}

bool usage_difference(const struct usage_line *line, int64_t *difference)
{
	if (line->rusage == FACT_NONE || line->ebpf == FACT_NONE)
		return false;
	*difference = line->rusage - line->ebpf;
	return true;
}
