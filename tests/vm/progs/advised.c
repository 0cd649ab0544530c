// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose run time depends on the advice about their file.
 *
 *	advised PROGRAM ADVICE FILE
 *
 *	random		150 pages in random order
 *	sequential	each page in order
 *	strided		a page of each 256 KiB
 *	threads		a thread reads the first half in order, another one random pages of the
 *			second half; the first one waits for the other at its end
 *	load		each page, in an order that jumps through the file
 *
 * ADVICE is none, normal, random, sequential, willneed or populate_read, for the whole mapping.
 * After each page the program computes for a while. It prints the nanoseconds from mmap(2) to the
 * last access.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE	     ((size_t)sysconf(_SC_PAGESIZE))
#define WORK	     8000 /* additions for each page */
#define RANDOM_PAGES 150
#define STRIDE	     64UL
#define LOAD_STEP    2741UL /* odd, to reach each page if the count is a power of two */

static const volatile uint8_t *data;
static size_t pages;
static volatile uint64_t sum;

static void die(const char *what)
{
	fprintf(stderr, "advised: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void visit(size_t page)
{
	uint64_t i, value = data[page * PAGE];

	for (i = 0; i < WORK; i++) {
		value += i;
		__asm__ volatile("" : "+r"(value));
	}
	sum = value;
}

static void visit_random(size_t first, size_t count, unsigned int visits)
{
	uint64_t state = 88172645463325252;

	for (; visits; visits--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		visit(first + state % count);
	}
}

static void visit_every(size_t count, size_t step)
{
	size_t page;

	for (page = 0; page < count; page += step)
		visit(page);
}

static void visit_jumping(void)
{
	size_t i;

	for (i = 0; i < pages; i++)
		visit(i * LOAD_STEP % pages);
}

static void *second_thread(void *nothing)
{
	visit_random(pages / 2, pages / 2, RANDOM_PAGES);
	return nothing;
}

static void visit_in_threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, second_thread, NULL))
		die("a thread");
	visit_every(pages / 8, 1);
	pthread_join(thread, NULL);
}

static void advise(const char *name)
{
	static const struct {
		const char *name;
		int advice;
	} all[] = {
		{ "normal", MADV_NORMAL },
		{ "random", MADV_RANDOM },
		{ "sequential", MADV_SEQUENTIAL },
		{ "willneed", MADV_WILLNEED },
		{ "populate_read", MADV_POPULATE_READ },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(name, all[i].name) &&
		    madvise((void *)data, pages * PAGE, all[i].advice))
			die(name);
}

static void run(const char *program)
{
	if (!strcmp(program, "random"))
		visit_random(0, pages, RANDOM_PAGES);
	else if (!strcmp(program, "sequential"))
		visit_every(pages, 1);
	else if (!strcmp(program, "strided"))
		visit_every(pages, STRIDE);
	else if (!strcmp(program, "threads"))
		visit_in_threads();
	else if (!strcmp(program, "load"))
		visit_jumping();
	else
		die(program);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	const uint64_t start = now_ns();
	struct stat stat;
	int fd;

	if (argc != 4)
		return 2;
	fd = open(argv[3], O_RDONLY);
	if (fd < 0 || fstat(fd, &stat))
		die(argv[3]);
	pages = stat.st_size / PAGE;
	data = mmap(NULL, stat.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		die("mmap");
	advise(argv[2]);
	run(argv[1]);
	printf("%lu\n", (unsigned long)(now_ns() - start));
	return 0;
}
