// SPDX-License-Identifier: GPL-2.0-only
/*
 * A monitor reads a server's page tables: monitored REQUESTS [alone]. After a line on standard
 * input a child reads the server's smaps, for which the kernel holds mmap_lock. A request maps
 * memory, and so waits for the lock. Faults in the other thread queue behind it. alone: without the
 * monitor.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "complaint.h"

#define HEAP	(64 * MIB)
#define REQUEST (2 * PAGE)
#define THREADS 4

static unsigned long requests;

static _Noreturn void monitor(const char *server)
{
	static char line[1 << 16];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/smaps", server);
	for (;;) {
		const int fd = open(path, O_RDONLY);

		if (fd < 0)
			_exit(1);
		while (read(fd, line, sizeof(line)) > 0)
			;
		close(fd);
	}
}

static __attribute__((noinline)) void answer(volatile char *memory)
{
	size_t at;

	for (at = 0; at < REQUEST; at += PAGE)
		memory[at] = 1;
}

static void *serve(void *arg)
{
	unsigned long i;

	for (i = 0; i < requests; i++) {
		char *memory = mmap(NULL, REQUEST + 2 * PAGE, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		/* Memory between guards has a separate mapping, like a thread's stack. */
		if (memory == MAP_FAILED ||
		    mprotect(memory + PAGE, REQUEST, PROT_READ | PROT_WRITE))
			err(1, "cannot map memory for a request");
		answer(memory + PAGE);
		munmap(memory, REQUEST + 2 * PAGE);
	}
	return arg;
}

/* The monitor is a separate program, which has no copy of the heap. */
static pid_t start_monitor(void)
{
	char server[16];
	pid_t pid;

	snprintf(server, sizeof(server), "%d", getpid());
	pid = fork();
	if (!pid)
		execl("/proc/self/exe", "monitor", "monitor", server, NULL);
	if (pid <= 0)
		err(1, "cannot start the monitor");
	return pid;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	pid_t pid = 0;
	char *heap;
	int i;

	if (is_word(argc, argv, 1, "monitor"))
		monitor(argv[2]);
	requests = number_of(argc, argv, 1, 1000);
	heap = map_small_pages(HEAP);
	memset(heap, 1, HEAP);
	puts("ready");
	fflush(stdout);
	getchar();
	if (!is_word(argc, argv, 2, "alone"))
		pid = start_monitor();
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (pid) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	printf("%lu requests\n", THREADS * requests);
	return 0;
}
