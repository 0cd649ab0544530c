// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers questions about a filled report that several readers have: shares, what is known, names,
 * and pfstat's own cost. Pure: no I/O.
 */
#include <inttypes.h>
#include <math.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/view.h"
#include "util/text.h"

/* If a larger share of the faults' time waited for a CPU, the report prints a warning. */
#define NOISE_MAX 0.10
/* Each run has some hundreds of faults without an event: execve(2) fills the new stack so. */
#define FEW_UNSEEN 1000

double view_mean_ns(const struct class_figures *figures)
{
	return view_share(figures->total_ns, figures->count);
}

double view_share(uint64_t part, uint64_t whole)
{
	if (part == COUNT_NA || whole == COUNT_NA)
		return NAN;
	return whole ? (double)part / whole : NAN;
}

struct spread view_spread(const double *values, size_t nr)
{
	struct spread spread = { 0 };
	double squares = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		spread.mean += values[i] / nr;
	/* Two passes, because the difference between two large sums loses precision. */
	for (i = 0; i < nr; i++)
		squares += (values[i] - spread.mean) * (values[i] - spread.mean);
	spread.stddev = nr > 1 ? sqrt(squares / (nr - 1)) : squares;
	return spread;
}

static double cost_in_ns(uint64_t picoseconds)
{
	return picoseconds == COUNT_NA ? NAN : picoseconds / 1e3;
}

/* A count of 0 costs nothing, even if the cost for one is unknown. */
static double cost_of_times(uint64_t count, double ns)
{
	if (count == COUNT_NA)
		return NAN;
	return count ? count * ns : 0;
}

static const char *cost_of_calls_missing(const struct report_cost *cost)
{
	if (cost->call_cost_ps == COUNT_NA)
		return "the module could not measure the call cost";
	return cost->calls == COUNT_NA ? "it is not known how many calls there were" : NULL;
}

static const char *cost_of_faults_missing(const struct report *run, const struct own_cost *own)
{
	const struct report_cost *cost = &run->cost;

	if (!isnan(own->bpf_total_ns))
		return NULL;
	if (cost->bpf_hooked == COUNT_NA || cost->bpf_again == COUNT_NA ||
	    cost->bpf_other == COUNT_NA)
		return "it is not known how many faults there were";
	return "this machine's timing varied by more than that when measured";
}

/* eBPF programs recording calls are part of the counting cost. */
static void cost_add_up(const struct report *run, struct own_cost *own)
{
	const bool by_module = !view_source_is_bpf(run) && !view_source_is_perf(run);

	own->added_ns = 0;
	if (by_module) {
		own->added_ns += own->total_ns;
		own->missing = cost_of_calls_missing(&run->cost);
	}
	if (run->bpf.known) {
		own->added_ns += own->bpf_total_ns;
		own->missing = own->missing ?: cost_of_faults_missing(run, own);
	}
	if (!by_module && !run->bpf.known)
		own->missing = "nothing was counted";
	if (own->missing)
		own->added_ns = NAN;
	own->added_share = run->faults.all.whole.total_ns ?
				   own->added_ns / run->faults.all.whole.total_ns :
				   NAN;
}

struct own_cost view_own_cost(const struct report *run)
{
	const struct report_cost *cost = &run->cost;
	struct own_cost own = {
		.call_ns = cost_in_ns(cost->call_cost_ps),
		.inside_ns = cost_in_ns(cost->inside_ps),
		.hooked_ns = cost_in_ns(cost->bpf_hooked_ps),
		.again_ns = cost_in_ns(cost->bpf_again_ps),
		.other_ns = cost_in_ns(cost->bpf_other_ps),
	};

	own.total_ns = cost->calls == COUNT_NA ? NAN : cost->calls * own.call_ns;
	own.bpf_total_ns =
		cost_of_times(cost->bpf_hooked, own.hooked_ns) +
		cost_of_times(cost->bpf_again, isnan(own.again_ns) ? own.hooked_ns : own.again_ns) +
		cost_of_times(cost->bpf_other, own.other_ns);
	cost_add_up(run, &own);
	return own;
}

bool view_source_is_bpf(const struct report *run)
{
	return !strcmp(run->environment.source, "ebpf");
}

bool view_source_is_perf(const struct report *run)
{
	return run->bpf.hooks & 1U << HOOK_PERF;
}

const char *view_source_note(const struct report *run)
{
	if (view_source_is_bpf(run))
		return "measured with eBPF, without the pfstat module";
	if (!view_source_is_perf(run))
		return NULL;
	return run->bpf.user_only ?
		       "measured with perf, without the faults in system calls; file operation "
		       "calls and disk requests are n/a" :
		       "measured with perf: whole faults; their calls and disk requests are n/a";
}

bool view_is_drive(const struct report *run)
{
	return strcmp(run->environment.kind, "record");
}

bool view_has_hook(const struct report *run, enum bpf_hook hook)
{
	return run->bpf.known && run->bpf.hooks & 1U << hook;
}

const char *view_lacks_evictions(const struct report *run)
{
	if (view_has_hook(run, HOOK_PAGE_DELETE) && view_has_hook(run, HOOK_BLOCK))
		return NULL;
	return view_source_is_perf(run) ? "perf does not report evictions" :
					  "evictions or reads were not recorded";
}

bool view_part_known(const struct report *run, enum part part)
{
	if (!run->faults.parts_known)
		return false;
	if (view_source_is_perf(run))
		return part_has(part, PART_BY_PERF) ||
		       (part_has(part, PART_BY_PERF_STACK) &&
			view_has_hook(run, HOOK_WAIT_STACK)) ||
		       (part_has(part, PART_BY_PERF_HOOK) &&
			!(part_rows[part].hooks & ~run->bpf.hooks));
	if (part_has(part, PART_OUTSIDE_CALLS) && !run->faults.has_spans)
		return false;
	return !(part_rows[part].hooks & ~(run->bpf.known ? run->bpf.hooks : 0));
}

bool view_class_known(const struct report *run, enum fault_class class)
{
	return fault_class_known(class, run->bpf.known ? run->bpf.hooks : 0);
}

double view_residue_share(const struct report *run)
{
	if (!run->faults.parts_known)
		return NAN;
	return view_share(run->faults.all.parts[PART_RESIDUE].total_ns,
			  run->faults.all.whole.total_ns);
}

double view_noise_share(const struct report *run)
{
	const struct report_faults *faults = &run->faults;
	const double waited =
		view_share(faults->all.parts[PART_RUNQUEUE].total_ns, faults->all.whole.total_ns);

	return faults->parts_known && waited > NOISE_MAX ? waited : 0;
}

static uint64_t view_known(uint64_t count)
{
	return count == COUNT_NA ? 0 : count;
}

uint64_t view_events_lost(const struct report *run)
{
	return count_sum(run->losses.events, view_known(run->losses.faults));
}

bool view_sees_all_faults(const struct report *run)
{
	return run->bpf.known && run->bpf.hooks & 1U << HOOK_FAULT && !run->bpf.user_only;
}

/* The module's faults are not among the events. */
uint64_t view_faults_lost(const struct report *run)
{
	const struct report_losses *losses = &run->losses;
	const uint64_t events = run->bpf.module_faults ? 0 : view_known(losses->events);

	return events + view_known(losses->records) + view_known(losses->faults) +
	       view_known(losses->unwatched);
}

uint64_t view_faults_unseen(const struct report *run)
{
	const struct usage *usage = &run->usage;
	uint64_t counted;

	if (!view_source_is_perf(run) || run->losses.events || usage->minflt == COUNT_NA ||
	    usage->majflt == COUNT_NA)
		return 0;
	counted = usage->minflt + usage->majflt;
	if (counted < run->faults.all.count + FEW_UNSEEN)
		return 0;
	return counted - run->faults.all.count;
}

bool view_perf_ended(const struct report *run)
{
	return run->losses.ended != COUNT_NA && run->losses.ended;
}

bool view_cpu_at_most(const struct report *run)
{
	return run->faults.parts_known && run->losses.events != COUNT_NA && run->losses.events;
}

enum part view_main_part(const struct group *group)
{
	enum part part, longest = 0;

	for (part = 0; part < NR_PARTS; part++)
		if (group->parts_ns[part] > group->parts_ns[longest])
			longest = part;
	return longest;
}

const char *view_group_name(enum group_by by)
{
	static const char *const names[NR_GROUP_BY] = GROUP_BY_NAMES;

	return names[by];
}

const char *view_advice_name(const struct group *group)
{
	static const char *const names[] = MAPPING_ADVICE_NAMES;

	return group->state.known ? names[group->state.advice] : NULL;
}

uint64_t view_ra_bytes(const struct report *run, const struct group *group)
{
	return mapping_state_has_readahead(&group->state) ?
		       group->state.ra_pages * run->environment.page_bytes :
		       COUNT_NA;
}

uint64_t view_mmap_miss(const struct group *group)
{
	return mapping_state_has_readahead(&group->state) ? group->state.mmap_miss : COUNT_NA;
}

const char *view_missing(const struct report *run)
{
	return view_source_is_perf(run) ? "n/a with perf; eBPF (as root) has: " :
					  "n/a, because eBPF had no hook: ";
}

/* A recording of an older version does not state it: then it is this machine's. */
static uint32_t view_architecture(const struct report *run)
{
	return seccomp_arch_resolve_name(run->environment.architecture) ?: SCMP_ARCH_NATIVE;
}

/* The number -1 is the program's, or its tracer's, for no call. */
static bool view_is_compat(uint32_t number)
{
	return number & PFSTAT_SYSCALL_COMPAT && number != UINT32_MAX;
}

uint32_t view_syscall_index(uint32_t number)
{
	return view_is_compat(number) ? number & ~PFSTAT_SYSCALL_COMPAT : number;
}

char *view_syscall_name(const struct report *run, uint32_t number)
{
	const bool is_arm = view_architecture(run) == SCMP_ARCH_AARCH64;
	char *name, *marked;
	int written;

	if (!view_is_compat(number))
		return seccomp_syscall_resolve_num_arch(view_architecture(run), number);
	number = view_syscall_index(number);
	name = seccomp_syscall_resolve_num_arch(is_arm ? SCMP_ARCH_ARM : SCMP_ARCH_X86, number);
	written = name ? asprintf(&marked, "%s (32-bit)", name) :
			 asprintf(&marked, "call %" PRIu32 " (32-bit)", number);
	free(name);
	return written < 0 ? NULL : marked;
}

int view_syscall_number(const struct report *run, const char *name)
{
	return seccomp_syscall_resolve_name_arch(view_architecture(run), name);
}

#define VIEW_COMM 16 /* bytes for a thread's name and the final 0 */

static const char *view_printable(char printable[VIEW_COMM], const char *name)
{
	size_t i, length;

	memset(printable, 0, VIEW_COMM);
	for (i = 0; name[i]; i += length ?: 1) {
		length = utf8_printable(name + i, strlen(name + i));
		if (length)
			memcpy(printable + i, name + i, length);
		else
			printable[i] = '?';
	}
	return printable;
}

const char *view_cpu_task_name(char *text, const struct cpu_task_row *row)
{
	const char *kind = row->kernel ? "the kernel thread " : "";
	const char *name = row->comm[0] ? row->comm : "a process";
	char printable[VIEW_COMM];

	snprintf(text, VIEW_CPU_TASK, "%s%s (pid %" PRIu32 ")", kind,
		 view_printable(printable, name), row->pid);
	return text;
}

bool view_cpu_task_is_own(const struct cpu_task_row *row)
{
	return !row->recorded && !strcmp(row->comm, "pfdrive");
}

uint64_t view_own_ran_ns(const struct report *run)
{
	const struct cpu_task_row *row = run->cpu_tasks.rows;
	uint64_t ran_ns = 0;

	for (; row < run->cpu_tasks.rows + run->cpu_tasks.nr; row++)
		if (view_cpu_task_is_own(row))
			ran_ns += row->ran_ns;
	return ran_ns;
}

const char *view_waker_name(char *text, const struct lock_waker_row *row)
{
	char printable[VIEW_COMM];

	if (!row->tid)
		snprintf(text, VIEW_WAKER, "a thread that is not known");
	else if (row->doing == PFSTAT_WAKER_KERNEL)
		snprintf(text, VIEW_WAKER, "a kernel thread (tid %" PRIu32 ")", row->tid);
	else if (row->comm[0])
		snprintf(text, VIEW_WAKER, "%s (tid %" PRIu32 ")",
			 view_printable(printable, row->comm), row->tid);
	else
		snprintf(text, VIEW_WAKER, "thread %" PRIu32, row->tid);
	return text;
}

const char *view_waker_call(char *text, const struct report *run, uint32_t doing)
{
	char *name;

	text[0] = '\0';
	if (doing < PFSTAT_WAKER_CALL)
		return text;
	name = view_syscall_name(run, doing - PFSTAT_WAKER_CALL);
	if (name)
		snprintf(text, VIEW_WAKER, "%s()", name);
	else
		snprintf(text, VIEW_WAKER, "system call %" PRIu32, doing - PFSTAT_WAKER_CALL);
	free(name);
	return text;
}
