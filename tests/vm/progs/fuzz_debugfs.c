// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes the module's files: opens, writes, reads, seeks, truncates, maps, polls and closes them in
 * any order, with arbitrary contents, and scribbles over mapped ring pages. Several processes do so
 * at once, while another one faults in the mappings they hook. The program fails only if that
 * process reads wrong data or a process is killed. The caller judges the rest: the kernel log, and
 * whether the recorder still counts correctly.
 *
 * Usage: fuzz_debugfs FILE OPERATIONS [SEED]
 * The seed, which is printed, determines the operations of each process, but not how they
 * interleave.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pfstat/control.h>
#include <pfstat/record.h>

#include "../../unit/random.h"

#define NR_WORKERS 4
#define NR_FDS	   12
#define NR_MAPS	   6
#define PAGE	   ((size_t)sysconf(_SC_PAGESIZE))
#define TEXT_MAX   (2 * PFSTAT_COMMAND_MAX)
#define NR_KINDS   13

struct map {
	char *address; /* NULL: no map */
	size_t bytes;
	bool writable;
};

struct worker {
	uint64_t random;
	pid_t target;
	const char *file;
	int file_fd;
	volatile char *memory; /* FILE, mapped */
	size_t memory_bytes;
	int fds[NR_FDS]; /* -1: closed */
	struct map maps[NR_MAPS];
	uint64_t done[2]; /* operations: [0] refused, [1] successful */
	struct {
		uint64_t nr;
		uint64_t ns;
	} kinds[NR_KINDS]; /* in the same order as operations[] */
};

static uint64_t any(struct worker *worker)
{
	return random_next(&worker->random);
}

static unsigned int below(struct worker *worker, unsigned int limit)
{
	return any(worker) % limit;
}

/* A plausible number: small, near a power of two, or arbitrary. */
static uint64_t number(struct worker *worker)
{
	switch (below(worker, 4)) {
	case 0:
		return below(worker, 16);
	case 1:
		return (1ULL << below(worker, 64)) + below(worker, 3) - 1;
	case 2:
		return below(worker, 1 << 20);
	default:
		return any(worker);
	}
}

/* Also returns invalid addresses, and addresses that the kernel may not write to. */
static void *address_of(struct worker *worker, void *good)
{
	switch (below(worker, 16)) {
	case 0:
		return NULL;
	case 1:
		return (void *)(uintptr_t)(any(worker) << 12);
	case 2:
		return (void *)worker->memory; /* read-only, and possibly hooked */
	default:
		return good;
	}
}

static int *some_fd(struct worker *worker)
{
	return &worker->fds[below(worker, NR_FDS)];
}

static struct map *some_map(struct worker *worker)
{
	return &worker->maps[below(worker, NR_MAPS)];
}

static void path_of(struct worker *worker, char *path, size_t size)
{
	static const char *const names[] = {
		PFSTAT_FILE_CONTROL, PFSTAT_FILE_CONTROL, PFSTAT_FILE_SESSION, PFSTAT_FILE_LOG,
		PFSTAT_FILE_STATS,   PFSTAT_FILE_TARGETS, PFSTAT_DIR_RING,     ".",
	};
	const unsigned int which = below(worker, 12);

	if (which < sizeof(names) / sizeof(names[0]))
		snprintf(path, size, "%s/%s", PFSTAT_DEBUGFS, names[which]);
	else
		snprintf(path, size, "%s/%s/cpu%u", PFSTAT_DEBUGFS, PFSTAT_DIR_RING,
			 below(worker, 5));
}

static long do_open(struct worker *worker)
{
	static const int flags[] = {
		O_RDONLY,
		O_WRONLY,
		O_RDWR,
		O_RDWR,
		O_RDWR | O_NONBLOCK,
		O_RDWR | O_TRUNC,
		O_WRONLY | O_APPEND,
		O_RDONLY | O_DIRECT,
		O_RDWR | O_CREAT,
		O_PATH,
	};
	int *fd = some_fd(worker);
	char path[128];

	if (*fd >= 0)
		close(*fd);
	path_of(worker, path, sizeof(path));
	*fd = open(path, flags[below(worker, 10)] | O_CLOEXEC, 0600);
	return *fd;
}

static long do_close(struct worker *worker)
{
	int *fd = some_fd(worker);
	long ret = close(*fd);

	*fd = -1;
	return ret;
}

/* Commands that start a recording take the kernel longest, so they are rare. */
static void make_command(struct worker *worker, char *text, size_t size)
{
	static const char *const sizes[] = { "4K", "4096", "5000", "64K", "256K", "1", "2G", "" };
	const unsigned int pid = below(worker, 2) ? worker->target : getpid();

	switch (below(worker, 14)) {
	case 0:
		snprintf(text, size, "pid %u%s", pid, below(worker, 2) ? " now" : "");
		return;
	case 1:
		snprintf(text, size, "follow %u", pid);
		return;
	case 2:
		snprintf(text, size, "file %d", worker->file_fd);
		return;
	case 3:
		snprintf(text, size, "only %d",
			 below(worker, 2) ? worker->file_fd : *some_fd(worker));
		return;
	case 4:
		snprintf(text, size, "pid %" PRIu64, number(worker));
		return;
	case 5:
		snprintf(text, size, "file %" PRIu64, number(worker));
		return;
	case 6:
		snprintf(text, size, "fault_around %s", below(worker, 2) ? "off" : "keep");
		return;
	case 7:
	case 8:
		snprintf(text, size, "ring_size %s", sizes[below(worker, 8)]);
		return;
	case 9:
		snprintf(text, size, "mode %s", below(worker, 2) ? "drop" : "overwrite");
		return;
	case 10:
		snprintf(text, size, "stop");
		return;
	default:
		snprintf(text, size, "clear");
	}
}

/* Some commands, one on each line, possibly with invalid bytes. */
static size_t make_text(struct worker *worker, char *text)
{
	size_t length = 0, i;

	if (!below(worker, 4)) {
		length = below(worker, 16) ? below(worker, 64) : below(worker, TEXT_MAX);
		for (i = 0; i < length; i++)
			text[i] = any(worker);
		return length;
	}
	do {
		make_command(worker, text + length, 64);
		length += strlen(text + length);
		text[length++] = '\n';
	} while (!below(worker, 3) && length < TEXT_MAX - 64);
	if (!below(worker, 4))
		text[below(worker, length)] = any(worker);
	return length;
}

static long do_write(struct worker *worker)
{
	static char text[TEXT_MAX];
	const size_t length = make_text(worker, text);
	const int fd = *some_fd(worker);

	if (!below(worker, 8))
		return pwrite(fd, address_of(worker, text), length, number(worker));
	return write(fd, address_of(worker, text), length);
}

static long do_read(struct worker *worker)
{
	static char bytes[1 << 16];
	const size_t length = number(worker) % sizeof(bytes);
	const int fd = *some_fd(worker);

	if (!below(worker, 4))
		return pread(fd, address_of(worker, bytes), length, number(worker));
	return read(fd, address_of(worker, bytes), length);
}

static long do_seek(struct worker *worker)
{
	return lseek(*some_fd(worker), number(worker), below(worker, 6));
}

static long do_size(struct worker *worker)
{
	char path[128];

	switch (below(worker, 3)) {
	case 0:
		path_of(worker, path, sizeof(path));
		return truncate(path, number(worker));
	case 1:
		return fallocate(*some_fd(worker), below(worker, 8), number(worker),
				 number(worker));
	default:
		return ftruncate(*some_fd(worker), number(worker));
	}
}

static void unmap(struct map *map)
{
	if (map->address)
		munmap(map->address, map->bytes);
	map->address = NULL;
}

static long do_map(struct worker *worker)
{
	static const size_t sizes[] = { 1, 2, 2, 3, 17, 65, 1025 };
	struct map *map = some_map(worker);
	const int prot = below(worker, 4) ? PROT_READ | PROT_WRITE : (int)below(worker, 8);
	const int flags = below(worker, 4) ? MAP_SHARED : MAP_PRIVATE;

	unmap(map);
	map->bytes = sizes[below(worker, 7)] * PAGE;
	map->writable = flags == MAP_SHARED && prot & PROT_READ && prot & PROT_WRITE;
	map->address = mmap(NULL, map->bytes, prot, flags | (below(worker, 4) ? 0 : MAP_POPULATE),
			    *some_fd(worker), below(worker, 4) ? 0 : below(worker, 70) * PAGE);
	if (map->address != MAP_FAILED)
		return 0;
	map->address = NULL;
	return -1;
}

static long do_remap(struct worker *worker)
{
	struct map *map = some_map(worker);
	char *moved;

	switch (below(worker, 5)) {
	case 0:
		map->writable = false; /* the pages may be freed, and are not restored */
		return madvise(map->address, map->bytes, below(worker, 22));
	case 1:
		map->writable = false;
		return mprotect(map->address, map->bytes, below(worker, 8));
	case 2:
		moved = mremap(map->address, map->bytes, map->bytes + PAGE * below(worker, 3),
			       MREMAP_MAYMOVE);
		if (moved == MAP_FAILED)
			return -1;
		map->address = moved; /* never longer: the bytes beyond are not accessed */
		return 0;
	case 3:
		return msync(map->address, map->bytes, 1 << below(worker, 3));
	default:
		unmap(map);
		return 0;
	}
}

/* Another process may truncate the file, which removes mapped pages. */
static sigjmp_buf gone;

static void on_bus(int number)
{
	(void)number;
	siglongjmp(gone, 1);
}

/* Writes to the header page, mostly to `tail`, sometimes to a record, or to the whole page. */
static long do_scribble(struct worker *worker)
{
	const size_t tail = offsetof(struct pfstat_ring_header, tail);
	struct map *const map = some_map(worker);
	const uint64_t value = number(worker);
	volatile size_t at = tail;

	if (!map->address || !map->writable)
		return -1;
	if (sigsetjmp(gone, 1)) {
		signal(SIGBUS, SIG_DFL);
		map->writable = false;
		return -1;
	}
	signal(SIGBUS, on_bus);
	switch (below(worker, 8)) {
	case 0:
		memset(map->address, value, PAGE);
		break;
	case 1:
	case 2:
		at = below(worker, map->bytes / 8) * 8;
		break;
	case 3:
	case 4:
		at = below(worker, sizeof(struct pfstat_ring_header) / 8) * 8;
		break;
	}
	memcpy(map->address + at, &value, sizeof(value));
	signal(SIGBUS, SIG_DFL);
	return 0;
}

static long do_poll(struct worker *worker)
{
	struct pollfd polled[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		polled[i] = (struct pollfd){ .fd = *some_fd(worker), .events = any(worker) };
	return poll(polled, 3, !below(worker, 32));
}

static long do_odd(struct worker *worker)
{
	struct stat stat_buffer;

	switch (below(worker, 6)) {
	case 0:
		return ioctl(*some_fd(worker), number(worker), number(worker));
	case 1:
		return fsync(*some_fd(worker));
	case 2:
		return sendfile(*some_fd(worker), *some_fd(worker), NULL, below(worker, 1 << 14));
	case 3:
		return fcntl(*some_fd(worker), F_SETFL, below(worker, 2) ? O_NONBLOCK : O_APPEND);
	case 4:
		return flock(*some_fd(worker), below(worker, 16) | 4 /* without waiting */);
	default:
		return fstat(*some_fd(worker), &stat_buffer);
	}
}

static void check_page(const volatile char *memory, size_t page)
{
	const volatile uint64_t *word = (const volatile uint64_t *)(memory + page * PAGE);

	if (*word == page)
		return;
	fprintf(stderr, "page %zu reads as %" PRIu64 "\n", page, *word);
	_exit(1);
}

static long do_touch(struct worker *worker)
{
	const size_t pages = worker->memory_bytes / PAGE;
	unsigned int i;

	if (!below(worker, 4))
		madvise((void *)worker->memory, worker->memory_bytes, MADV_DONTNEED);
	for (i = 0; i < 16; i++)
		check_page(worker->memory, below(worker, pages));
	return 0;
}

static long do_fork(struct worker *worker)
{
	pid_t child = fork();

	if (!child) {
		do_touch(worker);
		_exit(0);
	}
	return child < 0 ? -1 : waitpid(child, NULL, 0);
}

static const struct {
	const char *name;
	long (*run)(struct worker *worker);
	unsigned int weight;
} operations[NR_KINDS] = {
	/* weights, per thousand */
	{ "open", do_open, 80 },  { "close", do_close, 60 }, { "write", do_write, 80 },
	{ "read", do_read, 120 }, { "seek", do_seek, 60 },   { "size", do_size, 30 },
	{ "map", do_map, 80 },	  { "remap", do_remap, 50 }, { "scribble", do_scribble, 240 },
	{ "poll", do_poll, 80 },  { "odd", do_odd, 59 },     { "touch", do_touch, 60 },
	{ "fork", do_fork, 1 }, /* rare, because it takes a second on the debug kernel */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void one_operation(struct worker *worker)
{
	unsigned int left = below(worker, 1000), i = 0;
	uint64_t begin;

	while (left >= operations[i].weight)
		left -= operations[i++].weight;
	begin = now_ns();
	worker->done[operations[i].run(worker) >= 0]++;
	worker->kinds[i].ns += now_ns() - begin;
	worker->kinds[i].nr++;
}

/* In one write, since other processes also print. */
static void tell(const struct worker *worker)
{
	char text[1024];
	int i, used;

	used = snprintf(text, sizeof(text),
			"%" PRIu64 " operations, %" PRIu64 " of them refused; "
			"how many, and ms:",
			worker->done[0] + worker->done[1], worker->done[0]);
	for (i = 0; i < NR_KINDS; i++)
		used += snprintf(text + used, sizeof(text) - used, " %s %" PRIu64 " %" PRIu64,
				 operations[i].name, worker->kinds[i].nr,
				 worker->kinds[i].ns / 1000000);
	puts(text);
	fflush(stdout);
}

static volatile char *map_file(const char *path, int *fd, size_t *bytes)
{
	struct stat stat_buffer;
	void *memory;

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &stat_buffer)) {
		perror(path);
		exit(2);
	}
	*bytes = stat_buffer.st_size;
	memory = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, *fd, 0);
	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return memory;
}

/* Faults repeatedly in a permanent mapping, and in one that is unmapped and mapped again. */
static void be_target(const char *path)
{
	size_t bytes, page;
	volatile char *memory, *again;
	int fd;

	memory = map_file(path, &fd, &bytes);
	for (;;) {
		again = map_file(path, &fd, &bytes);
		for (page = 0; page < bytes / PAGE; page++) {
			check_page(memory, page);
			check_page(again, page);
		}
		munmap((void *)again, bytes);
		close(fd);
		madvise((void *)memory, bytes, MADV_DONTNEED);
	}
}

static int be_worker(struct worker *worker, uint64_t nr)
{
	unsigned int i;

	for (i = 0; i < NR_FDS; i++)
		worker->fds[i] = -1;
	worker->memory = map_file(worker->file, &worker->file_fd, &worker->memory_bytes);
	while (nr--)
		one_operation(worker);
	tell(worker);
	return worker->done[1] ? 0 : 1;
}

static pid_t begin(int (*run)(struct worker *worker, uint64_t nr), struct worker *worker,
		   uint64_t nr)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		_exit(run(worker, nr));
	if (child < 0) {
		perror("fork");
		exit(2);
	}
	return child;
}

static int run_target(struct worker *worker, uint64_t nr)
{
	(void)nr;
	be_target(worker->file);
	return 0;
}

/* Each page contains the page number. */
static void fill(const char *path)
{
	uint64_t page;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct stat stat_buffer;

	if (fd < 0 || fstat(fd, &stat_buffer)) {
		perror(path);
		exit(2);
	}
	for (page = 0; page < stat_buffer.st_size / PAGE; page++)
		if (pwrite(fd, &page, sizeof(page), page * PAGE) != sizeof(page)) {
			perror(path);
			exit(2);
		}
	close(fd);
}

static int judge(pid_t pid, const char *who, int status)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	printf("%s %d ended with status %#x\n", who, pid, status);
	return 1;
}

static int run(struct worker *worker, uint64_t seed, uint64_t nr)
{
	pid_t workers[NR_WORKERS], target;
	int i, status, failed = 0;

	target = begin(run_target, worker, 0);
	worker->target = target;
	for (i = 0; i < NR_WORKERS; i++) {
		worker->random = seed + i;
		workers[i] = begin(be_worker, worker, nr / NR_WORKERS);
	}
	for (i = 0; i < NR_WORKERS; i++) {
		waitpid(workers[i], &status, 0);
		failed |= judge(workers[i], "worker", status);
	}
	if (waitpid(target, &status, WNOHANG))
		failed |= judge(target, "target", status) | 1;
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	return failed;
}

int main(int argc, char **argv)
{
	struct worker worker = { .file = argv[1] };
	uint64_t seed = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: fuzz_debugfs FILE OPERATIONS [SEED]\n");
		return 2;
	}
	if (argc > 3)
		seed = strtoull(argv[3], NULL, 0);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return 2;
	printf("seed %" PRIu64 "\n", seed);
	fill(worker.file);
	return run(&worker, seed, strtoull(argv[2], NULL, 0));
}
