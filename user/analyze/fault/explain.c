// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/attempt_chain.h"
#include "analyze/fault/explain.h"
#include "analyze/fault/fault_builder.h"
#include "analyze/fault/off_cpu_queue.h"
#include "analyze/fault/requests.h"
#include "util/hash.h"

#define PAGE_SHIFT 12

/* Threads kept; with more, those in no fault are given up. They come back when they fault. */
#define TELLERS_MAX 16384U

/* What is known of a thread. */
struct teller {
	uint32_t tid;
	struct stays stays;
	struct chain chain;
	struct story *hooked;	/* told by the module's records; NULL: in no fault */
	struct story *other;	/* told by eBPF's events of handle_mm_fault() */
	/* Time on the CPU in faults handed on since the last stay: an event may have been lost. */
	uint64_t unsure_ns[NR_FAULT_CLASSES][2];	/* before and after the first sleep */
	bool any_unsure;
};

struct explain {
	bool have_bpf;
	explain_sink sink;
	void *context;
	struct hash tellers;	/* by tid */
	size_t tellers_max;
	uint64_t forgotten_ns;	/* stays of those given up ended up to here */
	bool gave_up;		/* any thread: a new one may have been known before */
	explain_correction correction;	/* or NULL */
	void *correction_context;
	struct teller *last;	/* found last: records come in runs */
	struct story *free;	/* as many as threads were in faults at once */
	struct requests requests;
};

struct explain *explain_new(bool have_bpf, explain_sink sink, void *context)
{
	struct explain *explain = calloc(1, sizeof(*explain));

	if (!explain)
		return NULL;
	explain->have_bpf = have_bpf;
	explain->sink = sink;
	explain->context = context;
	explain->tellers_max = TELLERS_MAX;
	return explain;
}

void explain_listen_corrections(struct explain *explain, explain_correction correction,
				void *context)
{
	explain->correction = correction;
	explain->correction_context = context;
}

static void teller_free(void *value)
{
	struct teller *teller = value;

	stays_exit(&teller->stays);
	free(teller->hooked);
	free(teller->other);
	free(teller);
}

void explain_free(struct explain *explain)
{
	struct story *story, *next;

	if (!explain)
		return;
	hash_exit(&explain->tellers, teller_free);
	for (story = explain->free; story; story = next) {
		next = story->next;
		free(story);
	}
	requests_exit(&explain->requests);
	free(explain);
}

/* Of what faults handed on spent on the CPU, lost_ns may have been spent off it. */
static void correct(const struct explain *explain, struct teller *teller, uint64_t lost_ns)
{
	static const enum part parts[2] = { PART_CPU_BEFORE, PART_CPU_AFTER };
	enum fault_class class;
	uint64_t ns;
	size_t i;

	for (class = 0; class < NR_FAULT_CLASSES && teller->any_unsure && lost_ns; class++) {
		for (i = 0; i < 2; i++) {
			ns = teller->unsure_ns[class][i];
			if (ns > lost_ns)
				ns = lost_ns;
			lost_ns -= ns;
			if (ns && explain->correction)
				explain->correction(explain->correction_context, class, parts[i],
						    ns);
		}
	}
	if (teller->any_unsure)
		memset(teller->unsure_ns, 0, sizeof(teller->unsure_ns));
	teller->any_unsure = false;
}

/* Stays that no fault took: they may reveal what was lost in those before. */
static void close_stays(const struct explain *explain, struct teller *teller)
{
	const struct stay *oldest;

	while ((oldest = stays_oldest(&teller->stays))) {
		correct(explain, teller, oldest->lost_ns);
		stays_drop(&teller->stays);
	}
}

static bool keep_teller(void *context, void *value)
{
	struct explain *explain = context;
	struct teller *teller = value;
	uint64_t latest_ns;

	if (teller->hooked || teller->other)
		return true;
	latest_ns = stays_latest_ns(&teller->stays);
	if (latest_ns > explain->forgotten_ns)
		explain->forgotten_ns = latest_ns;
	explain->gave_up = true;
	close_stays(explain, teller);
	teller_free(teller);
	return false;
}

/* Ends that nobody told of: without eBPF, or lost. */
static int sweep(struct explain *explain)
{
	int err;

	explain->last = NULL;
	err = hash_filter(&explain->tellers, keep_teller, explain);
	explain->tellers_max = 2 * explain->tellers.count;
	if (explain->tellers_max < TELLERS_MAX)
		explain->tellers_max = TELLERS_MAX;
	return err;
}

static struct teller *teller_new(struct explain *explain, uint32_t tid)
{
	struct teller *teller;

	if (explain->tellers.count >= explain->tellers_max && sweep(explain))
		return NULL;
	teller = calloc(1, sizeof(*teller));
	if (!teller)
		return NULL;
	teller->tid = tid;
	teller->stays.forgotten_ns = explain->forgotten_ns;
	teller->stays.total_unknown = explain->gave_up;
	if (!hash_add(&explain->tellers, tid, teller))
		return teller;
	free(teller);
	return NULL;
}

static struct teller *teller_get(struct explain *explain, uint32_t tid)
{
	struct teller *teller = explain->last;

	if (teller && teller->tid == tid)
		return teller;
	teller = hash_find(&explain->tellers, tid);
	if (!teller)
		teller = teller_new(explain, tid);
	explain->last = teller;
	return teller;
}

static struct story *begin(struct explain *explain, enum fault_class class, uint64_t start_ns)
{
	struct story *story = explain->free;

	if (story)
		explain->free = story->next;
	else
		story = malloc(sizeof(*story));
	if (story)
		story_begin(story, class, start_ns);
	return story;
}

/* The time since its last stay is on the CPU as far as is known now. */
static void remember_unsure(struct teller *teller, const struct story *story)
{
	const struct explained *fault = &story->fault;

	teller->unsure_ns[fault->class][fault->nr_spans != 0] += fault->end_ns - story->told_ns;
	teller->any_unsure = true;
}

static int hand_on(struct explain *explain, struct teller *teller, struct story **place,
		   bool solved)
{
	struct story *story = *place;

	if (!story)
		return 0;
	*place = NULL;
	story->next = explain->free;
	explain->free = story;
	story->fault.parts_known = explain->have_bpf;
	story_end(story, solved);
	remember_unsure(teller, story);
	return explain->sink(explain->context, &story->fault);
}

/* The thread's stays from the fault's start on; those before belong to no fault. */
static void take_stays(struct explain *explain, struct teller *teller, struct story *story,
		       uint64_t until_ns)
{
	const struct stay *oldest;
	uint64_t lost_ns;

	story_add_residue(story, story->fault.start_ns, teller->stays.forgotten_ns);
	while ((oldest = stays_oldest(&teller->stays)) && oldest->event.off_ns < until_ns) {
		lost_ns = oldest->lost_ns;
		lost_ns -= story_add_lost(story, oldest->lost_from_ns, oldest->event.off_ns,
					  lost_ns);
		correct(explain, teller, lost_ns);
		story_add_stay(story, &oldest->event, &explain->requests);
		stays_drop(&teller->stays);
	}
}

/* The record knows of a sleep that nobody told: its time cannot be explained. */
static bool sleep_is_missing(const struct explain *explain, const struct teller *teller,
			     const struct pfstat_record *record)
{
	return explain->have_bpf && record->facts & PFSTAT_FACT_SLEPT &&
	       !stays_sleep_within(&teller->stays, record->start_ns,
				   record->start_ns + record->duration_ns);
}

static void describe(struct explained *fault, const struct pfstat_record *record)
{
	fault->pid = record->pid;
	fault->tid = record->tid;
	fault->address = record->address;
	fault->pgoff = record->pgoff;
	fault->inode = record->inode;
	fault->dev = record->dev;
	fault->flags = record->flags;
	fault->ip = record->ip;
}

static void add_attempt(struct explain *explain, struct teller *teller,
			const struct pfstat_record *record)
{
	const uint64_t end_ns = record->start_ns + record->duration_ns;
	struct story *story = teller->hooked;
	struct explained *fault = &story->fault;

	if (fault->class == FAULT_PASS)
		fault->class = (enum fault_class)record->class;
	fault->handler_ns += record->duration_ns;
	fault->result = record->result;
	/* Told that a page becomes writable, the file maps none: ->fault has, if it was asked. */
	if (record->op != PFSTAT_OP_PAGE_MKWRITE && record->op != PFSTAT_OP_PFN_MKWRITE)
		fault->order = record->facts & PFSTAT_FACT_FOLIO ? record->order : 0;
	fault->attempts++;
	fault->around_before = record->around_before;
	fault->around_pages = record->around_pages;
	story_extend(story, end_ns);
	if (sleep_is_missing(explain, teller, record)) {
		take_stays(explain, teller, story, record->start_ns);
		story_add_residue(story, record->start_ns, end_ns);
	}
	take_stays(explain, teller, story, end_ns);
}

/* A fault that was to be tried again, and was not: the thread had one of another page since. */
static int close_other(struct explain *explain, struct teller *teller,
		       const struct pfstat_record *record)
{
	const struct story *other = teller->other;

	if (!other || other->fault.address >> PAGE_SHIFT == record->address >> PAGE_SHIFT ||
	    record->start_ns < other->fault.end_ns)
		return 0;
	return hand_on(explain, teller, &teller->other, false);
}

int explain_record(struct explain *explain, const struct pfstat_record *record)
{
	struct teller *teller = teller_get(explain, record->tid);
	struct chain_counts counts = { 0 };	/* the summary's are the ones that are told */
	struct story *story;
	enum chain_role role;
	int err;

	if (!teller)
		return -ENOMEM;
	err = close_other(explain, teller, record);
	if (err)
		return err;
	role = chain_add(&teller->chain, record, &counts);
	if (role == CHAIN_FIRST && teller->hooked) {
		err = hand_on(explain, teller, &teller->hooked, teller->hooked->complete);
		if (err)
			return err;
	}
	if (!teller->hooked) {
		teller->hooked = begin(explain, (enum fault_class)record->class, record->start_ns);
		if (!teller->hooked)
			return -ENOMEM;
		describe(&teller->hooked->fault, record);
	}
	add_attempt(explain, teller, record);
	story = teller->hooked;
	story->complete = !teller->chain.open && !(record->result & PFSTAT_RESULT_ERROR);
	story->fault.major = story->complete && teller->chain.major;
	if (teller->chain.open || teller->chain.shared_write)
		return 0;
	return hand_on(explain, teller, &teller->hooked, story->complete);
}

static void describe_other(struct explained *fault, const struct pfstat_fault *event)
{
	fault->pid = event->event.pid;
	fault->tid = event->event.tid;
	fault->address = event->address;
	fault->pgoff = event->pgoff;
	fault->inode = event->inode;
	fault->dev = event->dev;
	fault->flags = event->fault_flags;
	fault->ip = event->ip;
}

static bool is_same_page(const struct story *story, const struct pfstat_fault *event)
{
	return story && story->fault.address >> PAGE_SHIFT == event->address >> PAGE_SHIFT;
}

static void add_return(struct story *story, const struct pfstat_fault *event)
{
	struct explained *fault = &story->fault;

	/* A first attempt may not have come as far as to what it was about. */
	if (fault->class == FAULT_OTHER)
		fault->class = fault_class_of_kind(event->event.flags);
	fault->attempts++;
	fault->handler_ns += item_elapsed(event->start_ns, event->event.ns);
	fault->result = event->result;
	fault->major = event->outcome == PFSTAT_OUTCOME_MAJOR;
	story_extend(story, event->event.ns);
}

static int add_fault(struct explain *explain, const struct pfstat_fault *event)
{
	struct teller *teller = teller_get(explain, event->event.tid);
	int err;

	if (!teller)
		return -ENOMEM;
	if (!is_same_page(teller->other, event)) {
		err = hand_on(explain, teller, &teller->other, false);
		if (err)
			return err;
		teller->other = begin(explain, fault_class_of_kind(event->event.flags),
				      event->start_ns);
		if (!teller->other)
			return -ENOMEM;
		describe_other(&teller->other->fault, event);
	}
	add_return(teller->other, event);
	take_stays(explain, teller, teller->other, event->event.ns);
	if (event->outcome == PFSTAT_OUTCOME_RETRY)
		return 0;
	return hand_on(explain, teller, &teller->other, event->outcome != PFSTAT_OUTCOME_ERROR);
}

static int add_stay(struct explain *explain, const struct pfstat_off_cpu *stay)
{
	struct teller *teller = teller_get(explain, stay->event.tid);

	return teller ? stays_add(&teller->stays, stay) : -ENOMEM;
}

static int close_stories(struct explain *explain, struct teller *teller)
{
	int err = 0;

	if (teller->hooked)
		err = hand_on(explain, teller, &teller->hooked, teller->hooked->complete);
	if (!err)
		err = hand_on(explain, teller, &teller->other, false);
	close_stays(explain, teller);
	return err;
}

static int end_thread(struct explain *explain, uint32_t tid)
{
	struct teller *teller = hash_take(&explain->tellers, tid);
	int err;

	if (!teller)
		return 0;
	if (explain->last == teller)
		explain->last = NULL;
	err = close_stories(explain, teller);
	teller_free(teller);
	return err;
}

/* A program is executed by the first thread: its number, and its total off the CPU, stay. */
static int restart_thread(struct explain *explain, uint32_t tid)
{
	struct teller *teller = hash_find(&explain->tellers, tid);
	int err;

	if (!teller)
		return 0;
	err = close_stories(explain, teller);
	teller->chain = (struct chain){ 0 };
	return err;
}

static int add_task(struct explain *explain, const struct pfstat_task *task)
{
	if (task->event.flags & PFSTAT_TASK_EXIT)
		return end_thread(explain, task->event.tid);
	/* Whichever thread executes a program, its faults and its number are the past. */
	if (task->event.flags & PFSTAT_TASK_EXEC)
		return task->parent == task->event.tid ?
			restart_thread(explain, task->parent) :
			end_thread(explain, task->parent);
	return 0;
}

int explain_event(struct explain *explain, const struct pfstat_event *event)
{
	switch (event->type) {
	case PFSTAT_EVENT_OFF_CPU:
		return add_stay(explain, (const struct pfstat_off_cpu *)event);
	case PFSTAT_EVENT_BLOCK:
		return requests_add(&explain->requests, (const struct pfstat_block *)event);
	case PFSTAT_EVENT_FAULT:
		if (event->flags == PFSTAT_FAULT_HOOKED)	/* the records say more */
			return 0;
		return add_fault(explain, (const struct pfstat_fault *)event);
	case PFSTAT_EVENT_TASK:
		return add_task(explain, (const struct pfstat_task *)event);
	default:
		return 0;
	}
}

static int close_teller(void *context, void *value)
{
	return close_stories(context, value);
}

int explain_finish(struct explain *explain)
{
	return hash_visit_sorted(&explain->tellers, close_teller, explain);
}
