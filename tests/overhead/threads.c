// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload for `make bench-native` and `make bench-scale`: threads, each pinned to a separate
 * CPU, that read each page in a separate mapping once. The file is in the page cache.
 *
 *	threads FILE THREADS
 *
 * Prints the pid, then runs a round for each line on stdin. The line contains the number of threads
 * that take part. The others wait. Prints for each round: minor and major faults, and the mean over
 * the threads of elapsed ns and of thread CPU time in ns.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE	    ((size_t)sysconf(_SC_PAGESIZE))
#define MAX_THREADS 256

struct member {
	unsigned int number;
	int cpu;
	pthread_t thread;
	long minor, major;
	uint64_t clock_ns, thread_ns;
};

/* All threads meet at both ends of a round. Only some touch pages. */
static pthread_barrier_t begin, end;
/* The touching threads start together. */
static pthread_barrier_t start;
static unsigned int taking_part;
static int fd;
static size_t size;

static uint64_t ns_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* sign: -1 before the round, 1 after it */
static void take(struct member *member, int sign)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	member->minor += sign * usage.ru_minflt;
	member->major += sign * usage.ru_majflt;
	member->thread_ns += sign * ns_of(CLOCK_THREAD_CPUTIME_ID);
	member->clock_ns += sign * ns_of(CLOCK_MONOTONIC);
}

/* Each thread starts at another place in the file, so the threads do not meet at the same pages. */
static void touch_all(const volatile char *memory, size_t first)
{
	const size_t page = PAGE;
	size_t at;

	for (at = first; at < size; at += page)
		(void)memory[at];
	for (at = 0; at < first; at += page)
		(void)memory[at];
}

static void make_round(struct member *member)
{
	const size_t first = size / PAGE * member->number / taking_part * PAGE;
	const volatile char *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED) {
		perror("threads: mmap");
		exit(1);
	}
	member->minor = 0;
	member->major = 0;
	member->clock_ns = 0;
	member->thread_ns = 0;
	pthread_barrier_wait(&start);
	take(member, -1);
	touch_all(memory, first);
	take(member, 1);
	munmap((void *)memory, size);
}

static void *run(void *argument)
{
	struct member *member = argument;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(member->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus)) {
		perror("threads: sched_setaffinity");
		exit(1);
	}
	for (;;) {
		pthread_barrier_wait(&begin);
		if (member->number < taking_part)
			make_round(member);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

/* False if there are fewer CPUs. */
static bool start_members(struct member *members, unsigned int nr)
{
	unsigned int made = 0;
	cpu_set_t cpus;
	int cpu;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (cpu = 0; cpu < CPU_SETSIZE && made < nr; cpu++) {
		if (!CPU_ISSET(cpu, &cpus))
			continue;
		members[made] = (struct member){ .number = made, .cpu = cpu };
		if (pthread_create(&members[made].thread, NULL, run, &members[made]))
			return false;
		made++;
	}
	return made == nr;
}

static void say(const struct member *members, unsigned int nr)
{
	struct member sum = { 0 };
	unsigned int i;

	for (i = 0; i < nr; i++) {
		sum.minor += members[i].minor;
		sum.major += members[i].major;
		sum.clock_ns += members[i].clock_ns;
		sum.thread_ns += members[i].thread_ns;
	}
	printf("%ld %ld %llu %llu\n", sum.minor, sum.major, (unsigned long long)(sum.clock_ns / nr),
	       (unsigned long long)(sum.thread_ns / nr));
	fflush(stdout);
}

static void make_rounds(const struct member *members, unsigned int nr)
{
	unsigned int wanted;

	printf("%d\n", getpid());
	fflush(stdout);
	while (scanf("%u", &wanted) == 1 && wanted && wanted <= nr) {
		taking_part = wanted;
		pthread_barrier_init(&start, NULL, wanted);
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		pthread_barrier_destroy(&start);
		say(members, wanted);
	}
}

int main(int argc, char **argv)
{
	static struct member members[MAX_THREADS];
	unsigned int nr = argc == 3 ? atoi(argv[2]) : 0;
	struct stat file;

	if (!nr || nr > MAX_THREADS) {
		fprintf(stderr, "usage: threads FILE THREADS, of which there are at most %d\n",
			MAX_THREADS);
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &file)) {
		perror(argv[1]);
		return 1;
	}
	size = file.st_size;
	pthread_barrier_init(&begin, NULL, nr + 1);
	pthread_barrier_init(&end, NULL, nr + 1);
	if (!start_members(members, nr)) {
		fprintf(stderr, "threads: there are fewer than %u CPUs for as many threads\n", nr);
		return 1;
	}
	make_rounds(members, nr);
	return 0;
}
