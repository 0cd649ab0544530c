// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder [--idle] COMMAND…: writes each COMMAND to the module's session, prints "ready", and
 * reads the rings until SIGTERM, checking each record. With --idle it only maps them until then.
 * Then it stops the recording, reads the rest, and checks that records read and records lost add up
 * to the calls counted by the wrappers. Exits with 0 and prints the counts, with 1 and a message if
 * a check fails, or with 3 if the module refuses a command.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <pfstat/control.h>
#include <pfstat/record.h>

#define HEADER_BYTES ((size_t)sysconf(_SC_PAGESIZE))
#define MAX_CPUS     64
#define POLL_MS	     20

struct ring {
	struct pfstat_ring_header *header;
	const struct pfstat_record *data;
	size_t bytes;
	uint64_t next; /* the next record to read */
};

struct counts {
	uint64_t calls, stored, lost;
	uint64_t classes[PFSTAT_NR_CLASSES];
};

static struct ring rings[MAX_CPUS];
static struct counts mine; /* counts for the records read */
static uint64_t was_read, missed;
static volatile sig_atomic_t told_to_end;

static void on_sigterm(int number)
{
	(void)number;
	told_to_end = 1;
}

__attribute__((noreturn, format(printf, 2, 3))) static void end(int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	exit(status);
}

static void command(int session, const char *line)
{
	if (write(session, line, strlen(line)) < 0)
		end(3, "%s: %s", line, strerror(errno));
}

static void *map_ring(int fd, size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/* A CPU that was offline at the start of the recording has none. */
static void open_ring(struct ring *ring, unsigned int cpu)
{
	struct pfstat_ring_header *header;
	uint64_t capacity;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s/cpu%u", PFSTAT_DEBUGFS, PFSTAT_DIR_RING, cpu);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return;
	header = fd < 0 ? MAP_FAILED : map_ring(fd, HEADER_BYTES);
	if (header == MAP_FAILED && errno == ENODATA)
		goto close_fd;
	if (header == MAP_FAILED)
		end(1, "%s: %s", path, strerror(errno));
	capacity = header->capacity;
	if (header->version != PFSTAT_ABI_VERSION || header->cpu != cpu || !capacity)
		end(1, "%s has a wrong header", path);
	munmap(header, HEADER_BYTES);
	ring->bytes = (HEADER_BYTES + capacity * sizeof(*ring->data) + HEADER_BYTES - 1) &
		      ~(HEADER_BYTES - 1);
	ring->header = map_ring(fd, ring->bytes);
	if (ring->header == MAP_FAILED)
		end(1, "%s: %s", path, strerror(errno));
	ring->data = (const void *)((const char *)ring->header + HEADER_BYTES);
close_fd:
	close(fd);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Conditions true for every record. */
static bool makes_sense(const struct pfstat_record *record, unsigned int cpu, uint64_t now)
{
	const bool major = record->result & PFSTAT_RESULT_MAJOR;

	return record->op < PFSTAT_NR_OPS && record->class < PFSTAT_NR_CLASSES &&
	       record->cpu == cpu && record->pid && record->tid && record->inode && !record->page &&
	       record->start_ns && record->start_ns + record->duration_ns <= now &&
	       record->earlier_ns < record->start_ns &&
	       (record->class != PFSTAT_CLASS_DISK || major ||
		record->before == PFSTAT_BEFORE_STALE) &&
	       (record->class != PFSTAT_CLASS_AROUND || record->op == PFSTAT_OP_MAP_PAGES) &&
	       (record->class != PFSTAT_CLASS_ERROR || record->result & PFSTAT_RESULT_ERROR);
}

static void take(const struct pfstat_record *record, unsigned int cpu, uint64_t position,
		 uint64_t now)
{
	if (!makes_sense(record, cpu, now))
		end(1,
		    "record %" PRIu64 " of CPU %u makes no sense: op %u class %u cpu %u pid %u "
		    "start %" PRIu64 " duration %" PRIu64 " earlier %" PRIu64 " result %#x",
		    position, cpu, record->op, record->class, record->cpu, record->pid,
		    (uint64_t)record->start_ns, (uint64_t)record->duration_ns,
		    (uint64_t)record->earlier_ns, record->result);
	mine.classes[record->class]++;
	was_read++;
}

/* In overwrite mode the module does not wait: a record may change during the copy. */
static bool copy(const struct pfstat_record *slot, uint64_t position, struct pfstat_record *record)
{
	if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != position + 1)
		return false;
	memcpy(record, slot, sizeof(*record));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&slot->sequence, __ATOMIC_RELAXED) == position + 1;
}

static void read_ring(struct ring *ring, unsigned int cpu)
{
	struct pfstat_ring_header *header = ring->header;
	uint64_t head, capacity = header->capacity, now;
	struct pfstat_record record;

	head = __atomic_load_n(&header->head, __ATOMIC_ACQUIRE);
	now = now_ns();
	if (head < ring->next)
		end(1, "the head of CPU %u's ring went back", cpu);
	if (header->overwrite && head - ring->next > capacity) {
		missed += head - capacity - ring->next;
		ring->next = head - capacity;
	}
	for (; ring->next != head; ring->next++) {
		if (copy(&ring->data[ring->next % capacity], ring->next, &record))
			take(&record, cpu, ring->next, now);
		else if (header->overwrite)
			missed++;
		else
			end(1, "record %" PRIu64 " of CPU %u is not there", ring->next, cpu);
	}
	__atomic_store_n(&header->tail, head, __ATOMIC_RELEASE);
}

static void read_rings(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		if (rings[cpu].header)
			read_ring(&rings[cpu], cpu);
}

static struct counts read_stats(void)
{
	static const char *const names[] = PFSTAT_CLASS_NAMES;
	FILE *file = fopen(PFSTAT_DEBUGFS "/" PFSTAT_FILE_STATS, "re");
	struct counts counts = { 0 };
	char line[256], name[32];
	uint64_t value;
	unsigned int i;

	if (!file)
		end(1, "cannot read stats: %s", strerror(errno));
	while (fgets(line, sizeof(line), file) && strncmp(line, "histogram", 9)) {
		if (sscanf(line, "%31s %" SCNu64, name, &value) != 2)
			continue;
		if (!strcmp(name, "calls"))
			counts.calls = value;
		if (!strcmp(name, "stored"))
			counts.stored = value;
		if (!strcmp(name, "lost"))
			counts.lost = value;
		for (i = 0; i < PFSTAT_NR_CLASSES; i++)
			if (!strcmp(name, names[i]))
				counts.classes[i] = value;
	}
	fclose(file);
	return counts;
}

static void compare(const struct counts *counts)
{
	uint64_t classes = 0;
	unsigned int i;

	if (was_read + missed != counts->stored || counts->stored + counts->lost != counts->calls)
		end(1,
		    "calls %" PRIu64 ", stored %" PRIu64 ", lost %" PRIu64 ", but read %" PRIu64
		    ", overwritten %" PRIu64,
		    counts->calls, counts->stored, counts->lost, was_read, missed);
	for (i = 0; i < PFSTAT_NR_CLASSES; i++) {
		classes += counts->classes[i];
		if (mine.classes[i] > counts->classes[i] ||
		    (was_read == counts->calls && mine.classes[i] != counts->classes[i]))
			end(1, "class %u: read %" PRIu64 ", counted %" PRIu64, i, mine.classes[i],
			    counts->classes[i]);
	}
	if (classes != counts->calls)
		end(1, "calls %" PRIu64 ", but %" PRIu64 " by class", counts->calls, classes);
}

int main(int argc, char **argv)
{
	const bool idle = argc > 1 && !strcmp(argv[1], "--idle");
	struct sigaction action = { .sa_handler = on_sigterm };
	struct counts counts;
	unsigned int cpu;
	int session, i;

	sigaction(SIGTERM, &action, NULL);
	session = open(PFSTAT_DEBUGFS "/" PFSTAT_FILE_SESSION, O_WRONLY | O_CLOEXEC);
	if (session < 0)
		end(3, "session: %s", strerror(errno));
	for (i = 1 + idle; i < argc; i++)
		command(session, argv[i]);
	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		open_ring(&rings[cpu], cpu);
	puts("ready");
	fflush(stdout);
	while (!told_to_end) {
		if (!idle)
			read_rings();
		poll(NULL, 0, POLL_MS);
	}
	command(session, "stop");
	read_rings();
	counts = read_stats();
	compare(&counts);
	end(0, "calls %" PRIu64 " = read %" PRIu64 " + overwritten %" PRIu64 " + lost %" PRIu64,
	    counts.calls, was_read, missed, counts.lost);
}
