// SPDX-License-Identifier: GPL-2.0-only
/*
 * An allocator returns each freed buffer to the kernel at once: batches ROUNDS [keep]. Two workers
 * fill the same buffer in each round and purge it. The process never has more than 2 MiB, but the
 * kernel clears the pages again in each round. keep: the allocator keeps the buffer.
 */
#include <pthread.h>

#include "complaint.h"

#define BATCH MIB

static unsigned long rounds;
static bool keep;

static __attribute__((noinline)) void purge(char *buffer)
{
	if (!keep && madvise(buffer, BATCH, MADV_DONTNEED))
		err(1, "madvise");
}

static __attribute__((noinline)) void scan_batch(volatile char *buffer, unsigned long round)
{
	size_t at;

	for (at = 0; at < BATCH; at += 256)
		buffer[at] = (char)round;
}

static void *work(void *arg)
{
	char *buffer = map_small_pages(BATCH);
	unsigned long round;

	for (round = 0; round < rounds; round++) {
		scan_batch(buffer, round);
		purge(buffer);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int i;

	rounds = number_of(argc, argv, 1, 40);
	keep = is_word(argc, argv, 2, "keep");
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%lu batches\n", 2 * rounds);
	return 0;
}
