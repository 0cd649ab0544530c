// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters in a mapped file: counters FILE COUNTS [anonymous]. One store each 5 ms; another thread
 * syncs the file. Nearly all stores are quick. After a sync the next store to a page waits for the
 * file system, for long if its journal is busy. anonymous: the counters are not in a file.
 */
#include <pthread.h>

#include "complaint.h"

static char *file;
static size_t bytes;
static volatile bool done;

static void *sync_file(void *arg)
{
	while (!done) {
		if (msync(file, bytes, MS_SYNC))
			err(1, "msync");
		usleep(20000);
	}
	return arg;
}

static __attribute__((noinline)) void count(volatile char *counters, unsigned long number)
{
	counters[number % (bytes / PAGE) * PAGE]++;
}

int main(int argc, char **argv)
{
	const unsigned long counts = number_of(argc, argv, 2, 300);
	pthread_t thread;
	unsigned long i;
	char *counters;

	file = map_file(word_of(argc, argv, 1, "counters"), PROT_READ | PROT_WRITE, MAP_SHARED,
			&bytes);
	counters = is_word(argc, argv, 3, "anonymous") ? map_small_pages(bytes) : file;
	pthread_create(&thread, NULL, sync_file, NULL);
	for (i = 0; i < counts; i++) {
		count(counters, i);
		usleep(5000);
	}
	done = true;
	pthread_join(thread, NULL);
	printf("%lu counts\n", counts);
	return 0;
}
