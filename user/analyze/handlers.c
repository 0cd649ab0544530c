// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joins each wait for a handler with the handler's read of a fault on the same page of the same
 * process. Two threads may wait for one page; the first read after the start of a wait counts,
 * because the handler knows the page from then on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/handlers.h"
#include "fields/tables.h"

static bool handler_is_known(const struct report *run __attribute__((unused)), const void *object)
{
	return ((const struct handler_row *)object)->pid;
}

static const struct field handler_rows[] = {
	FIELD(NONZERO, handler_row, pid, "null: the handler is not known."),
	FIELD(TEXT, handler_row, name, NULL, .known = handler_is_known),
	FIELD(COUNT, handler_row, threads, "Threads that read faults, at most 64.",
	      .known = handler_is_known),
	FIELD(COUNT, handler_row, reads, "Faults that the handler read."),
	FIELD(COUNT, handler_row, waits, NULL),
	FIELD(COUNT, handler_row, total_ns, NULL),
	FIELD(COUNT, handler_row, max_ns, NULL),
	FIELD(COUNT, handler_row, queue_ns, "Until the handler read a fault on the page."),
	FIELD(COUNT, handler_row, work_ns, "From this read until the page was there."),
	FIELD(COUNT, handler_row, unread,
	      "Waits without a recorded read: another answer brought the page, or the event is "
	      "missing."),
	FIELD(COUNT, handler_row, unread_ns, NULL),
};

const struct fields handler_fields =
	FIELDS("handler",
	       "A process that answers faults by userfaultfd. total_ns = queue_ns + work_ns + "
	       "unread_ns.",
	       handler_row, handler_rows);

void handlers_exit(struct handlers *handlers)
{
	free(handlers->reads);
	handlers->reads = NULL;
}

/* Returns the number of rows if there is none. */
static unsigned int handlers_index(const struct handlers *handlers, uint32_t pid)
{
	unsigned int i;

	for (i = 0; i < handlers->figures.nr; i++)
		if (handlers->figures.rows[i].pid == pid)
			break;
	return i;
}

/* NULL: there are too many handlers. */
static struct handler_row *handlers_row(struct handlers *handlers, uint32_t pid)
{
	struct handlers_figures *figures = &handlers->figures;
	const unsigned int i = handlers_index(handlers, pid);

	if (i < figures->nr)
		return &figures->rows[i];
	/* One place is kept for the handler that is not known. */
	if (i == HANDLERS_MAX || (pid && i == HANDLERS_MAX - 1))
		return NULL;
	figures->rows[i].pid = pid;
	figures->nr++;
	return &figures->rows[i];
}

static void handlers_add_thread(struct handlers *handlers, struct handler_row *row, uint32_t tid)
{
	uint32_t *threads = handlers->threads[row - handlers->figures.rows];
	unsigned int i;

	for (i = 0; i < row->threads; i++)
		if (threads[i] == tid)
			return;
	if (i < HANDLERS_THREADS)
		threads[row->threads++] = tid;
}

int handlers_add_read(struct handlers *handlers, const struct pfstat_userfault *read)
{
	struct handler_row *row = handlers_row(handlers, read->event.pid);

	if (!handlers->reads)
		handlers->reads = calloc(HANDLERS_READS, sizeof(*handlers->reads));
	if (!handlers->reads)
		return -ENOMEM;
	handlers->reads[handlers->nr_reads++ % HANDLERS_READS] = (struct handler_read){
		.ns = read->event.ns,
		.address = read->address,
		.target = read->target,
		.pid = read->event.pid,
		.tid = read->event.tid,
	};
	if (!row)
		return 0;
	memcpy(row->name, read->comm, sizeof(row->name));
	row->reads++;
	handlers_add_thread(handlers, row, read->event.tid);
	return 0;
}

/* The newest of the kept reads is number 0. NULL: there are no more. */
static const struct handler_read *handlers_read_at(const struct handlers *handlers, uint64_t number)
{
	if (number >= handlers->nr_reads || number >= HANDLERS_READS)
		return NULL;
	return &handlers->reads[(handlers->nr_reads - 1 - number) % HANDLERS_READS];
}

/*
 * Returns the first read of a fault on the page before the span's end. The handler may read the
 * fault before the thread sleeps, also while the thread is preempted on its way to sleep. So the
 * search starts at the end of the fault's previous wait for a handler, or else at the fault's
 * start. NULL: not known.
 */
static const struct handler_read *handlers_find_read(const struct handlers *handlers,
						     const struct explained *fault,
						     const struct explain_span *span)
{
	const uint64_t page = fault->address / handlers->page_bytes;
	const struct explain_span *previous = span;
	const struct handler_read *read, *first = NULL;
	uint64_t from_ns, i;

	while (previous > fault->spans && previous[-1].part != PART_HANDLER)
		previous--;
	from_ns = previous > fault->spans ? previous[-1].to_ns : fault->start_ns;
	for (i = 0; (read = handlers_read_at(handlers, i)) && read->ns >= from_ns; i++)
		if (read->ns < span->to_ns && read->target == fault->pid &&
		    read->address / handlers->page_bytes == page)
			first = read;
	return first;
}

/* The process whose thread ended a sleep; 0: that thread has read no fault lately. */
static uint32_t handlers_pid_of(const struct handlers *handlers, uint32_t tid)
{
	const struct handler_read *read;
	uint64_t i;

	for (i = 0; tid && (read = handlers_read_at(handlers, i)); i++)
		if (read->tid == tid)
			return read->pid;
	return 0;
}

/* Returns the process that brought the page, 0 if not known. @read: this wait's read, or NULL */
static uint32_t handlers_pid(const struct handlers *handlers, const struct explain_span *span,
			     const struct handler_read *read)
{
	return read ? read->pid : handlers_pid_of(handlers, span->waker);
}

const struct handler_row *handlers_find(const struct handlers *handlers,
					const struct explained *fault,
					const struct explain_span *span)
{
	const uint32_t pid =
		handlers_pid(handlers, span, handlers_find_read(handlers, fault, span));
	const unsigned int i = handlers_index(handlers, pid);

	return pid && i < handlers->figures.nr ? &handlers->figures.rows[i] : NULL;
}

static void handlers_add_wait(struct handlers *handlers, const struct explain_span *span,
			      const struct handler_read *read)
{
	const uint64_t ns = span->to_ns - span->from_ns;
	const uint32_t pid = handlers_pid(handlers, span, read);
	struct handler_row *row = handlers_row(handlers, pid) ?: handlers_row(handlers, 0);
	uint64_t queue_ns;

	row->waits++;
	row->total_ns += ns;
	if (ns > row->max_ns)
		row->max_ns = ns;
	if (!read) {
		row->unread++;
		row->unread_ns += ns;
		return;
	}
	queue_ns = item_elapsed(span->from_ns, read->ns);
	row->queue_ns += queue_ns;
	row->work_ns += ns - queue_ns;
}

void handlers_add_fault(struct handlers *handlers, const struct explained *fault)
{
	const struct explain_span *span = fault->spans;

	if (!fault->parts_ns[PART_HANDLER])
		return;
	for (; span < fault->spans + fault->nr_spans; span++)
		if (span->part == PART_HANDLER)
			handlers_add_wait(handlers, span,
					  handlers_find_read(handlers, fault, span));
}

static int handlers_compare(const void *a, const void *b)
{
	const struct handler_row *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return left->pid < right->pid ? -1 : left->pid > right->pid;
}

void handlers_figures(const struct handlers *handlers, struct handlers_figures *figures)
{
	*figures = handlers->figures;
	qsort(figures->rows, figures->nr, sizeof(figures->rows[0]), handlers_compare);
}
