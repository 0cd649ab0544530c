// SPDX-License-Identifier: GPL-2.0-only
/*
 * A server looks up symbols in an index not in memory: mapped_index FILE LOOKUPS
 * [read|merge|plain|again]. Two threads run all server tasks, like the two Ps in a Go program. A
 * lookup at a page not in memory holds the thread, so all other tasks are late. read: the lookups
 * are pread() calls. merge: a merge reads the pages in order, in spite of MADV_RANDOM. plain:
 * without this advice. again: in two rounds, and a backup drops the file's pages between them.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "complaint.h"

#define RUNNERS 2

static const char *index_bytes;
static size_t size;
static int file = -1;
static unsigned long lookups;
static bool in_order, plain;

static __attribute__((noinline)) unsigned long look_up(size_t at)
{
	char byte;

	if (file < 0)
		return ((const volatile char *)index_bytes)[at];
	if (pread(file, &byte, 1, at) != 1)
		err(1, "pread");
	return byte;
}

static void *run_tasks(void *arg)
{
	const unsigned long first = lookups / RUNNERS * (uintptr_t)arg;
	uint64_t seed = (uintptr_t)arg;
	uintptr_t sum = 0;
	unsigned long i;

	for (i = first; i < first + lookups / RUNNERS; i++)
		sum += look_up(in_order ? i * PAGE : next_random(&seed) % size);
	return (void *)sum;
}

static void run_round(const char *path)
{
	pthread_t threads[RUNNERS];
	uintptr_t i;

	index_bytes = map_file(path, PROT_READ, MAP_SHARED, &size);
	if (!lookups || size / PAGE < lookups)
		errx(2, "%s is too small", path);
	if (!plain && madvise((void *)index_bytes, size, MADV_RANDOM))
		err(1, "madvise");
	for (i = 0; i < RUNNERS; i++)
		pthread_create(&threads[i], NULL, run_tasks, (void *)i);
	for (i = 0; i < RUNNERS; i++)
		pthread_join(threads[i], NULL);
	munmap((void *)index_bytes, size);
}

/* A child drops the pages, which no process has mapped now. */
static void back_up(const char *path)
{
	const pid_t pid = fork();

	if (!pid) {
		const int fd = open(path, O_RDONLY);

		_exit(fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *path = word_of(argc, argv, 1, "index");

	lookups = number_of(argc, argv, 2, 800);
	plain = is_word(argc, argv, 3, "plain");
	in_order = plain || is_word(argc, argv, 3, "merge");
	if (is_word(argc, argv, 3, "read"))
		file = open(path, O_RDONLY);
	run_round(path);
	if (is_word(argc, argv, 3, "again")) {
		back_up(path);
		run_round(path);
	}
	printf("%lu lookups\n", lookups);
	return 0;
}
