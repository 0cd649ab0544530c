// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events.h"
#include "pfstat.skel.h"
#include "pins.h"

/* PROC_PID_INIT_INO: the inode of the initial PID namespace. */
#define INITIAL_PID_NAMESPACE 0xeffffffcU

/* The first page of a BPF ring buffer holds the reader's position, the second the writers'. */
struct positions {
	const volatile void *pages;
	size_t page_size;
};

struct events {
	struct pfstat_bpf *bpf;
	struct ring_buffer *ring;
	struct positions positions;
	events_sink sink;	/* of the drain */
	void *context;
	uint64_t received;
	bool pinned;
};

static int on_event(void *context, void *data, size_t size)
{
	const struct pfstat_event *event = data;
	struct events *events = context;

	if (size < sizeof(*event) || event->type >= PFSTAT_NR_EVENTS || event->size > size)
		return -EPROTO;
	events->received++;
	return events->sink(events->context, event);
}

static int positions_open(struct positions *positions, int fd)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	void *pages = mmap(NULL, 2 * page_size, PROT_READ, MAP_SHARED, fd, 0);

	if (pages == MAP_FAILED)
		return -errno;
	*positions = (struct positions){ .pages = pages, .page_size = page_size };
	return 0;
}

static void positions_close(struct positions *positions)
{
	if (positions->pages)
		munmap((void *)positions->pages, 2 * positions->page_size);
}

static uint64_t position_read(const struct positions *positions)
{
	return __atomic_load_n((const uint64_t *)positions->pages, __ATOMIC_ACQUIRE);
}

static uint64_t position_written(const struct positions *positions)
{
	return __atomic_load_n((const uint64_t *)((const char *)positions->pages +
						  positions->page_size), __ATOMIC_ACQUIRE);
}

static int quiet(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

/* The programs see pids and tids of the initial namespace only. */
static bool in_initial_pid_namespace(void)
{
	struct stat stat_buffer;

	return !stat("/proc/self/ns/pid", &stat_buffer) &&
	       stat_buffer.st_ino == INITIAL_PID_NAMESPACE;
}

static const char *missing(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF): "
		       "use one that has, or --no-bpf";
	if (!in_initial_pid_namespace())
		return "eBPF sees other process numbers than this container: "
		       "run outside of it, or with --no-bpf";
	if (!pins_possible())
		return "no bpf file system is mounted: run mount -t bpf bpf /sys/fs/bpf, "
		       "or use --no-bpf";
	return NULL;
}

static void explain(const char *step, int err, char *why, size_t size)
{
	if (err == -EACCES && !geteuid())
		snprintf(why, size, "this kernel's verifier refuses the eBPF programs: "
			 "report a bug, and use --no-bpf meanwhile");
	else if (err == -EPERM || err == -EACCES)
		snprintf(why, size, "no right to %s (CAP_BPF and CAP_PERFMON, and no lockdown): "
			 "run as root, or with --no-bpf", step);
	else
		snprintf(why, size, "cannot %s: %s; --no-bpf goes on without", step,
			 strerror(-err));
}

static int events_load(struct events *events, const char **step)
{
	int err;

	*step = "load the eBPF programs";
	events->bpf = pfstat_bpf__open_and_load();
	if (!events->bpf)
		return -errno;
	*step = "attach the eBPF programs";
	err = pfstat_bpf__attach(events->bpf);
	if (err)
		return err;
	*step = "pin the eBPF maps under " PFSTAT_PIN_DIR;
	err = pins_make(events->bpf->obj);
	if (err)
		return err;
	events->pinned = true;
	return 0;
}

static int events_open_ring(struct events *events, const char **step)
{
	int fd = bpf_map__fd(events->bpf->maps.events);

	*step = "open the eBPF ring buffer";
	events->ring = ring_buffer__new(fd, on_event, events, NULL);
	if (!events->ring)
		return -errno;
	return positions_open(&events->positions, fd);
}

int events_open(struct events **opened, const struct events_options *options, char *why,
		size_t size)
{
	struct events *events;
	const char *step;
	int err;

	*opened = NULL;
	if (missing()) {
		snprintf(why, size, "%s", missing());
		return -EOPNOTSUPP;
	}
	events = calloc(1, sizeof(*events));
	if (!events) {
		explain("load the eBPF programs", -ENOMEM, why, size);
		return -ENOMEM;
	}
	(void)options;
	libbpf_set_print(quiet);	/* its lines say nothing to a user */
	err = events_load(events, &step);
	if (!err)
		err = events_open_ring(events, &step);
	if (err) {
		explain(step, err, why, size);
		events_close(events);
		return err;
	}
	*opened = events;
	return 0;
}

void events_close(struct events *events)
{
	if (!events)
		return;
	if (events->pinned)
		pins_remove();
	positions_close(&events->positions);
	ring_buffer__free(events->ring);
	pfstat_bpf__destroy(events->bpf);
	free(events);
}

uint32_t events_hooks(const struct events *events)
{
	(void)events;
	return 0;
}

void events_set_wrapper(struct events *events, uint64_t address)
{
	(void)events;
	(void)address;
}

int events_watch(struct events *events, pid_t id, enum pfstat_target how)
{
	const __u32 key = id, value = how;

	return bpf_map_update_elem(bpf_map__fd(events->bpf->maps.targets), &key, &value, BPF_ANY);
}

int events_ignore(struct events *events, pid_t id)
{
	const __u32 key = id;

	return bpf_map_delete_elem(bpf_map__fd(events->bpf->maps.targets), &key);
}

int events_fd(const struct events *events)
{
	return ring_buffer__epoll_fd(events->ring);
}

/*
 * libbpf stops at an entry that another CPU has reserved and not yet filled,
 * although later ones may be ready: go on until everything is read that was
 * written when we began.
 */
int events_drain(struct events *events, events_sink sink, void *context)
{
	uint64_t end = position_written(&events->positions);
	int got;

	events->sink = sink;
	events->context = context;
	while (position_read(&events->positions) < end) {
		got = ring_buffer__consume(events->ring);
		if (got < 0)
			return got;
		if (got == 0)
			sched_yield();
	}
	return 0;
}

uint64_t events_received(const struct events *events)
{
	return events->received;
}

static int read_counts(const struct events *events, uint64_t *counts)
{
	int fd = bpf_map__fd(events->bpf->maps.counts);
	int nr_cpus = libbpf_num_possible_cpus();
	uint64_t *values;
	int err = 0, cpu;
	__u32 what;

	if (nr_cpus < 0)
		return nr_cpus;
	values = calloc(nr_cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (what = 0; what < PFSTAT_NR_COUNTS && !err; what++) {
		err = bpf_map_lookup_elem(fd, &what, values);
		counts[what] = 0;
		for (cpu = 0; cpu < nr_cpus; cpu++)
			counts[what] += values[cpu];
	}
	free(values);
	return err;
}

static void add_value(struct pfstat_syscall_value *sum, const struct pfstat_syscall_value *value)
{
	unsigned int i;

	sum->count += value->count;
	sum->total_ns += value->total_ns;
	for (i = 0; i < PFSTAT_SYSCALL_BUCKETS; i++)
		sum->log2_ns[i] += value->log2_ns[i];
}

static int longest_first(const void *a, const void *b)
{
	const struct syscall_row *left = a, *right = b;

	if (left->value.total_ns != right->value.total_ns)
		return left->value.total_ns < right->value.total_ns ? 1 : -1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* One more row, summed over the CPUs' values. */
static int append_row(struct syscall_row **rows, size_t *nr_rows,
		      const struct pfstat_syscall_key *key,
		      const struct pfstat_syscall_value *values, int nr_cpus)
{
	struct syscall_row *grown = reallocarray(*rows, *nr_rows + 1, sizeof(**rows));
	struct syscall_row *row;
	int cpu;

	if (!grown)
		return -ENOMEM;
	*rows = grown;
	row = &grown[(*nr_rows)++];
	*row = (struct syscall_row){ .number = key->number, .error = key->error };
	for (cpu = 0; cpu < nr_cpus; cpu++)
		add_value(&row->value, &values[cpu]);
	return 0;
}

static int read_syscalls(const struct events *events, struct syscall_row **rows, size_t *nr_rows)
{
	int fd = bpf_map__fd(events->bpf->maps.syscalls);
	int nr_cpus = libbpf_num_possible_cpus();
	struct pfstat_syscall_key key, *before = NULL;
	struct pfstat_syscall_value *values;
	int err = 0;

	*rows = NULL;
	*nr_rows = 0;
	if (nr_cpus < 0)
		return nr_cpus;
	values = calloc(nr_cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	while (!err && !bpf_map_get_next_key(fd, before, &key)) {
		before = &key;
		err = bpf_map_lookup_elem(fd, &key, values);
		if (!err)
			err = append_row(rows, nr_rows, &key, values, nr_cpus);
	}
	free(values);
	if (*nr_rows)
		qsort(*rows, *nr_rows, sizeof(**rows), longest_first);
	return err;
}

int events_facts(const struct events *events, struct facts *facts)
{
	int err;

	facts->have_bpf = true;
	facts->hooks = events_hooks(events);
	err = read_counts(events, facts->counts);
	return err ? err : read_syscalls(events, &facts->syscalls, &facts->nr_syscalls);
}
