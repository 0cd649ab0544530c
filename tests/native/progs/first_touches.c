// SPDX-License-Identifier: GPL-2.0-only
/*
 * Touches each page of a file once, in an order that a test knows: page i * STEP modulo the number
 * of pages. Prints the line "range NAME TID ADDRESS PAGES MINOR MAJOR SINCE" of native_faults,
 * with MINOR and MAJOR 0. Before that:
 *
 *	first_touches FILE			maps the file, shared and read-only
 *	first_touches FILE closed		then closes all descriptors with libc
 *	first_touches FILE raw			the same by a system call, before it maps the file
 *	first_touches FILE forked		a child maps and touches
 *	first_touches FILE moved		moves the mapping with mremap(2)
 *	first_touches FILE threads		four threads map and touch the file: four lines
 *	first_touches FILE private		writes each page of a private mapping
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP	3577UL
#define THREADS 4

static const char *path, *how;
static unsigned long long main_ns;

static char *map_file(size_t *pages)
{
	const int fd = open(path, O_RDONLY);
	const int private = !strcmp(how, "private");
	struct stat file;
	char *map;

	if (fd < 0 || fstat(fd, &file))
		err(1, "%s", path);
	*pages = file.st_size / getpagesize();
	map = mmap(NULL, file.st_size, PROT_READ | (private ? PROT_WRITE : 0),
		   private ? MAP_PRIVATE : MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		err(1, "mmap");
	close(fd);
	return map;
}

static char *move(char *map, size_t size)
{
	char *to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (to == MAP_FAILED)
		err(1, "mmap");
	to = mremap(map, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (to == MAP_FAILED)
		err(1, "mremap");
	return to;
}

static void *map_and_touch(void *unused)
{
	const size_t page_bytes = getpagesize();
	size_t pages, i;
	volatile char *map = map_file(&pages);

	if (!strcmp(how, "moved"))
		map = move((char *)map, pages * page_bytes);
	if (!strcmp(how, "closed") &&
	    (close_range(3, 1500, 0) || close(1000) != -1 || errno != EBADF))
		err(1, "close");
	if (!strcmp(how, "closed"))
		closefrom(3);
	for (i = 0; i < pages; i++) {
		if (!strcmp(how, "private"))
			map[i * STEP % pages * page_bytes] = 1;
		else
			(void)map[i * STEP % pages * page_bytes];
	}
	printf("range %s %d %#lx %zu 0 0 %llu\n", how, (int)syscall(SYS_gettid), (unsigned long)map,
	       pages, main_ns);
	return unused;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, map_and_touch, NULL))
			errx(1, "pthread_create");
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* The errors of the kernel, also through a library. */
static void check_errors(void)
{
	if (mmap(NULL, 1, PROT_READ, MAP_SHARED, -1, 0) != MAP_FAILED || errno != EBADF ||
	    mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
	    errno != EINVAL || mremap(NULL, 0, 0, 0) != MAP_FAILED || errno != EINVAL ||
	    close(-1) != -1 || errno != EBADF)
		err(1, "unexpected error");
}

int main(int argc, char **argv)
{
	struct timespec now;
	pid_t child;

	path = argv[1];
	how = argc > 2 ? argv[2] : "shared";
	clock_gettime(CLOCK_MONOTONIC, &now);
	main_ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
	check_errors();
	if (!strcmp(how, "raw"))
		syscall(SYS_close_range, 3, ~0U, 0);
	if (!strcmp(how, "threads")) {
		run_threads();
		return 0;
	}
	child = strcmp(how, "forked") ? 0 : fork();
	if (child < 0)
		err(1, "fork");
	if (!child)
		map_and_touch(NULL);
	else if (waitpid(child, NULL, 0) != child)
		err(1, "waitpid");
	return 0;
}
