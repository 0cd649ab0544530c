// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cuts a fault into slices: the spans from explain.c, and the time on the CPU between them. If some
 * time is unexplained, the gaps stay empty.
 */
#include "analyze/handlers.h"
#include "print/trace/trace_parts.h"

static void part_slice(struct perfetto *perfetto, const struct explained *fault, enum part part,
		       uint64_t from_ns, uint64_t to_ns)
{
	const struct trace_track track = { fault->pid, fault->tid, false };

	if (from_ns < to_ns)
		perfetto_plain_slice(perfetto, track, "part", part_name(part), from_ns, to_ns);
}

/*
 * True if the gaps between the spans are exactly the time on the CPU, so that no time is missing.
 */
static bool gaps_are_cpu(const struct explained *fault)
{
	uint64_t gaps_ns = fault->end_ns - fault->start_ns;
	unsigned int i;

	for (i = 0; i < fault->nr_spans; i++)
		gaps_ns -= fault->spans[i].to_ns - fault->spans[i].from_ns;
	return gaps_ns == explained_cpu_ns(fault);
}

/* Prints time on the CPU in a call. It is cpu_before while before_ns is left, then cpu_after. */
static void call_slice(struct perfetto *perfetto, const struct explained *fault, uint64_t from_ns,
		       uint64_t to_ns, uint64_t *before_ns)
{
	part_slice(perfetto, fault, *before_ns ? PART_CPU_BEFORE : PART_CPU_AFTER, from_ns, to_ns);
	*before_ns -= *before_ns < to_ns - from_ns ? *before_ns : to_ns - from_ns;
}

/* Prints a gap on the CPU. Time outside the calls is mm. */
static void cpu_slice(struct perfetto *perfetto, const struct explained *fault, uint64_t from_ns,
		      uint64_t to_ns, uint64_t *before_ns)
{
	const struct explain_call *call;
	uint64_t until_ns;
	unsigned int i;

	if (!fault->parts_ns[PART_MM]) {
		call_slice(perfetto, fault, from_ns, to_ns, before_ns);
		return;
	}
	for (i = 0; i < fault->nr_call_spans && from_ns < to_ns; i++) {
		call = &fault->call_spans[i];
		if (call->to_ns <= from_ns || call->from_ns >= to_ns)
			continue;
		if (call->from_ns > from_ns) {
			part_slice(perfetto, fault, PART_MM, from_ns, call->from_ns);
			from_ns = call->from_ns;
		}
		until_ns = call->to_ns < to_ns ? call->to_ns : to_ns;
		call_slice(perfetto, fault, from_ns, until_ns, before_ns);
		from_ns = until_ns;
	}
	part_slice(perfetto, fault, PART_MM, from_ns, to_ns);
}

/* False: some calls are not stored, and their time would be mm. */
static bool has_all_calls(const struct explained *fault)
{
	return !fault->parts_ns[PART_MM] || fault->nr_call_spans < EXPLAIN_MAX_CALLS;
}

static void print_cpu_task(struct perfetto *perfetto, const struct cpu_task_row *task,
			   uint64_t ran_ns)
{
	perfetto_number(perfetto, "cpu_task", task->pid);
	perfetto_text(perfetto, "cpu_task_name", task->comm);
	if (ran_ns)
		perfetto_number(perfetto, "cpu_task_ran_ns", ran_ns);
}

static void print_handler(struct perfetto *perfetto, const struct handler_row *handler)
{
	if (!handler)
		return;
	perfetto_number(perfetto, "handler", handler->pid);
	perfetto_text(perfetto, "handler_name", handler->name);
}

/* Prints a span, with the last task on the CPU or the handler if known. */
static void span_slice(struct perfetto *perfetto, const struct analysis *analysis,
		       const struct explained *fault, const struct explain_span *span)
{
	const struct trace_track track = { fault->pid, fault->tid, false };

	if (span->from_ns >= span->to_ns)
		return;
	perfetto_slice(perfetto, track, "part", part_name(span->part), span->from_ns);
	if (analysis && span->task)
		print_cpu_task(perfetto, &analysis_waits(analysis)->tasks.rows[span->task - 1],
			       span->task_ran_ns);
	if (analysis && span->part == PART_HANDLER)
		print_handler(perfetto, analysis_handler(analysis, fault, span));
	perfetto_args_end(perfetto);
	perfetto_slice_end(perfetto, track, span->to_ns);
}

void trace_parts_print(struct perfetto *perfetto, const struct analysis *analysis,
		       const struct explained *fault)
{
	const bool gaps = gaps_are_cpu(fault) && has_all_calls(fault);
	uint64_t before_ns = fault->parts_ns[PART_CPU_BEFORE];
	uint64_t at_ns = fault->start_ns;
	const struct explain_span *span;
	unsigned int i;

	/* A fault with one part: the fault's slice already shows it. */
	if (!fault->parts_known || (!fault->nr_spans && !fault->parts_ns[PART_MM]))
		return;
	for (i = 0; i < fault->nr_spans; i++) {
		span = &fault->spans[i];
		if (gaps)
			cpu_slice(perfetto, fault, at_ns, span->from_ns, &before_ns);
		span_slice(perfetto, analysis, fault, span);
		at_ns = span->to_ns;
	}
	if (gaps)
		cpu_slice(perfetto, fault, at_ns, fault->end_ns, &before_ns);
}
