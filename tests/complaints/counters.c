// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters in a mapped file: counters FILE COUNTS. One store each 5 ms, each to another page.
 * Nearly all stores are quick. Once, a snapshot freezes the file system for a moment, and a store
 * waits in the fault.
 */
#include <libgen.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sys/ioctl.h>

#include "complaint.h"

static const char *path;

static void *take_snapshot(void *arg)
{
	char *copy = strdup(path);
	const int folder = open(dirname(copy), O_RDONLY);

	free(copy);
	usleep(300000);
	if (folder < 0 || ioctl(folder, FIFREEZE, 0))
		err(1, "cannot freeze the file system of %s", path);
	usleep(10000);
	if (ioctl(folder, FITHAW, 0))
		err(1, "cannot thaw the file system of %s", path);
	close(folder);
	return arg;
}

static __attribute__((noinline)) void count(volatile char *counter)
{
	(*counter)++;
}

int main(int argc, char **argv)
{
	const unsigned long counts = number_of(argc, argv, 2, 250);
	pthread_t thread;
	unsigned long i;
	char *counters;
	size_t bytes;

	path = word_of(argc, argv, 1, "counters");
	counters = map_file(path, PROT_READ | PROT_WRITE, MAP_SHARED, &bytes);
	pthread_create(&thread, NULL, take_snapshot, NULL);
	for (i = 0; i < counts; i++) {
		count(counters + i % (bytes / PAGE) * PAGE);
		usleep(5000);
	}
	pthread_join(thread, NULL);
	printf("%lu counts\n", counts);
	return 0;
}
