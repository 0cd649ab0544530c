// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host makes an instance of a module for each request: instances THREADS REQUESTS [pool]. It
 * reserves address space, makes a part accessible, touches pages, and unmaps. These calls take
 * mmap_lock for writing, so threads wait for each other in faults. pool: each thread keeps one
 * instance.
 */
#include <pthread.h>

#include "complaint.h"

#define RESERVED (64 * MIB)
#define USED	 (4 * MIB)
#define TOUCHED	 (USED / PAGE / 8)

static unsigned long requests;
static bool pool;

static char *make_instance(void)
{
	char *memory =
		mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	madvise(memory, RESERVED, MADV_NOHUGEPAGE);
	if (mprotect(memory, USED, PROT_READ | PROT_WRITE))
		err(1, "mprotect");
	return memory;
}

static __attribute__((noinline)) void serve(volatile char *memory)
{
	unsigned long i;

	for (i = 0; i < TOUCHED; i++)
		memory[i * 8 * PAGE] = 1;
}

static void *work(void *arg)
{
	char *memory = pool ? make_instance() : NULL;
	unsigned long i;

	for (i = 0; i < requests; i++) {
		if (!pool)
			memory = make_instance();
		serve(memory);
		if (!pool)
			munmap(memory, RESERVED);
	}
	return arg;
}

int main(int argc, char **argv)
{
	const unsigned long nr = number_of(argc, argv, 1, 4);
	pthread_t threads[64];
	unsigned long i;

	if (!nr || nr > 64)
		errx(2, "1 to 64 threads");
	requests = number_of(argc, argv, 2, 400) / nr;
	pool = is_word(argc, argv, 3, "pool");
	for (i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("%lu instances\n", nr * requests);
	return 0;
}
