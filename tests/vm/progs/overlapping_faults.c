// SPDX-License-Identifier: GPL-2.0-only
/*
 * overlapping_faults alone|computes|sleeps|children ROUNDS: each of four threads touches a separate
 * page in each round. A userfaultfd handler waits until all four are in faults, sleeps for 20 ms,
 * and installs the four pages. With alone, nothing runs in these 20 ms. With computes or sleeps, a
 * fifth thread does so all the time. With children, a child process computes instead.
 */
#include <err.h>
#include <linux/userfaultfd.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
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

#define THREADS 4

static long page_bytes, rounds;
static char *memory;
static int uffd;
static atomic_int stopped, started;

static char *page_of(long thread, long round)
{
	return memory + (thread * rounds + round) * page_bytes;
}

static void *touch(void *arg)
{
	const long thread = (intptr_t)arg;
	long round;

	for (round = 0; round < rounds; round++)
		*(volatile char *)page_of(thread, round) = 1;
	return NULL;
}

static void *handle(void *arg)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct uffd_msg messages[THREADS];
	long round, i;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i < THREADS; i++)
			if (read(uffd, &messages[i], sizeof(*messages)) != sizeof(*messages))
				err(1, "read");
		nanosleep(&pause, NULL);
		for (i = 0; i < THREADS; i++) {
			struct uffdio_zeropage zero = {
				.range = { .start = messages[i].arg.pagefault.address &
						    -(unsigned long)page_bytes,
					   .len = page_bytes },
			};

			if (ioctl(uffd, UFFDIO_ZEROPAGE, &zero))
				err(1, "UFFDIO_ZEROPAGE");
		}
	}
	return arg;
}

static void *compute(void *arg)
{
	atomic_store(&started, 1);
	while (!atomic_load_explicit(&stopped, memory_order_relaxed))
		;
	return arg;
}

static void *sleep_long(void *arg)
{
	atomic_store(&started, 1);
	while (!atomic_load(&stopped))
		usleep(100000);
	return arg;
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
	uffd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	range.range.start = (uintptr_t)memory;
	range.range.len = bytes;
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &range))
		err(1, "userfaultfd");
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS], handler, fifth;
	const char *how = argc == 3 ? argv[1] : "";
	pid_t child = 0;
	intptr_t i;

	rounds = argc == 3 ? atol(argv[2]) : 0;
	if (rounds < 1 || !strstr("alone computes sleeps children", how))
		errx(2, "usage: overlapping_faults alone|computes|sleeps|children ROUNDS");
	page_bytes = sysconf(_SC_PAGESIZE);
	if (!strcmp(how, "children")) {
		child = fork();
		if (!child)
			compute(NULL);
	}
	open_memory();
	if (!strcmp(how, "computes"))
		pthread_create(&fifth, NULL, compute, NULL);
	if (!strcmp(how, "sleeps"))
		pthread_create(&fifth, NULL, sleep_long, NULL);
	while (!strstr("alone children", how) && !atomic_load(&started))
		usleep(1000);
	pthread_create(&handler, NULL, handle, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, touch, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(handler, NULL);
	atomic_store(&stopped, 1);
	if (!strstr("alone children", how))
		pthread_join(fifth, NULL);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return 0;
}
