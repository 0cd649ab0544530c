// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repeats recorded faults as accesses. The pattern's data is the struct replay. The pattern's
 * argument is 1 to keep the recorded gaps. Call replay_order() before a run.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "advise/replay.h"
#include "util/array.h"
#include "util/bitmap.h"
#include "util/page_size.h"
#include "util/time_ns.h"
#include "workload/pattern_engine.h"

/* Shorter gaps are spent spinning, because a sleep would overshoot by about this much. */
#define SPIN_NS 100000

int replay_add(struct replay *replay, uint64_t page, uint64_t start_ns, uint64_t end_ns)
{
	if (array_reserve((void **)&replay->visits, replay->count, &replay->capacity,
			  sizeof(*replay->visits)))
		return -ENOMEM;
	replay->visits[replay->count++] = (struct replay_visit){ page, start_ns, end_ns };
	return 0;
}

int replay_advise(struct replay *replay, const struct replay_advice *advice)
{
	if (array_reserve((void **)&replay->advices, replay->nr_advices, &replay->advice_capacity,
			  sizeof(*advice)))
		return -ENOMEM;
	replay->advices[replay->nr_advices++] = *advice;
	return 0;
}

void replay_forget_advice(struct replay *replay)
{
	free(replay->advices);
	replay->advices = NULL;
	replay->nr_advices = 0;
	replay->advice_capacity = 0;
}

static int replay_by_start(const void *a, const void *b)
{
	const struct replay_visit *left = a, *right = b;

	return left->start_ns < right->start_ns ? -1 : left->start_ns > right->start_ns;
}

static int replay_advice_by_start(const void *a, const void *b)
{
	const struct replay_advice *left = a, *right = b;

	return left->start_ns < right->start_ns ? -1 : left->start_ns > right->start_ns;
}

/* Converts *end_ns to the gap since the latest end so far. */
static void replay_take_gap(uint64_t start_ns, uint64_t *end_ns, uint64_t *latest)
{
	const uint64_t end = *end_ns;

	*end_ns = start_ns > *latest ? start_ns - *latest : 0;
	if (end > *latest)
		*latest = end;
}

/* Start of the first gap: the earliest event in the recording. */
static uint64_t replay_first_start(const struct replay *replay)
{
	uint64_t first = replay->visits[0].start_ns;
	size_t i;

	for (i = 0; i < replay->nr_advices; i++)
		if (replay->advices[i].start_ns && replay->advices[i].start_ns < first)
			first = replay->advices[i].start_ns;
	return first;
}

void replay_order(struct replay *replay)
{
	struct replay_advice *advice = replay->advices, *end = advice + replay->nr_advices;
	struct replay_visit *visit;
	uint64_t latest;
	size_t i;

	if (!replay->count)
		return;
	qsort(replay->visits, replay->count, sizeof(*replay->visits), replay_by_start);
	if (replay->nr_advices)
		qsort(advice, replay->nr_advices, sizeof(*advice), replay_advice_by_start);
	latest = replay_first_start(replay);
	for (i = 0; i < replay->count; i++) {
		visit = &replay->visits[i];
		for (; advice < end && advice->start_ns <= visit->start_ns; advice++) {
			advice->before = i;
			replay_take_gap(advice->start_ns, &advice->end_ns, &latest);
		}
		replay_take_gap(visit->start_ns, &visit->end_ns, &latest);
	}
	/* Drop advice not followed by a visit. */
	replay->nr_advices = advice - replay->advices;
}

void replay_exit(struct replay *replay)
{
	free(replay->visits);
	free(replay->advices);
	*replay = (struct replay){ 0 };
}

/* Sleeps at most a second, so that a stop requested just before is noticed soon. */
static void replay_sleep(uint64_t ns)
{
	const uint64_t slice = ns < SECOND ? ns : SECOND;
	const struct timespec sleep = { slice / SECOND, slice % SECOND };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &sleep, NULL);
}

/* A recorded gap may have any length. @stop ends the wait. */
static void replay_wait_gap(uint64_t gap_ns, const volatile sig_atomic_t *stop)
{
	const uint64_t start = clock_monotonic_ns();
	uint64_t waited = 0;

	while (waited < gap_ns && !*stop) {
		if (gap_ns - waited > SPIN_NS)
			replay_sleep(gap_ns - waited - SPIN_NS);
		waited = clock_monotonic_ns() - start;
	}
}

static size_t nr_refused;
static int refused_errno;

size_t replay_refused(int *error)
{
	*error = refused_errno;
	return nr_refused;
}

/* Ignores pages beyond the end of the file. */
static void replay_madvise(const struct pattern *pattern, const struct replay_advice *advice,
			   const volatile uint8_t *data)
{
	const uint64_t file_pages = pattern_pages_of(pattern, pattern->bytes);
	const uint64_t room = advice->page < file_pages ? file_pages - advice->page : 0;
	const uint64_t pages = advice->pages < room ? advice->pages : room;
	void *start = (void *)(uintptr_t)(data + advice->page * pattern->page_bytes);

	if (!pages || !madvise(start, pages * pattern->page_bytes, advice->advice))
		return;
	refused_errno = errno;
	nr_refused++;
}

/* Repeats the advice recorded before a visit and returns the next advice's index. */
static size_t replay_advise_before(const struct pattern *pattern, size_t next, size_t visit,
				   const volatile uint8_t *data, const volatile sig_atomic_t *stop)
{
	const struct replay *replay = pattern->data;
	const struct replay_advice *advice;

	for (; next < replay->nr_advices && !*stop; next++) {
		advice = &replay->advices[next];
		if (advice->before != visit)
			break;
		if (pattern->argument && advice->end_ns)
			replay_wait_gap(advice->end_ns, stop);
		replay_madvise(pattern, advice, data);
	}
	return next;
}

static uint64_t replay_run(const struct pattern *pattern, const volatile uint8_t *data,
			   struct pattern_watch *watch)
{
	const struct replay *replay = pattern->data;
	const uint64_t pages = pattern_pages_of(pattern, pattern->bytes);
	const struct replay_visit *visit;
	uint64_t sum = 0, i;
	size_t next = 0;

	watch->done = 0;
	nr_refused = 0;
	for (i = 0; i < pattern->accesses && !*watch->stop; i++) {
		visit = &replay->visits[i % replay->count];
		next = replay_advise_before(pattern, next, i, data, watch->stop);
		if (pattern->argument && visit->end_ns)
			replay_wait_gap(visit->end_ns, watch->stop);
		if (visit->page < pages)
			sum += data[visit->page * pattern->page_bytes];
		watch->done = i + 1;
	}
	return sum;
}

/* A replay never stores, so @written is not used. */
static int replay_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			bool written, struct pattern_visits *visits)
{
	const uint64_t in_file = pattern_pages_of(pattern, pattern->bytes);
	const struct replay *replay = pattern->data;
	struct bitmap *seen = bitmap_new(in_file);
	uint64_t page, i;

	(void)written;
	if (!seen)
		return -ENOMEM;
	for (i = 0; i < pattern->accesses && !*stop; i++) {
		page = replay->visits[i].page;
		if (page < in_file && bitmap_set(seen, page))
			pattern_visit(visits, page);
	}
	bitmap_free(seen);
	return *stop ? -EINTR : 0;
}

/* The warm-up keeps no gaps. */
static void replay_shrink(struct pattern *pattern)
{
	pattern->argument = false;
}

void replay_pattern(struct pattern *pattern, const struct replay *replay, uint64_t bytes,
		    bool paced)
{
	static const struct pattern_engine engine = {
		.shrink = replay_shrink,
		.run = replay_run,
		.pages = replay_pages,
	};

	*pattern = (struct pattern){
		.engine = &engine,
		.bytes = bytes,
		.page_bytes = page_size(),
		.accesses = replay->count,
		.data = replay,
		.argument = paced,
	};
}
