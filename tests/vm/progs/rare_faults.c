// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults that fail, and faults that the other test programs do not have.
 *
 *	rare_faults refused THREADS	each thread accesses a page that is not mapped, reads one
 *					without rights and writes to one that can only be read, and
 *					survives SIGSEGV
 *	rare_faults fails WAY NUMBER	reads a page NUMBER times, and survives each signal. WAY:
 *					unmapped, denied (PROT_NONE), guard (MADV_GUARD_INSTALL),
 *					beyond (the file's end)
 *	rare_faults dies		writes to a page that is not mapped
 *	rare_faults direct FILE		reads FILE with io_uring and O_DIRECT into memory that was
 *					never touched, then reads each page of that memory
 *	rare_faults async FILE		reads FILE with io_uring, in a thread that the kernel makes
 *					for it, into memory that was never touched
 *	rare_faults collapse ROUNDS	has the pages of a huge page swapped out, then has the
 *					kernel make a huge page of them, and touches a fresh page
 *	rare_faults swapped PAGES	writes each page, has them swapped out, and reads each
 *	rare_faults huge MIB		writes memory that huge pages may back
 *	rare_faults stack PAGES		grows the stack by so many pages
 *	rare_faults shared FILE		reads each page of a shared mapping, then writes each
 *	rare_faults private FILE	the same with a private mapping
 *	rare_faults store FILE		writes each page of a shared mapping, without a read before
 *	rare_faults copy FILE		the same with a private mapping
 *	rare_faults contended FILE N	N private mappings in turn, of which each first page is
 *					written, while another thread maps and unmaps memory
 *
 * A line for each access that the kernel refuses, before the access: thread and address.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13 */
#endif

#define PAGE   ((size_t)sysconf(_SC_PAGESIZE))
#define ROUNDS 8

static __thread sigjmp_buf before_access;

static void die(const char *what)
{
	fprintf(stderr, "rare_faults: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *map_memory(size_t bytes, int prot)
{
	char *map = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		die("mmap");
	return map;
}

static void announce(const volatile char *address)
{
	dprintf(STDOUT_FILENO, "%d %p\n", (int)gettid(), (const void *)address);
}

static void on_signal(int number)
{
	(void)number;
	siglongjmp(before_access, 1);
}

static void survive_access(volatile char *address, int write)
{
	if (sigsetjmp(before_access, 1))
		return;
	if (write)
		*address = 1;
	else
		(void)*address;
}

/* The line is printed first: the system call may touch other pages. */
static void access_refused(volatile char *address, int write)
{
	announce(address);
	survive_access(address, write);
}

static void *refused_main(void *argument)
{
	char *closed = map_memory(PAGE, PROT_NONE);
	char *readable = map_memory(PAGE, PROT_READ);
	int round;

	for (round = 0; round < ROUNDS; round++) {
		/* Only near 0 no other thread may map memory in the meantime. */
		access_refused((char *)(PAGE / 2) + round, round & 1);
		access_refused(closed + round, round & 1);
		access_refused(readable + round, 1);
		/* The page is read, so the next write finds it present. */
		(void)((volatile char *)readable)[round];
	}
	return argument;
}

static void run_refused(int count)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t *threads = calloc(count, sizeof(*threads));
	int i;

	if (!threads || sigaction(SIGSEGV, &action, NULL))
		die("sigaction");
	for (i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, refused_main, NULL);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static char *page_that_fails(const char *way)
{
	char *map = NULL;
	int file;

	if (!strcmp(way, "unmapped"))
		return (char *)(PAGE / 2);
	if (!strcmp(way, "denied"))
		return map_memory(PAGE, PROT_NONE);
	if (!strcmp(way, "guard")) {
		map = map_memory(PAGE, PROT_READ | PROT_WRITE);
		if (madvise(map, PAGE, MADV_GUARD_INSTALL))
			die("madvise(MADV_GUARD_INSTALL)");
	} else if (!strcmp(way, "beyond")) {
		file = memfd_create("beyond", 0);
		map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
		if (file < 0 || map == MAP_FAILED)
			die("map of an empty file");
	} else {
		errno = EINVAL;
		die(way);
	}
	return map;
}

static void run_fails(const char *way, int number)
{
	struct sigaction action = { .sa_handler = on_signal };
	char *page = page_that_fails(way);

	if (sigaction(SIGSEGV, &action, NULL) || sigaction(SIGBUS, &action, NULL))
		die("sigaction");
	while (number--)
		survive_access(page, 0);
}

static void run_dies(void)
{
	volatile char *volatile address = (char *)8;

	announce(address);
	*address = 1;
}

struct queues {
	int fd;
	struct io_uring_params params;
	char *submission, *completion;
	struct io_uring_sqe *entry;
};

static char *map_queue(const struct queues *queues, size_t bytes, off_t offset)
{
	char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, queues->fd,
			 offset);

	if (map == MAP_FAILED)
		die("mmap of io_uring");
	return map;
}

static void queues_open(struct queues *queues)
{
	const struct io_uring_params *params = &queues->params;

	queues->fd = syscall(SYS_io_uring_setup, 1, &queues->params);
	if (queues->fd < 0)
		die("io_uring_setup");
	queues->submission =
		map_queue(queues, params->sq_off.array + sizeof(__u32), IORING_OFF_SQ_RING);
	queues->completion =
		map_queue(queues,
			  params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe),
			  IORING_OFF_CQ_RING);
	queues->entry = (void *)map_queue(queues, sizeof(*queues->entry), IORING_OFF_SQES);
}

/* Reads from the start of the file. Returns the result of the only request. @flags: IOSQE_* */
static int queues_read(struct queues *queues, int file, char *into, size_t bytes, __u8 flags)
{
	const struct io_uring_params *params = &queues->params;
	__u32 *tail = (void *)(queues->submission + params->sq_off.tail);
	const struct io_uring_cqe *done = (void *)(queues->completion + params->cq_off.cqes);

	*queues->entry = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.flags = flags,
		.fd = file,
		.addr = (unsigned long)into,
		.len = bytes,
	};
	*(__u32 *)(queues->submission + params->sq_off.array) = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, queues->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		die("io_uring_enter");
	return done->res;
}

static void touch(const volatile char *map, size_t bytes)
{
	size_t at;

	for (at = 0; at < bytes; at += PAGE)
		(void)map[at];
}

static void write_each(volatile char *map, size_t bytes, size_t step)
{
	size_t at;

	for (at = 0; at < bytes; at += step)
		map[at] = 1;
}

/* Returns the memory it was read into. */
static char *read_by_ring(const char *path, int open_flags, __u8 flags, size_t *bytes)
{
	const int file = open(path, O_RDONLY | open_flags);
	struct queues queues = { 0 };
	struct stat st;
	char *into;
	int got;

	if (file < 0 || fstat(file, &st))
		die(path);
	queues_open(&queues);
	into = map_memory(st.st_size, PROT_READ | PROT_WRITE);
	madvise(into, st.st_size, MADV_NOHUGEPAGE);
	got = queues_read(&queues, file, into, st.st_size, flags);
	if (got != st.st_size) {
		errno = got < 0 ? -got : EIO;
		die("read with io_uring");
	}
	*bytes = st.st_size;
	return into;
}

static void run_direct(const char *path)
{
	size_t bytes;
	char *into = read_by_ring(path, O_DIRECT, 0, &bytes);

	touch(into, bytes);
}

static void run_async(const char *path)
{
	size_t bytes;

	read_by_ring(path, 0, IOSQE_ASYNC, &bytes);
}

#define HUGE_BYTES (2UL << 20)

static void run_collapse(size_t rounds)
{
	char *fresh = map_memory(rounds * PAGE, PROT_READ | PROT_WRITE);
	char *huge = map_memory((rounds + 1) * HUGE_BYTES, PROT_READ | PROT_WRITE);

	madvise(fresh, rounds * PAGE, MADV_NOHUGEPAGE);
	huge = (char *)(((unsigned long)huge + HUGE_BYTES - 1) & -HUGE_BYTES);
	for (; rounds; rounds--, huge += HUGE_BYTES, fresh += PAGE) {
		madvise(huge, HUGE_BYTES, MADV_NOHUGEPAGE);
		write_each(huge, HUGE_BYTES, PAGE);
		if (madvise(huge, HUGE_BYTES, MADV_PAGEOUT))
			die("MADV_PAGEOUT");
		/* The kernel collapses only a range with a written page. */
		*(volatile char *)huge = 1;
		madvise(huge, HUGE_BYTES, MADV_HUGEPAGE);
		/* The kernel may hold one of the pages at the moment, and asks to try again. */
		while (madvise(huge, HUGE_BYTES, MADV_COLLAPSE))
			if (errno != EAGAIN)
				die("MADV_COLLAPSE");
		*(volatile char *)fresh = 1;
	}
}

static void run_swapped(size_t bytes)
{
	char *map = map_memory(bytes, PROT_READ | PROT_WRITE);

	madvise(map, bytes, MADV_NOHUGEPAGE);
	write_each(map, bytes, PAGE);
	if (madvise(map, bytes, MADV_PAGEOUT))
		die("MADV_PAGEOUT");
	touch(map, bytes);
}

static char *map_file(const char *path, int flags, size_t *bytes)
{
	const int file = open(path, O_RDWR);
	struct stat st;
	char *map;

	if (file < 0 || fstat(file, &st))
		die(path);
	map = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, flags, file, 0);
	if (map == MAP_FAILED)
		die("mmap");
	close(file);
	*bytes = st.st_size;
	return map;
}

static void run_write(const char *path, int flags, int read)
{
	size_t bytes;
	char *map = map_file(path, flags, &bytes);

	if (read)
		touch(map, bytes);
	write_each(map, bytes, PAGE);
}

static atomic_int contending = 1;

static void *contend(void *argument)
{
	while (contending)
		munmap(map_memory(PAGE, PROT_READ), PAGE);
	return argument;
}

/* The new VMA's lock is free, but the first copy also needs the lock for all mappings. */
static void run_contended(const char *path, size_t rounds)
{
	pthread_t thread;
	size_t bytes;
	char *map;

	pthread_create(&thread, NULL, contend, NULL);
	while (rounds--) {
		map = map_file(path, MAP_PRIVATE, &bytes);
		*(volatile char *)map = 1;
		munmap(map, bytes);
	}
	contending = 0;
	pthread_join(thread, NULL);
}

/* Accesses in the middle of a huge page, whose first page the kernel maps. */
static void run_huge(size_t bytes)
{
	char *map = map_memory(bytes, PROT_READ | PROT_WRITE);

	madvise(map, bytes, MADV_HUGEPAGE);
	write_each(map + bytes / 2 + 3 * PAGE, bytes / 4, 5 * PAGE);
}

static void run_stack(size_t bytes)
{
	volatile char *map = __builtin_alloca(bytes);
	size_t at;

	for (at = bytes; at > PAGE; at -= PAGE)
		map[at - 1] = 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const size_t number = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (!strcmp(what, "refused"))
		run_refused(number);
	else if (!strcmp(what, "fails") && argc > 3)
		run_fails(argv[2], strtoul(argv[3], NULL, 10));
	else if (!strcmp(what, "dies"))
		run_dies();
	else if (!strcmp(what, "direct") && argc > 2)
		run_direct(argv[2]);
	else if (!strcmp(what, "async") && argc > 2)
		run_async(argv[2]);
	else if (!strcmp(what, "collapse"))
		run_collapse(number);
	else if (!strcmp(what, "shared") && argc > 2)
		run_write(argv[2], MAP_SHARED, 1);
	else if (!strcmp(what, "private") && argc > 2)
		run_write(argv[2], MAP_PRIVATE, 1);
	else if (!strcmp(what, "store") && argc > 2)
		run_write(argv[2], MAP_SHARED, 0);
	else if (!strcmp(what, "copy") && argc > 2)
		run_write(argv[2], MAP_PRIVATE, 0);
	else if (!strcmp(what, "contended") && argc > 3)
		run_contended(argv[2], strtoul(argv[3], NULL, 10));
	else if (!strcmp(what, "swapped"))
		run_swapped(number * PAGE);
	else if (!strcmp(what, "huge"))
		run_huge(number << 20);
	else if (!strcmp(what, "stack"))
		run_stack(number * PAGE);
	else
		return 2;
	return 0;
}
