// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "explain.h"
#include "hash.h"
#include "requests.h"
#include "sleep.h"
#include "stays.h"

#define PAGE_SHIFT 12

/* A logical fault under construction. */
struct story {
	bool begun;
	bool complete;		/* but a page_mkwrite may belong to it */
	bool slept;		/* a stay was found */
	uint64_t off_ns;	/* its time off the CPU, and whatever else is no CPU time */
	struct explained fault;
};

/* What is known of a thread. */
struct teller {
	uint32_t tid;
	struct stays stays;
	struct chain chain;
	struct chain_counts counts;
	struct story hooked;	/* told by the module's records */
	struct story other;	/* told by eBPF's events of handle_mm_fault() */
};

struct explain {
	bool have_bpf;
	explain_sink sink;
	void *context;
	struct hash tellers;	/* by tid */
	struct teller *last;	/* found last: records come in runs */
	struct requests requests;
};

const char *fault_class_name(enum fault_class class)
{
	static const char *const names[] = PFSTAT_CLASS_NAMES;
	static const char *const others[] = { "file", "anon", "swap", "cow", "other" };

	if (class < FAULT_FILE)
		return names[class];
	return class < NR_FAULT_CLASSES ? others[class - FAULT_FILE] : "unknown";
}

struct explain *explain_new(bool have_bpf, explain_sink sink, void *context)
{
	struct explain *explain = calloc(1, sizeof(*explain));

	if (!explain)
		return NULL;
	explain->have_bpf = have_bpf;
	explain->sink = sink;
	explain->context = context;
	return explain;
}

static void teller_free(void *value)
{
	struct teller *teller = value;

	stays_exit(&teller->stays);
	free(teller);
}

void explain_free(struct explain *explain)
{
	if (!explain)
		return;
	hash_exit(&explain->tellers, teller_free);
	requests_exit(&explain->requests);
	free(explain);
}

static struct teller *teller_get(struct explain *explain, uint32_t tid)
{
	struct teller *teller = explain->last;

	if (teller && teller->tid == tid)
		return teller;
	teller = hash_find(&explain->tellers, tid);
	if (!teller) {
		teller = calloc(1, sizeof(*teller));
		if (!teller)
			return NULL;
		teller->tid = tid;
		if (hash_add(&explain->tellers, tid, teller)) {
			free(teller);
			return NULL;
		}
	}
	explain->last = teller;
	return teller;
}

static uint64_t first_off_ns(const struct explained *fault)
{
	return fault->nr_spans ? fault->spans[0].from_ns : fault->end_ns;
}

/* What was no other part was on the CPU. */
static void add_cpu_parts(struct story *story)
{
	struct explained *fault = &story->fault;
	const uint64_t whole = fault->end_ns - fault->start_ns;
	const uint64_t cpu = whole - story->off_ns;
	const uint64_t before = first_off_ns(fault) - fault->start_ns;

	fault->parts_ns[PART_CPU_BEFORE] = before < cpu ? before : cpu;
	fault->parts_ns[PART_CPU_AFTER] = cpu - fault->parts_ns[PART_CPU_BEFORE];
}

static int hand_on(struct explain *explain, struct story *story, bool solved)
{
	if (!story->begun)
		return 0;
	story->begun = false;
	story->fault.solved = solved;
	if (!solved)
		story->fault.major = false;
	story->fault.parts_known = explain->have_bpf;
	add_cpu_parts(story);
	return explain->sink(explain->context, &story->fault);
}

/* Only the head is cleared: spans are there as far as they are counted. */
static struct explained *begin(struct story *story, enum fault_class class, uint64_t start_ns)
{
	struct explained *fault = &story->fault;

	memset(fault, 0, offsetof(struct explained, spans));
	fault->class = class;
	fault->start_ns = fault->end_ns = start_ns;
	fault->stack = -1;
	story->begun = true;
	story->complete = story->slept = false;
	story->off_ns = 0;
	return fault;
}

static void add_span(struct story *story, const struct explain_span *span)
{
	struct explained *fault = &story->fault;

	fault->parts_ns[span->part] += span->to_ns - span->from_ns;
	story->off_ns += span->to_ns - span->from_ns;
	if (fault->nr_spans < EXPLAIN_MAX_SPANS)
		fault->spans[fault->nr_spans++] = *span;
}

/* The clocks of CPUs may differ by moments: a stay never leaves the fault, nor another stay. */
static bool clip(struct pfstat_off_cpu *stay, const struct story *story, uint64_t until_ns)
{
	const struct explained *fault = &story->fault;
	uint64_t from = fault->nr_spans ? fault->spans[fault->nr_spans - 1].to_ns : fault->start_ns;

	if (stay->off_ns < from)
		stay->off_ns = from;
	if (stay->event.ns > until_ns)
		stay->event.ns = until_ns;
	return stay->off_ns < stay->event.ns;
}

static void add_stay(struct explain *explain, struct story *story,
		     const struct pfstat_off_cpu *stay)
{
	struct explained *fault = &story->fault;
	const struct requests_wait wait = {
		.dev = fault->dev, .tid = fault->tid, .inode = fault->inode,
		.pgoff = fault->pgoff, .start_ns = fault->start_ns, .from_ns = stay->off_ns,
	};
	const struct pfstat_block *matches[REQUESTS_MATCHES];
	struct explain_span spans[SLEEP_MAX_SPANS];
	size_t nr_matches = 0, nr, i;

	if (!(stay->event.flags & PFSTAT_OFF_CPU_PREEMPTED))
		nr_matches = requests_match(&explain->requests, &wait, matches);
	if (nr_matches)
		fault->request = *matches[0];
	nr = sleep_cut(stay, matches, nr_matches, spans);
	for (i = 0; i < nr; i++)
		add_span(story, &spans[i]);
	story->slept = true;
}

/* The thread's stays from the fault's start on; those before belong to no fault. */
static void take_stays(struct explain *explain, struct teller *teller, struct story *story,
		       uint64_t until_ns)
{
	const struct pfstat_off_cpu *oldest;
	struct pfstat_off_cpu stay;

	while ((oldest = stays_oldest(&teller->stays)) && oldest->off_ns < until_ns) {
		stay = *oldest;
		stays_drop(&teller->stays);
		if (clip(&stay, story, until_ns))
			add_stay(explain, story, &stay);
	}
}

/* The record knows of a sleep that nobody told: its time cannot be explained. */
static void add_residue(struct story *story, const struct pfstat_record *record)
{
	const struct explain_span span = {
		.from_ns = record->start_ns,
		.to_ns = record->start_ns + record->duration_ns,
		.part = PART_RESIDUE,
	};

	add_span(story, &span);
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
	struct story *story = &teller->hooked;
	struct explained *fault = &story->fault;

	if (fault->class == (enum fault_class)PFSTAT_CLASS_PASS)
		fault->class = (enum fault_class)record->class;
	if (end_ns > fault->end_ns)
		fault->end_ns = end_ns;
	fault->handler_ns += record->duration_ns;
	fault->result = record->result;
	fault->order = record->order;
	fault->attempts++;
	fault->around_before = record->around_before;
	fault->around_pages = record->around_pages;
	story->slept = false;
	take_stays(explain, teller, story, end_ns);
	if (explain->have_bpf && record->facts & PFSTAT_FACT_SLEPT && !story->slept)
		add_residue(story, record);
}

int explain_record(struct explain *explain, const struct pfstat_record *record)
{
	struct teller *teller = teller_get(explain, record->tid);
	struct story *story;
	enum chain_role role;
	bool error;
	int err;

	if (!teller)
		return -ENOMEM;
	story = &teller->hooked;
	role = chain_add(&teller->chain, record, &teller->counts);
	if (role == CHAIN_FIRST || !story->begun) {
		err = hand_on(explain, story, story->complete);
		if (err)
			return err;
		describe(begin(story, (enum fault_class)record->class, record->start_ns), record);
	}
	add_attempt(explain, teller, record);
	error = record->result & PFSTAT_RESULT_ERROR;
	story->complete = !teller->chain.open && !error;
	if (story->complete)
		story->fault.major = teller->chain.major;
	if (teller->chain.open || teller->chain.shared_write)
		return 0;
	return hand_on(explain, story, story->complete);
}

static enum fault_class class_of_kind(uint32_t kind)
{
	switch (kind) {
	case PFSTAT_FAULT_FILE:
		return FAULT_FILE;
	case PFSTAT_FAULT_ANON:
		return FAULT_ANON;
	case PFSTAT_FAULT_SWAP:
		return FAULT_SWAP;
	case PFSTAT_FAULT_COW:
		return FAULT_COW;
	default:
		return FAULT_OTHER;
	}
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
	fault->stack = event->stack;
}

static int add_fault(struct explain *explain, const struct pfstat_fault *event)
{
	struct teller *teller = teller_get(explain, event->event.tid);
	struct story *story;
	struct explained *fault;
	int err;

	if (!teller)
		return -ENOMEM;
	story = &teller->other;
	fault = &story->fault;
	if (!story->begun || fault->address >> PAGE_SHIFT != event->address >> PAGE_SHIFT) {
		err = hand_on(explain, story, false);
		if (err)
			return err;
		describe_other(begin(story, class_of_kind(event->event.flags), event->start_ns),
			       event);
	}
	/* A first attempt may not have come as far as to what it was about. */
	if (fault->class == FAULT_OTHER)
		fault->class = class_of_kind(event->event.flags);
	fault->attempts++;
	fault->end_ns = event->event.ns;
	fault->handler_ns += event->event.ns - event->start_ns;
	fault->result = event->result;
	fault->major = event->outcome == PFSTAT_OUTCOME_MAJOR;
	take_stays(explain, teller, story, event->event.ns);
	if (event->outcome == PFSTAT_OUTCOME_RETRY)
		return 0;
	return hand_on(explain, story, event->outcome != PFSTAT_OUTCOME_ERROR);
}

static int add_stay_event(struct explain *explain, const struct pfstat_off_cpu *stay)
{
	struct teller *teller = teller_get(explain, stay->event.tid);

	return teller ? stays_add(&teller->stays, stay) : -ENOMEM;
}

static int close_stories(struct explain *explain, struct teller *teller)
{
	int err = hand_on(explain, &teller->hooked, teller->hooked.complete);

	return err ? err : hand_on(explain, &teller->other, false);
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

int explain_event(struct explain *explain, const struct pfstat_event *event)
{
	switch (event->type) {
	case PFSTAT_EVENT_OFF_CPU:
		return add_stay_event(explain, (const struct pfstat_off_cpu *)event);
	case PFSTAT_EVENT_BLOCK:
		return requests_add(&explain->requests, (const struct pfstat_block *)event);
	case PFSTAT_EVENT_FAULT:
		if (event->flags == PFSTAT_FAULT_HOOKED)
			return 0;	/* the records say more */
		return add_fault(explain, (const struct pfstat_fault *)event);
	case PFSTAT_EVENT_TASK:
		return event->flags & PFSTAT_TASK_EXIT ? end_thread(explain, event->tid) : 0;
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
	return hash_visit(&explain->tellers, close_teller, explain);
}
