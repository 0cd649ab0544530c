// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rule about waits for a handler of userfaultfd. The kernel stacks of the sleeps show the
 * waits, and the handler's reads show whether it knew the fault. A handler may have a queue of its
 * own behind the read, so the time after it is not called work on one fault.
 */
#include <inttypes.h>

#include "model/wait_cause.h"
#include "verdict/verdict_rules.h"

/* The handler with most of the waits. NULL: none is known. */
static const struct handler_row *main_handler(const struct report *run)
{
	const struct handlers_figures *handlers = &run->evidence.handlers;
	const struct handler_row *row = handlers->rows;
	uint64_t total_ns = 0;
	unsigned int i;

	for (i = 0; i < handlers->nr; i++)
		total_ns += handlers->rows[i].total_ns;
	return total_ns && row->pid && row->total_ns >= VERDICT_WAIT_SHARE * total_ns ? row : NULL;
}

static void state_handler(struct verdict_cause *cause, const struct handler_row *row)
{
	char total[VERDICT_SPAN], span[VERDICT_SPAN];

	verdict_add(cause, ": %s for %s (pid %" PRIu32 ").", verdict_span(total, row->total_ns),
		    row->name, row->pid);
	if (row->queue_ns || row->work_ns) {
		verdict_add(cause, " %s passed until it had read the faults",
			    verdict_span(span, row->queue_ns));
		verdict_add(cause, ", and %s from then until it had brought the pages.",
			    verdict_span(span, row->work_ns));
	}
	if (row->unread_ns)
		verdict_add(cause, " No read is known for %s of the waits.",
			    verdict_span(span, row->unread_ns));
}

bool verdict_userfault_handler(const struct verdict *verdict, const struct report *run,
			       struct verdict_cause *cause)
{
	const struct handler_row *row = main_handler(run);

	(void)verdict;
	if (!verdict_wait_claim(cause, run, (const char *const[]){ WAIT_USERFAULTFD, NULL }))
		return false;
	verdict_state(cause,
		      "for %.0f %% of the faults' time threads waited for a handler of "
		      "userfaultfd, which must bring each page",
		      100 * cause->weight);
	if (row)
		state_handler(cause, row);
	else
		verdict_add(cause, ".");
	if (row && row->queue_ns > row->work_ns)
		verdict_advise(
			cause,
			"more threads that read and answer faults (%u did), each with a CPU; "
			"UFFDIO_COPY of many pages at once, so that there are fewer faults.",
			row->threads);
	else if (row && row->work_ns)
		verdict_advise(cause,
			       "perf trace -p %" PRIu32 " shows the handler's calls for a page; "
			       "UFFDIO_COPY of many pages at once, also of those that are needed "
			       "next; UFFDIO_CONTINUE and UFFDIO_MOVE save the copy.",
			       row->pid);
	else
		verdict_advise(cause,
			       "more handler threads; UFFDIO_COPY of many pages at once, also of "
			       "those that are needed next; top -H shows if the handler has a CPU "
			       "to itself.");
	return true;
}
