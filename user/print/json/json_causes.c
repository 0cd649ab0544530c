// SPDX-License-Identifier: GPL-2.0-only
/*
 * The causes behind faults in JSON: waits, reclaims, evictions, page origins, and calls that shape
 * mappings. The figures come from the report. Those needing a missing eBPF hook are null.
 */
#include "fields/tables.h"
#include "model/call_kind.h"
#include "print/json/json_parts.h"
#include "report/more_memory.h"
#include "util/array.h"
#include "util/json_value.h"

static const struct field cpu_wait_rows[] = {
	FIELD(COUNT, evidence_cpu_wait, count, NULL),
	FIELD(COUNT, evidence_cpu_wait, total_ns, NULL),
};

static const struct fields cpu_wait_fields =
	FIELDS("cpu_wait", NULL, evidence_cpu_wait, cpu_wait_rows);

struct cpu_waits {
	struct evidence_cpu_wait by[NR_CPU_WAITS];
};

FIELD_FUNCTION(bool, cpu_limits_known, cpu_waits, run->evidence.limits_known)

#define CPU_WAIT_ROW(name, wait, ...)                                                        \
	FIELD_AS(name, OBJECT, cpu_waits, by[CPU_WAIT_##wait], NULL, .of = &cpu_wait_fields, \
		 ##__VA_ARGS__)

static const struct field cpu_waits_rows[] = {
	CPU_WAIT_ROW("unknown", UNKNOWN),
	CPU_WAIT_ROW("task", TASK),
	CPU_WAIT_ROW("idle", IDLE),
	CPU_WAIT_ROW("preempted_idle", PREEMPTED_IDLE),
	CPU_WAIT_ROW("throttled", THROTTLED, .known = cpu_limits_known),
};

const struct fields cpu_waits_fields = FIELDS(
	"cpu_waits",
	"task: another task ran there. idle: the thread was woken, and the CPU was idle. "
	"preempted_idle: it was preempted, and the CPU was idle. throttled: it was preempted "
	"while its cgroup had used up its CPU time (cpu.max), whatever ran on the CPU right "
	"before; null: not known, then these waits are in the others. unknown: an old "
	"recording.",
	cpu_waits, cpu_waits_rows);

json_t *json_cpu_waits(const struct report *run)
{
	if (!view_part_known(run, PART_RUNQUEUE))
		return json_null();
	return json_fields(&cpu_waits_fields, run, run->evidence.cpu_waits);
}

json_t *json_cpu_limit(const struct report *run)
{
	return run->evidence.limits_known ?
		       json_fields(&cpu_wait_fields, run, &run->evidence.throttled) :
		       json_null();
}

json_t *json_cpu_tasks(const struct report *run)
{
	if (!view_part_known(run, PART_RUNQUEUE) || view_source_is_perf(run))
		return json_null();
	return json_fields_list(&cpu_task_fields, run, run->cpu_tasks.rows, run->cpu_tasks.nr);
}

static const struct field reclaim_rows[] = {
	FIELD(COUNT, evidence_reclaims, count, NULL),
	FIELD(COUNT, evidence_reclaims, total_ns, NULL),
	FIELD(COUNT, evidence_reclaims, pages, "Reclaimed; 0 for compaction."),
};

static const struct fields reclaim_fields =
	FIELDS("reclaim", "Reclaims with one cause.", evidence_reclaims, reclaim_rows);

struct reclaims_row {
	struct evidence_reclaims by[PFSTAT_NR_RECLAIM_KINDS];
};

#define RECLAIM_ROW(name, kind, ...)                                                 \
	FIELD_AS(name, OBJECT, reclaims_row, by[PFSTAT_RECLAIM_##kind], __VA_ARGS__, \
		 .of = &reclaim_fields)

static const struct field reclaims_rows[] = {
	RECLAIM_ROW("direct", DIRECT, NULL),
	RECLAIM_ROW("cgroup", CGROUP, NULL),
	RECLAIM_ROW("compaction", COMPACTION, NULL),
	RECLAIM_ROW("throttle", THROTTLE,
		    "The thread was above its cgroup's memory.high: the kernel let it reclaim, and "
		    "sleep, on the way back to the program, outside its faults. null without that "
		    "eBPF hook.",
		    .needs = 1U << HOOK_THROTTLE),
};

const struct fields reclaims_fields =
	FIELDS("reclaims",
	       "By the cause: an allocation that found too little free memory, a charge at a "
	       "cgroup's limit, an allocation that needs contiguous pages.",
	       reclaims_row, reclaims_rows);

json_t *json_reclaims(const struct report *run)
{
	if (!view_has_hook(run, HOOK_RECLAIM))
		return json_null();
	return json_fields(&reclaims_fields, run, run->evidence.reclaims);
}

json_t *json_functions(const char *functions)
{
	json_t *array = json_array();
	size_t length;

	for (; *functions; functions += length + (functions[length] == '<')) {
		length = strcspn(functions, "<");
		array = value_appended(array, json_stringn(functions, length));
	}
	return array;
}

#define WAIT_PART_ROW(name, part) FIELD_AS(name, COUNT, wait_row, parts_ns[PART_##part], NULL)

static const struct field wait_parts_rows[] = {
	WAIT_PART_ROW("foreign", FOREIGN), WAIT_PART_ROW("blocked", BLOCKED),
	WAIT_PART_ROW("handler", HANDLER), WAIT_PART_ROW("reclaim", RECLAIM),
	WAIT_PART_ROW("residue", RESIDUE),
};

static const struct fields wait_parts_fields =
	FIELDS("wait_parts", NULL, wait_row, wait_parts_rows);

FIELD_FUNCTION(json_t *, wait_functions, wait_row, json_functions(it->functions))

static const struct field wait_rows[] = {
	FIELD(POINTER, wait_row, cause,
	      "Derived from the functions; null if the table of causes has none of them."),
	FIELD(MADE, wait_row, functions,
	      "Innermost first, without the scheduler and the callers of handle_mm_fault(). A last "
	      "element ... stands for more.",
	      .make = wait_functions, .definition = "functions"),
	FIELD(COUNT, wait_row, sleeps, NULL),
	FIELD(COUNT, wait_row, total_ns, "Without the time that a block request explains."),
	FIELD(COUNT, wait_row, max_ns, "The longest sleep."),
	FIELD_OF_ALL("parts", OBJECT, "The time by part of the fault.", .of = &wait_parts_fields),
};

static const struct fields wait_fields =
	FIELDS("wait", "The sleeps with one kernel stack.", wait_row, wait_rows);

static const struct field waits_rows[] = {
	FIELD_AS("stacks", ROWS, report_waits, rows, "Longest first.", .of = &wait_fields,
		 FIELD_NR(report_waits, nr)),
	FIELD(COUNT, report_waits, unknown_ns,
	      "Time in the parts foreign, blocked and asleep without a known kernel stack."),
};

const struct fields waits_fields = FIELDS("waits", NULL, report_waits, waits_rows);

json_t *json_waits(const struct report *run)
{
	if (!view_has_hook(run, HOOK_WAIT_STACK))
		return json_null();
	return json_fields(&waits_fields, run, &run->waits);
}

json_t *json_guest(const struct report *run)
{
	if (view_source_is_perf(run) || !view_has_hook(run, HOOK_FAULT))
		return json_null();
	return json_pack("{so so}", "faults", value_count(run->evidence.guest_faults), "total_ns",
			 value_count(run->evidence.guest_ns));
}

json_t *json_handlers(const struct report *run)
{
	const struct handlers_figures *handlers = &run->evidence.handlers;

	if (!view_has_hook(run, HOOK_WAIT_STACK))
		return json_null();
	return json_fields_list(&handler_fields, run, handlers->rows, handlers->nr);
}

json_t *json_readahead(const struct report *run)
{
	if (!view_has_hook(run, HOOK_BLOCK))
		return json_null();
	return json_fields(&readahead_fields, run, &run->pages.readahead);
}

static const char *const reasons[] = EVICTIONS_REASON_NAMES;

FIELD_FUNCTION(json_t *, evictions_call, evictions_pair, json_waker_call(run, it->doing))

static const struct field evictions_pair_rows[] = {
	FIELD(WORD, evictions_pair, reason,
	      "reclaimed: memory was short. dropped: on request (advice, truncation, drop_caches). "
	      "proactive: a write to memory.reclaim. unknown: an old recording.",
	      FIELD_WORDS(reasons)),
	FIELD(FLAG, evictions_pair, anon, "Swapped-out anonymous memory, not file pages."),
	FIELD_OF_ALL("call", MADE,
		     "The evictor's system call for dropped and proactive pages; null: not known, "
		     "or no system call.",
		     .make = evictions_call, .definition = "text_or_null"),
	FIELD(COUNT, evictions_pair, evictor,
	      "Process that removed the pages; 0 with the name (others): beyond the kept pairs."),
	FIELD(NAME, evictions_pair, evictor_name, NULL),
	FIELD(COUNT, evictions_pair, victim,
	      "Process that read them again; 0: several, beyond the kept pairs."),
	FIELD(COUNT, evictions_pair, pages, "Pages read again, including read-ahead."),
	FIELD(COUNT, evictions_pair, faults,
	      "Faults that waited for such a page, or read the pages behind it."),
	FIELD(COUNT, evictions_pair, total_ns, "How long these faults took."),
};

const struct fields evictions_pair_fields = FIELDS("blame",
						   "One reason, one evictor and one victim.",
						   evictions_pair, evictions_pair_rows);

static json_t *json_again(const struct report *run)
{
	json_t *object = json_object(), *sum;
	size_t i;

	for (i = 0; i < EVICTIONS_NR_REASONS; i++) {
		sum = json_fields(&evictions_sum_fields, run, &run->pages.evictions.again[i]);
		object = value_with(object, reasons[i], sum);
	}
	return object;
}

static json_t *json_point(const struct report *run, const struct memory_curve_point *point)
{
	return json_pack("{so sf sf sf sf}", "bytes", value_count(more_memory_bytes(run, point)),
			 "faults_least", point->least.faults, "faults_most", point->most.faults,
			 "time_least", point->least.total_ns, "time_most", point->most.total_ns);
}

static json_t *json_more_memory(const struct report *run)
{
	const struct evictions_curve *curve = &run->pages.evictions.curve;
	const struct swap_outs_figures *swaps = &run->pages.evictions.swaps;
	const bool has_swap = view_has_hook(run, HOOK_SWAP_OUT);
	json_t *points;
	size_t i;

	if (!curve->nr_points)
		return json_null();
	points = json_array();
	for (i = 0; i < curve->nr_points; i++)
		points = value_appended(points, json_point(run, &curve->points[i]));
	return json_pack("{so so so so sb sb so so so}", "faults",
			 value_count(curve->figures.faults), "swap_ins",
			 value_count_if(has_swap, swaps->faults), "swap_ins_unknown",
			 value_count_if(has_swap, swaps->unknown), "total_ns",
			 value_count(curve->figures.total_ns), "regular", curve->figures.is_regular,
			 "shared", more_memory_is_shared(run), "sampled_pages",
			 value_count(curve->figures.sampled), "one_of",
			 value_count(curve->figures.one_of), "points", points);
}

json_t *json_evictions(const struct report *run)
{
	if (view_lacks_evictions(run))
		return json_null();
	return json_pack("{so so so so so so}", "evicted",
			 value_count(run->pages.evictions.evicted), "overflow",
			 value_count(run->pages.evictions.overflow), "untracked_requests",
			 value_known(run->pages.untracked), "again", json_again(run), "more_memory",
			 json_more_memory(run), "blame",
			 json_fields_list(&evictions_pair_fields, run, run->pages.pairs,
					  run->pages.nr_pairs));
}

static const struct field faults_sum_rows[] = {
	FIELD(COUNT, evidence_sum, count, NULL),
	FIELD(COUNT, evidence_sum, total_ns, NULL),
};

static const struct fields faults_sum_fields =
	FIELDS("faults_sum", "A number of faults, and the whole faults' time.", evidence_sum,
	       faults_sum_rows);

static const char *mechanism_word(unsigned int i)
{
	return mechanisms[i].spelling;
}

static json_t *mechanism_sum(const struct report *run, const void *object, unsigned int i)
{
	const struct evidence_sum *sums = object;

	return json_fields(&faults_sum_fields, run, &sums[i]);
}

const struct fields mechanisms_fields = {
	.name = "mechanisms",
	.about = "Faults by mechanism, which add up to all faults.",
	.bytes = sizeof(struct evidence_sum[NR_MECHANISMS]),
	.nr_words = NR_MECHANISMS,
	.word = mechanism_word,
	.each = mechanism_sum,
	.definition = "faults_sum",
};

/* Without notes it is not known whether anonymous memory had a page. */
json_t *json_mechanisms(const struct report *run)
{
	return run->contents.notes ?
		       json_fields(&mechanisms_fields, run, run->contents.mechanisms) :
		       json_null();
}

struct huge_row {
	uint64_t bytes;
	struct contents_huge huge;
};

static const struct field huge_rows[] = {
	FIELD(COUNT, huge_row, bytes, NULL),
	FIELD_AS("anon", OBJECT, huge_row, huge.anon, "Faults that made an anonymous huge page.",
		 .of = &faults_sum_fields),
	FIELD_AS("hugetlb", OBJECT, huge_row, huge.hugetlb,
		 "Faults on hugetlbfs; a shared page may have been there before.",
		 .of = &faults_sum_fields),
};

static const struct fields huge_fields = FIELDS("contents_huge", NULL, huge_row, huge_rows);

struct contents_row {
	struct contents_figures figures;
	struct huge_row huge[CONTENTS_HUGE];
	unsigned int nr_huge;
};

#define CONTENT_ROW(name, content, about)                                                 \
	FIELD_AS(name, OBJECT, contents_row, figures.by[PFSTAT_CONTENT_##content], about, \
		 .of = &faults_sum_fields)

static const struct field contents_rows[] = {
	CONTENT_ROW(
		"unknown", UNKNOWN,
		"Faults in class cow with an unknown origin; all such faults in recordings before this member."),
	CONTENT_ROW("zero", ZERO, "Copies of the zero page, which an earlier read had mapped."),
	CONTENT_ROW("ksm", KSM, "Copies of pages that KSM had merged."),
	CONTENT_ROW("file", FILE, "Private copies of files' pages."),
	CONTENT_ROW("fork", FORK,
		    "Copies of anonymous pages that a fork had shared, in the run or before it."),
	CONTENT_ROW(
		"reused", REUSED,
		"Anonymous pages that a fork had shared and no other process has any more; the kernel does not copy them."),
	CONTENT_ROW("new", NEW,
		    "New shared pages: tmpfs, memfd, MAP_SHARED without a file, System V."),
	CONTENT_ROW(
		"present", PRESENT,
		"Pages that shared memory had already, in memory or in swap. new and present are 0 if the kernel does not show new pages."),
	FIELD_AS("after_fork", OBJECT, contents_row, figures.after_fork,
		 "In fork: the process had forked in the run, or been forked, and neither side had "
		 "executed a program since.",
		 .of = &faults_sum_fields),
	FIELD_AS("reused_after_fork", OBJECT, contents_row, figures.reused_after_fork,
		 "In reused: the process had forked in the run, or been forked. The other side has "
		 "ended or executed a program.",
		 .of = &faults_sum_fields),
	FIELD_AS("fork_pid", NONZERO, contents_row, figures.fork_pid,
		 "The process whose forks precede most faults in after_fork."),
	FIELD_AS("fork_pid_count", COUNT, contents_row, figures.fork_pid_count,
		 "How many faults in after_fork came after its forks."),
	FIELD(ARRAY, contents_row, huge, "Huge pages by size, smallest first.", .of = &huge_fields,
	      FIELD_NR(contents_row, nr_huge)),
	FIELD_AS("dax_small", COUNT, contents_row, figures.dax_small,
		 "Faults that mapped a single page from a DAX file."),
};

const struct fields contents_fields = FIELDS("contents",
					     "Solved faults, by the origin of their page.",
					     contents_row, contents_rows);

/* The JSON member for the pages copied or made by a run's faults. */
json_t *json_contents(const struct report *run)
{
	struct contents_row row = { .figures = run->contents };
	const struct contents_huge *huge = run->contents.huge;

	if (!view_has_hook(run, HOOK_FAULT) || view_source_is_perf(run))
		return json_null();
	for (; row.nr_huge < CONTENTS_HUGE && huge->order; huge++)
		row.huge[row.nr_huge++] =
			(struct huge_row){ run->environment.page_bytes << huge->order, *huge };
	return json_fields(&contents_fields, run, &row);
}

static json_t *shaping_call_name(const struct report *run __attribute__((unused)),
				 const void *object)
{
	return json_string(call_kind_name(((const struct report_call *)object)->sum.kind));
}

static json_t *shaping_call_detail(const struct report *run __attribute__((unused)),
				   const void *object)
{
	const struct shaping_call *sum = &((const struct report_call *)object)->sum;
	char detail[256];

	call_kind_print_detail(sum->kind, sum->detail, detail, sizeof(detail));
	return value_text(detail);
}

static bool shaping_call_forked(const struct report *run __attribute__((unused)),
				const void *object)
{
	return ((const struct report_call *)object)->sum.forks;
}

static bool shaping_call_knows_pages(const struct report *run, const void *object)
{
	const struct shaping_call *sum = &((const struct report_call *)object)->sum;

	return shaping_call_forked(run, object) && sum->forks_counted == sum->forks;
}

static const struct field shaping_call_rows[] = {
	FIELD_OF_ALL("name", MADE, NULL, .make = shaping_call_name),
	FIELD_AS("detail", WIDE, report_call, sum.detail,
		 "Advice or flags as passed; 0 for calls without any. A string with digits when it "
		 "needs 64 bits."),
	FIELD_OF_ALL("detail_name", MADE, "The same as text.", .make = shaping_call_detail,
		     .definition = "text_or_null"),
	FIELD(POINTER, report_call, file,
	      "The file that is mapped in the range; null without one, for failed calls and for "
	      "fadvise64."),
	FIELD(STRING, report_call, caller,
	      "Function+offset (object), offset (object), or (not known)."),
	FIELD_AS("count", COUNT, report_call, sum.count, NULL),
	FIELD_AS("failed", COUNT, report_call, sum.failed, "Calls that returned an error."),
	FIELD_AS("bytes", WIDE, report_call, sum.bytes, "All ranges, for successful calls."),
	FIELD_AS("total_ns", COUNT, report_call, sum.total_ns, "Time in the calls."),
	FIELD_AS("first_ns", COUNT, report_call, sum.first_ns,
		 "When the first call returned, CLOCK_MONOTONIC."),
	FIELD_AS("last_ns", COUNT, report_call, sum.last_ns, NULL),
	FIELD_AS(
		"given_pages", COUNT, report_call, sum.given_pages,
		"Anonymous pages, touched by faults in the recording and given back by these calls. "
		"A huge page counts as its small pages."),
	FIELD_AS("again_pages", COUNT, report_call, sum.again_pages,
		 "How many of these the process needed again: later faults took as many new "
		 "anonymous pages, at any address."),
	FIELD_AS("again_faults", COUNT, report_call, sum.again_faults, "These faults."),
	FIELD_AS("again_ns", COUNT, report_call, sum.again_ns, "How long these faults took."),
	FIELD_AS("forks", COUNT, report_call, sum.forks,
		 "Calls that copied page tables: fork, and clone and clone3 into a new address "
		 "space. 0 also in recordings by older versions, and if single threads are "
		 "watched."),
	FIELD_AS("fork_pages", COUNT, report_call, sum.fork_pages,
		 "Page-table entries for pages and swap that the forks copied, as the child had "
		 "them right after the fork. A huge page counts as its small pages; pages from "
		 "hugetlb, and from files that the fork left out, do not count. null: no fork, or "
		 "the kernel does not show it.",
		 .known = shaping_call_knows_pages),
	FIELD_AS("fork_table_bytes", COUNT, report_call, sum.fork_table_bytes,
		 "The children's page tables right after the fork; null: no fork.",
		 .known = shaping_call_forked),
};

static const struct fields shaping_call_fields =
	FIELDS("shaping_call",
	       "The calls from one place in the code for one file, with the same advice or flags.",
	       report_call, shaping_call_rows);

static const struct field shaping_calls_rows[] = {
	FIELD(ROWS, report_calls, rows, "By first call.", .of = &shaping_call_fields,
	      FIELD_NR(report_calls, nr)),
	FIELD(COUNT, report_calls, left_out, "Calls without a row: there are at most 1024."),
};

const struct fields shaping_calls_fields =
	FIELDS("shaping_calls", NULL, report_calls, shaping_calls_rows);

json_t *json_calls(const struct report *run)
{
	if (!run->bpf.known || view_source_is_perf(run))
		return json_null();
	return json_fields(&shaping_calls_fields, run, &run->calls);
}
