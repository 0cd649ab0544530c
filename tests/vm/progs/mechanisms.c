// SPDX-License-Identifier: GPL-2.0-only
/*
 * mechanisms WHAT PAGES [FILE]: makes as many faults as PAGES, or ROUNDS times as many, all with the
 * same mechanism. The table at the end shows the accesses. Other faults come from the start of the
 * program, and from the preparation.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

#define ROUNDS	     4
#define MANY_ROUNDS  12 /* so that they have most of the time */
#define HUGE	     ((size_t)2 << 20)
#define MEMORY	     (PROT_READ | PROT_WRITE)
#define MPOL_BIND    2
#define NUMA_SECONDS 20

static size_t page, bytes;
static char *map;
static const char *path;

static char *map_pages(size_t size, int flags, int fd)
{
	char *pages = mmap(NULL, size, MEMORY, flags, fd, 0);

	if (pages == MAP_FAILED)
		err(1, "mmap");
	return pages;
}

static void map_memory(void)
{
	map = map_pages(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	madvise(map, bytes, MADV_NOHUGEPAGE);
}

static void read_each(void)
{
	size_t i;

	for (i = 0; i < bytes; i += page)
		(void)((volatile char *)map)[i];
}

static void write_each(void)
{
	size_t i;

	for (i = 0; i < bytes; i += page)
		((volatile char *)map)[i] = 1;
}

static void new_page(void)
{
	map_memory();
	write_each();
}

static void zero_page(void)
{
	map_memory();
	read_each();
}

static void copy_zero(void)
{
	zero_page();
	write_each();
}

static void copy_fork(void)
{
	pid_t child;

	new_page();
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	write_each();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void writable_fork(void)
{
	int round;

	new_page();
	for (round = 0; round < ROUNDS; round++) {
		if (!fork())
			_exit(0);
		wait(NULL);
		write_each();
	}
}

static void clear_soft_dirty(void)
{
	const int fd = open("/proc/self/clear_refs", O_WRONLY);

	if (fd < 0 || write(fd, "4", 1) != 1)
		err(1, "/proc/self/clear_refs");
	close(fd);
}

static void soft_dirty(void)
{
	int round;

	new_page();
	for (round = 0; round < MANY_ROUNDS; round++) {
		clear_soft_dirty();
		write_each();
	}
}

static int open_uffd(uint64_t features, uint64_t mode)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	struct uffdio_register reg = { .range = { (uintptr_t)map, bytes }, .mode = mode };
	const int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &reg))
		err(2, "userfaultfd");
	return uffd;
}

static void protected(void)
{
	struct uffdio_writeprotect protect = { .mode = UFFDIO_WRITEPROTECT_MODE_WP };
	int uffd, round;

	new_page();
	uffd = open_uffd(UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_PAGEFAULT_FLAG_WP,
			 UFFDIO_REGISTER_MODE_WP);
	protect.range = (struct uffdio_range){ (uintptr_t)map, bytes };
	for (round = 0; round < MANY_ROUNDS; round++) {
		if (ioctl(uffd, UFFDIO_WRITEPROTECT, &protect))
			err(2, "UFFDIO_WRITEPROTECT");
		write_each();
	}
	close(uffd);
}

static void *serve(void *arg)
{
	struct uffdio_zeropage zero = { .range = { .len = page } };
	const int uffd = (intptr_t)arg;
	struct uffd_msg message;

	while (read(uffd, &message, sizeof(message)) == sizeof(message)) {
		zero.range.start = message.arg.pagefault.address & -page;
		if (ioctl(uffd, UFFDIO_ZEROPAGE, &zero))
			err(1, "UFFDIO_ZEROPAGE");
	}
	return NULL;
}

static void userfault(void)
{
	pthread_t thread;

	map_memory();
	pthread_create(&thread, NULL, serve,
		       (void *)(intptr_t)open_uffd(0, UFFDIO_REGISTER_MODE_MISSING));
	read_each();
}

static void swap_read(void)
{
	new_page();
	if (madvise(map, bytes, MADV_PAGEOUT))
		err(1, "MADV_PAGEOUT");
	read_each();
}

static void map_file(int flags)
{
	const int fd = open(path, O_RDWR);

	if (fd < 0)
		err(1, "%s", path);
	map = map_pages(bytes, flags, fd);
	close(fd);
}

static void shared_first(void)
{
	map_file(MAP_SHARED);
	read_each();
	write_each();
}

static void shared_again(void)
{
	int round;

	map_file(MAP_SHARED);
	write_each();
	for (round = 0; round < ROUNDS; round++) {
		if (msync(map, bytes, MS_SYNC))
			err(1, "msync");
		write_each();
	}
}

static void copy_file(void)
{
	map_file(MAP_PRIVATE);
	read_each();
	write_each();
}

static pthread_barrier_t both;

static void *race(void *arg)
{
	size_t i;

	for (i = 0; i < bytes; i += page) {
		pthread_barrier_wait(&both);
		((volatile char *)map)[i] = 1;
	}
	return arg;
}

static void two_threads(void)
{
	pthread_t thread;

	map_memory();
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, race, NULL);
	race(NULL);
	pthread_join(thread, NULL);
}

static void map_huge(void)
{
	map = map_pages(bytes + HUGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	map += -(uintptr_t)map % HUGE;
	if (madvise(map, bytes, MADV_HUGEPAGE))
		err(1, "MADV_HUGEPAGE");
}

static void huge_soft_dirty(void)
{
	map_huge();
	write_each();
	clear_soft_dirty();
	write_each();
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* The memory lies on the second node, and the kernel's scanner makes it inaccessible. */
static void numa(void)
{
	const unsigned long second = 2;
	const double start = seconds();

	if (syscall(SYS_set_mempolicy, MPOL_BIND, &second, 64))
		err(2, "set_mempolicy");
	new_page();
	syscall(SYS_set_mempolicy, 0, NULL, 0);
	while (seconds() - start < NUMA_SECONDS)
		read_each();
}

static volatile int moved;

static void *move(void *arg)
{
	const size_t nr = bytes / page;
	void **pages = calloc(nr, sizeof(*pages));
	int *nodes = calloc(nr, sizeof(*nodes)), *status = calloc(nr, sizeof(*status));
	size_t i;
	int round;

	for (round = 0; !moved; round++) {
		for (i = 0; i < nr; i++) {
			pages[i] = map + i * page;
			nodes[i] = round & 1;
		}
		syscall(SYS_move_pages, 0, nr, pages, nodes, status, 2);
	}
	return arg;
}

static void migration(void)
{
	const double start = seconds();
	pthread_t thread;

	new_page();
	pthread_create(&thread, NULL, move, NULL);
	while (seconds() - start < NUMA_SECONDS / 2)
		write_each();
	moved = 1;
	pthread_join(thread, NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} whats[] = {
	{ "new_page", new_page },	    /* writes new memory */
	{ "zero_page", zero_page },	    /* reads it */
	{ "copy_zero", copy_zero },	    /* reads it, then writes */
	{ "copy_fork", copy_fork },	    /* writes it, forks, writes while the child has it */
	{ "writable_fork", writable_fork }, /* the same after the child has ended */
	{ "soft_dirty", soft_dirty },	    /* writes after clear_refs */
	{ "protected", protected },	    /* writes what userfaultfd protects without a handler */
	{ "userfault", userfault },	    /* reads what a handler of userfaultfd provides */
	{ "swap_read", swap_read },	    /* reads what was paged out */
	{ "shared_first", shared_first },   /* reads a shared file, then writes */
	{ "shared_again", shared_again },   /* writes it, msync(), writes */
	{ "copy_file", copy_file },	    /* reads a private file, then writes */
	{ "two_threads", two_threads },	    /* two threads write the same page at the same time */
	{ "huge_soft_dirty", huge_soft_dirty }, /* the same after clear_refs */
	{ "numa", numa },	    /* reads memory of the other node, again and again */
	{ "migration", migration }, /* writes while a thread moves the pages between nodes */
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 3)
		errx(1, "usage: mechanisms WHAT PAGES [FILE]");
	page = sysconf(_SC_PAGESIZE);
	bytes = strtoul(argv[2], NULL, 10) * page;
	path = argv[3];
	for (i = 0; i < sizeof(whats) / sizeof(whats[0]); i++)
		if (!strcmp(argv[1], whats[i].name)) {
			whats[i].run();
			return 0;
		}
	errx(1, "%s is not known", argv[1]);
}
