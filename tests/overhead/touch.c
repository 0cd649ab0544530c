// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload for `make bench`: ROUNDS rounds, each with a new mapping, that read each page of a
 * file in the page cache once, or write to each page in as much anonymous memory.
 *
 *	touch FILE ROUNDS [anon]
 *
 * Prints the pid, waits for a line (while an instrument is attached), and prints for each round:
 * faults, elapsed ns, and the program's own CPU time in ns.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE	   ((size_t)sysconf(_SC_PAGESIZE))
#define MAX_ROUNDS 100

struct round {
	long minor;
	long major;
	uint64_t clock_ns;
	uint64_t thread_ns;
};

static uint64_t ns_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static struct round take(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (struct round){
		.minor = usage.ru_minflt,
		.major = usage.ru_majflt,
		.thread_ns = ns_of(CLOCK_THREAD_CPUTIME_ID),
		.clock_ns = ns_of(CLOCK_MONOTONIC),
	};
}

/* Anonymous memory if `fd` is -1, with a single page size. */
static volatile char *map(int fd, size_t size)
{
	char *memory;

	if (fd >= 0)
		return mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory != MAP_FAILED)
		madvise(memory, size, MADV_NOHUGEPAGE); /* a kernel without them refuses */
	return memory;
}

static void touch_all(volatile char *memory, size_t size, bool write)
{
	const size_t page = PAGE;
	size_t at;

	for (at = 0; at < size; at += page) {
		if (write)
			memory[at] = 1;
		else
			(void)memory[at];
	}
}

static bool make_round(int fd, size_t size, struct round *round)
{
	volatile char *memory = map(fd, size);
	struct round before, after;

	if (memory == MAP_FAILED)
		return false;
	before = take();
	touch_all(memory, size, fd < 0);
	after = take();
	munmap((void *)memory, size);
	*round = (struct round){
		.minor = after.minor - before.minor,
		.major = after.major - before.major,
		.clock_ns = after.clock_ns - before.clock_ns,
		.thread_ns = after.thread_ns - before.thread_ns,
	};
	return true;
}

/* Prints only at the end, because a write would wake the reader. */
int main(int argc, char **argv)
{
	static struct round rounds[MAX_ROUNDS];
	struct stat file;
	int i, fd, nr;

	nr = argc >= 3 ? atoi(argv[2]) : 0;
	if (nr < 1 || nr > MAX_ROUNDS || argc > 4) {
		fprintf(stderr, "usage: touch FILE ROUNDS [anon]; at most %d rounds\n", MAX_ROUNDS);
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &file)) {
		perror(argv[1]);
		return 1;
	}
	printf("%d\n", getpid());
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	for (i = 0; i < nr; i++)
		if (!make_round(argc == 4 ? -1 : fd, file.st_size, &rounds[i])) {
			perror("mmap");
			return 1;
		}
	for (i = 0; i < nr; i++)
		printf("%ld %ld %llu %llu\n", rounds[i].minor, rounds[i].major,
		       (unsigned long long)rounds[i].clock_ns,
		       (unsigned long long)rounds[i].thread_ns);
	return 0;
}
