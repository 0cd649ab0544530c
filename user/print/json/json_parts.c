// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logical faults in JSON by class, with their time parts, requests and pages. The figures come from
 * the report. Those needing a missing eBPF hook are null.
 */
#include <math.h>

#include "fields/tables.h"
#include "print/json/json_parts.h"
#include "util/array.h"
#include "util/json_value.h"

static struct fields_run run_of(const struct report *run)
{
	return (struct fields_run){ run, run->bpf.known ? run->bpf.hooks : 0 };
}

json_t *json_fields(const struct fields *fields, const struct report *run, const void *object)
{
	const struct fields_run of = run_of(run);

	return fields_json(fields, &of, object);
}

json_t *json_fields_list(const struct fields *fields, const struct report *run, const void *objects,
			 size_t nr)
{
	const struct fields_run of = run_of(run);

	return fields_json_list(fields, &of, objects, nr);
}

/* COUNT_NA and NAN: not known. */
struct times_row {
	uint64_t total_ns, p50_ns, p99_ns, p999_ns, p9999_ns, max_ns;
	double mean_ns;
};

/* @known: the part can be measured. A part that no fault has gets a total, and the rest is null. */
static struct times_row times_of(const struct part_figures *figures, uint64_t count, bool known)
{
	struct times_row row = { COUNT_NA, COUNT_NA, COUNT_NA, COUNT_NA, COUNT_NA, COUNT_NA, NAN };

	if (known)
		row.total_ns = figures->total_ns;
	if (known && count)
		row = (struct times_row){ figures->total_ns,
					  figures->p50_ns,
					  figures->p99_ns,
					  figures->p999_ns,
					  figures->p9999_ns,
					  figures->max_ns,
					  view_share(figures->total_ns, count) };
	return row;
}

/* Also for a struct that begins with a times_row. */
#define TIMES_ROWS                                                                                 \
	FIELD(KNOWN, times_row, total_ns, NULL),                                                   \
		FIELD(REAL, times_row, mean_ns,                                                    \
		      "Over all faults in the class; null when there was none."),                  \
		FIELD(KNOWN, times_row, p50_ns,                                                    \
		      "Median by nearest rank, from 0 to 0.1 % too much; faults without the part " \
		      "count as 0."),                                                              \
		FIELD(KNOWN, times_row, p99_ns, "99th percentile, likewise."),                     \
		FIELD(KNOWN, times_row, p999_ns,                                                   \
		      "99.9th percentile, likewise; null with fewer than 1000 faults."),           \
		FIELD(KNOWN, times_row, p9999_ns,                                                  \
		      "99.99th percentile, likewise; null with fewer than 10000 faults."),         \
		FIELD(KNOWN, times_row, max_ns, "Longest, exact.")

static const struct field times_rows[] = { TIMES_ROWS };

static const struct fields times_fields =
	FIELDS("times", "A part of the faults' time.", times_row, times_rows);

struct part_times {
	struct times_row times; /* first, for TIMES_ROWS */
	uint64_t faults;
};

static const struct field part_times_rows[] = {
	TIMES_ROWS,
	FIELD(KNOWN, part_times, faults, "How many faults in the class had some of the part."),
};

static const struct fields part_times_fields =
	FIELDS("part_times", "A part of the faults' time.", part_times, part_times_rows);

struct faults_row {
	struct times_row times; /* first, for TIMES_ROWS */
	uint64_t count, major, unsolved, calls_only, pages;
	struct part_times parts[NR_PARTS];
};

#define PART_ROW(name, part, about) \
	FIELD_AS(name, OBJECT, faults_row, parts[PART_##part], about, .of = &part_times_fields)

static const struct field fault_parts_rows[] = {
	PART_ROW(
		"cpu_before", CPU_BEFORE,
		"On the CPU in file operations, before the fault's first sleep or reclaim; without "
		"a call, all CPU time before that."),
	PART_ROW("queue", QUEUE, "Asleep while the awaited request was in the queue."),
	PART_ROW("device", DEVICE, "Asleep while that request was at the device."),
	PART_ROW("completion", COMPLETION,
		 "Asleep, from the end of the last such request to the wake-up: decryption, "
		 "decompression, verification."),
	PART_ROW("foreign", FOREIGN,
		 "Asleep in I/O wait, without a request by the program: another process's read, or "
		 "writeback."),
	PART_ROW("blocked", BLOCKED,
		 "Asleep, not in I/O wait: uninterruptibly, or with a kernel stack whose cause is "
		 "known. Called lock before. It includes sleeps in reclaim if the part reclaim is "
		 "null. It includes waits for a userfaultfd handler if the part handler is null."),
	PART_ROW("handler", HANDLER,
		 "Asleep until a userfaultfd handler resolved the fault, by the kernel stack."),
	PART_ROW("reclaim", RECLAIM, "On the CPU or asleep, in direct reclaim or compaction."),
	PART_ROW("asleep", ASLEEP,
		 "Asleep for a reason that perf does not report, with the wait for a CPU after the "
		 "wake-up. 0 from eBPF, which reports the reason."),
	PART_ROW("runqueue", RUNQUEUE, "Woken or preempted, and not yet running."),
	PART_ROW("cpu_after", CPU_AFTER,
		 "On the CPU in file operations, after the fault's first sleep or reclaim; without "
		 "a call, all CPU time after that."),
	PART_ROW("mm", MM,
		 "On the CPU in the memory manager, outside the calls: private copy, charge and "
		 "allocation, page tables, throttled writers. 0 for faults without a call; null if "
		 "no item describes handle_mm_fault()."),
	PART_ROW("residue", RESIDUE, "Time that nothing explains."),
};

_Static_assert(ARRAY_SIZE(fault_parts_rows) == NR_PARTS, "a part has no row");

static const struct fields fault_parts_fields =
	FIELDS("fault_parts",
	       "They add up to total_ns. A part without its eBPF hook is null throughout; its time "
	       "is then in another, or in none. From perf, queue, device, completion and foreign "
	       "are null; blocked and handler without the kernel's stacks; reclaim without root.",
	       faults_row, fault_parts_rows);

static const struct field faults_rows[] = {
	TIMES_ROWS,
	FIELD(KNOWN, faults_row, count, NULL),
	FIELD(KNOWN, faults_row, major, "As the kernel counts majflt."),
	FIELD(KNOWN, faults_row, unsolved,
	      "In count: faults that ended in an error, or the next call never came."),
	FIELD(KNOWN, faults_row, calls_only,
	      "In count: faults with only the time in their calls and between them, because no "
	      "item describes their handle_mm_fault(). null from perf."),
	FIELD(KNOWN, faults_row, pages,
	      "Mapped pages, as far as known, without the other pages that fault-around mapped. "
	      "null from perf."),
	FIELD_OF_ALL("parts", OBJECT, NULL, .of = &fault_parts_fields),
};

static const struct fields faults_fields =
	FIELDS("faults", "Logical faults in one class.", faults_row, faults_rows);

static struct faults_row faults_of(const struct report *run, const struct fault_figures *faults,
				   bool known)
{
	/* perf has no calls, and does not report the size of a mapped folio. */
	const bool has_calls = known && !view_source_is_perf(run);
	struct faults_row row = {
		.times = times_of(&faults->whole, faults->count, known),
		.count = known ? faults->count : COUNT_NA,
		.major = known ? faults->major : COUNT_NA,
		.unsolved = known ? faults->unsolved : COUNT_NA,
		.calls_only = has_calls ? faults->calls_only : COUNT_NA,
		.pages = has_calls ? faults->pages : COUNT_NA,
	};
	const struct part_figures *figures = faults->parts;
	enum part part;
	bool seen;

	for (part = 0; part < NR_PARTS; part++, figures++) {
		seen = known && view_part_known(run, part);
		row.parts[part] = (struct part_times){ times_of(figures, faults->count, seen),
						       seen ? figures->faults : COUNT_NA };
	}
	return row;
}

struct parts_row {
	bool known, cpu_at_most;
	double residue_share;
	struct faults_row classes[NR_FAULT_CLASSES], all;
};

#define CLASS_ROW(name, class_, about) \
	FIELD_AS(name, OBJECT, parts_row, classes[FAULT_##class_], about, .of = &faults_fields)

static const struct field fault_classes_rows[] = {
	CLASS_ROW("disk", DISK, "Had to start a read."),
	CLASS_ROW("wait", WAIT, "Met a page that another thread was reading."),
	CLASS_ROW("readahead", READAHEAD, "Met the readahead mark, submitted more."),
	CLASS_ROW("short", SHORT, "A retry whose first call was lost."),
	CLASS_ROW("long", LONG, "Solved from the page cache."),
	CLASS_ROW("around", AROUND, "Solved by fault-around (map_pages)."),
	CLASS_ROW("mkwrite", MKWRITE, "A page becomes writable."),
	CLASS_ROW("pass", PASS, "Its next call never came."),
	CLASS_ROW("error", ERROR, "SIGBUS, out of memory, poisoned page."),
	CLASS_ROW("lock", LOCK, "Came back for an up-to-date page that another thread had locked."),
	CLASS_ROW("raced", RACED, "Mapped no page: another thread had mapped one meanwhile."),
	CLASS_ROW("file", FILE, "A file operation that the module does not wrap."),
	CLASS_ROW("anon", ANON, "A new anonymous page."),
	CLASS_ROW("swap", SWAP, "A page that was swapped out, or is migrating."),
	CLASS_ROW("cow", COW, "A private page is copied."),
	CLASS_ROW("other", OTHER,
		  "Solved by another thread meanwhile, a NUMA balancing hint, a huge page."),
	CLASS_ROW(
		"again", AGAIN,
		"perf: a page that the process, or its parent before a fork, had faulted before."),
};

_Static_assert(ARRAY_SIZE(fault_classes_rows) == NR_FAULT_CLASSES, "a class has no row");

static const struct fields fault_classes_fields =
	FIELDS("fault_classes",
	       "By the class of the first call that is not a pass, or by the reason for "
	       "handle_mm_fault(). Classes without their eBPF hook are null throughout; from perf, "
	       "all but file, anon, again and other.",
	       parts_row, fault_classes_rows);

static const struct field parts_rows[] = {
	FIELD(FLAG, parts_row, known,
	      "false: without eBPF and perf there are no parts, all are null."),
	FIELD(FLAG, parts_row, cpu_at_most,
	      "true: events were lost, so time off the CPU may count as cpu_before or cpu_after, "
	      "and residue_share is a lower bound."),
	FIELD(REAL, parts_row, residue_share,
	      "The residue's share in the faults' time, from 0 to 1; null without parts or "
	      "faults."),
	FIELD_OF_ALL("classes", OBJECT, NULL, .of = &fault_classes_fields),
	FIELD(OBJECT, parts_row, all, "All classes as one.", .of = &faults_fields),
};

const struct fields parts_fields =
	FIELDS("parts",
	       "Logical faults, and the parts of their time: from the start of the first call to "
	       "the end of the last.",
	       parts_row, parts_rows);

json_t *json_parts(const struct report *run)
{
	struct parts_row row = {
		.known = run->faults.parts_known,
		.cpu_at_most = view_cpu_at_most(run),
		.residue_share = view_residue_share(run),
		.all = faults_of(run, &run->faults.all, true),
	};
	enum fault_class i;

	for (i = 0; i < NR_FAULT_CLASSES; i++)
		row.classes[i] = faults_of(run, &run->faults.classes[i], view_class_known(run, i));
	return json_fields(&parts_fields, run, &row);
}

struct requests_row {
	struct block_figures blocks;
	struct times_row queue, device;
};

static const struct field requests_rows[] = {
	FIELD_AS("reads", COUNT, requests_row, blocks.reads, NULL),
	FIELD_AS("writes", COUNT, requests_row, blocks.writes, NULL),
	FIELD_AS("errors", COUNT, requests_row, blocks.errors, "Failed reads and writes."),
	FIELD_AS("bytes_read", COUNT, requests_row, blocks.bytes_read, NULL),
	FIELD_AS("bytes_written", COUNT, requests_row, blocks.bytes_written, NULL),
	FIELD(OBJECT, requests_row, queue,
	      "Reads: from their insertion into the queue until the driver had them.",
	      .of = &times_fields),
	FIELD(OBJECT, requests_row, device, "Reads: from there to their completion.",
	      .of = &times_fields),
};

const struct fields requests_fields =
	FIELDS("requests", "Requests to block devices.", requests_row, requests_rows);

json_t *json_requests(const struct report *run)
{
	const struct block_figures *blocks = &run->blocks;
	const struct requests_row row = {
		*blocks,
		times_of(&blocks->queue, blocks->reads, view_has_hook(run, HOOK_BLOCK_INSERT)),
		times_of(&blocks->device, blocks->reads, true),
	};

	return view_has_hook(run, HOOK_BLOCK) ? json_fields(&requests_fields, run, &row) :
						json_null();
}
