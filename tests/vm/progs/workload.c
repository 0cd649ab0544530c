// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs to watch. Each prints the pids on stdout and waits for a line on stdin before it touches
 * memory, so a test can attach first.
 *
 *	workload touch FILE		map FILE, read each page once
 *	workload fork FILE		the same in a forked child, then in the parent
 *	workload exec FILE		exec itself as `touch FILE` from a forked child
 *	workload populate FILE		map FILE with MAP_POPULATE, read each page
 *	workload reshape FILE		split the mapping (mprotect) and move a part (mremap)
 *	workload threads FILE N		N threads read and drop pages, forever
 *
 * Others do not wait, because pfdrive starts them:
 *
 *	workload now FILE		map FILE, read each page once
 *	workload same FILE N		N threads read each page of one mapping
 *	workload apart FILE N		N threads, each with a mapping of its own
 *	workload server FILE N		N children in turn, each reads its
 *					share of the pages
 *	workload execs FILE N		the same process executes itself N times, then `now`
 *	workload filled FILE		MAP_POPULATE, then read each page
 *	workload strided FILE N		each N-th page, then again from the next page on, until
 *					each page was read once
 *	workload again FILE N		four threads with mappings of their own read each page
 *					and drop them again, N times each
 *	workload anon PAGES		write each page of anonymous memory
 *	workload copy PAGES		write them, fork, write each again in the child
 *	workload calls N		getppid(2) N times, then close(-1) half as often; prints
 *					the duration of one getppid(2) in ns
 *	workload madvises N		madvise(MADV_NORMAL) of a page N times; prints the duration
 *					of one in ns
 *	workload twice PAGES		write each page, then read each (swap, if memory is short)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static size_t size;

static char *map_file(const char *path, int flags)
{
	struct stat st;
	char *map;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st)) {
		perror(path);
		exit(1);
	}
	size = st.st_size;
	map = mmap(NULL, size, PROT_READ, MAP_SHARED | flags, fd, 0);
	if (map == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	close(fd);
	return map;
}

/* Not inlined, because tests look for these names in faults by code and by stack. */
static __attribute__((noinline)) void touch(const volatile char *map, size_t length)
{
	size_t at;

	/* With a stack frame. Otherwise a user stack would omit the caller. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	for (at = 0; at < length; at += PAGE)
		(void)map[at];
}

static __attribute__((noinline)) void touch_file(const char *path, int flags)
{
	char *map = map_file(path, flags);

	touch(map, size);
}

static void wait_for_line(void)
{
	printf("%d\n", getpid());
	fflush(stdout);
	if (getchar() == EOF)
		exit(2);
}

static void run_touch(const char *path)
{
	wait_for_line();
	touch_file(path, 0);
}

static void run_fork(const char *path)
{
	char *map = map_file(path, 0);

	wait_for_line();
	if (!fork()) {
		touch(map, size);
		_exit(0);
	}
	wait(NULL);
	touch(map, size);
}

static void run_exec(const char *path)
{
	wait_for_line();
	if (!fork()) {
		execl("/proc/self/exe", "workload", "now", path, (char *)NULL);
		_exit(1);
	}
	wait(NULL);
}

static void run_populate(const char *path)
{
	wait_for_line();
	touch_file(path, MAP_POPULATE);
}

static void run_reshape(const char *path)
{
	char *map = map_file(path, 0);
	size_t half = size / 2 / PAGE * PAGE;
	char *room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *moved;

	wait_for_line();
	mprotect(map + half / 2, PAGE, PROT_NONE);
	mprotect(map + half / 2, PAGE, PROT_READ);
	moved = mremap(map + half, size - half, size - half, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	if (moved == MAP_FAILED) {
		perror("mremap");
		exit(1);
	}
	touch(map, half);
	touch(moved, size - half);
}

static void *thread_main(void *arg)
{
	char *map = arg;

	for (;;) {
		touch(map, size);
		madvise(map, size, MADV_DONTNEED);
	}
	return NULL;
}

static void run_threads(const char *path, int count)
{
	char *map = map_file(path, 0);
	pthread_t thread;

	wait_for_line();
	while (count--)
		pthread_create(&thread, NULL, thread_main, map);
	pthread_join(thread, NULL);
}

struct share {
	pthread_t thread;
	const char *path; /* NULL: map is given */
	char *map;
};

static void *read_share(void *arg)
{
	struct share *share = arg;

	if (share->path)
		share->map = map_file(share->path, 0);
	touch(share->map, size);
	return NULL;
}

static void run_readers(const char *path, int count, int apart)
{
	struct share *shares = calloc(count, sizeof(*shares));
	char *map = apart ? NULL : map_file(path, 0);
	int i;

	for (i = 0; i < count; i++) {
		shares[i].path = apart ? path : NULL;
		shares[i].map = map;
		pthread_create(&shares[i].thread, NULL, read_share, &shares[i]);
	}
	for (i = 0; i < count; i++)
		pthread_join(shares[i].thread, NULL);
	free(shares);
}

static void run_server(const char *path, int count)
{
	char *map = map_file(path, 0);
	size_t part = size / count / PAGE * PAGE;
	pid_t child;
	int i;

	for (i = 0; i < count; i++) {
		child = fork();
		if (!child) {
			touch(map + i * part, part);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void run_execs(const char *path, int count)
{
	char left[16];

	snprintf(left, sizeof(left), "%d", count - 1);
	if (count)
		execl("/proc/self/exe", "workload", "execs", path, left, (char *)NULL);
	touch_file(path, 0);
}

static void run_strided(const char *path, size_t step)
{
	const volatile char *map = map_file(path, 0);
	size_t first, at;

	for (first = 0; first < step; first++)
		for (at = first * PAGE; at < size; at += step * PAGE)
			(void)map[at];
}

#define AGAIN_THREADS 4

static size_t again_rounds;

static void *read_again(void *path)
{
	char *map = map_file(path, 0);
	size_t round;

	for (round = 0; round < again_rounds; round++) {
		touch(map, size);
		madvise(map, size, MADV_DONTNEED);
	}
	return NULL;
}

static void run_again(char *path, size_t rounds)
{
	pthread_t threads[AGAIN_THREADS];
	int i;

	again_rounds = rounds;
	for (i = 0; i < AGAIN_THREADS; i++)
		pthread_create(&threads[i], NULL, read_again, path);
	for (i = 0; i < AGAIN_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static char *anonymous(size_t pages)
{
	char *map;

	size = pages * PAGE;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	/* One fault for each page, regardless of the huge page setting. */
	madvise(map, size, MADV_NOHUGEPAGE);
	return map;
}

static void write_each(volatile char *map)
{
	size_t at;

	for (at = 0; at < size; at += PAGE)
		map[at] = 1;
}

static void run_copy(size_t pages)
{
	char *map = anonymous(pages);

	write_each(map);
	if (!fork()) {
		write_each(map);
		_exit(0);
	}
	wait(NULL);
}

static void run_twice(size_t pages)
{
	char *map = anonymous(pages);

	write_each(map);
	touch(map, size);
}

static double ns_since(const struct timespec *from)
{
	struct timespec to;

	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from->tv_sec) * 1e9 + to.tv_nsec - from->tv_nsec;
}

/* A call with little work: the measured time is the time for the call and the observers. */
static void run_calls(unsigned int nr)
{
	struct timespec from;
	unsigned int i;
	double ns;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < nr; i++)
		syscall(SYS_getppid);
	ns = ns_since(&from);
	for (i = 0; i < nr / 2; i++)
		close(-1);
	printf("%.0f\n", ns / nr);
}

static void run_madvises(unsigned int nr)
{
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec from;
	unsigned int i;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < nr; i++)
		if (madvise(page, PAGE, MADV_NORMAL))
			exit(1);
	printf("%.0f\n", ns_since(&from) / nr);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "touch"))
		run_touch(argv[2]);
	else if (!strcmp(what, "now"))
		touch_file(argv[2], 0);
	else if (!strcmp(what, "fork"))
		run_fork(argv[2]);
	else if (!strcmp(what, "exec"))
		run_exec(argv[2]);
	else if (!strcmp(what, "populate"))
		run_populate(argv[2]);
	else if (!strcmp(what, "reshape"))
		run_reshape(argv[2]);
	else if (!strcmp(what, "threads") && argc > 3)
		run_threads(argv[2], atoi(argv[3]));
	else if (!strcmp(what, "same") && argc > 3)
		run_readers(argv[2], atoi(argv[3]), 0);
	else if (!strcmp(what, "apart") && argc > 3)
		run_readers(argv[2], atoi(argv[3]), 1);
	else if (!strcmp(what, "server") && argc > 3)
		run_server(argv[2], atoi(argv[3]));
	else if (!strcmp(what, "execs") && argc > 3)
		run_execs(argv[2], atoi(argv[3]));
	else if (!strcmp(what, "strided") && argc > 3)
		run_strided(argv[2], atoi(argv[3]));
	else if (!strcmp(what, "again") && argc > 3)
		run_again(argv[2], atoi(argv[3]));
	else if (!strcmp(what, "filled"))
		touch_file(argv[2], MAP_POPULATE);
	else if (!strcmp(what, "anon"))
		write_each(anonymous(atoi(argv[2])));
	else if (!strcmp(what, "copy"))
		run_copy(atoi(argv[2]));
	else if (!strcmp(what, "calls"))
		run_calls(atoi(argv[2]));
	else if (!strcmp(what, "madvises"))
		run_madvises(atoi(argv[2]));
	else if (!strcmp(what, "twice"))
		run_twice(atoi(argv[2]));
	else
		return 2;
	return 0;
}
