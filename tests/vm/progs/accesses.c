// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads single pages of a mapped file, without read-ahead: accesses PATTERN NUMBER FILE. With
 * "anonymous" and a size in place of the file: anonymous memory, which it fills before. With
 * "pieces" instead, each page has a separate mapping. With "inherited", the process that filled the
 * memory has ended. With "turns" before the pattern, two processes read their own memory in turns,
 * the second one skewed.
 *
 *	random		each page is as likely
 *	loop		page by page, from the start again after the last one
 *	hot-and-cold	four of five accesses go to the first fifth of the file
 *	skewed		the more likely the nearer to the start
 */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* xorshift64*: the same pages in each run. */
static double next_unit(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (double)(state * 2685821657736338717 >> 11) / (1ULL << 53);
}

static size_t next_page(const char *pattern, size_t i, size_t pages)
{
	const double choice = next_unit(), unit = next_unit();

	if (!strcmp(pattern, "loop"))
		return i % pages;
	if (!strcmp(pattern, "skewed"))
		return pages * unit * unit * unit;
	if (!strcmp(pattern, "random"))
		return pages * unit;
	if (strcmp(pattern, "hot-and-cold"))
		errx(2, "no pattern '%s'", pattern);
	return choice < 0.8 ? pages / 5 * unit : pages / 5 + (pages - pages / 5) * unit;
}

static volatile char *map_file(const char *path, size_t *bytes)
{
	const int fd = open(path, O_RDONLY);
	struct stat stat;
	void *memory;

	if (fd < 0 || fstat(fd, &stat))
		err(1, "%s", path);
	*bytes = stat.st_size;
	memory = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED || madvise(memory, *bytes, MADV_RANDOM))
		err(1, "%s", path);
	return memory;
}

/* Each word differs: zram keeps pages of equal words without their content. */
static volatile char *map_anonymous(const char *size, size_t *bytes)
{
	uint64_t *memory;
	size_t i;

	*bytes = strtoul(size, NULL, 10);
	memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, *bytes, MADV_NOHUGEPAGE))
		err(1, "mmap");
	for (i = 0; i < *bytes / sizeof(*memory); i++)
		memory[i] = i;
	return (volatile char *)memory;
}

/* Each second page gets another protection, so that the kernel divides the mapping. */
static volatile char *map_pieces(const char *size, size_t *bytes)
{
	const size_t page_bytes = sysconf(_SC_PAGESIZE);
	volatile char *memory = map_anonymous(size, bytes);
	size_t i;

	for (i = 0; i < *bytes; i += 2 * page_bytes)
		if (mprotect((char *)memory + i, page_bytes, PROT_READ))
			err(1, "mprotect");
	return memory;
}

/* Returns in a grandchild. The child, which filled the memory, ends before. */
static volatile char *map_inherited(const char *size, size_t *bytes)
{
	volatile char *memory;
	int ends[2];
	pid_t child;
	char none;

	if (pipe(ends) || prctl(PR_SET_CHILD_SUBREAPER, 1))
		err(1, "pipe or prctl");
	child = fork();
	if (child > 0) {
		close(ends[1]);
		while (wait(NULL) > 0)
			;
		exit(0);
	}
	memory = map_anonymous(size, bytes);
	if (!child)
		child = fork();
	if (child < 0)
		err(1, "fork");
	if (child)
		_exit(0);
	close(ends[1]);
	if (read(ends[0], &none, 1))
		errx(1, "the pipe has another writer");
	return memory;
}

static volatile char *map_memory(const char *kind, const char *size, size_t *bytes)
{
	if (!strcmp(kind, "pieces"))
		return map_pieces(size, bytes);
	return strcmp(kind, "inherited") ? map_anonymous(size, bytes) : map_inherited(size, bytes);
}

static long majors(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

/* CPU time of all threads, including the kernel and eBPF programs. */
static long long cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

#define TURN 16 /* accesses */

static void take_turn(const int *pipes)
{
	char turn = 0;

	if (pipes && (write(pipes[1], &turn, 1) != 1 || read(pipes[0], &turn, 1) != 1))
		errx(1, "the other process has ended");
}

/* Prints the major faults and the CPU time. */
static void read_pages(const char *pattern, size_t accesses, volatile const char *memory,
		       size_t bytes, const int *pipes)
{
	const size_t page_bytes = sysconf(_SC_PAGESIZE);
	const long majors_before = majors();
	const long long ns_before = cpu_ns();
	size_t i;

	for (i = 0; i < accesses; i++) {
		if (!(i % TURN))
			take_turn(pipes);
		(void)memory[page_bytes * next_page(pattern, i, bytes / page_bytes)];
	}
	printf("majors=%ld cpu_ns=%lld\n", majors() - majors_before, cpu_ns() - ns_before);
}

/* Each process reads from one of two pipes, and takes as many turns as the other. */
static void read_in_turns(char **argv)
{
	int pipes[2][2], ends[2];
	const char *pattern = argv[1];
	volatile char *memory;
	size_t bytes;
	pid_t child;

	if (pipe(pipes[0]) || pipe(pipes[1]))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	ends[0] = pipes[!child][0];
	ends[1] = pipes[!!child][1];
	memory = map_anonymous(argv[4], &bytes);
	read_pages(child ? pattern : "skewed", strtoul(argv[2], NULL, 10), memory, bytes, ends);
	if (child && wait(NULL) < 0)
		err(1, "wait");
}

int main(int argc, char **argv)
{
	const bool turns = argc == 6 && !strcmp(argv[1], "turns");
	volatile char *memory;
	size_t bytes;

	if (turns) {
		read_in_turns(argv + 1);
		return 0;
	}
	if (argc < 4 || argc > 5)
		errx(2, "[turns] PATTERN NUMBER FILE, or anonymous, pieces or inherited SIZE");
	memory = argc == 4 ? map_file(argv[3], &bytes) : map_memory(argv[3], argv[4], &bytes);
	read_pages(argv[1], strtoul(argv[2], NULL, 10), memory, bytes, NULL);
	return 0;
}
