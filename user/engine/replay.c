// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "bitmap.h"
#include "replay.h"

#define FIRST_CAPACITY 4096
/* A gap is waited out on the CPU up to here: a sleep would overshoot by as much. */
#define SPIN_NS 100000
#define SECOND_NS 1000000000ULL

int replay_add(struct replay *replay, uint64_t page, uint64_t start_ns, uint64_t end_ns)
{
	size_t capacity = replay->capacity ? 2 * replay->capacity : FIRST_CAPACITY;
	struct visit *visits;

	if (replay->count == replay->capacity) {
		visits = reallocarray(replay->visits, capacity, sizeof(*visits));
		if (!visits)
			return -ENOMEM;
		replay->visits = visits;
		replay->capacity = capacity;
	}
	replay->visits[replay->count++] = (struct visit){ page, start_ns, end_ns };
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct visit *left = a, *right = b;

	return left->start_ns < right->start_ns ? -1 : left->start_ns > right->start_ns;
}

void replay_order(struct replay *replay)
{
	uint64_t latest, end_ns;
	struct visit *visit;
	size_t i;

	if (!replay->count)
		return;
	qsort(replay->visits, replay->count, sizeof(*replay->visits), by_start);
	latest = replay->visits[0].start_ns;
	for (i = 0; i < replay->count; i++) {
		visit = &replay->visits[i];
		end_ns = visit->end_ns;
		visit->end_ns = visit->start_ns > latest ? visit->start_ns - latest : 0;
		if (end_ns > latest)
			latest = end_ns;
	}
}

void replay_exit(struct replay *replay)
{
	free(replay->visits);
	*replay = (struct replay){ 0 };
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* At most a second: what is told just before it is seen soon after. */
static void sleep_for(uint64_t ns)
{
	const uint64_t slice = ns < SECOND_NS ? ns : SECOND_NS;
	const struct timespec sleep = { slice / SECOND_NS, slice % SECOND_NS };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &sleep, NULL);
}

/* A recording may hold any gap; whoever waits for it can end it. */
static void wait_gap(uint64_t gap_ns, const volatile sig_atomic_t *stop)
{
	const uint64_t start = now_ns();
	uint64_t waited = 0;

	while (waited < gap_ns && !*stop) {
		if (gap_ns - waited > SPIN_NS)
			sleep_for(gap_ns - waited - SPIN_NS);
		waited = now_ns() - start;
	}
}

static uint64_t run_replay(const struct pattern *pattern, const volatile uint8_t *data,
			   struct pattern_watch *watch)
{
	const struct replay *replay = pattern->replay;
	const uint64_t pages = (pattern->bytes + PATTERN_PAGE - 1) / PATTERN_PAGE;
	const struct visit *visit;
	uint64_t sum = 0, i;

	watch->done = 0;
	for (i = 0; i < pattern->accesses && !*watch->stop; i++) {
		visit = &replay->visits[i % replay->count];
		if (pattern->paced && visit->end_ns)
			wait_gap(visit->end_ns, watch->stop);
		if (visit->page < pages)
			sum += data[visit->page * PATTERN_PAGE];
		watch->done = i + 1;
	}
	return sum;
}

/* It never stores: nobody asks for the pages written. */
static int replay_pages(const struct pattern *pattern, const volatile sig_atomic_t *stop,
			bool written, uint64_t *pages)
{
	const uint64_t in_file = (pattern->bytes + PATTERN_PAGE - 1) / PATTERN_PAGE;
	const struct replay *replay = pattern->replay;
	struct bitmap *seen = bitmap_new(in_file);
	uint64_t i;

	(void)written;
	if (!seen)
		return -ENOMEM;
	*pages = 0;
	for (i = 0; i < pattern->accesses && !*stop; i++)
		if (replay->visits[i].page < in_file)
			*pages += bitmap_set(seen, replay->visits[i].page);
	bitmap_free(seen);
	return *stop ? -EINTR : 0;
}

void replay_pattern(struct pattern *pattern, const struct replay *replay, uint64_t bytes,
		    bool paced)
{
	static const struct pattern_engine engine = {
		.name = "replay", .run = run_replay, .pages = replay_pages,
	};

	*pattern = (struct pattern){
		.engine = &engine, .bytes = bytes, .accesses = replay->count, .replay = replay,
		.paced = paced,
	};
}
