// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event of perf's that counts nothing, and tells of mmap(): for each thread
 * and CPU one, as only those may be inherited by what the thread creates. All of
 * a CPU write into one buffer, which belongs to an event of that CPU alone, so
 * that it outlives every thread.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../correlate/facts.h"
#include "descriptors.h"
#include "maps.h"
#include "perf.h"
#include "procmaps.h"
#include "tids.h"
#include "time_heap.h"

/* Room for a thousand mappings with long paths. */
#define BUFFER_BYTES (128U << 10)

/* A record of perf's is no longer: its size has 16 bits. */
#define RECORD_MAX 65536U

/* PERF_RECORD_MMAP2 up to its path; behind the path is the time. */
struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, bytes, offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char path[];
};

/* PERF_RECORD_COMM up to its name. */
struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
};

/* What an event's descriptor reads, with PERF_FORMAT_LOST (since v6.0). */
struct counted {
	uint64_t value, lost;
};

struct buffer {
	int fd;			/* -1: the CPU is not there */
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t next, end;	/* of what is being drained */
};

/*
 * Two threads may be here at a time: one watches, and one drains. The buffers are all
 * there from the beginning; where they stand, and `record` and `map`, belong to the
 * drain, and the events that tell to the watch.
 */
struct maps {
	struct buffer *buffers;
	int nr_cpus;
	struct time_heap heap;	/* of the buffers that have more */
	struct perf_fds fds;	/* those that tell: nr_told for a thread, one after the other */
	size_t nr_told;		/* CPUs with a buffer */
	size_t before;		/* how many there were when the watch began */
	uint64_t lost_before;	/* by events that are closed; FACT_NONE: not to be had */
	int epoll;
	int nudge;		/* eventfd: the buffers are to be looked at */
	pthread_mutex_t lock;	/* of `existing`, from the watch to the drain */
	struct procmaps existing;
	uint64_t record[RECORD_MAX / 8];
	uint64_t map[(sizeof(struct item_map) + RECORD_MAX) / 8];
};

static struct perf_event_attr attributes(bool tell)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.read_format = PERF_FORMAT_LOST,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = BUFFER_BYTES / 2,
		.mmap = tell,
		.mmap2 = tell,
		.mmap_data = tell,
		.comm = tell,
		.comm_exec = tell,
		.inherit = tell,
	};
}

static int buffer_open(struct buffer *buffer, int cpu)
{
	struct perf_event_attr attr = attributes(false);
	const size_t page_size = sysconf(_SC_PAGESIZE);
	void *address;

	buffer->fd = perf_open(&attr, -1, cpu);
	if (buffer->fd == -ENODEV)
		return 0;	/* not online */
	if (buffer->fd < 0)
		return buffer->fd;
	address = mmap(NULL, page_size + BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		       buffer->fd, 0);
	if (address == MAP_FAILED)
		return -errno;
	buffer->page = address;
	buffer->data = (const uint8_t *)address + page_size;
	return 0;
}

static void buffer_close(struct buffer *buffer)
{
	if (buffer->page)
		munmap(buffer->page, sysconf(_SC_PAGESIZE) + BUFFER_BYTES);
	if (buffer->fd >= 0)
		close(buffer->fd);
}

/* Edges: to be readable once for each half of a buffer that fills. */
static int add_polled(const struct maps *maps, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(maps->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_polled(struct maps *maps)
{
	maps->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (maps->epoll < 0)
		return -errno;
	maps->nudge = eventfd(0, EFD_CLOEXEC);
	return maps->nudge < 0 ? -errno : add_polled(maps, maps->nudge);
}

static int open_buffers(struct maps *maps)
{
	int cpu, err = 0;

	maps->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	maps->buffers = calloc(maps->nr_cpus, sizeof(*maps->buffers));
	if (!maps->buffers || time_heap_init(&maps->heap, maps->nr_cpus)) {
		maps->nr_cpus = 0;
		return -ENOMEM;
	}
	for (cpu = 0; cpu < maps->nr_cpus; cpu++)
		maps->buffers[cpu].fd = -1;
	for (cpu = 0; cpu < maps->nr_cpus && !err; cpu++) {
		err = buffer_open(&maps->buffers[cpu], cpu);
		if (err || !maps->buffers[cpu].page)
			continue;
		maps->nr_told++;
		err = add_polled(maps, maps->buffers[cpu].fd);
	}
	return err;
}

static void explain(int err, char *why, size_t size)
{
	if (err == -EPERM || err == -EACCES)
		snprintf(why, size, "no right to watch mappings with perf_event_open "
			 "(CAP_PERFMON and CAP_IPC_LOCK, or CAP_SYS_ADMIN where the kernel asks "
			 "for that): run as root");
	else if (err == -ENOENT || err == -ENOSYS || err == -EOPNOTSUPP)
		snprintf(why, size, "this kernel has no perf_event_open (CONFIG_PERF_EVENTS): "
			 "use one that has");
	else
		snprintf(why, size, "cannot watch mappings with perf_event_open: %s",
			 strerror(-err));
}

int maps_open(struct maps **opened, char *why, size_t size)
{
	struct maps *maps = calloc(1, sizeof(*maps));
	int err = -ENOMEM;

	*opened = NULL;
	if (maps) {
		pthread_mutex_init(&maps->lock, NULL);
		maps->epoll = -1;
		maps->nudge = -1;
		err = open_polled(maps);
		if (!err)
			err = open_buffers(maps);
	}
	if (err) {
		explain(err, why, size);
		maps_close(maps);
		return err;
	}
	*opened = maps;
	return 0;
}

void maps_close(struct maps *maps)
{
	int cpu;

	if (!maps)
		return;
	perf_fds_exit(&maps->fds);
	for (cpu = 0; cpu < maps->nr_cpus; cpu++)
		buffer_close(&maps->buffers[cpu]);
	if (maps->nudge >= 0)
		close(maps->nudge);
	if (maps->epoll >= 0)
		close(maps->epoll);
	procmaps_exit(&maps->existing);
	pthread_mutex_destroy(&maps->lock);
	time_heap_exit(&maps->heap);
	free(maps->buffers);
	free(maps);
}

static int watch_on(struct maps *maps, pid_t tid, int cpu)
{
	struct perf_event_attr attr = attributes(true);
	int fd = perf_open(&attr, tid, cpu), err;

	if (fd < 0)
		return fd;
	err = perf_fds_add(&maps->fds, fd);
	if (!err && descriptors_are_short(fd))
		err = -EMFILE;
	if (!err && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, maps->buffers[cpu].fd))
		err = -errno;
	return err;
}

static int begin(void *context, pid_t tid)
{
	struct maps *maps = context;
	const size_t before = maps->fds.count;
	int cpu, err = 0;

	for (cpu = 0; cpu < maps->nr_cpus && !err; cpu++)
		if (maps->buffers[cpu].page)
			err = watch_on(maps, tid, cpu);
	if (err)
		perf_fds_cut(&maps->fds, before);
	return err;
}

static void undo(void *context)
{
	struct maps *maps = context;

	perf_fds_cut(&maps->fds, maps->before);
}

/* /proc is read without the lock: that may take long, and the drain would wait. */
static int add_existing(struct maps *maps, pid_t pid)
{
	struct procmaps found = { 0 };
	int err = procmaps_read(&found, pid);

	if (!err) {
		pthread_mutex_lock(&maps->lock);
		err = procmaps_append(&maps->existing, &found);
		pthread_mutex_unlock(&maps->lock);
	}
	procmaps_exit(&found);
	return err;
}

/*
 * First the watch, then what is there: so none falls between. What is there can be read
 * though no descriptor is left for the watch.
 */
int maps_watch(struct maps *maps, pid_t pid, bool existing)
{
	static const struct tids_action action = { begin, undo };
	int err, existing_err = 0;

	maps->before = maps->fds.count;
	err = tids_each(pid, &action, maps);
	if (existing && (!err || err == -EMFILE || err == -EAGAIN))
		existing_err = add_existing(maps, pid);
	return existing_err ?: err;
}

int maps_fd(const struct maps *maps)
{
	return maps->epoll;
}

/*
 * Asked of the events: a buffer says what it lost only before the next record that
 * it has room for, and after the last loss there may be none. What a child's events
 * lost its parent's have counted.
 */
static uint64_t add_lost(uint64_t lost, const int *fds, size_t nr)
{
	struct counted counted;
	size_t i;

	for (i = 0; i < nr && lost != FACT_NONE; i++) {
		if (read(fds[i], &counted, sizeof(counted)) == sizeof(counted))
			lost += counted.lost;
		else
			lost = FACT_NONE;
	}
	return lost;
}

uint64_t maps_lost(const struct maps *maps)
{
	return add_lost(maps->lost_before, maps->fds.fds, maps->fds.count);
}

/*
 * Has the thread ended, and all that it and those made which inherited the event? To ask
 * takes the news that the buffer is half full from who waits for it: that is passed on.
 */
static bool has_ended(const struct maps *maps, int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	const uint64_t one = 1;

	if (poll(&polled, 1, 0) <= 0)
		return false;
	if (polled.revents & POLLIN && write(maps->nudge, &one, sizeof(one)) < 0)
		return false;
	return polled.revents & (POLLHUP | POLLERR);
}

/* The last thread's take their place. */
static void close_of_thread(struct maps *maps, int *fds)
{
	const size_t rest = maps->fds.count - maps->nr_told;
	size_t i;

	maps->lost_before = add_lost(maps->lost_before, fds, maps->nr_told);
	for (i = 0; i < maps->nr_told; i++) {
		close(fds[i]);
		fds[i] = maps->fds.fds[rest + i];
	}
	maps->fds.count = rest;
}

void maps_forget_ended(struct maps *maps)
{
	size_t at = maps->fds.count;

	while (at) {
		at -= maps->nr_told;
		if (has_ended(maps, maps->fds.fds[at]))
			close_of_thread(maps, maps->fds.fds + at);
	}
}

void maps_stop(struct maps *maps)
{
	size_t i;

	for (i = 0; i < maps->fds.count; i++)
		ioctl(maps->fds.fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

/* Sizes and places are multiples of 8, so that neither a header nor a time is split. */
static const void *at(const struct buffer *buffer, uint64_t position)
{
	return buffer->data + position % BUFFER_BYTES;
}

static uint16_t size_of_next(const struct buffer *buffer)
{
	const struct perf_event_header *header = at(buffer, buffer->next);

	return header->size;
}

/* Every record ends with its time. */
static uint64_t time_of_next(const struct buffer *buffer)
{
	return *(const uint64_t *)at(buffer, buffer->next + size_of_next(buffer) - 8);
}

/* The next record, in one piece; its room is given back. */
static void take(struct maps *maps, struct buffer *buffer)
{
	const size_t size = size_of_next(buffer), first = buffer->next % BUFFER_BYTES;
	const size_t before_end = size < BUFFER_BYTES - first ? size : BUFFER_BYTES - first;

	memcpy(maps->record, buffer->data + first, before_end);
	memcpy((uint8_t *)maps->record + before_end, buffer->data, size - before_end);
	buffer->next += size;
	/* Pairs with the kernel's acquire of data_tail: we are done with what is before it. */
	__atomic_store_n(&buffer->page->data_tail, buffer->next, __ATOMIC_RELEASE);
}

static int hand_over(struct maps *maps, maps_sink sink, void *context)
{
	const struct mmap2 *mmap2 = (const void *)maps->record;
	const size_t time_at = mmap2->header.size - sizeof(uint64_t);
	const size_t path_bytes = strnlen(mmap2->path, time_at - sizeof(*mmap2)) + 1;
	struct item_map *map = (void *)maps->map;

	*map = (struct item_map){
		.ns = maps->record[time_at / 8],
		.address = mmap2->address,
		.bytes = mmap2->bytes,
		.pgoff = mmap2->offset / sysconf(_SC_PAGESIZE),
		.inode = mmap2->inode,
		.dev = mmap2->dev_major << 20 | mmap2->dev_minor,
		.pid = mmap2->pid,
		.tid = mmap2->tid,
		.prot = mmap2->prot,
		.flags = mmap2->flags,
		.path_bytes = path_bytes,
	};
	memcpy(map->path, mmap2->path, path_bytes - 1);
	map->path[path_bytes - 1] = '\0';
	return sink(context, map);
}

/* A program is executed: what was mapped is gone, before the new one is mapped. */
static int hand_over_exec(struct maps *maps, maps_sink sink, void *context)
{
	const struct comm *comm = (const void *)maps->record;
	struct item_map *map = (void *)maps->map;

	if (!(comm->header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	*map = (struct item_map){
		.ns = maps->record[comm->header.size / 8 - 1],
		.pid = comm->pid,
		.tid = comm->tid,
		.path_bytes = 1,
	};
	map->path[0] = '\0';
	return sink(context, map);
}

static int take_next(struct maps *maps, maps_sink sink, void *context)
{
	const struct perf_event_header *header = (const void *)maps->record;
	struct buffer *buffer = &maps->buffers[time_heap_first(&maps->heap)];

	take(maps, buffer);
	if (buffer->next != buffer->end)
		time_heap_update_first(&maps->heap, time_of_next(buffer));
	else
		time_heap_remove_first(&maps->heap);
	if (header->type == PERF_RECORD_MMAP2)
		return hand_over(maps, sink, context);
	if (header->type == PERF_RECORD_COMM)
		return hand_over_exec(maps, sink, context);
	return 0;
}

static void look(struct maps *maps)
{
	struct epoll_event event;
	struct buffer *buffer;
	int cpu;

	/* Forget the edges before what caused them is read. */
	while (epoll_wait(maps->epoll, &event, 1, 0) == 1)
		;
	maps->heap.count = 0;
	for (cpu = 0; cpu < maps->nr_cpus; cpu++) {
		buffer = &maps->buffers[cpu];
		if (!buffer->page)
			continue;
		/* Pairs with the kernel's release of data_head: what is before it is whole. */
		buffer->end = __atomic_load_n(&buffer->page->data_head, __ATOMIC_ACQUIRE);
		if (buffer->next != buffer->end)
			time_heap_add(&maps->heap, time_of_next(buffer), cpu);
	}
}

static int drain_existing(struct maps *maps, maps_sink sink, void *context)
{
	struct procmaps existing;

	pthread_mutex_lock(&maps->lock);
	existing = maps->existing;
	maps->existing = (struct procmaps){ 0 };
	pthread_mutex_unlock(&maps->lock);
	return procmaps_hand_over(&existing, sink, context);
}

int maps_drain(struct maps *maps, maps_sink sink, void *context)
{
	int err;

	look(maps);
	err = drain_existing(maps, sink, context);
	while (!err && maps->heap.count)
		err = take_next(maps, sink, context);
	return err;
}
