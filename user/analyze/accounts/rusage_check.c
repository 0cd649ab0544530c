// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reasons follow from where the kernel counts. inblock: submit_bio(), in 512-byte units.
 * oublock: folio_account_dirtied(), when a page becomes dirty, whichever thread writes it later.
 * nvcsw and nivcsw: __schedule(), by the same test that sched_switch shows.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/accounts/rusage_check.h"
#include "util/array.h"

#define SECTOR 512
#define KIB    1024
#define US     1000

static uint64_t in(uint64_t fact, uint64_t unit)
{
	return fact == COUNT_NA ? COUNT_NA : fact / unit;
}

static bool has_hook(const struct run_counters *counters, enum bpf_hook hook)
{
	return counters->have_bpf && counters->hooks & 1U << hook;
}

static uint64_t rusage_faults(const struct run_counters *counters,
			      enum pfstat_fault_outcome outcome)
{
	enum pfstat_fault_kind kind;
	uint64_t sum = 0;

	if (!has_hook(counters, HOOK_FAULT))
		return COUNT_NA;
	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++)
		sum = count_sum(sum, run_counters_returns(counters, kind, outcome));
	return sum;
}

static uint64_t calls_of(const struct run_counters *counters)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < counters->nr_syscalls; i++)
		sum += counters->syscalls[i].value.count;
	return counters->have_bpf && !has_hook(counters, HOOK_PERF) ? sum : COUNT_NA;
}

static uint64_t on_cpu_us(const struct run_counters *counters, const struct usage_seen *seen)
{
	if (!counters->have_bpf || !seen->one_thread || seen->elapsed_ns == COUNT_NA ||
	    seen->off_cpu_ns > seen->elapsed_ns)
		return COUNT_NA;
	return (seen->elapsed_ns - seen->off_cpu_ns) / US;
}

/* A command begins before, and ends after, the time that eBPF watched it. */
static const char *edge_reason(const struct run_counters *counters)
{
	if (counters->edges)
		return "the program ran while watching began and ended";
	return counters->hooked_only ?
		       "a switch between the two starts or the two ends" :
		       "getrusage also counts the child before the exec, and each process's last "
		       "switch";
}

static void fill_times(struct usage_line *lines, const struct run_counters *counters,
		       const struct usage_seen *seen)
{
	static const char no_mode[] = "eBPF does not see mode changes";

	lines[USAGE_UTIME] =
		(struct usage_line){ "utime",  "utime_us", "µs", in(counters->usage.utime_ns, US),
				     COUNT_NA, no_mode,	   NULL };
	lines[USAGE_STIME] =
		(struct usage_line){ "stime",  "stime_us", "µs", in(counters->usage.stime_ns, US),
				     COUNT_NA, no_mode,	   NULL };
	lines[USAGE_CPU] = (struct usage_line){
		"utime + stime",
		"cpu_us",
		"µs",
		in(count_sum(counters->usage.utime_ns, counters->usage.stime_ns), US),
		on_cpu_us(counters, seen),
		seen->one_thread ? "loop time minus the time off the CPU" :
				   "not known for several threads or processes",
		"getrusage's clock advances at ticks and switches; eBPF includes interrupts"
	};
}

/* Lost samples have no reason here: the reader reports them. */
static const char *faults_reason(const struct run_counters *counters,
				 enum pfstat_fault_outcome outcome)
{
	if (counters->edges)
		return edge_reason(counters);
	if (!has_hook(counters, HOOK_PERF) || counters->counts[PFSTAT_COUNT_EVENTS_LOST])
		return NULL;
	if (counters->perf_ended)
		return counters->perf_ended == COUNT_NA ? NULL : "the kernel ended perf's events";
	if (counters->perf_user_only)
		return "perf does not show faults in system calls to this user";
	if (outcome != PFSTAT_OUTCOME_MINOR || counters->perf_exec_pages == COUNT_NA ||
	    counters->usage.minflt > rusage_faults(counters, outcome) + counters->perf_exec_pages)
		return NULL;
	return "execve(2) wrote a program's arguments";
}

static void fill_memory(struct usage_line *lines, const struct run_counters *counters)
{
	const char *const source = has_hook(counters, HOOK_PERF) ?
					   "perf's minor-faults and major-faults" :
					   "handle_mm_fault() returns";

	lines[USAGE_MAXRSS] = (struct usage_line){ "maxrss", "maxrss_kb",
						   "KiB",    in(counters->usage.maxrss_bytes, KIB),
						   COUNT_NA, "process maximum; eBPF has no event",
						   NULL };
	lines[USAGE_MINFLT] = (struct usage_line){ "minflt",
						   "minflt",
						   "",
						   counters->usage.minflt,
						   rusage_faults(counters, PFSTAT_OUTCOME_MINOR),
						   source,
						   faults_reason(counters, PFSTAT_OUTCOME_MINOR) };
	lines[USAGE_MAJFLT] = (struct usage_line){ "majflt",
						   "majflt",
						   "",
						   counters->usage.majflt,
						   rusage_faults(counters, PFSTAT_OUTCOME_MAJOR),
						   source,
						   faults_reason(counters, PFSTAT_OUTCOME_MAJOR) };
}

static void fill_io(struct usage_line *lines, const struct run_counters *counters,
		    const struct usage_seen *seen)
{
	const bool known = has_hook(counters, HOOK_BLOCK);

	lines[USAGE_INBLOCK] =
		(struct usage_line){ "inblock",
				     "inblock",
				     "× 512 B",
				     counters->usage.inblock,
				     known ? seen->bytes_read / SECTOR : COUNT_NA,
				     "read requests by the threads",
				     "requests not complete at the end, or stacked block devices" };
	lines[USAGE_OUBLOCK] = (struct usage_line){
		"oublock",
		"oublock",
		"× 512 B",
		counters->usage.oublock,
		known ? seen->bytes_written / SECTOR : COUNT_NA,
		"write requests by the threads",
		"getrusage counts pages that become dirty; they are written later, by other threads"
	};
}

static void fill_switches(struct usage_line *lines, const struct run_counters *counters,
			  const struct usage_seen *seen)
{
	lines[USAGE_NVCSW] = (struct usage_line){ "nvcsw",
						  "nvcsw",
						  "",
						  counters->usage.nvcsw,
						  counters->have_bpf ? seen->voluntary : COUNT_NA,
						  "off-CPU intervals, asleep",
						  edge_reason(counters) };
	lines[USAGE_NIVCSW] = (struct usage_line){ "nivcsw",
						   "nivcsw",
						   "",
						   counters->usage.nivcsw,
						   counters->have_bpf ? seen->preempted : COUNT_NA,
						   "off-CPU intervals, runnable",
						   edge_reason(counters) };
	lines[USAGE_SYSCALLS] = (struct usage_line){ "system calls",
						     "syscalls",
						     "",
						     COUNT_NA,
						     calls_of(counters),
						     "calls that began and ended while watched",
						     NULL };
}

/* Lost events come first as a reason, except for oublock, whose usual reason is better. */
static void fill_losses(struct usage_line *lines, const struct run_counters *counters)
{
	static const enum usage_name of_events[] = { USAGE_CPU, USAGE_INBLOCK, USAGE_NVCSW,
						     USAGE_NIVCSW };
	size_t i;

	if (!counters->have_bpf)
		return;
	if (counters->counts[PFSTAT_COUNT_EVENTS_LOST])
		for (i = 0; i < ARRAY_SIZE(of_events); i++)
			lines[of_events[i]].reason = "eBPF events were lost";
	if (counters->events_skipped) {
		lines[USAGE_MINFLT].reason = "the kernel skipped eBPF programs";
		lines[USAGE_MAJFLT].reason = lines[USAGE_MINFLT].reason;
	}
}

void rusage_check_compare(struct usage_line lines[USAGE_NR], const struct run_counters *counters,
			  const struct usage_seen *seen)
{
	fill_times(lines, counters, seen);
	fill_memory(lines, counters);
	fill_io(lines, counters, seen);
	fill_switches(lines, counters, seen);
	fill_losses(lines, counters);
}

bool rusage_check_difference(const struct usage_line *line, int64_t *difference)
{
	if (line->rusage == COUNT_NA || line->ebpf == COUNT_NA)
		return false;
	*difference = line->rusage - line->ebpf;
	return true;
}

/*
 * Adds up the system calls that eBPF counted by number and errno, for the report's table by call.
 * Each number occurs once in the result, and the total number of calls stays the same.
 */

static int by_number(const void *a, const void *b)
{
	const struct syscall_total *left = a, *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

static int longest_first(const void *a, const void *b)
{
	const struct syscall_total *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return by_number(a, b);
}

/* Merges rows with the same number, which are adjacent. Returns the number of rows left. */
static size_t merge(struct syscall_total *totals, size_t nr)
{
	size_t kept = 0, i;

	for (i = 1; i < nr; i++) {
		if (totals[i].number == totals[kept].number) {
			totals[kept].calls += totals[i].calls;
			totals[kept].errors += totals[i].errors;
			totals[kept].total_ns += totals[i].total_ns;
		} else {
			totals[++kept] = totals[i];
		}
	}
	return kept + 1;
}

int syscall_totals(const struct syscall_row *rows, size_t nr_rows, struct syscall_total **totals,
		   size_t *nr)
{
	size_t i;

	*totals = NULL;
	*nr = 0;
	if (!nr_rows)
		return 0;
	*totals = calloc(nr_rows, sizeof(**totals));
	if (!*totals)
		return -ENOMEM;
	for (i = 0; i < nr_rows; i++)
		(*totals)[i] = (struct syscall_total){
			.number = rows[i].number,
			.calls = rows[i].value.count,
			.errors = rows[i].error ? rows[i].value.count : 0,
			.total_ns = rows[i].value.total_ns,
		};
	qsort(*totals, nr_rows, sizeof(**totals), by_number);
	*nr = merge(*totals, nr_rows);
	qsort(*totals, *nr, sizeof(**totals), longest_first);
	return 0;
}

struct syscall_total syscall_totals_sum(const struct syscall_total *totals, size_t nr)
{
	struct syscall_total sum = { 0 };
	size_t i;

	for (i = 0; i < nr; i++) {
		sum.calls += totals[i].calls;
		sum.errors += totals[i].errors;
		sum.total_ns += totals[i].total_ns;
	}
	return sum;
}
