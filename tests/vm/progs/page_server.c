// SPDX-License-Identifier: GPL-2.0-only
/*
 * page_server THREADS ROUNDS [far]: four threads touch a page of their own in each round, all at once. A
 * child process with THREADS threads, "page_source", handles the faults by userfaultfd, as with a
 * snapshot of Firecracker: each thread reads one fault, spins for a fixed count, and copies the
 * page. With several threads, none spins before each has read a fault, so that the order does not
 * depend on the scheduler. With far, a thread sleeps for 1 ms instead, as if a page came by a
 * network. Prints the pid of the child.
 */
#include <err.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define SPINS	2000000

static bool far;
static long page_bytes, rounds, servers;
static char *memory, *source;
static int uffd;
static pthread_barrier_t all_touch, all_read;

static void *touch(void *arg)
{
	const long thread = (intptr_t)arg;
	long round;

	for (round = 0; round < rounds; round++) {
		pthread_barrier_wait(&all_touch);
		*(volatile char *)(memory + (thread * rounds + round) * page_bytes) = 1;
	}
	return NULL;
}

static void *serve(void *arg)
{
	const struct timespec millisecond = { .tv_nsec = 1000000 };
	struct uffdio_copy copy;
	struct uffd_msg message;
	long i;

	for (;;) {
		if (read(uffd, &message, sizeof(message)) != sizeof(message))
			err(1, "read");
		pthread_barrier_wait(&all_read);
		if (far)
			nanosleep(&millisecond, NULL);
		for (i = 0; !far && i < SPINS; i++)
			asm volatile("");
		copy = (struct uffdio_copy){
			.dst = message.arg.pagefault.address & -(unsigned long)page_bytes,
			.src = (uintptr_t)source,
			.len = page_bytes,
		};
		if (ioctl(uffd, UFFDIO_COPY, &copy))
			err(1, "UFFDIO_COPY");
	}
	return arg;
}

static void run_server(void)
{
	pthread_t thread;
	long i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "page_source");
	source = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (source == MAP_FAILED)
		err(1, "mmap");
	memset(source, 1, page_bytes);
	pthread_barrier_init(&all_read, NULL, servers);
	for (i = 1; i < servers; i++)
		pthread_create(&thread, NULL, serve, NULL);
	serve(NULL);
}

static void open_memory(void)
{
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	const size_t bytes = THREADS * rounds * page_bytes;

	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	uffd = syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY);
	range.range.start = (uintptr_t)memory;
	range.range.len = bytes;
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &range))
		err(1, "userfaultfd");
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	pid_t child;
	intptr_t i;

	servers = argc >= 3 ? atol(argv[1]) : 0;
	rounds = argc >= 3 ? atol(argv[2]) : 0;
	far = argc == 4 && !strcmp(argv[3], "far");
	if (rounds < 1 || (servers != 1 && servers != THREADS))
		errx(2, "usage: page_server 1|%d ROUNDS [far]", THREADS);
	page_bytes = sysconf(_SC_PAGESIZE);
	open_memory();
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child)
		run_server();
	printf("%d\n", child);
	pthread_barrier_init(&all_touch, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, touch, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
