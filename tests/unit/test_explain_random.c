// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random streams: the parts against a count of every single nanosecond, the number of faults
 * against the summary's, and the memory left behind by threads.
 */
#include <malloc.h>
#include <string.h>

#include "random.h"
#include "runner.h"
#include "user/analyze/fault/explain.h"
#include "user/analyze/fault/summary.h"

#define INODE 77
#define DEV   9

static struct explain *explain;
static uint64_t state;

/* An assertion makes a system call, which is too slow for a million threads. */
static void require(bool holds)
{
	if (!holds)
		ck_abort();
}

static uint64_t below(uint64_t limit)
{
	return random_next(&state) % limit;
}

static void add_event(const struct pfstat_event *event)
{
	require(!explain_event(explain, event));
}

static void check_whole(const struct explained *fault)
{
	uint64_t sum = 0, off = 0, last_ns = fault->start_ns;
	size_t i;

	for (i = 0; i < NR_PARTS; i++)
		sum += fault->parts_ns[i];
	require(sum == fault->end_ns - fault->start_ns);
	for (i = 0; i < fault->nr_spans; i++) {
		require(fault->spans[i].from_ns >= last_ns);
		require(fault->spans[i].to_ns > fault->spans[i].from_ns);
		last_ns = fault->spans[i].to_ns;
		off += last_ns - fault->spans[i].from_ns;
	}
	require(last_ns <= fault->end_ns);
	for (i = 0; i < NR_PARTS; i++)
		if (part_has(i, PART_ON_CPU))
			sum -= fault->parts_ns[i];
	require(fault->calls || !fault->parts_ns[PART_MM]);
	require(fault->whole || !fault->parts_ns[PART_MM]);
	/* Omitted events count, too. */
	require(off == sum || (off < sum && fault->nr_spans == EXPLAIN_MAX_SPANS));
}

/* ---- one fault with complete information, nanosecond by nanosecond ---- */

#define MAX_STAYS    40
#define MAX_REQUESTS 8
#define MAX_RECLAIMS 3

/* How the items describe a handle_mm_fault(). */
enum description {
	BY_RECORD,  /* the call's record has the span */
	BY_RECORDS, /* a pass, then the record */
	BY_EVENT,   /* the call's record has no span, but an event follows */
	NO_CALL,
	NR_DESCRIPTIONS
};

struct attempt {
	enum description by;
	uint64_t from_ns, to_ns;
	uint64_t calls_ns[2][2]; /* from and to */
	unsigned int nr_calls;
};

static struct pfstat_off_cpu stays[MAX_STAYS];
static struct pfstat_block requests[MAX_REQUESTS];
static struct pfstat_reclaim reclaims[MAX_RECLAIMS];
static size_t nr_stays, nr_requests, nr_reclaims;
static struct attempt attempts[3];
static unsigned int nr_attempts;
static uint64_t fault_pgoff;
static unsigned int nr_checked;
static uint64_t off_cpu_ns; /* in calls */

static bool waits_for(const struct pfstat_block *request, uint64_t start_ns, uint64_t from_ns,
		      bool in_iowait)
{
	const uint64_t pages = (request->file_bytes + 4095) / 4096;

	if (request->event.ns <= from_ns)
		return false;
	if (request->event.tid == 1 && request->insert_ns >= start_ns &&
	    (in_iowait || !(request->event.flags & PFSTAT_BLOCK_READAHEAD)))
		return true;
	return request->inode == INODE && fault_pgoff >= request->pgoff &&
	       fault_pgoff < request->pgoff + pages;
}

static enum part asleep_at(const struct pfstat_off_cpu *stay, uint64_t start_ns, uint64_t ns)
{
	uint64_t last_ns = 0, woken_ns = stay->event.ns;
	const bool in_iowait = stay->event.flags & PFSTAT_OFF_CPU_IOWAIT;
	bool device = false, queue = false;
	size_t i;

	for (i = 0; i < nr_requests; i++) {
		if (!waits_for(&requests[i], start_ns, stay->off_ns, in_iowait))
			continue;
		if (in_iowait && requests[i].event.ns > last_ns)
			last_ns = requests[i].event.ns;
		if (ns >= requests[i].issue_ns && ns < requests[i].event.ns)
			device = true;
		else if (ns >= requests[i].insert_ns && ns < requests[i].issue_ns)
			queue = true;
	}
	if (stay->event.flags & PFSTAT_OFF_CPU_WOKEN)
		woken_ns = stay->woken_ns;
	else if (last_ns)
		woken_ns = last_ns;
	if (ns >= woken_ns)
		return PART_RUNQUEUE;
	if (device)
		return PART_DEVICE;
	if (queue)
		return PART_QUEUE;
	if (last_ns && ns >= last_ns)
		return PART_COMPLETION;
	if (stay->event.flags & PFSTAT_OFF_CPU_IOWAIT)
		return PART_FOREIGN;
	return stay->state & 2 ? PART_BLOCKED : PART_RESIDUE;
}

static bool reclaims_at(uint64_t ns)
{
	size_t i;

	for (i = 0; i < nr_reclaims; i++)
		if (ns >= reclaims[i].start_ns && ns < reclaims[i].event.ns)
			return true;
	return false;
}

static bool is_in_call(uint64_t ns)
{
	unsigned int i, call;

	for (i = 0; i < nr_attempts; i++)
		for (call = 0; call < attempts[i].nr_calls; call++)
			if (ns >= attempts[i].calls_ns[call][0] &&
			    ns < attempts[i].calls_ns[call][1])
				return true;
	return false;
}

static bool has_calls(void)
{
	unsigned int i;

	for (i = 0; i < nr_attempts; i++)
		if (attempts[i].nr_calls)
			return true;
	return false;
}

static enum part part_at(uint64_t start_ns, uint64_t ns)
{
	bool slept = false;
	enum part part;
	size_t i;

	for (i = 0; i < nr_stays; i++) {
		if (ns >= stays[i].off_ns && ns < stays[i].event.ns) {
			part = stays[i].event.flags & PFSTAT_OFF_CPU_PREEMPTED ?
				       PART_RUNQUEUE :
				       asleep_at(&stays[i], start_ns, ns);
			return part != PART_RUNQUEUE && reclaims_at(ns) ? PART_RECLAIM : part;
		}
		slept |= stays[i].event.ns <= ns;
	}
	if (reclaims_at(ns))
		return PART_RECLAIM;
	for (i = 0; i < nr_reclaims; i++)
		slept |= reclaims[i].event.ns <= ns && reclaims[i].event.ns > start_ns;
	if (has_calls() && !is_in_call(ns))
		return PART_MM;
	return slept ? PART_CPU_AFTER : PART_CPU_BEFORE;
}

static int check_every_ns(void *context, const struct explained *fault)
{
	uint64_t expected[NR_PARTS] = { 0 }, ns;
	size_t part;

	(void)context;
	check_whole(fault);
	require(fault->whole && fault->solved);
	require(fault->start_ns == attempts[0].from_ns);
	require(fault->end_ns == attempts[nr_attempts - 1].to_ns);
	for (ns = fault->start_ns; ns < fault->end_ns; ns++)
		expected[part_at(fault->start_ns, ns)]++;
	for (part = 0; part < NR_PARTS; part++)
		if (fault->parts_ns[part] != expected[part])
			ck_abort_msg("fault %u, part %zu: %lu, not %lu", nr_checked, part,
				     fault->parts_ns[part], expected[part]);
	nr_checked++;
	return 0;
}

static void make_request(uint64_t until_ns)
{
	struct pfstat_block *request = &requests[nr_requests++];
	const uint64_t insert_ns = until_ns - below(120), issue_ns = insert_ns + below(40);

	*request = (struct pfstat_block){
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(*request), .tid = 1 + below(2),
			.flags = PFSTAT_BLOCK_FILE | (below(2) ? PFSTAT_BLOCK_READAHEAD : 0),
			.ns = issue_ns + below(80),
		},
		.insert_ns = insert_ns, .issue_ns = issue_ns, .inode = INODE + below(2),
		.fs_dev = DEV, .pgoff = fault_pgoff - below(4), .bytes = 16896,
		.file_bytes = 512 + below(16384),
	};
}

static uint64_t make_stay(uint64_t off_ns)
{
	static const uint32_t states[] = { 1, 2, 0x102, 0x402 };
	struct pfstat_off_cpu *stay = &stays[nr_stays++];
	const uint64_t woken_ns = off_ns + below(100), on_ns = woken_ns + below(20) + 1;

	*stay = (struct pfstat_off_cpu){
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(*stay), .tid = 1, .ns = on_ns,
		},
		.off_ns = off_ns, .woken_ns = woken_ns,
	};
	if (!below(4)) {
		stay->event.flags = PFSTAT_OFF_CPU_PREEMPTED;
		return on_ns;
	}
	stay->state = states[below(4)];
	stay->event.flags = (below(4) ? PFSTAT_OFF_CPU_WOKEN : 0) |
			    (below(2) ? PFSTAT_OFF_CPU_IOWAIT : 0);
	return on_ns;
}

static int by_end(const void *a, const void *b)
{
	const struct pfstat_event *const *left = a, *const *right = b;

	if ((*left)->ns == (*right)->ns)
		return 0;
	return (*left)->ns < (*right)->ns ? -1 : 1;
}

/* Some of a fault's time, in and between the sleeps. */
static void make_reclaims(uint64_t from_ns, uint64_t until_ns)
{
	nr_reclaims = 0;
	while (nr_reclaims < below(MAX_RECLAIMS + 1)) {
		from_ns += below(150);
		reclaims[nr_reclaims] = (struct pfstat_reclaim){
			.event = {
				.type = PFSTAT_EVENT_RECLAIM, .size = sizeof(*reclaims), .tid = 1,
				.ns = from_ns + 1 + below(150),
			},
			.start_ns = from_ns,
		};
		from_ns = reclaims[nr_reclaims].event.ns;
		if (from_ns > until_ns)
			return;
		nr_reclaims++;
	}
}

/* Keeps the intervals that ended by then, sorted by end. Drops those that came too late. */
static void tell_events(uint64_t until_ns)
{
	const struct pfstat_event *events[MAX_STAYS + MAX_REQUESTS + MAX_RECLAIMS];
	size_t nr = 0, kept = 0, i;

	for (i = 0; i < nr_requests; i++)
		if (requests[i].event.ns <= until_ns)
			requests[kept++] = requests[i];
	nr_requests = kept;
	for (i = 0; i < nr_requests; i++)
		events[nr++] = &requests[i].event;
	for (i = 0; i < nr_stays; i++)
		events[nr++] = &stays[i].event;
	for (i = 0; i < nr_reclaims; i++)
		events[nr++] = &reclaims[i].event;
	qsort(events, nr, sizeof(*events), by_end);
	for (i = 0; i < nr; i++)
		add_event(events[i]);
}

/* Up to two sleeps. */
static uint64_t make_time(uint64_t ns)
{
	unsigned int i;

	for (i = below(3); i && nr_stays < MAX_STAYS; i--)
		ns = make_stay(ns + below(30));
	return ns + below(30);
}

static uint64_t make_attempt(struct attempt *attempt, uint64_t ns)
{
	unsigned int call, i;

	*attempt = (struct attempt){ .by = below(NR_DESCRIPTIONS), .from_ns = ns };
	attempt->nr_calls = attempt->by == NO_CALL ? 0 : attempt->by == BY_RECORDS ? 2 : 1;
	ns = make_time(ns);
	for (call = 0; call < attempt->nr_calls; call++) {
		attempt->calls_ns[call][0] = ns;
		ns = make_time(ns) + 1;
		attempt->calls_ns[call][1] = ns;
		for (i = below(3); i && nr_requests < MAX_REQUESTS; i--)
			make_request(ns);
		ns = make_time(ns);
	}
	attempt->to_ns = ns + 1;
	return below(3) ? attempt->to_ns + below(20) : make_stay(attempt->to_ns + below(30));
}

static uint64_t off_cpu_within(uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum = 0, ns;
	size_t i;

	for (ns = from_ns; ns < to_ns; ns++)
		for (i = 0; i < nr_stays; i++)
			sum += ns >= stays[i].off_ns && ns < stays[i].event.ns;
	return sum;
}

static void tell_call(const struct attempt *attempt, unsigned int call, bool again, bool last)
{
	const bool pass = call + 1 < attempt->nr_calls;
	const struct pfstat_record record = {
		.op = pass ? PFSTAT_OP_MAP_PAGES : PFSTAT_OP_FAULT,
		.class = pass ? PFSTAT_CLASS_PASS : PFSTAT_CLASS_DISK,
		.pid = 1,
		.tid = 1,
		.inode = INODE,
		.dev = DEV,
		.pgoff = fault_pgoff,
		.address = fault_pgoff << 12,
		.start_ns = attempt->calls_ns[call][0],
		.duration_ns = attempt->calls_ns[call][1] - attempt->calls_ns[call][0],
		.earlier_ns = again,
		.flags = again ? PFSTAT_FLAG_TRIED : PFSTAT_FLAG_VMA_LOCK,
		.result = pass ? 0 :
			  last ? PFSTAT_RESULT_LOCKED :
				 PFSTAT_RESULT_RETRY,
		.fault_ns = pass || attempt->by == BY_EVENT ? 0 : attempt->to_ns - attempt->from_ns,
		.before_ns = pass || attempt->by == BY_EVENT ?
				     0 :
				     attempt->calls_ns[call][0] - attempt->from_ns,
	};

	off_cpu_ns += off_cpu_within(record.start_ns, record.start_ns + record.duration_ns);
	require(!explain_record(explain, &record));
}

static void tell_attempt(const struct attempt *attempt, bool again, bool last)
{
	const struct pfstat_fault fault = {
		.event = {
			.type = PFSTAT_EVENT_FAULT, .size = sizeof(fault), .pid = 1, .tid = 1,
			.flags = attempt->by == BY_EVENT || below(2) ? PFSTAT_FAULT_HOOKED :
								       PFSTAT_FAULT_OTHER,
			.ns = attempt->to_ns,
		},
		.start_ns = attempt->from_ns, .address = fault_pgoff << 12, .pgoff = fault_pgoff,
		.inode = INODE, .dev = DEV,
		.fault_flags = again ? PFSTAT_FLAG_TRIED : PFSTAT_FLAG_VMA_LOCK,
		.outcome = last ? PFSTAT_OUTCOME_MINOR : PFSTAT_OUTCOME_RETRY,
	};
	unsigned int call;

	for (call = 0; call < attempt->nr_calls; call++)
		tell_call(attempt, call, again, last);
	if (attempt->by == NO_CALL || attempt->by == BY_EVENT)
		add_event(&fault.event);
}

/* A fault with one to three attempts, with off-CPU intervals in and between them. */
static uint64_t add_known_fault(uint64_t ns)
{
	unsigned int i;

	nr_attempts = 1 + below(3);
	nr_stays = 0;
	nr_requests = 0;
	fault_pgoff = 10 + below(5);
	for (i = 0; i < nr_attempts; i++) {
		ns = make_attempt(&attempts[i], ns);
		/* After the last attempt, the thread does something else. */
		while (i + 1 == nr_attempts && nr_stays &&
		       stays[nr_stays - 1].off_ns >= attempts[i].to_ns)
			nr_stays--;
	}
	make_reclaims(attempts[0].from_ns, attempts[nr_attempts - 1].to_ns);
	tell_events(attempts[nr_attempts - 1].to_ns);
	for (i = 0; i < nr_attempts; i++)
		tell_attempt(&attempts[i], i > 0, i + 1 == nr_attempts);
	/*
	 * A call may end when the handle_mm_fault() around it returns, so the fault would wait for
	 * it.
	 */
	require(!explain_leave(explain, 1));
	return ns + 200;
}

TEST(test_parts_equal_every_nanosecond)
{
	struct summary_figures figures;
	enum pfstat_class class;
	uint64_t ns = 1000;
	unsigned int i;

	state = 3;
	nr_checked = 0;
	off_cpu_ns = 0;
	explain = explain_new(true, 4096, check_every_ns, NULL);
	explain_expect_spans(explain);
	for (i = 0; i < 20000; i++)
		ns = add_known_fault(ns);
	ck_assert_int_eq(explain_finish(explain), 0);
	summary_figures(explain_summary(explain), &figures);
	for (class = 0; class < PFSTAT_NR_CLASSES; class++)
		off_cpu_ns -= figures.classes[class].off_cpu_ns;
	ck_assert_uint_eq(off_cpu_ns, 0);
	ck_assert_uint_eq(figures.off_cpu_partial, 0);
	explain_free(explain);
	ck_assert_uint_eq(nr_checked, 20000);
}

/* ---- random events, sorted by end, with losses and clocks that differ ---- */

struct tally {
	uint64_t solved, major, unsolved, errors, others;
};

static int count_fault(void *context, const struct explained *fault)
{
	struct tally *tally = context;

	check_whole(fault);
	if (fault->class >= FAULT_FIRST_OTHER) {
		tally->others++;
		return 0;
	}
	tally->solved += fault->solved;
	tally->major += fault->major;
	tally->unsolved += !fault->solved;
	tally->errors += !fault->solved && fault->result & PFSTAT_RESULT_ERROR;
	return 0;
}

/* The span of a handle_mm_fault(), or nonsense. */
static void add_any_span(struct pfstat_record *record)
{
	record->before_ns = below(100);
	record->fault_ns = record->before_ns + record->duration_ns + below(100);
	if (!below(10))
		record->before_ns = random_next(&state);
	if (!below(10))
		record->fault_ns = random_next(&state);
}

static void add_any_record(uint64_t now)
{
	static const uint32_t results[] = {
		PFSTAT_RESULT_RETRY,  PFSTAT_RESULT_LOCKED,
		PFSTAT_RESULT_NOPAGE, PFSTAT_RESULT_MAJOR | PFSTAT_RESULT_RETRY,
		PFSTAT_RESULT_SIGBUS, 0,
	};
	struct pfstat_record record = {
		.op = below(PFSTAT_NR_OPS),
		.class = below(PFSTAT_NR_CLASSES),
		.pid = 1,
		.tid = 1 + below(3),
		.inode = INODE,
		.dev = DEV,
		.pgoff = below(3),
		.duration_ns = below(300),
		.result = results[below(6)],
		.flags = (below(2) ? PFSTAT_FLAG_WRITE : 0) | (below(2) ? PFSTAT_FLAG_TRIED : 0),
		.facts = below(16),
		.earlier_ns = below(2),
	};

	if (record.result & PFSTAT_RESULT_ERROR)
		record.class = PFSTAT_CLASS_ERROR;
	else if (record.class == PFSTAT_CLASS_ERROR)
		record.class = PFSTAT_CLASS_LONG;
	record.address = record.pgoff << 12;
	record.start_ns = now - record.duration_ns;
	if (below(2))
		add_any_span(&record);
	require(!explain_record(explain, &record));
}

static void add_any_stay(uint64_t now)
{
	const uint64_t woken_ns = now - below(50);
	const struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = 1 + below(3),
			.flags = below(8), .ns = now,
		},
		.off_ns = now - below(200), .woken_ns = woken_ns, .state = below(4),
	};

	add_event(&stay.event);
}

static void add_any_reclaim(uint64_t now)
{
	const struct pfstat_reclaim reclaim = {
		.event = {
			.type = PFSTAT_EVENT_RECLAIM, .size = sizeof(reclaim), .tid = 1 + below(3),
			.ns = now,
		},
		.start_ns = now - below(200),
	};

	add_event(&reclaim.event);
}

static void add_any_request(uint64_t now)
{
	const uint64_t issue_ns = now - below(100);
	const struct pfstat_block block = {
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(block), .tid = 1 + below(3),
			.flags = PFSTAT_BLOCK_FILE, .ns = now,
		},
		.insert_ns = issue_ns - below(50), .issue_ns = issue_ns, .inode = INODE,
		.fs_dev = DEV, .pgoff = below(3), .bytes = 9000,
		.file_bytes = 1 + below(9000),
	};

	add_event(&block.event);
}

static void add_any_fault(uint32_t first_tid, uint64_t now)
{
	const struct pfstat_fault fault = {
		.event = {
			.type = PFSTAT_EVENT_FAULT, .size = sizeof(fault),
			.tid = first_tid + below(3), .flags = below(PFSTAT_NR_FAULT_KINDS),
			.ns = now,
		},
		.start_ns = now - below(600), .address = below(3) << 12,
		.fault_flags = below(2) ? PFSTAT_FLAG_TRIED : PFSTAT_FLAG_VMA_LOCK,
		.outcome = below(PFSTAT_NR_OUTCOMES),
	};

	add_event(&fault.event);
}

static void add_any_end(uint64_t now)
{
	const struct pfstat_task exit = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(exit), .tid = 1 + below(3),
			.flags = PFSTAT_TASK_EXIT, .ns = now,
		},
	};

	add_event(&exit.event);
}

/* @fault_tid: the first thread in the fault events, or 1 for the threads in the records */
static struct tally add_random_items(bool spans, uint32_t fault_tid,
				     struct summary_figures *figures)
{
	struct tally tally = { 0 };
	uint64_t now = 10000;
	unsigned int i, what;

	state = 5;
	explain = explain_new(true, 4096, count_fault, &tally);
	if (spans)
		explain_expect_spans(explain);
	for (i = 0; i < 200000; i++, now += below(60)) {
		what = below(100);
		if (what < 45)
			add_any_record(now);
		else if (what < 65)
			add_any_stay(now);
		else if (what < 70)
			add_any_reclaim(now);
		else if (what < 85)
			add_any_request(now);
		else if (what < 99)
			add_any_fault(fault_tid, now);
		else
			add_any_end(now);
	}
	ck_assert_int_eq(explain_finish(explain), 0);
	summary_figures(explain_summary(explain), figures);
	explain_free(explain);
	return tally;
}

static void check_random_items(bool spans)
{
	struct summary_figures figures;
	const struct tally tally = add_random_items(spans, 4, &figures);

	ck_assert_uint_eq(tally.solved, figures.faults);
	ck_assert_uint_eq(tally.major, figures.major);
	ck_assert_uint_eq(tally.unsolved - tally.errors, figures.unfinished);
	ck_assert_uint_gt(tally.solved, 10000);
	ck_assert_uint_gt(tally.major, 1000);
	ck_assert_uint_gt(figures.unfinished, 1000);
	ck_assert_uint_gt(tally.others, 1000);
}

TEST(test_parts_of_random_events_add_up)
{
	check_random_items(false);
}

TEST(test_parts_of_random_spans_add_up)
{
	check_random_items(true);
}

TEST(test_calls_and_faults_of_one_thread_in_any_order_add_up)
{
	struct summary_figures figures;

	add_random_items(true, 1, &figures);
}

/* ---- a million threads ---- */

#define THREADS 1000000

static void add_thread(uint32_t tid, uint64_t now)
{
	const struct pfstat_record record = {
		.class = PFSTAT_CLASS_LONG,
		.tid = tid,
		.start_ns = now,
		.duration_ns = 10,
		.result = PFSTAT_RESULT_LOCKED,
	};

	require(!explain_record(explain, &record));
}

static void end_thread(uint32_t tid)
{
	const struct pfstat_task exit = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .tid = tid, .flags = PFSTAT_TASK_EXIT,
		},
	};

	add_event(&exit.event);
}

/* Sanitizers replace malloc(): then this returns 0, and they detect leaks. */
static size_t memory(void)
{
	return mallinfo2().uordblks;
}

/* @told: threads exit with an event. @spans: each fault waits for a span that never comes */
static void check_threads(bool told, bool spans, size_t limit)
{
	const size_t before = memory();
	struct tally tally = { 0 };
	struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay) },
	};
	size_t highest = 0;
	uint32_t tid;

	explain = explain_new(true, 4096, count_fault, &tally);
	if (spans)
		explain_expect_spans(explain);
	for (tid = 1; tid <= THREADS; tid++) {
		stay.event.tid = tid;
		stay.off_ns = 100 * tid + 50;
		stay.event.ns = 100 * tid + 60;
		add_thread(tid, 100 * tid);
		add_event(&stay.event);
		if (told)
			end_thread(tid);
		if (tid % 1000 == 0 && memory() > highest)
			highest = memory();
	}
	ck_assert_int_eq(explain_finish(explain), 0);
	ck_assert_uint_eq(tally.solved, THREADS);
	if (highest)
		ck_assert_uint_le(highest - before, limit);
	explain_free(explain);
}

TEST(test_a_million_short_lived_threads_leave_no_memory)
{
	check_threads(true, false, 64 << 10);
}

TEST(test_a_million_threads_without_exit_need_bounded_memory)
{
	check_threads(false, false, 24 << 20);
}

TEST(test_a_million_threads_that_are_not_watched_need_bounded_memory)
{
	check_threads(false, true, 64 << 20);
}
