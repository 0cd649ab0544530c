// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <string.h>

#include "analyze/fault/fault_builder.h"
#include "analyze/fault/sleep_split.h"

/* Only the head is cleared: spans are there as far as they are counted. */
void story_begin(struct story *story, enum fault_class class, uint64_t start_ns)
{
	struct explained *fault = &story->fault;

	memset(fault, 0, offsetof(struct explained, spans));
	fault->class = class;
	fault->start_ns = start_ns;
	fault->end_ns = start_ns;
	story->complete = false;
	story->told_ns = start_ns;
	story->off_ns = 0;
}

void story_extend(struct story *story, uint64_t end_ns)
{
	if (end_ns > story->fault.end_ns)
		story->fault.end_ns = end_ns;
}

static void add_span(struct story *story, const struct explain_span *span)
{
	struct explained *fault = &story->fault;

	fault->parts_ns[span->part] += span->to_ns - span->from_ns;
	story->off_ns += span->to_ns - span->from_ns;
	story->told_ns = span->to_ns;
	if (fault->nr_spans < EXPLAIN_MAX_SPANS)
		fault->spans[fault->nr_spans++] = *span;
}

/* false: nothing is left. */
static bool clip(const struct story *story, uint64_t *from_ns, uint64_t *to_ns)
{
	if (*from_ns < story->told_ns)
		*from_ns = story->told_ns;
	if (*to_ns > story->fault.end_ns)
		*to_ns = story->fault.end_ns;
	return *from_ns < *to_ns;
}

void story_add_stay(struct story *story, const struct pfstat_off_cpu *stay,
		    const struct requests *requests)
{
	struct explained *fault = &story->fault;
	struct pfstat_off_cpu inside = *stay;
	const struct pfstat_block *matches[REQUESTS_MATCHES];
	struct explain_span spans[SLEEP_MAX_SPANS];
	size_t nr_matches = 0, nr, i;
	uint64_t from_ns = stay->off_ns, to_ns = stay->event.ns;

	if (!clip(story, &from_ns, &to_ns))
		return;
	inside.off_ns = from_ns;
	inside.event.ns = to_ns;
	if (!(stay->event.flags & PFSTAT_OFF_CPU_PREEMPTED)) {
		const struct requests_wait wait = {
			.dev = fault->dev, .tid = fault->tid, .inode = fault->inode,
			.pgoff = fault->pgoff, .start_ns = fault->start_ns, .from_ns = from_ns,
		};

		nr_matches = requests_match(requests, &wait, matches);
	}
	if (nr_matches)
		fault->request = *matches[0];
	nr = sleep_cut(&inside, matches, nr_matches, spans);
	for (i = 0; i < nr; i++)
		add_span(story, &spans[i]);
}

void story_add_residue(struct story *story, uint64_t from_ns, uint64_t to_ns)
{
	struct explain_span span = { from_ns, to_ns, PART_RESIDUE };

	if (clip(story, &span.from_ns, &span.to_ns))
		add_span(story, &span);
}

uint64_t story_add_lost(struct story *story, uint64_t from_ns, uint64_t to_ns, uint64_t lost_ns)
{
	struct explain_span span = { from_ns, to_ns, PART_RESIDUE };

	if (!lost_ns || !clip(story, &span.from_ns, &span.to_ns))
		return 0;
	if (span.to_ns - span.from_ns > lost_ns)
		span.from_ns = span.to_ns - lost_ns;
	add_span(story, &span);
	return span.to_ns - span.from_ns;
}

void story_end(struct story *story, bool solved)
{
	struct explained *fault = &story->fault;
	const uint64_t cpu_ns = fault->end_ns - fault->start_ns - story->off_ns;
	const uint64_t first_off_ns = fault->nr_spans ? fault->spans[0].from_ns : fault->end_ns;

	fault->solved = solved;
	fault->major = solved && fault->major;
	fault->parts_ns[PART_CPU_BEFORE] = first_off_ns - fault->start_ns;
	fault->parts_ns[PART_CPU_AFTER] = cpu_ns - fault->parts_ns[PART_CPU_BEFORE];
}
