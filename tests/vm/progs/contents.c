// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults whose pages come from a known place.
 *
 *	contents zero PAGES	reads each page of new memory, then writes each
 *	contents ksm PAGES	writes equal pages, waits until KSM has merged them (it must run),
 *				and writes each
 *	contents file PAGES FILE	reads each page of a private mapping, then writes each
 *	contents copy PAGES FILE	writes each page of a private mapping
 *	contents fork PAGES	writes each page, forks, writes each while the child waits
 *	contents forked PAGES	forks with written pages, then waits for a line of the standard
 *				input, and writes each while the child waits
 *	contents reused PAGES	writes each page, forks, waits for the child's end, writes each
 *	contents new PAGES	writes each page of new shared memory
 *	contents present PAGES	the same, then again in a second mapping
 *	contents hugetlb PAGES	writes to each huge page of a private mapping
 *	contents thp MIB	writes to each 2 MiB of memory that wants huge pages
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	 ((size_t)sysconf(_SC_PAGESIZE))
#define HUGE	 ((size_t)2 << 20)
#define MEMORY	 (PROT_READ | PROT_WRITE)
#define ROUND_US 10000

static void die(const char *what)
{
	fprintf(stderr, "contents: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *map_pages(size_t bytes, int flags, int fd)
{
	char *map = mmap(NULL, bytes, MEMORY, flags, fd, 0);

	if (map == MAP_FAILED)
		die("mmap");
	return map;
}

/* Small pages only. */
static char *map_memory(size_t bytes)
{
	char *map = map_pages(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(map, bytes, MADV_NOHUGEPAGE);
	return map;
}

static void read_each(const volatile char *map, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += PAGE)
		(void)map[i];
}

static void write_each(volatile char *map, size_t bytes, size_t step)
{
	size_t i;

	for (i = 0; i < bytes; i += step)
		map[i] = 1;
}

static void run_zero(size_t bytes)
{
	char *map = map_memory(bytes);

	read_each(map, bytes);
	write_each(map, bytes, PAGE);
}

/* This process's pages merged by KSM. */
static size_t merged(void)
{
	FILE *file = fopen("/proc/self/ksm_merging_pages", "re");
	size_t pages = 0;

	if (!file || fscanf(file, "%zu", &pages) != 1)
		die("ksm_merging_pages");
	fclose(file);
	return pages;
}

static void run_ksm(size_t bytes)
{
	char *map = map_memory(bytes);

	memset(map, 7, bytes);
	if (madvise(map, bytes, MADV_MERGEABLE))
		die("MADV_MERGEABLE");
	while (merged() < bytes / PAGE)
		usleep(ROUND_US);
	write_each(map, bytes, PAGE);
}

static void run_file(size_t bytes, const char *path, int reads)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char *map;

	if (fd < 0)
		die(path);
	map = map_pages(bytes, MAP_PRIVATE, fd);
	if (reads)
		read_each(map, bytes);
	write_each(map, bytes, PAGE);
}

/* The child ends when the returned descriptor is closed. */
static int fork_waiting(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	close(ends[0]);
	return ends[1];
}

static void run_fork(size_t bytes, int waits)
{
	char *map = map_memory(bytes), line[8];
	int child;

	write_each(map, bytes, PAGE);
	child = fork_waiting();
	if (waits && write(STDOUT_FILENO, "ready\n", 6) == 6 &&
	    read(STDIN_FILENO, line, sizeof(line)) < 0)
		die("read");
	write_each(map, bytes, PAGE);
	close(child);
	wait(NULL);
}

/*
 * Runs on one CPU: the kernel copies a page, even if only one process uses it, while another CPU's
 * LRU batch holds it.
 */
static void run_reused(size_t bytes)
{
	char *map = map_memory(bytes);
	const int cpu = sched_getcpu();
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	if (cpu < 0 || sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
	write_each(map, bytes, PAGE);
	close(fork_waiting());
	wait(NULL);
	write_each(map, bytes, PAGE);
}

static void run_shared(size_t bytes, int again)
{
	int fd = memfd_create("contents", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, bytes))
		die("memfd_create");
	write_each(map_pages(bytes, MAP_SHARED, fd), bytes, PAGE);
	if (again)
		write_each(map_pages(bytes, MAP_SHARED, fd), bytes, PAGE);
}

static void run_hugetlb(size_t pages)
{
	write_each(map_pages(pages * HUGE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1),
		   pages * HUGE, HUGE);
}

static void run_thp(size_t bytes)
{
	char *map = map_pages(bytes + HUGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	map += -(size_t)map & (HUGE - 1);
	if (madvise(map, bytes, MADV_HUGEPAGE))
		die("MADV_HUGEPAGE");
	write_each(map, bytes, HUGE);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	const size_t number = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (!strcmp(what, "zero"))
		run_zero(number * PAGE);
	else if (!strcmp(what, "ksm"))
		run_ksm(number * PAGE);
	else if (!strcmp(what, "file") && argc > 3)
		run_file(number * PAGE, argv[3], 1);
	else if (!strcmp(what, "copy") && argc > 3)
		run_file(number * PAGE, argv[3], 0);
	else if (!strcmp(what, "fork"))
		run_fork(number * PAGE, 0);
	else if (!strcmp(what, "forked"))
		run_fork(number * PAGE, 1);
	else if (!strcmp(what, "reused"))
		run_reused(number * PAGE);
	else if (!strcmp(what, "new"))
		run_shared(number * PAGE, 0);
	else if (!strcmp(what, "present"))
		run_shared(number * PAGE, 1);
	else if (!strcmp(what, "hugetlb"))
		run_hugetlb(number);
	else if (!strcmp(what, "thp"))
		run_thp(number << 20);
	else
		return 2;
	return 0;
}
