// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executes each row's operations once more as the target of a measurement without an analysis.
 * Counts come from eBPF maps, read before and after each timed part. The fault-handling calls come
 * from the events. Both go into the rows, and decide whether a row's claim holds.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suite/suite.h"
#include "bench/suite/vma_lock.h"
#include "bench/suite/witness.h"
#include "report/view.h"
#include "run/measurement.h"
#include "util/array.h"
#include "util/time_ns.h"
#include "util/why.h"

#define MOST_OPERATIONS 1000 /* in a watched run: the rings must hold their events */
#define ATTEMPTS	3    /* runs, until one loses no event */
#define MOST_POINTS	16   /* more make a sweep, whose points all have the same events */

/* The worker's calls and switches at the edges of a timed part: see worker.c and operation.c. */
#define EDGE_CALLS    6 /* read(2), which lets it go on, four times getrusage(2), and write(2) */
#define EDGE_SWITCHES 1 /* by this read(2) */

/* A fault-handling call, from a fault source record or an eBPF event. */
struct witness_call {
	uint64_t start_ns, duration_ns;
	bool is_record;
	bool last;     /* no other call for this fault follows */
	bool vma_lock; /* under the VMA's lock, not under mmap_lock */
};

/* eBPF counts so far, or between two readings. */
struct witness_tally {
	uint64_t switches, syscalls, faults, major, lost;
	uint64_t fault_ns;
	uint64_t records_lost;
};

/* A timed part for a row. */
struct witness_interval {
	const struct bench_row *row;
	uint64_t start_ns, end_ns;
};

struct witness {
	struct bench_results *results;
	struct measurement measurement;
	struct result result;	    /* only the counters */
	bool vma_locks;		    /* this kernel has per-VMA locks */
	bool module_faults;	    /* the module counted all faults, not eBPF */
	struct witness_call *calls; /* of the collector's thread until the measurement stops */
	size_t nr_calls, room;
	struct witness_interval *intervals;
	size_t nr_intervals;
	uint64_t *fault_ns; /* each row's time in handle_mm_fault(), by the module or eBPF */
};

/* A store to an already mapped page has a separate call, which solves no fault. */
static bool witness_solves_fault(const struct pfstat_record *record)
{
	return record->op != PFSTAT_OP_PAGE_MKWRITE && record->op != PFSTAT_OP_PFN_MKWRITE &&
	       record->class != PFSTAT_CLASS_PASS && !(record->result & PFSTAT_RESULT_RETRY);
}

static struct witness_call witness_call_of_record(const struct pfstat_record *record)
{
	return (struct witness_call){
		.start_ns = record->start_ns,
		.duration_ns = record->duration_ns,
		.is_record = true,
		.last = witness_solves_fault(record),
		.vma_lock = record->flags & PFSTAT_FLAG_VMA_LOCK,
	};
}

static struct witness_call witness_call_of_fault(const struct pfstat_fault *fault)
{
	return (struct witness_call){
		.start_ns = fault->start_ns,
		.duration_ns = fault->event.ns - fault->start_ns,
		.last = fault->outcome == PFSTAT_OUTCOME_MINOR ||
			fault->outcome == PFSTAT_OUTCOME_MAJOR,
		.vma_lock = fault->fault_flags & PFSTAT_FLAG_VMA_LOCK,
	};
}

static int witness_add_call(struct witness *witness, const struct witness_call *call)
{
	if (array_reserve((void **)&witness->calls, witness->nr_calls, &witness->room,
			  sizeof(*call)))
		return -ENOMEM;
	witness->calls[witness->nr_calls++] = *call;
	return 0;
}

static int witness_observe(void *context, const struct item *item)
{
	struct witness_call call;

	if (item->type == ITEM_RECORD)
		call = witness_call_of_record(item->record);
	else if (item->type == ITEM_EVENT && item->event->type == PFSTAT_EVENT_FAULT)
		call = witness_call_of_fault((const struct pfstat_fault *)item->event);
	else
		return 0;
	return witness_add_call(context, &call);
}

static void witness_add_faults(struct witness_tally *tally, const struct run_counters *counters)
{
	const struct pfstat_fault_value *value;
	unsigned int kind, origin, outcome;

	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++)
		for (origin = 0; origin < PFSTAT_NR_ORIGINS; origin++)
			for (outcome = 0; outcome < PFSTAT_NR_OUTCOMES; outcome++) {
				value = &counters->faults[PFSTAT_FAULT_INDEX(kind, origin,
									     outcome)];
				tally->fault_ns += value->total_ns;
				if (outcome == PFSTAT_OUTCOME_MAJOR)
					tally->major += value->count;
				if (outcome == PFSTAT_OUTCOME_MAJOR ||
				    outcome == PFSTAT_OUTCOME_MINOR)
					tally->faults += value->count;
			}
}

static int witness_look(struct witness *witness, struct witness_tally *tally)
{
	struct run_counters counters;
	uint64_t events;
	size_t i;
	int err;

	*tally = (struct witness_tally){ 0 };
	run_counters_init(&counters);
	err = instruments_counts(witness->measurement.instruments, &counters);
	if (!err) {
		witness->module_faults = counters.module_faults;
		tally->switches = counters.counts[PFSTAT_COUNT_OFF_CPU];
		tally->lost = run_counters_events_lost(&counters) +
			      counters.counts[PFSTAT_COUNT_SYSCALL_LOST];
		for (i = 0; i < counters.nr_syscalls; i++)
			tally->syscalls += counters.syscalls[i].value.count;
		witness_add_faults(tally, &counters);
		instruments_lost(witness->measurement.instruments, &tally->records_lost, &events);
	}
	run_counters_exit(&counters);
	return err;
}

static void witness_add_difference(struct witness_tally *sum, const struct witness_tally *before,
				   const struct witness_tally *after)
{
	sum->switches += after->switches - before->switches;
	sum->syscalls += after->syscalls - before->syscalls;
	sum->faults += after->faults - before->faults;
	sum->major += after->major - before->major;
	sum->fault_ns += after->fault_ns - before->fault_ns;
	sum->lost += after->lost - before->lost + after->records_lost - before->records_lost;
}

/* Subtracts the worker's own calls at the edges. An unfinished call is not counted. */
static uint64_t witness_inside(uint64_t count, uint64_t edges)
{
	return count > edges ? count - edges : 0;
}

static void witness_fill_seen(struct bench_seen *seen, const struct witness_tally *tally,
			      const struct measured *measured, uint64_t n)
{
	enum bench_event event;

	*seen = (struct bench_seen){
		.operations = n,
		.watched_ns = measured->ns[0],
		.lost = tally->lost,
		.mmap_lock_share = NAN,
	};
	/* Lost events are missing from unknown counts, so all counts are n/a. */
	if (tally->lost) {
		for (event = 0; event < BENCH_NR_EVENTS; event++)
			seen->counts.event[event] = COUNT_NA;
		return;
	}
	seen->counts.event[BENCH_SYSCALLS] =
		witness_inside(tally->syscalls, EDGE_CALLS * measured->brackets);
	seen->counts.event[BENCH_SWITCHES] =
		witness_inside(tally->switches, EDGE_SWITCHES * measured->brackets);
	seen->counts.event[BENCH_FAULTS] = tally->faults;
	seen->counts.event[BENCH_MAJOR] = tally->major;
}

static int witness_add_interval(struct witness *witness, const struct witness_interval *interval)
{
	struct witness_interval *grown =
		reallocarray(witness->intervals, witness->nr_intervals + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	witness->intervals = grown;
	grown[witness->nr_intervals++] = *interval;
	return 0;
}

/* Lets the worker go on from step to step, and sums the counts of the timed parts. */
static int witness_look_on(struct witness *witness, const struct bench_row *row,
			   struct worker *worker, const struct worker_job *job,
			   struct witness_tally *sum)
{
	struct witness_interval interval = { .row = row };
	enum worker_step step = WORKER_STARTS;
	struct witness_tally before = { 0 }, after;
	int err;

	*sum = (struct witness_tally){ 0 };
	for (;;) {
		err = worker_next(worker, job, &step);
		if (err || step == WORKER_DONE)
			return err;
		if (step == WORKER_STARTS) {
			err = witness_look(witness, &before);
			interval.start_ns = clock_monotonic_ns();
		} else {
			interval.end_ns = clock_monotonic_ns();
			err = witness_look(witness, &after);
			witness_add_difference(sum, &before, &after);
			if (!err)
				err = witness_add_interval(witness, &interval);
		}
		if (err)
			return err;
	}
}

/* The first target creates the rings, so the measurement starts after it. */
static int witness_follow(struct witness *witness, pid_t pid, struct why *why)
{
	struct measurement *measurement = &witness->measurement;
	int err = measurement_follow(measurement, pid, false);

	if (!err && !measurement->running)
		err = measurement_start(measurement);
	if (err)
		*why = measurement->why;
	return err;
}

static uint64_t witness_operations_for(const struct bench_row *row, double ns)
{
	uint64_t n = row->operations < MOST_OPERATIONS ? row->operations : MOST_OPERATIONS;

	while (n > 1 && n * ns > SECOND)
		n /= 2;
	return n;
}

static double witness_operation_ns(const struct bench_row *row)
{
	return row->operation->unit == BENCH_MBS ? 1e6 * 1000 / row->figures.mean :
						   row->figures.mean;
}

/* Returns only -EINTR as an error. Other failures concern the row: row->seen.missing. */
static int witness_watch_once(struct witness *witness, struct bench_row *row)
{
	const struct worker_job job = suite_job(witness->results, row);
	const uint64_t n = witness_operations_for(row, witness_operation_ns(row));
	struct witness_tally tally = { 0 };
	struct worker worker;
	int err;

	row->seen = (struct bench_seen){ 0 };
	err = worker_begin(&worker, &job, n);
	if (!err)
		err = witness_follow(witness, worker.pid, &row->seen.missing);
	if (!err)
		err = witness_look_on(witness, row, &worker, &job, &tally);
	if (!err && worker.measured->err)
		why_set(&row->seen.missing, "%s",
			worker.measured->why.text[0] ? worker.measured->why.text :
						       strerror(-worker.measured->err));
	else if (!err)
		witness_fill_seen(&row->seen, &tally, worker.measured, n);
	if (!err)
		witness->fault_ns[row - witness->results->rows] = tally.fault_ns;
	if (err && err != -EINTR && !row->seen.missing.text[0])
		why_set(&row->seen.missing, "%s", strerror(-err));
	worker_end(&worker);
	return err == -EINTR ? err : 0;
}

/* A run that lost events is repeated, since the next one may lose none. */
static int witness_watch_row(struct witness *witness, struct bench_row *row)
{
	const size_t nr_intervals = witness->nr_intervals;
	unsigned int i;
	int err = 0;

	for (i = 0; i < ATTEMPTS && !err && (!i || row->seen.lost); i++) {
		witness->nr_intervals = nr_intervals;
		err = witness_watch_once(witness, row);
	}
	return err;
}

static size_t witness_points_of(const struct bench_results *results, const struct bench_row *row)
{
	size_t i, nr = 0;

	for (i = 0; i < results->nr; i++)
		nr += results->rows[i].operation == row->operation;
	return nr;
}

static int witness_watch_rows(struct witness *witness)
{
	struct bench_results *results = witness->results;
	struct bench_row *row;
	size_t i;
	int err = 0;

	for (i = 0; i < results->nr && !err; i++) {
		row = &results->rows[i];
		if (!bench_row_repeated(row))
			continue;
		if (row->operation->unit == BENCH_BYTES) {
			why_set(&row->seen.missing, "the result is not a time");
			continue;
		}
		if (witness_points_of(results, row) > MOST_POINTS)
			why_set(&row->seen.missing, "a sweep is not watched");
		else
			err = witness_watch_row(witness, row);
	}
	return err;
}

struct witness_sum {
	uint64_t recorded_ns, nr_recorded; /* time and number of calls with a record */
	uint64_t faults, unlocked;	   /* solved faults, and those without mmap_lock */
};

static void witness_sum_calls(const struct witness *witness,
			      const struct witness_interval *interval, struct witness_sum *sum)
{
	const struct witness_call *call;
	size_t i;

	for (i = 0; i < witness->nr_calls; i++) {
		call = &witness->calls[i];
		if (call->start_ns < interval->start_ns || call->start_ns > interval->end_ns)
			continue;
		if (call->is_record) {
			sum->recorded_ns += call->duration_ns;
			sum->nr_recorded++;
		}
		sum->faults += call->last;
		sum->unlocked += call->last && call->vma_lock;
	}
}

/* NAN without per-VMA locks. No event is missing: a row that lost some is left out before. */
static double witness_mmap_lock_share(const struct witness *witness, const struct witness_sum *sum)
{
	if (!witness->vma_locks || !sum->faults)
		return NAN;
	return 1 - (double)sum->unlocked / sum->faults;
}

static const char *witness_source(const struct witness *witness, const struct witness_sum *sum)
{
	if (view_source_is_bpf(&witness->result.report))
		return "eBPF";
	return sum->nr_recorded || witness->module_faults ? "module" : "eBPF";
}

/* Kernel time per fault: over all attempts with records, else over handle_mm_fault(). */
static void witness_fill_kernel(struct witness *witness, struct bench_row *row)
{
	const uint64_t fault_ns = witness->fault_ns[row - witness->results->rows];
	struct bench_seen *seen = &row->seen;
	struct witness_sum sum = { 0 };
	size_t i;

	if (!row->operation->of_faults || seen->lost || !seen->counts.event[BENCH_FAULTS])
		return;
	for (i = 0; i < witness->nr_intervals; i++)
		if (witness->intervals[i].row == row)
			witness_sum_calls(witness, &witness->intervals[i], &sum);
	seen->kernel_faults = seen->counts.event[BENCH_FAULTS];
	seen->kernel_source = witness_source(witness, &sum);
	seen->kernel_ns =
		(double)(sum.nr_recorded ? sum.recorded_ns : fault_ns) / seen->kernel_faults;
	seen->mmap_lock_share = witness_mmap_lock_share(witness, &sum);
}

static void witness_judge(struct bench_row *row)
{
	struct why why;

	if (row->contradiction.text[0] || row->seen.missing.text[0])
		return;
	if (!judge_counts(&row->operation->claim, &row->seen.counts, row->seen.operations,
			  row->seen.watched_ns * row->seen.operations, 1, &why))
		why_set(&row->contradiction, "%s (eBPF)", why.text);
}

static void witness_conclude(struct witness *witness)
{
	struct bench_results *results = witness->results;
	size_t i;

	for (i = 0; i < results->nr; i++) {
		if (!results->rows[i].seen.operations)
			continue;
		witness_fill_kernel(witness, &results->rows[i]);
		witness_judge(&results->rows[i]);
	}
}

static int witness_measure(struct witness *witness)
{
	const struct measurement_options options = {
		.instruments = {
			.bpf = true, .fault_around = true, .only_fd = -1, .tick_ms = -1,
		},
		.keeps_privileges = true,
		.exact = true,
		.without_analysis = true,
		.observer = witness_observe,
		.observer_context = witness,
	};
	struct measurement *measurement = &witness->measurement;
	struct bench_results *results = witness->results;
	bool failed = measurement_open(measurement, &options, &witness->result);
	int err = 0;

	if (!failed)
		err = witness_watch_rows(witness);
	if (!failed && !err)
		failed = measurement_stop(measurement);
	if (failed)
		results->not_watched = measurement->why;
	else if (!err)
		witness_conclude(witness);
	return err;
}

int witness_watch(struct bench_results *results)
{
	struct witness witness = {
		.results = results,
		.measurement = MEASUREMENT_NONE,
		.vma_locks = vma_lock_exists() > 0,
	};
	int err;

	witness.fault_ns = calloc(results->nr + 1, sizeof(*witness.fault_ns));
	if (!witness.fault_ns)
		return -ENOMEM;
	result_init(&witness.result);
	err = witness_measure(&witness);
	measurement_close(&witness.measurement);
	result_free(&witness.result);
	free(witness.calls);
	free(witness.intervals);
	free(witness.fault_ns);
	return err;
}
