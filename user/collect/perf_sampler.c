// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events are task events, so no privilege is needed for the user's own processes. A CPU's
 * buffer belongs to a dummy event of this thread. A user without CAP_IPC_LOCK may lock
 * kernel.perf_event_mlock_kb for each CPU, 516 KiB by default, and RLIMIT_MEMLOCK in all.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "collect/perf_record.h"
#include "collect/perf_sampler.h"
#include "collect/time_order.h"
#include "system/own_process.h"
#include "system/perf.h"
#include "system/processes.h"
#include "util/page_size.h"
#include "util/time_ns.h"

#define RING_BYTES_DEFAULT (4U << 20)
#define RING_PAGES_MIN	   8
/* How often the mappings of short processes are read, to find their files. */
#define COPY_EVERY_MS 100
/* Limit on the copies of a CPU. The rest stays in the buffer, and the kernel counts losses. */
#define COPY_BYTES_MAX (64U << 20)
/* How long after the event a record may enter the buffer: the thread was interrupted in between. */
#define LATE_NS (2 * MILLISECOND)
/*
 * Copies are analyzed when there are this many, or this often, but code mappings at once. A program
 * sharing a CPU with pfdrive is then disturbed less often, and a short one not before it ends.
 */
#define ANALYZE_BYTES (8U << 20)
#define ANALYZE_NS    SECOND
/* The buffer is copied when it is this full. */
#define WAKEUP_SHARE 8

/* One CPU's records, copied in buffer order. */
struct perf_copy {
	uint8_t *bytes;
	size_t used, room;
	size_t next; /* the first one not drained */
};

struct perf_cpu {
	struct perf_buffer buffer; /* fd: its dummy event */
	struct perf_copy copied;   /* protected by the lock */
	struct perf_copy taken;	   /* from copied, by the drain */
	struct perf_copy drained;
};

struct perf_sampler {
	uint64_t ring_bytes; /* per buffer, halved until the user may lock all */
	bool ring_is_given;  /* by the user */
	bool have_buffers;
	int nr_cpus;
	struct perf_cpu *cpus;
	int *outputs; /* by CPU: the buffer's descriptor */
	struct sample_events events;
	struct trace_events traces;
	/* For the watch being started. */
	pid_t pid;
	thread_name_visitor visit;
	void *visit_context;
	size_t before;			/* the end of the events */
	size_t held;			/* the held thread's first */
	uint64_t undone_ns, settled_ns; /* atomic, see perf_sampler_settled() */
	bool unsettled;			/* atomic */
	int epoll, timer, ready;
	pthread_t thread;
	bool running;
	int stopping; /* atomic */
	/* Of buffers and copies. The drain holds it for moments only: the copying thread waits. */
	pthread_mutex_t lock;
	uint64_t copied_ns; /* all earlier records were copied, from all CPUs */
	/* Owned by the copying thread. */
	uint64_t announced_ns; /* `ready` was written then */
	bool urgent;	       /* code mappings were copied since then */
	struct time_heap heap;
};

int perf_sampler_open(struct perf_sampler **opened, uint64_t ring_bytes, uint32_t wanted)
{
	const struct itimerspec timer = {
		{ .tv_nsec = COPY_EVERY_MS * MILLISECOND },
		{ .tv_nsec = COPY_EVERY_MS * MILLISECOND },
	};
	struct perf_sampler *sampler = calloc(1, sizeof(*sampler));
	int cpu;

	*opened = NULL;
	if (!sampler)
		return -ENOMEM;
	pthread_mutex_init(&sampler->lock, NULL);
	sampler->ring_bytes = ring_bytes ?: RING_BYTES_DEFAULT;
	sampler->ring_is_given = ring_bytes;
	sampler->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	sampler->cpus = calloc(sampler->nr_cpus, sizeof(*sampler->cpus));
	sampler->outputs = calloc(sampler->nr_cpus, sizeof(*sampler->outputs));
	sample_events_init(&sampler->events, sampler->outputs, sampler->nr_cpus, wanted);
	sampler->epoll = epoll_create1(EPOLL_CLOEXEC);
	sampler->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	sampler->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (cpu = 0; sampler->cpus && sampler->outputs && cpu < sampler->nr_cpus; cpu++) {
		sampler->cpus[cpu].buffer = PERF_BUFFER_NONE;
		sampler->outputs[cpu] = -1;
	}
	if (!sampler->cpus || !sampler->outputs ||
	    time_heap_init(&sampler->heap, sampler->nr_cpus) || sampler->epoll < 0 ||
	    sampler->timer < 0 || sampler->ready < 0 ||
	    timerfd_settime(sampler->timer, 0, &timer, NULL)) {
		const int err = errno ? -errno : -ENOMEM;

		perf_sampler_close(sampler);
		return err;
	}
	*opened = sampler;
	return 0;
}

static void sampler_close_buffers(struct perf_sampler *sampler)
{
	struct perf_buffer *buffer;
	int cpu;

	for (cpu = 0; sampler->cpus && sampler->outputs && cpu < sampler->nr_cpus; cpu++) {
		buffer = &sampler->cpus[cpu].buffer;
		perf_buffer_unmap(buffer);
		if (buffer->fd >= 0)
			close(buffer->fd);
		*buffer = PERF_BUFFER_NONE;
		sampler->outputs[cpu] = -1;
	}
}

void perf_sampler_close(struct perf_sampler *sampler)
{
	int cpu;

	perf_sampler_stop(sampler);
	sampler_close_buffers(sampler);
	trace_events_exit(&sampler->traces);
	sample_events_exit(&sampler->events);
	for (cpu = 0; sampler->cpus && cpu < sampler->nr_cpus; cpu++) {
		free(sampler->cpus[cpu].copied.bytes);
		free(sampler->cpus[cpu].taken.bytes);
		free(sampler->cpus[cpu].drained.bytes);
	}
	if (sampler->epoll >= 0)
		close(sampler->epoll);
	if (sampler->timer >= 0)
		close(sampler->timer);
	if (sampler->ready >= 0)
		close(sampler->ready);
	time_heap_exit(&sampler->heap);
	pthread_mutex_destroy(&sampler->lock);
	free(sampler->outputs);
	free(sampler->cpus);
	free(sampler);
}

bool perf_sampler_is_user_only(const struct perf_sampler *sampler)
{
	return sampler->events.user_only;
}

/* Edges: readable once for each filled part of the buffer. */
static int sampler_add_polled(const struct perf_sampler *sampler, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.fd = fd };

	return epoll_ctl(sampler->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int sampler_open_buffer(struct perf_sampler *sampler, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = sampler->ring_bytes / WAKEUP_SHARE,
	};
	struct perf_buffer buffer = PERF_BUFFER_NONE;
	int err;

	buffer.fd = perf_open(&attr, 0, cpu);
	if (buffer.fd < 0)
		return buffer.fd == -ENODEV ? 0 : buffer.fd; /* the CPU is offline */
	err = perf_buffer_map(&buffer, sampler->ring_bytes);
	sampler->cpus[cpu].buffer = buffer;
	sampler->outputs[cpu] = buffer.fd;
	if (err)
		return err == -EPERM || err == -ENOMEM ? -ENOBUFS : err;
	return sampler_add_polled(sampler, buffer.fd);
}

/* The CPUs' buffers, as large as the user may lock, up to the default. */
static int sampler_open_buffers(struct perf_sampler *sampler)
{
	int cpu, err;

	while (!sampler->have_buffers) {
		err = 0;
		for (cpu = 0; cpu < sampler->nr_cpus && !err; cpu++)
			err = sampler_open_buffer(sampler, cpu);
		sampler->have_buffers = !err;
		if (!err)
			break;
		sampler_close_buffers(sampler);
		if (err != -ENOBUFS || sampler->ring_is_given ||
		    sampler->ring_bytes <= RING_PAGES_MIN * page_size())
			return err;
		sampler->ring_bytes /= 2;
	}
	return 0;
}

const struct tracepoint *perf_sampler_trace(struct perf_sampler *sampler, int *err)
{
	*err = sampler_open_buffers(sampler);
	if (!*err)
		*err = trace_events_open(&sampler->traces, &sampler->events);
	return *err ? NULL : sampler->traces.points;
}

/* Nothing, if the thread has exited. */
static int sampler_pass_name(struct perf_sampler *sampler, pid_t tid)
{
	char name[THREAD_NAME_SIZE];

	if (!thread_name_read(sampler->pid, tid, name))
		return 0;
	return sampler->visit(sampler->visit_context, tid, name);
}

/*
 * The name comes before the thread's first sample, since a fork takes the creator's name, and the
 * thread may exit soon. A change of the name before the events were open has no sample.
 */
static int sampler_begin(void *context, pid_t tid)
{
	struct perf_sampler *sampler = context;
	int err = sampler_pass_name(sampler, tid);

	if (!err)
		err = sample_events_open(&sampler->events, tid, SAMPLE_EVENTS_INHERITED);
	return err ? err : sampler_pass_name(sampler, tid);
}

static void sampler_undo(void *context)
{
	struct perf_sampler *sampler = context;

	sample_events_cut(&sampler->events, sampler->before);
	__atomic_store_n(&sampler->undone_ns, clock_monotonic_ns(), __ATOMIC_RELAXED);
}

int perf_sampler_watch(struct perf_sampler *sampler, pid_t pid, thread_name_visitor visit,
		       void *context)
{
	static const struct tids_action action = { sampler_begin, sampler_undo };
	int err = sampler_open_buffers(sampler);

	if (!err)
		err = trace_events_control(&sampler->traces, PERF_EVENT_IOC_ENABLE);
	if (err)
		return err;
	sampler->pid = pid;
	sampler->visit = visit;
	sampler->visit_context = context;
	sampler->before = sample_events_end(&sampler->events);
	__atomic_store_n(&sampler->settled_ns, UINT64_MAX, __ATOMIC_RELAXED);
	err = proc_threads_each(pid, &action, sampler);
	__atomic_store_n(&sampler->settled_ns, clock_monotonic_ns(), __ATOMIC_RELAXED);
	if (err != -EAGAIN)
		return err;
	__atomic_store_n(&sampler->unsettled, true, __ATOMIC_RELAXED);
	return 0;
}

bool perf_sampler_is_unsettled(const struct perf_sampler *sampler)
{
	return __atomic_load_n(&sampler->unsettled, __ATOMIC_RELAXED);
}

void perf_sampler_settled(const struct perf_sampler *sampler, uint64_t *undone_ns,
			  uint64_t *settled_ns)
{
	*undone_ns = __atomic_load_n(&sampler->undone_ns, __ATOMIC_RELAXED);
	*settled_ns = __atomic_load_n(&sampler->settled_ns, __ATOMIC_RELAXED);
}

int perf_sampler_hold_thread(struct perf_sampler *sampler, pid_t tid)
{
	int err = sampler_open_buffers(sampler);

	sampler->held = sample_events_end(&sampler->events);
	return err ?: sample_events_open(&sampler->events, tid, SAMPLE_EVENTS_OFF);
}

int perf_sampler_begin_thread(struct perf_sampler *sampler)
{
	int err = trace_events_control(&sampler->traces, PERF_EVENT_IOC_ENABLE);

	return err ?: sample_events_control(&sampler->events, sampler->held, PERF_EVENT_IOC_ENABLE);
}

int perf_sampler_end_thread(struct perf_sampler *sampler)
{
	int err = sample_events_control(&sampler->events, sampler->held, PERF_EVENT_IOC_DISABLE);

	return err ?: trace_events_control(&sampler->traces, PERF_EVENT_IOC_DISABLE);
}

static int copy_make_room(struct perf_copy *copy, size_t more)
{
	size_t room = copy->room ?: 1U << 16;
	uint8_t *grown;

	while (room < copy->used + more)
		room *= 2;
	if (room == copy->room)
		return 0;
	grown = realloc(copy->bytes, room);
	if (!grown)
		return -ENOMEM;
	copy->bytes = grown;
	copy->room = room;
	return 0;
}

/* Empties the buffer into the copy. Without memory the records stay in the buffer. */
static void sampler_copy_cpu(struct perf_cpu *cpu)
{
	struct perf_buffer *buffer = &cpu->buffer;
	size_t size;

	if (!buffer->page)
		return;
	perf_buffer_look(buffer);
	size = buffer->end - buffer->next;
	if (!size || cpu->copied.used + size > COPY_BYTES_MAX || copy_make_room(&cpu->copied, size))
		return;
	perf_buffer_take(buffer, cpu->copied.bytes + cpu->copied.used, size);
	cpu->copied.used += size;
}

/* Code files must be opened while the process lives. */
static bool sampler_has_code(const struct perf_copy *copy, size_t from)
{
	const struct perf_event_header *record;

	for (; from < copy->used; from += record->size) {
		record = (const void *)(copy->bytes + from);
		if (record->type == PERF_RECORD_MMAP2 &&
		    ((const struct record_mmap2 *)record)->prot & PROT_EXEC)
			return true;
	}
	return false;
}

static void sampler_copy(struct perf_sampler *sampler)
{
	const uint64_t now_ns = clock_monotonic_ns();
	struct perf_cpu *cpu;
	size_t before;

	pthread_mutex_lock(&sampler->lock);
	for (cpu = sampler->cpus; cpu < sampler->cpus + sampler->nr_cpus; cpu++) {
		before = cpu->copied.used;
		sampler_copy_cpu(cpu);
		sampler->urgent |= sampler_has_code(&cpu->copied, before);
	}
	sampler->copied_ns = now_ns;
	pthread_mutex_unlock(&sampler->lock);
}

/* Wakes the reader if the copies are worth it. */
static void sampler_announce(struct perf_sampler *sampler)
{
	const uint64_t one = 1, now_ns = clock_monotonic_ns();
	size_t bytes = 0;
	int cpu;

	pthread_mutex_lock(&sampler->lock);
	for (cpu = 0; cpu < sampler->nr_cpus; cpu++)
		bytes += sampler->cpus[cpu].copied.used;
	pthread_mutex_unlock(&sampler->lock);
	if (!bytes || (!sampler->urgent && bytes < ANALYZE_BYTES &&
		       now_ns < sampler->announced_ns + ANALYZE_NS))
		return;
	sampler->urgent = false;
	sampler->announced_ns = now_ns;
	while (write(sampler->ready, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void *sampler_main(void *argument)
{
	struct perf_sampler *sampler = argument;
	struct epoll_event event;
	uint64_t expirations;

	priority_be_prompt();
	while (!__atomic_load_n(&sampler->stopping, __ATOMIC_RELAXED)) {
		if (epoll_wait(sampler->epoll, &event, 1, -1) != 1)
			continue;
		/* A timer that is not read does not expire again. */
		while (read(sampler->timer, &expirations, sizeof(expirations)) > 0)
			;
		sampler_copy(sampler);
		sampler_announce(sampler);
	}
	return NULL;
}

int perf_sampler_start(struct perf_sampler *sampler)
{
	sigset_t all, before;
	int err = sampler_add_polled(sampler, sampler->timer);

	if (err)
		return err;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&sampler->thread, NULL, sampler_main, sampler);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	sampler->running = !err;
	return err;
}

void perf_sampler_stop(struct perf_sampler *sampler)
{
	/* The thread would only wake when the period ends, or when all targets have. */
	static const struct itimerspec at_once = { .it_value = { .tv_nsec = 1 } };

	sample_events_control(&sampler->events, 0, PERF_EVENT_IOC_DISABLE);
	trace_events_control(&sampler->traces, PERF_EVENT_IOC_DISABLE);
	if (!sampler->running)
		return;
	__atomic_store_n(&sampler->stopping, 1, __ATOMIC_RELAXED);
	timerfd_settime(sampler->timer, 0, &at_once, NULL);
	pthread_join(sampler->thread, NULL);
	sampler->running = false;
}

int perf_sampler_fd(const struct perf_sampler *sampler)
{
	return sampler->ready;
}

/* Appends the taken records to those left by the last drain. */
static int sampler_append_taken(struct perf_cpu *cpu)
{
	struct perf_copy *drained = &cpu->drained, *taken = &cpu->taken, empty;
	int err;

	drained->used -= drained->next;
	memmove(drained->bytes, drained->bytes + drained->next, drained->used);
	drained->next = 0;
	if (!drained->used) {
		empty = *drained;
		*drained = *taken;
		*taken = empty;
		return 0;
	}
	err = copy_make_room(drained, taken->used);
	if (err)
		return err;
	memcpy(drained->bytes + drained->used, taken->bytes, taken->used);
	drained->used += taken->used;
	taken->used = 0;
	return 0;
}

/* The copies change places with the appended ones. */
static uint64_t sampler_take_copied(struct perf_sampler *sampler)
{
	struct perf_copy empty;
	struct perf_cpu *cpu;
	uint64_t copied_ns;

	pthread_mutex_lock(&sampler->lock);
	for (cpu = sampler->cpus; cpu < sampler->cpus + sampler->nr_cpus; cpu++) {
		empty = cpu->taken;
		cpu->taken = cpu->copied;
		cpu->copied = empty;
	}
	copied_ns = sampler->copied_ns;
	pthread_mutex_unlock(&sampler->lock);
	return copied_ns;
}

static struct perf_event_header *sampler_next(const struct perf_cpu *cpu)
{
	const struct perf_copy *drained = &cpu->drained;

	return drained->next < drained->used ? (void *)(drained->bytes + drained->next) : NULL;
}

static int sampler_look(struct perf_sampler *sampler, uint64_t *copied_ns)
{
	const struct perf_event_header *record;
	uint64_t count;
	int cpu, err = 0;

	while (read(sampler->ready, &count, sizeof(count)) > 0)
		;
	if (!sampler->running)
		sampler_copy(sampler);
	*copied_ns = sampler_take_copied(sampler);
	sampler->heap.count = 0;
	for (cpu = 0; cpu < sampler->nr_cpus && !err; cpu++) {
		err = sampler_append_taken(&sampler->cpus[cpu]);
		record = sampler_next(&sampler->cpus[cpu]);
		if (record)
			time_heap_add(&sampler->heap, perf_record_ns(record), cpu);
	}
	return err;
}

/* Records that were copied for one CPU only must wait, and so must all later ones. */
int perf_sampler_drain(struct perf_sampler *sampler, uint64_t until_ns, perf_record_sink sink,
		       void *context)
{
	struct perf_event_header *record;
	uint64_t copied_ns, end_ns;
	struct perf_cpu *cpu;
	int err = sampler_look(sampler, &copied_ns);

	end_ns = (copied_ns < until_ns ? copied_ns : until_ns) - LATE_NS;
	if (until_ns == UINT64_MAX)
		end_ns = until_ns;
	while (!err && sampler->heap.count) {
		cpu = &sampler->cpus[time_heap_first(&sampler->heap)];
		record = sampler_next(cpu);
		if (perf_record_ns(record) > end_ns)
			break;
		cpu->drained.next += record->size;
		if (perf_record_has_id(record))
			sample_events_identify(&sampler->events, (struct sample_by_id *)record);
		err = sink(context, cpu - sampler->cpus, record);
		record = sampler_next(cpu);
		if (record)
			time_heap_update_first(&sampler->heap, perf_record_ns(record));
		else
			time_heap_remove_first(&sampler->heap);
	}
	return err;
}

int perf_sampler_counts(const struct perf_sampler *sampler, uint64_t counts[PERF_NR_SAMPLES])
{
	return sample_events_read(&sampler->events, counts);
}

int perf_sampler_traced(const struct perf_sampler *sampler, uint64_t *count)
{
	return trace_events_read(&sampler->traces, count);
}

int perf_sampler_missing(const struct perf_sampler *sampler, enum perf_sample which)
{
	const struct sample_events *events = &sampler->events;

	if (events->refused[which])
		return events->refused[which];
	return events->fds[which].count ? 0 : -ENODATA;
}
