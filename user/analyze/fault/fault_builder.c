// SPDX-License-Identifier: GPL-2.0-only
/*
 * Off-CPU intervals and reclaims come from the queues of the thread, in time order. Each is clipped
 * to the time between accounted_until_ns and the end of the fault. An off-CPU interval is matched
 * with the requests that the thread waited for, and split into spans. At the end the parts add up
 * to the whole fault.
 */
#include <stddef.h>
#include <string.h>

#include "analyze/fault/fault_builder.h"
#include "analyze/fault/off_cpu.h"

/* Clears only the head, because only nr_spans of the spans are valid. */
void fault_builder_begin(struct fault_builder *builder, enum fault_class class, uint64_t start_ns)
{
	struct explained *fault = &builder->fault;

	memset(fault, 0, offsetof(struct explained, spans));
	fault->class = class;
	fault->start_ns = start_ns;
	fault->end_ns = start_ns;
	builder->complete = false;
	builder->accounted_until_ns = start_ns;
	builder->spans_ns = 0;
}

void fault_builder_extend(struct fault_builder *builder, uint64_t end_ns)
{
	if (end_ns > builder->fault.end_ns)
		builder->fault.end_ns = end_ns;
}

static void fault_builder_add_span(struct fault_builder *builder, const struct explain_span *span)
{
	struct explained *fault = &builder->fault;

	fault->parts_ns[span->part] += span->to_ns - span->from_ns;
	builder->spans_ns += span->to_ns - span->from_ns;
	builder->accounted_until_ns = span->to_ns;
	if (span->on_cpu)
		fault->reclaim_cpu_ns += span->to_ns - span->from_ns;
	if (fault->nr_spans < EXPLAIN_MAX_SPANS)
		fault->spans[fault->nr_spans++] = *span;
}

/* Returns false if nothing is left. */
static bool fault_builder_clip(const struct fault_builder *builder, uint64_t *from_ns,
			       uint64_t *to_ns)
{
	if (*from_ns < builder->accounted_until_ns)
		*from_ns = builder->accounted_until_ns;
	if (*to_ns > builder->fault.end_ns)
		*to_ns = builder->fault.end_ns;
	return *from_ns < *to_ns;
}

/* A thread that waits for a CPU waits for other threads, in reclaim also. */
static void fault_builder_add_asleep(struct fault_builder *builder, struct explain_span span,
				     const struct reclaims *reclaims)
{
	const struct reclaim_interval *reclaim;
	struct explain_span piece;

	while (span.part != PART_RUNQUEUE && span.from_ns < span.to_ns &&
	       (reclaim = reclaims_next(reclaims, span.from_ns, span.to_ns))) {
		piece = span;
		if (span.from_ns < reclaim->from_ns) {
			piece.to_ns = reclaim->from_ns;
		} else {
			piece.to_ns = reclaim->to_ns < span.to_ns ? reclaim->to_ns : span.to_ns;
			piece.part = PART_RECLAIM;
		}
		fault_builder_add_span(builder, &piece);
		span.from_ns = piece.to_ns;
	}
	if (span.from_ns < span.to_ns)
		fault_builder_add_span(builder, &span);
}

void fault_builder_add_reclaims(struct fault_builder *builder, const struct reclaims *reclaims,
				uint64_t until_ns)
{
	struct explain_span span = { .part = PART_RECLAIM, .on_cpu = true };
	const struct reclaim_interval *reclaim;

	while ((reclaim = reclaims_next(reclaims, builder->accounted_until_ns, until_ns))) {
		span.from_ns = reclaim->from_ns;
		span.to_ns = reclaim->to_ns < until_ns ? reclaim->to_ns : until_ns;
		if (!fault_builder_clip(builder, &span.from_ns, &span.to_ns))
			return;
		fault_builder_add_span(builder, &span);
	}
}

void fault_builder_add_interval(struct fault_builder *builder,
				const struct off_cpu_interval *interval,
				const struct requests *requests, const struct reclaims *reclaims)
{
	const struct pfstat_off_cpu *event = &interval->event;
	struct explained *fault = &builder->fault;
	struct pfstat_off_cpu inside = *event;
	const struct pfstat_block *matches[REQUESTS_MATCHES];
	struct explain_span spans[OFF_CPU_SPLIT_MAX];
	size_t nr_matches = 0, nr, i;
	uint64_t from_ns = event->off_ns, to_ns = event->event.ns;

	if (!fault_builder_clip(builder, &from_ns, &to_ns))
		return;
	inside.off_ns = from_ns;
	inside.event.ns = to_ns;
	if (!(event->event.flags & PFSTAT_OFF_CPU_PREEMPTED)) {
		const struct requests_wait wait = {
			.dev = fault->dev,
			.tid = fault->tid,
			.inode = fault->inode,
			.pgoff = fault->pgoff,
			.start_ns = fault->start_ns,
			.from_ns = from_ns,
		};

		nr_matches = requests_match(requests, &wait, matches);
	}
	if (nr_matches)
		fault->request = *matches[0];
	nr = off_cpu_split(&inside, matches, nr_matches, spans);
	for (i = 0; i < nr; i++) {
		spans[i].wait = interval->wait;
		fault_builder_add_asleep(builder, spans[i], reclaims);
	}
}

void fault_builder_add_unaccounted(struct fault_builder *builder, uint64_t from_ns, uint64_t to_ns)
{
	struct explain_span span = { from_ns, to_ns, PART_RESIDUE, false, 0 };

	if (fault_builder_clip(builder, &span.from_ns, &span.to_ns))
		fault_builder_add_span(builder, &span);
}

uint64_t fault_builder_add_lost(struct fault_builder *builder, uint64_t from_ns, uint64_t to_ns,
				uint64_t lost_ns)
{
	struct explain_span span = { from_ns, to_ns, PART_RESIDUE, false, 0 };

	if (!lost_ns || !fault_builder_clip(builder, &span.from_ns, &span.to_ns))
		return 0;
	if (span.to_ns - span.from_ns > lost_ns)
		span.from_ns = span.to_ns - lost_ns;
	fault_builder_add_span(builder, &span);
	return span.to_ns - span.from_ns;
}

void fault_builder_end(struct fault_builder *builder, bool solved)
{
	struct explained *fault = &builder->fault;
	const uint64_t cpu_ns = fault->end_ns - fault->start_ns - builder->spans_ns;
	const uint64_t first_off_ns = fault->nr_spans ? fault->spans[0].from_ns : fault->end_ns;

	fault->solved = solved;
	fault->major = solved && fault->major;
	fault->parts_ns[PART_CPU_BEFORE] = first_off_ns - fault->start_ns;
	fault->parts_ns[PART_CPU_AFTER] = cpu_ns - fault->parts_ns[PART_CPU_BEFORE];
}
