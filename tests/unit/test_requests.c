// SPDX-License-Identifier: GPL-2.0-only
/* Requests are found by thread and by page as in a walk over all of them. */
#include "random.h"
#include "runner.h"
#include "user/analyze/fault/requests.h"

#define NR 20000U

static struct requests requests;
static struct pfstat_block added[NR];
static size_t nr_added;

static void add(const struct pfstat_block *block)
{
	added[nr_added++] = *block;
	ck_assert_int_eq(requests_add(&requests, block), 0);
}

static bool moves(const struct pfstat_block *block, const struct requests_wait *wait)
{
	return block->event.flags & PFSTAT_BLOCK_FILE && wait->inode &&
	       block->inode == wait->inode && block->fs_dev == wait->dev &&
	       wait->pgoff >= block->pgoff && wait->pgoff < block->pgoff + block->bytes / 4096;
}

/* Compares with a walk from the latest request to the oldest. */
static void check_match(const struct requests_wait *wait)
{
	const size_t oldest = nr_added > REQUESTS_MAX ? nr_added - REQUESTS_MAX : 0;
	const struct pfstat_block *matches[REQUESTS_MATCHES], *block;
	size_t nr = requests_match(&requests, wait, matches), found = 0, i;

	for (i = nr_added; i-- > oldest && found < REQUESTS_MATCHES;) {
		block = &added[i];
		if (block->event.ns <= wait->from_ns)
			break;
		if (!moves(block, wait) &&
		    (block->event.tid != wait->tid || block->insert_ns < wait->start_ns))
			continue;
		ck_assert_uint_lt(found, nr);
		ck_assert_mem_eq(matches[found++], block, sizeof(*block));
	}
	ck_assert_uint_eq(found, nr);
}

static void check_bytes(uint32_t tid, uint64_t start_ns, uint64_t end_ns)
{
	const size_t oldest = nr_added > REQUESTS_MAX ? nr_added - REQUESTS_MAX : 0;
	const struct pfstat_block *block;
	uint64_t bytes = 0;
	size_t i;

	for (i = nr_added; i-- > oldest && added[i].event.ns > start_ns;) {
		block = &added[i];
		if (block->event.tid == tid && block->insert_ns >= start_ns &&
		    block->event.ns <= end_ns && !(block->event.flags & PFSTAT_BLOCK_WRITE))
			bytes += block->bytes;
	}
	ck_assert_uint_eq(requests_bytes_read(&requests, tid, start_ns, end_ns), bytes);
}

static uint32_t random_pages(uint64_t random)
{
	return random % 50 ? 1 + random % 64 : 400 + random % 700;
}

TEST(test_matches_equal_those_of_a_walk_over_all)
{
	uint64_t state = 1, random, ns;
	struct requests_wait wait;
	struct pfstat_block block;
	uint32_t i;

	requests = (struct requests){ .page_bytes = 4096 };
	nr_added = 0;
	wait = (struct requests_wait){ .tid = 1, .inode = 1 };
	check_match(&wait);
	check_bytes(1, 0, 10);
	for (i = 0; i < NR; i++) {
		random = random_next(&state);
		ns = 1000 + 10 * i;
		block = (struct pfstat_block){
			.event = { .type = PFSTAT_EVENT_BLOCK,
				   .flags = (random & 7 ? PFSTAT_BLOCK_FILE : 0) |
					    (random >> 3 & 7 ? 0 : PFSTAT_BLOCK_WRITE),
				   .tid = 1 + (random >> 6) % 20,
				   .ns = ns },
			.insert_ns = ns - (random >> 12) % 1000,
			.inode = 1 + (random >> 24) % 3,
			.fs_dev = 1,
			.pgoff = (random >> 30) % 4000,
		};
		block.bytes = 4096 * random_pages(random >> 44);
		block.file_bytes = block.bytes;
		add(&block);
		wait = (struct requests_wait){
			.dev = 1,
			.tid = 1 + random % 20,
			.inode = (random >> 8) % 4,
			.pgoff = (random >> 20) % 4000,
			.start_ns = ns - (random >> 32) % 2000,
			.from_ns = random >> 60 ? ns - (random >> 40) % 1000 : 0,
		};
		check_match(&wait);
		check_bytes(wait.tid, wait.start_ns, ns - random % 100);
	}
	requests_exit(&requests);
}
