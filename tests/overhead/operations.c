// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of a program that no instrument watches, for `make bench`.
 *
 *	operations FILE
 *
 * FILE has been read before, and fault-around is off. Prints a line for each operation: its name, and
 * the ns each of them took in the fastest of ROUNDS rounds. Needs one CPU, and the privilege for
 * SCHED_FIFO.
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5
#define PAGES  512
#define CALLS  1000

static size_t page;
static int file, in[2], out[2];
static char *memory;
static pid_t other;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static char *map(int protection, int flags, int fd)
{
	char *address = mmap(NULL, PAGES * page, protection, flags, fd, 0);

	if (address == MAP_FAILED)
		err(1, "mmap");
	if (fd < 0)
		madvise(address, PAGES * page, MADV_NOHUGEPAGE); /* a kernel without them refuses */
	return address;
}

static void unmap(void)
{
	munmap(memory, PAGES * page);
}

static void write_each(void)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		((volatile char *)memory)[i * page] = 1;
}

static void read_each(void)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		(void)((volatile char *)memory)[i * page];
}

static pid_t begin_process(void)
{
	const pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	return pid;
}

static void end_process(void)
{
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

static void map_file(void)
{
	memory = map(PROT_READ, MAP_SHARED, file);
}

static void map_anonymous(void)
{
	memory = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void map_shared(void)
{
	memory = map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
}

/* The other process keeps the pages until the end. */
static void share_by_fork(void)
{
	map_anonymous();
	write_each();
	other = begin_process();
	if (!other)
		for (;;)
			pause();
}

static void end_sharing(void)
{
	end_process();
	unmap();
}

static void nothing(void)
{
}

static void call_kernel(void)
{
	int i;

	for (i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
}

static void set_fifo(int policy)
{
	const struct sched_param param = { .sched_priority = policy == SCHED_FIFO };

	if (sched_setscheduler(0, policy, &param))
		err(1, "sched_setscheduler");
}

static void begin_yielding(void)
{
	set_fifo(SCHED_FIFO);
	other = begin_process();
	if (!other)
		for (;;)
			sched_yield();
}

/* Each call switches to the other process, whose call switches back. */
static void yield_each(void)
{
	int i;

	for (i = 0; i < CALLS / 2; i++)
		sched_yield();
}

static void end_yielding(void)
{
	end_process();
	set_fifo(SCHED_OTHER);
}

static void begin_answering(void)
{
	char byte;

	if (pipe(in) || pipe(out))
		err(1, "pipe");
	other = begin_process();
	if (!other)
		while (read(in[0], &byte, 1) == 1 && write(out[1], &byte, 1) == 1)
			;
}

static void ask_each(void)
{
	char byte = 0;
	int i;

	for (i = 0; i < CALLS / 2; i++)
		if (write(in[1], &byte, 1) != 1 || read(out[0], &byte, 1) != 1)
			err(1, "pipe");
}

static void end_answering(void)
{
	end_process();
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
}

static void make_memfd(void)
{
	memory = map(PROT_READ, MAP_PRIVATE, file);
	out[0] = memfd_create("operations", 0);
	if (out[0] < 0)
		err(1, "memfd_create");
	read_each();
}

static void write_file(void)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		if (write(out[0], memory, page) != (ssize_t)page)
			err(1, "write");
}

static void end_memfd(void)
{
	close(out[0]);
	unmap();
}

static const struct {
	const char *name;
	int count;
	void (*begin)(void), (*run)(void), (*end)(void);
} operations[] = {
	{ "file", PAGES, map_file, read_each, unmap },
	{ "anonymous", PAGES, map_anonymous, write_each, unmap },
	{ "shared", PAGES, map_shared, write_each, unmap },
	{ "copy", PAGES, share_by_fork, write_each, end_sharing },
	{ "call", CALLS, nothing, call_kernel, nothing },
	{ "yield", CALLS, begin_yielding, yield_each, end_yielding }, /* a call and a switch */
	/* two calls, a wake-up and a switch */
	{ "pipe", CALLS, begin_answering, ask_each, end_answering },
	{ "tmpfs", PAGES, make_memfd, write_file, end_memfd }, /* a call and a new page */
};

int main(int argc, char **argv)
{
	uint64_t start_ns, ns, best_ns;
	size_t i;
	int round;

	if (argc != 2) {
		fprintf(stderr, "usage: operations FILE\n");
		return 2;
	}
	page = sysconf(_SC_PAGESIZE);
	file = open(argv[1], O_RDONLY);
	if (file < 0)
		err(1, "%s", argv[1]);
	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		best_ns = UINT64_MAX;
		for (round = 0; round < ROUNDS; round++) {
			operations[i].begin();
			start_ns = now_ns();
			operations[i].run();
			ns = now_ns() - start_ns;
			operations[i].end();
			if (ns < best_ns)
				best_ns = ns;
		}
		printf("%s %.1f\n", operations[i].name, (double)best_ns / operations[i].count);
		fflush(stdout);
	}
	return 0;
}
