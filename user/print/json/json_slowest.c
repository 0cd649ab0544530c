// SPDX-License-Identifier: GPL-2.0-only
/*
 * The long faults in JSON, and the longest ones: each with parts, off-CPU intervals, requests, and
 * the process's calls meanwhile. Figures the source cannot have are null.
 */
#include <stdlib.h>

#include "fields/tables.h"
#include "model/call_kind.h"
#include "print/json/json_parts.h"
#include "util/json_value.h"

/* One fault with place, longest part, and longest sleep. */
struct long_row {
	struct longest_fault fault;
	struct longest_names names;
	const char *class;
	bool kernel;
};

static struct long_row long_row_of(const struct longest_fault *fault,
				   const struct longest_names *names)
{
	return (struct long_row){ *fault, *names, fault_class_name(fault->class),
				  !(fault->flags & PFSTAT_FLAG_USER) };
}

FIELD_FUNCTION(json_t *, long_part_name, long_row, json_string(part_name(it->fault.part)))
FIELD_FUNCTION(json_t *, long_functions, long_row, json_functions(it->names.functions ?: ""))
FIELD_FUNCTION(bool, long_has_file, long_row, it->fault.inode)
FIELD_FUNCTION(bool, long_has_ip, long_row, it->fault.ip)
FIELD_FUNCTION(bool, long_has_parts, long_row, it->fault.parts_known)
FIELD_FUNCTION(bool, long_has_wait, long_row, it->fault.wait)
FIELD_FUNCTION(bool, long_is_solved, long_row, it->fault.solved)

static const struct field long_part_rows[] = {
	FIELD_OF_ALL("name", MADE, NULL, .make = long_part_name),
	FIELD_AS("total_ns", COUNT, long_row, fault.part_ns, NULL),
};

static const struct fields long_part_fields =
	FIELDS("longest_part", NULL, long_row, long_part_rows);

static const struct field long_wait_rows[] = {
	FIELD_AS("cause", POINTER, long_row, names.cause, "As in waits."),
	FIELD_OF_ALL("functions", MADE, "As in waits.", .make = long_functions,
		     .definition = "functions"),
	FIELD_AS("total_ns", COUNT, long_row, fault.wait_ns, NULL),
};

static const struct fields long_wait_fields =
	FIELDS("longest_wait", NULL, long_row, long_wait_rows);

/* Also for a struct that begins with a long_row. */
#define LONG_ROWS                                                                                 \
	FIELD_AS("start_ns", COUNT, long_row, fault.start_ns, "CLOCK_MONOTONIC."),                \
		FIELD_AS("duration_ns", COUNT, long_row, fault.duration_ns,                       \
			 "All its attempts, and the time between them."),                         \
		FIELD_AS("pid", COUNT, long_row, fault.pid, NULL),                                \
		FIELD_AS("tid", COUNT, long_row, fault.tid, NULL),                                \
		FIELD_AS("thread", TEXT, long_row, names.thread,                                  \
			 "Its name then; null: not known."),                                      \
		FIELD(STRING, long_row, class, NULL),                                             \
		FIELD_AS("file", POINTER, long_row, names.file, "As in groups by file."),         \
		FIELD_AS("mapping", POINTER, long_row, names.mapping,                             \
			 "The mapping's path, or the kernel's name; null: none, or not known."),  \
		FIELD_AS("inode", WIDE, long_row, fault.inode,                                    \
			 "64 bits, as in groups; null: no file.", .known = long_has_file),        \
		FIELD_AS("dev", COUNT, long_row, fault.dev, NULL, .known = long_has_file),        \
		FIELD_AS("page", COUNT, long_row, fault.pgoff, "The page number in the file.",    \
			 .known = long_has_file),                                                 \
		FIELD_AS("address", WIDE, long_row, fault.address, NULL),                         \
		FIELD_AS("code", POINTER, long_row, names.code, "As in groups by code."),         \
		FIELD_AS("ip", WIDE, long_row, fault.ip, "The code's address; null: not known.",  \
			 .known = long_has_ip),                                                   \
		FIELD_AS("major", FLAG, long_row, fault.major, "null: it was not solved.",        \
			 .known = long_is_solved),                                                \
		FIELD_AS("solved", FLAG, long_row, fault.solved, NULL),                           \
		FIELD_OF_ALL("part", OBJECT,                                                      \
			     "The part with most time; null: the parts are not known.",           \
			     .of = &long_part_fields, .known = long_has_parts),                   \
		FIELD_OF_ALL("wait", OBJECT,                                                      \
			     "The kernel stack with which it slept longest; null: not known, or " \
			     "no sleep.",                                                         \
			     .of = &long_wait_fields, .known = long_has_wait),                    \
		FIELD(FLAG, long_row, kernel,                                                     \
		      "The kernel took it, in a system call or in get_user_pages().")

static const struct field longest_fault_rows[] = { LONG_ROWS };

const struct fields longest_fault_fields =
	FIELDS("longest_fault", NULL, long_row, longest_fault_rows);

static json_t *tail_longest(const struct report *run, const void *object)
{
	const struct fault_tail *tail = object;
	const struct long_row row = long_row_of(&tail->longest, &run->longest);

	return tail->longest.duration_ns ? json_fields(&longest_fault_fields, run, &row) :
					   json_null();
}

FIELD_FUNCTION(json_t *, tail_at_least, fault_tail, value_count(FAULT_TAIL_NS))

static const struct field tail_rows[] = {
	FIELD_OF_ALL("at_least_ns", MADE, "The least time that such a fault takes.",
		     .make = tail_at_least, .definition = "count"),
	FIELD(COUNT, fault_tail, count, NULL),
	FIELD(COUNT, fault_tail, total_ns, NULL),
	FIELD_OF_ALL("longest", MADE, "The longest fault, even if it took less; null: no fault.",
		     .make = tail_longest, .definition = "longest_fault", .or_null = true),
};

const struct fields tail_fields = FIELDS("tail", "The long faults.", fault_tail, tail_rows);

json_t *json_tail(const struct report *run)
{
	return json_fields(&tail_fields, run, &run->evidence.tail);
}

static json_t *slow_part_ns(const struct report *run, const void *object, unsigned int part)
{
	const struct explained *fault = object;

	return value_count_if(view_part_known(run, part), fault->parts_ns[part]);
}

static const struct fields slow_parts_fields = {
	.name = "slow_parts",
	.about = "ns.",
	.nr_words = NR_PARTS,
	.word = part_name,
	.each = slow_part_ns,
	.definition = "count_or_null",
};

struct slow_interval {
	uint64_t start_ns, duration_ns, cpu_task_ran_ns;
	const char *part, *waker_thread, *cause, *functions, *cpu_task_name;
	bool on_cpu, has_cpu_task;
	uint32_t waker, waker_doing, cpu_task;
};

FIELD_FUNCTION(json_t *, slow_waker_call, slow_interval, json_waker_call(run, it->waker_doing))
FIELD_FUNCTION(json_t *, slow_functions, slow_interval, json_functions(it->functions))
FIELD_FUNCTION(bool, slow_has_cpu_task, slow_interval, it->has_cpu_task)

static const struct field slow_interval_rows[] = {
	FIELD(COUNT, slow_interval, start_ns, "CLOCK_MONOTONIC."),
	FIELD(COUNT, slow_interval, duration_ns, NULL),
	FIELD(STRING, slow_interval, part, NULL),
	FIELD(FLAG, slow_interval, on_cpu, "On the CPU, in reclaim."),
	FIELD(NONZERO, slow_interval, waker,
	      "The thread that ended the sleep; null: not known, or not a thread."),
	FIELD(POINTER, slow_interval, waker_thread, "Its name; null: not a recorded thread."),
	FIELD_OF_ALL("waker_call", MADE, "The waker's system call; null: none, or not known.",
		     .make = slow_waker_call, .definition = "text_or_null"),
	FIELD(POINTER, slow_interval, cause,
	      "The cause that the kernel stack shows; null: not known."),
	FIELD(MADE, slow_interval, functions,
	      "The kernel stack, innermost first; empty: not known.", .make = slow_functions,
	      .definition = "functions"),
	FIELD(COUNT, slow_interval, cpu_task,
	      "The process that had the CPU longest during a wait for it; null: not known.",
	      .known = slow_has_cpu_task),
	FIELD(POINTER, slow_interval, cpu_task_name, "Its name."),
	FIELD(NONZERO, slow_interval, cpu_task_ran_ns,
	      "It had the CPU for at least so long in the interval; null: not known."),
};

static const struct fields slow_interval_fields =
	FIELDS("slow_interval", "An interval of a fault.", slow_interval, slow_interval_rows);

static struct slow_interval slow_interval_of(const struct report_slow *row, unsigned int i)
{
	const struct explain_span *span = &row->slow->fault.spans[i];
	const struct wait_row *wait = row->names.waits[i];
	const struct cpu_task_row *task = row->names.tasks[i];

	return (struct slow_interval){
		.start_ns = span->from_ns,
		.duration_ns = span->to_ns - span->from_ns,
		.cpu_task_ran_ns = span->task_ran_ns,
		.part = part_name(span->part),
		.waker_thread = slow_fault_thread(row->slow, span->waker),
		.cause = wait ? wait->cause : NULL,
		.functions = wait ? wait->functions : "",
		.cpu_task_name = task ? task->comm : NULL,
		.on_cpu = span->on_cpu,
		.has_cpu_task = task,
		.waker = span->waker,
		.waker_doing = span->waker_doing,
		.cpu_task = task ? task->pid : 0,
	};
}

struct slow_request {
	struct pfstat_block block;
	uint64_t queue_ns, device_ns;
	uint32_t in_flight;
	const char *file;
	bool has_file, write, readahead, swap, error;
};

FIELD_FUNCTION(bool, slow_request_has_file, slow_request, it->has_file)

static const struct field slow_request_rows[] = {
	FIELD_AS("start_ns", COUNT, slow_request, block.insert_ns,
		 "CLOCK_MONOTONIC, entry into the queue."),
	FIELD(COUNT, slow_request, queue_ns, "null without eBPF's hook for it.",
	      .needs = 1U << HOOK_BLOCK_INSERT),
	FIELD(COUNT, slow_request, device_ns, "From its issue to its completion."),
	FIELD(NONZERO, slow_request, in_flight,
	      "The recorded threads' requests that the disk had when this one was issued, itself "
	      "included; null: not known."),
	FIELD_AS("tid", COUNT, slow_request, block.event.tid, "The thread that submitted it."),
	FIELD_AS("bytes", COUNT, slow_request, block.bytes, NULL),
	FIELD_AS("dev", COUNT, slow_request, block.dev, "The disk, major << 20 | minor."),
	FIELD_AS("sector", WIDE, slow_request, block.sector,
		 "In units of 512 bytes; a string with digits above 2^63."),
	FIELD(POINTER, slow_request, file, "null: not a page of a file, or not known."),
	FIELD_AS("page", COUNT, slow_request, block.pgoff, NULL, .known = slow_request_has_file),
	FIELD(FLAG, slow_request, write, NULL),
	FIELD(FLAG, slow_request, readahead, NULL),
	FIELD(FLAG, slow_request, swap, NULL),
	FIELD(FLAG, slow_request, error, NULL),
};

static const struct fields slow_request_fields =
	FIELDS("slow_request", "A block device's request.", slow_request, slow_request_rows);

static struct slow_request slow_request_of(const struct report_slow *row, unsigned int i)
{
	const struct pfstat_block *block = &row->slow->fault.requests[i];
	const uint32_t flags = block->event.flags;
	const bool has_file = flags & PFSTAT_BLOCK_FILE;

	return (struct slow_request){
		.block = *block,
		.queue_ns = item_elapsed(block->insert_ns, block->issue_ns),
		.device_ns = item_elapsed(block->issue_ns, block->event.ns),
		.in_flight = row->slow->in_flight[i],
		.file = has_file ? row->names.files[i] ?: row->names.place.file : NULL,
		.has_file = has_file,
		.write = flags & PFSTAT_BLOCK_WRITE,
		.readahead = flags & PFSTAT_BLOCK_READAHEAD,
		.swap = flags & PFSTAT_BLOCK_SWAP,
		.error = flags & PFSTAT_BLOCK_ERROR,
	};
}

struct slow_call {
	const char *call, *thread;
	char detail[128];
	uint32_t tid;
	uint64_t start_ns, duration_ns, shared_ns;
};

static const struct field slow_call_rows[] = {
	FIELD(STRING, slow_call, call, NULL),
	FIELD(TEXT, slow_call, detail, "The advice or flags."),
	FIELD(COUNT, slow_call, tid, NULL),
	FIELD(POINTER, slow_call, thread, NULL),
	FIELD(COUNT, slow_call, start_ns, "CLOCK_MONOTONIC."),
	FIELD(COUNT, slow_call, duration_ns, NULL),
	FIELD(COUNT, slow_call, shared_ns, "The time that it shares with the fault."),
};

static const struct fields slow_call_fields =
	FIELDS("slow_call", "A system call that shapes mappings.", slow_call, slow_call_rows);

static struct slow_call slow_call_of(const struct slow_fault *slow, unsigned int i)
{
	const struct pfstat_call *call = &slow->calls[i];
	struct slow_call row = {
		.call = call_kind_name(call->kind),
		.thread = slow_fault_thread(slow, call->event.tid),
		.tid = call->event.tid,
		.start_ns = call->start_ns,
		.duration_ns = item_elapsed(call->start_ns, call->event.ns),
		.shared_ns = slow_fault_shared_ns(slow, call),
	};

	call_kind_print_detail(call->kind, call_kind_detail(call), row.detail, sizeof(row.detail));
	return row;
}

struct slow_row {
	struct long_row longest; /* first, for LONG_ROWS */
	struct explained fault;
	struct evidence_cpu_wait cpu_waits[NR_CPU_WAITS];
	struct slow_interval intervals[EXPLAIN_MAX_SPANS];
	struct slow_request requests[EXPLAIN_MAX_REQUESTS];
	struct slow_call calls[SLOW_CALLS];
	unsigned int nr_calls, calls_left_out;
	bool write, more_intervals;
};

FIELD_FUNCTION(bool, slow_by_module, slow_row, !view_source_is_perf(run))
FIELD_FUNCTION(bool, slow_has_parts, slow_row, it->fault.parts_known)
FIELD_FUNCTION(bool, slow_has_cpu_waits, slow_row,
	       view_part_known(run, PART_RUNQUEUE) && !view_source_is_perf(run))
FIELD_FUNCTION(bool, slow_has_calls, slow_row, run->bpf.known && !view_source_is_perf(run))

static const struct field slow_rows[] = {
	LONG_ROWS,
	FIELD(FLAG, slow_row, write, "The access was a store; null from perf.",
	      .known = slow_by_module),
	FIELD_AS("attempts", COUNT, slow_row, fault.attempts,
		 "How often the kernel began it; null from perf.", .known = slow_by_module),
	FIELD_AS("read_bytes", COUNT, slow_row, fault.read_bytes,
		 "Reads that its thread submitted in it and that were complete at its end; null "
		 "without eBPF's hook for requests.",
		 .needs = 1U << HOOK_BLOCK),
	FIELD_AS("whole", FLAG, slow_row, fault.whole, "False: its time is only in its calls."),
	FIELD_AS("parts", OBJECT, slow_row, fault,
		 "ns in each part; they add up to duration_ns. A part that is not known is null. "
		 "null: no part is known.",
		 .of = &slow_parts_fields, .known = slow_has_parts),
	FIELD(OBJECT, slow_row, cpu_waits,
	      "Its part runqueue, by what ran on the CPU right before; null if that is not known.",
	      .of = &cpu_waits_fields, .known = slow_has_cpu_waits),
	FIELD(ARRAY, slow_row, intervals,
	      "Its time off the CPU and in reclaim, in order; null without parts.",
	      .of = &slow_interval_fields, FIELD_NR(slow_row, fault.nr_spans),
	      .known = slow_has_parts),
	FIELD(FLAG, slow_row, more_intervals, "There may be more than are listed."),
	FIELD(ARRAY, slow_row, requests,
	      "Those that it slept for; null without eBPF's hook for requests.",
	      .of = &slow_request_fields, FIELD_NR(slow_row, fault.nr_requests),
	      .needs = 1U << HOOK_BLOCK),
	FIELD_AS("more_requests", FLAG, slow_row, fault.more_requests,
		 "It slept for more than are listed."),
	FIELD(ARRAY, slow_row, calls,
	      "Calls by other threads in its process that shape mappings and overlap it, largest "
	      "share first; null without eBPF.",
	      .of = &slow_call_fields, FIELD_NR(slow_row, nr_calls), .known = slow_has_calls),
	FIELD(COUNT, slow_row, calls_left_out, NULL),
};

static const struct fields slow_fields =
	FIELDS("slow_fault",
	       "One of the longest faults. The keys up to kernel are those in tail.longest.",
	       slow_row, slow_rows);

static void slow_row_fill(struct slow_row *row, const struct report_slow *from)
{
	const struct slow_fault *slow = from->slow;
	struct longest_fault longest;
	unsigned int i;

	longest_fault_set(&longest, &slow->fault);
	row->longest = long_row_of(&longest, &from->names.place);
	row->fault = slow->fault;
	row->write = slow->fault.flags & PFSTAT_FLAG_WRITE;
	row->more_intervals = slow->fault.nr_spans == EXPLAIN_MAX_SPANS;
	row->nr_calls = slow->nr_calls;
	row->calls_left_out = slow->calls_left_out;
	for (i = 0; i < NR_CPU_WAITS; i++)
		row->cpu_waits[i] = (struct evidence_cpu_wait){ slow->fault.cpu_waits[i],
								slow->fault.cpu_waits_ns[i] };
	for (i = 0; i < slow->fault.nr_spans; i++)
		row->intervals[i] = slow_interval_of(from, i);
	for (i = 0; i < slow->fault.nr_requests; i++)
		row->requests[i] = slow_request_of(from, i);
	for (i = 0; i < slow->nr_calls; i++)
		row->calls[i] = slow_call_of(slow, i);
}

struct slowest_rows {
	uint64_t run_start_ns;
	struct slow_row *faults;
	size_t nr;
};

static const struct field slowest_fields_rows[] = {
	FIELD(KNOWN, slowest_rows, run_start_ns,
	      "CLOCK_MONOTONIC at the start of the run; null: not known."),
	FIELD(ROWS, slowest_rows, faults, "Longest first.", .of = &slow_fields,
	      FIELD_NR(slowest_rows, nr)),
};

const struct fields slowest_fields =
	FIELDS("slowest", "The longest faults: ten, or as many as --slowest requested.",
	       slowest_rows, slowest_fields_rows);

json_t *json_slowest(const struct report *run)
{
	const size_t nr = run->slowest.nr;
	const struct slowest_rows rows = { run->slowest.start_ns,
					   calloc(nr ?: 1, sizeof(struct slow_row)), nr };
	json_t *json = NULL;
	size_t i;

	if (rows.faults) {
		for (i = 0; i < nr; i++)
			slow_row_fill(&rows.faults[i], &run->slowest.rows[i]);
		json = json_fields(&slowest_fields, run, &rows);
	}
	free(rows.faults);
	return json;
}
