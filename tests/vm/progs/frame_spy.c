// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that may use the recorder, but may not see page frame numbers, looks for them in the
 * records while they are stored: another process faults on another CPU.
 *
 *	frame_spy FILE		FILE has at least 256 pages
 *	frame_spy FILE faults	all faults are counted meanwhile
 *
 * Prints how many values other than "none" it saw.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pfstat/record.h>

#define PAGES  256
#define ROUNDS 1500
#define LOOKS  20000
#define CAP    38 /* CAP_PERFMON */

static void die(const char *what)
{
	fprintf(stderr, "frame_spy: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void keep_one_capability(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	data[CAP / 32].effective = 1U << CAP % 32;
	data[CAP / 32].permitted = 1U << CAP % 32;
	if (syscall(SYS_capset, &head, data))
		die("capset");
}

static void fault(const char *path, int go)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const int file = open(path, O_RDONLY);
	volatile char *map = mmap(NULL, PAGES * page, PROT_READ, MAP_SHARED, file, 0);
	int round, i;
	char c;

	stay_on(0);
	if (map == MAP_FAILED || read(go, &c, 1) != 1)
		die("mmap");
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < PAGES; i++)
			(void)map[i * page];
		madvise((void *)map, PAGES * page, MADV_DONTNEED);
	}
	exit(0);
}

static void command(int session, const char *line)
{
	if (write(session, line, strlen(line)) < 0)
		die(line);
}

/* CPU 0's ring, with the smallest number of records. */
static const struct pfstat_ring_header *begin_session(pid_t pid, int faults)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const int session = open("/dev/pfstat/session", O_RDWR);
	int ring = open("/dev/pfstat/ring/cpu0", O_RDWR);
	char line[32];
	void *map;

	if (session < 0)
		die("session");
	command(session, "ring_size 4K");
	command(session, "mode overwrite");
	if (faults) {
		command(session, "faults on");
		snprintf(line, sizeof(line), "watch %d process", pid);
		command(session, line);
	}
	snprintf(line, sizeof(line), "pid %d", pid);
	command(session, line);
	map = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, ring, 0);
	if (ring < 0 || map == MAP_FAILED)
		die("ring");
	return map;
}

int main(int argc, char **argv)
{
	const struct pfstat_ring_header *ring;
	const volatile struct pfstat_record *records;
	unsigned long seen = 0;
	uint64_t frame;
	pid_t child;
	int go[2], i;

	if (argc < 2 || pipe(go))
		return 2;
	child = fork();
	if (!child)
		fault(argv[1], go[0]);
	stay_on(1);
	keep_one_capability();
	ring = begin_session(child, argc > 2);
	records = (const void *)((const char *)ring + sysconf(_SC_PAGESIZE));
	if (write(go[1], "g", 1) != 1)
		die("write");
	while (!waitpid(child, NULL, WNOHANG)) {
		for (i = 0; i < LOOKS; i++) {
			frame = records[i % ring->capacity].pfn;
			seen += frame && frame != PFSTAT_NO_PFN;
		}
	}
	printf("%lu\n", seen);
	return 0;
}
