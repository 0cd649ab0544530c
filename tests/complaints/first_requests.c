// SPDX-License-Identifier: GPL-2.0-only
/*
 * A runtime did not touch the heap at start: first_requests MIB [huge]. So the first requests, here
 * three threads taking new memory from the heap, touch each page for the first time. huge: the heap
 * has huge pages, each of which needs one fault.
 */
#include <pthread.h>

#include "complaint.h"

#define THREADS 3

static size_t bytes;

static __attribute__((noinline)) void allocate(volatile char *from, size_t size)
{
	size_t at;

	for (at = 0; at < size; at += 64)
		from[at] = 1;
}

static void *serve(void *part)
{
	size_t at;

	for (at = 0; at + 4 * PAGE <= bytes / THREADS; at += 4 * PAGE)
		allocate((char *)part + at, 4 * PAGE);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	char *heap;
	int i;

	bytes = number_of(argc, argv, 1, 96) * MIB;
	heap = map_memory(bytes, MAP_PRIVATE);
	if (madvise(heap, bytes, is_word(argc, argv, 2, "huge") ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		err(1, "madvise");
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve, heap + bytes / THREADS / PAGE * PAGE * i);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("served");
	return 0;
}
