// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reference of lab b. Each operation is repeated in batches; the result is the median of the
 * batches, which one interrupted batch cannot change.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCHES	   9
#define PAGE	   4096
#define FILE_PAGES 1024

static const char *directory = "/tmp";

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Each operation returns the ns of n repetitions. */
static double measure(double (*run)(int n), int n)
{
	double batches[BATCHES];

	run(n / 10 + 1); /* caches, tables and lazily bound symbols */
	for (int i = 0; i < BATCHES; i++)
		batches[i] = run(n) / n;
	qsort(batches, BATCHES, sizeof(*batches), ascending);
	return batches[BATCHES / 2];
}

static double run_syscall(int n)
{
	const double start = now_ns();

	for (int i = 0; i < n; i++)
		syscall(SYS_getppid);
	return now_ns() - start;
}

static void must(ssize_t result, const char *what)
{
	if (result < 0)
		err(1, "%s", what);
}

static void pass(int to, int from)
{
	char byte = 0;

	must(write(to, &byte, 1), "write");
	must(read(from, &byte, 1), "read");
}

static double run_pipe(int n)
{
	double start;
	int ends[2];

	must(pipe(ends), "pipe");
	start = now_ns();
	for (int i = 0; i < n; i++)
		pass(ends[1], ends[0]);
	start = now_ns() - start;
	close(ends[0]);
	close(ends[1]);
	return start;
}

/* Two processes on one CPU: a round has two switches, and twice the cost of a pipe. */
static double run_rounds(int n)
{
	int there[2], back[2];
	double start;
	char byte;
	pid_t pid;

	must(pipe(there), "pipe");
	must(pipe(back), "pipe");
	pid = fork();
	must(pid, "fork");
	if (!pid) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(there[0]);
	start = now_ns();
	for (int i = 0; i < n; i++)
		pass(there[1], back[0]);
	start = now_ns() - start;
	close(there[1]);
	close(back[0]);
	close(back[1]);
	waitpid(pid, NULL, 0);
	return start;
}

static double measure_switch(void)
{
	const double pipe_ns = measure(run_pipe, 4000);

	return measure(run_rounds, 2000) / 2 - pipe_ns;
}

static void *nothing(void *argument)
{
	return argument;
}

static double run_thread(int n)
{
	const double start = now_ns();
	pthread_t thread;

	for (int i = 0; i < n; i++) {
		if (pthread_create(&thread, NULL, nothing, NULL))
			errx(1, "pthread_create");
		pthread_join(thread, NULL);
	}
	return now_ns() - start;
}

static double run_exec(int n)
{
	const double start = now_ns();
	pid_t pid;

	for (int i = 0; i < n; i++) {
		pid = vfork();
		must(pid, "vfork");
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	return now_ns() - start;
}

static char *map(int flags, int fd, int pages)
{
	char *memory = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	madvise(memory, (size_t)pages * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static double run_anonymous(int n)
{
	char *memory = map(MAP_PRIVATE | MAP_ANONYMOUS, -1, n);
	double start = now_ns();

	for (int i = 0; i < n; i++)
		((volatile char *)memory)[(size_t)i * PAGE] = 1;
	start = now_ns() - start;
	munmap(memory, (size_t)n * PAGE);
	return start;
}

/* The first write after a read: the page of the file is there and mapped, and is copied. */
static double run_cow(int n)
{
	char name[4096];
	double start;
	char *memory;
	int fd;

	snprintf(name, sizeof(name), "%s/measure.cow", directory);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	must(fd, name);
	for (int i = 0; i < n; i++)
		must(pwrite(fd, name, PAGE, (off_t)i * PAGE), "pwrite");
	memory = map(MAP_PRIVATE, fd, n);
	for (int i = 0; i < n; i++)
		(void)((volatile char *)memory)[(size_t)i * PAGE];
	start = now_ns();
	for (int i = 0; i < n; i++)
		((volatile char *)memory)[(size_t)i * PAGE] = 1;
	start = now_ns() - start;
	munmap(memory, (size_t)n * PAGE);
	close(fd);
	unlink(name);
	return start;
}

static struct sockaddr_in address;

static int listener(void)
{
	socklen_t size = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	address = (struct sockaddr_in){ .sin_family = AF_INET };
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(bind(fd, (struct sockaddr *)&address, size), "bind");
	must(listen(fd, 128), "listen");
	must(getsockname(fd, (struct sockaddr *)&address, &size), "getsockname");
	return fd;
}

static int connected(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	must(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), "setsockopt");
	must(connect(fd, (struct sockaddr *)&address, sizeof(address)), "connect");
	return fd;
}

static double run_round_trip(int n)
{
	const int waiting = listener(), fd = connected(), one = 1;
	const int other = accept(waiting, NULL, NULL);
	const pid_t pid = fork();
	double start;
	char byte;

	must(pid, "fork");
	if (!pid) {
		close(fd);
		setsockopt(other, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		while (read(other, &byte, 1) == 1 && write(other, &byte, 1) == 1)
			;
		_exit(0);
	}
	close(other);
	start = now_ns();
	for (int i = 0; i < n; i++)
		pass(fd, fd);
	start = now_ns() - start;
	close(fd);
	close(waiting);
	waitpid(pid, NULL, 0);
	return start;
}

/* Only connect(): what accept() and close() take is not counted. */
static double run_setup(int n)
{
	const int waiting = listener();
	double total = 0, start;
	int fd;

	for (int i = 0; i < n; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		start = now_ns();
		must(connect(fd, (struct sockaddr *)&address, sizeof(address)), "connect");
		total += now_ns() - start;
		close(accept(waiting, NULL, NULL));
		close(fd);
	}
	close(waiting);
	return total;
}

static int made_file(char *name, size_t size)
{
	char block[PAGE] = { 1 };
	int fd;

	snprintf(name, size, "%s/measure.file", directory);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	must(fd, name);
	for (int i = 0; i < FILE_PAGES; i++)
		must(pwrite(fd, block, PAGE, (off_t)i * PAGE), "pwrite");
	must(fsync(fd), "fsync");
	return fd;
}

static double run_cached(int n)
{
	char name[4096], block[PAGE];
	const int fd = made_file(name, sizeof(name));
	double start = now_ns();

	for (int i = 0; i < n; i++)
		must(pread(fd, block, PAGE, (off_t)(i % FILE_PAGES) * PAGE), "pread");
	start = now_ns() - start;
	close(fd);
	unlink(name);
	return start;
}

/* Each block once in random order, from the disk and without read-ahead. */
static double run_random(int n)
{
	char name[4096], block[PAGE];
	const int fd = made_file(name, sizeof(name));
	int order[FILE_PAGES];
	double start;

	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (int i = 0; i < FILE_PAGES; i++)
		order[i] = i;
	for (int i = FILE_PAGES - 1; i > 0; i--) {
		const int other = rand() % (i + 1), number = order[i];

		order[i] = order[other];
		order[other] = number;
	}
	start = now_ns();
	for (int i = 0; i < n; i++)
		must(pread(fd, block, PAGE, (off_t)order[i % FILE_PAGES] * PAGE), "pread");
	start = now_ns() - start;
	close(fd);
	unlink(name);
	return start;
}

static const struct {
	const char *name;
	double (*run)(int n);
	int count;
} operations[] = {
	{ "cpu.syscall", run_syscall, 20000 },	{ "pipe.self", run_pipe, 4000 },
	{ "thread.create", run_thread, 200 },	{ "process.vfork_exec", run_exec, 50 },
	{ "fault.anon", run_anonymous, 2000 },	{ "fault.cow", run_cow, 1000 },
	{ "net.tcp_rtt", run_round_trip, 500 }, { "net.tcp_setup", run_setup, 100 },
	{ "file.cached", run_cached, 4000 },	{ "file.random", run_random, FILE_PAGES },
};

int main(int argc, char **argv)
{
	if (argc == 3)
		directory = argv[2];
	if (argc > 1 && !strcmp(argv[1], "switch.process")) {
		printf("%.1f\n", measure_switch());
		return 0;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(operations) / sizeof(*operations); i++)
		if (!strcmp(argv[1], operations[i].name)) {
			printf("%.1f\n", measure(operations[i].run, operations[i].count));
			return 0;
		}
	fprintf(stderr, "usage: measure OPERATION [DIRECTORY]\n");
	return 2;
}
