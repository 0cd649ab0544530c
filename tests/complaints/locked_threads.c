// SPDX-License-Identifier: GPL-2.0-only
/*
 * An audio program locks memory and starts threads: locked_threads THREADS [small]. After
 * mlockall(MCL_FUTURE) the kernel fills the whole 8 MiB stack in each new thread's mmap(). small:
 * 64 KiB stacks.
 */
#include <pthread.h>

#include "complaint.h"

static void *play(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	const unsigned long nr = number_of(argc, argv, 1, 8);
	const size_t stack = is_word(argc, argv, 2, "small") ? 16 * PAGE : 8 * MIB;
	pthread_attr_t attributes;
	pthread_t threads[64];
	unsigned long i;

	if (nr > 64)
		errx(2, "at most 64 threads");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		err(1, "mlockall");
	for (i = 0; i < nr; i++)
		if (pthread_create(&threads[i], &attributes, play, NULL))
			errx(1, "cannot start a thread");
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	puts("played");
	return 0;
}
