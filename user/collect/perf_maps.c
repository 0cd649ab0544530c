// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings come from perf: one event per CPU that counts nothing, but records mmap(), exec, fork
 * and exit in every process on the machine into a buffer for this CPU. The reader keeps the records
 * for watched processes and their descendants.
 *
 * Events inherited by threads would take a descriptor for each thread and CPU, and make each new
 * thread pay. These cost 150 bytes for each mapping and exec in an unwatched process.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "collect/code_files.h"
#include "collect/perf_maps.h"
#include "collect/perf_record.h"
#include "collect/time_order.h"
#include "model/counters.h"
#include "privilege/privilege.h"
#include "system/cpus.h"
#include "system/perf.h"
#include "system/proc_maps.h"
#include "util/array.h"
#include "util/time_ns.h"
#include "util/why.h"

/* Space for a thousand mappings with long paths. Power of two. */
#define BUFFER_BYTES (256U << 10)

/* How often the buffers are read, to find the files of short processes (code_files.h). */
#define READ_EVERY_MS 200

/* The read(2) format for an event with PERF_FORMAT_LOST (since v6.0). */
struct counted {
	uint64_t value, lost;
};

/* A process is watched from then on. */
struct joined {
	uint64_t ns;
	uint32_t pid;
};

/*
 * Two threads may use it at a time: one watches, and one drains. The positions of the buffers,
 * `record`, `map`, `watched`, `files` and `online` belong to the drain.
 */
struct perf_maps {
	struct perf_buffer *buffers;
	int nr_cpus;
	struct time_heap heap; /* buffers with more */
	struct cpus_online online;
	unsigned int late_cpus;
	uint64_t closed_lost; /* by buffers for CPUs gone offline */
	int epoll;
	int timer;
	uint64_t *watched; /* a bit for each pid */
	uint32_t nr_pids;
	struct code_files *files;
	pthread_mutex_t lock; /* protects which buffers there are, and the rest */
	bool enabled;	      /* from the first watch to the stop */
	struct proc_maps existing;
	struct joined *joined; /* by time */
	size_t nr_joined, room_joined;
	size_t next_joined; /* the drain's */
	uint64_t record[PERF_RECORD_MAX / 8];
	uint64_t map[(sizeof(struct item_map) + PERF_RECORD_MAX) / 8];
};

static const struct perf_event_attr attributes = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_DUMMY,
	.sample_type = PERF_SAMPLE_TIME,
	.read_format = PERF_FORMAT_LOST,
	.disabled = 1,
	.sample_id_all = 1,
	.use_clockid = 1,
	.clockid = CLOCK_MONOTONIC,
	.watermark = 1,
	.wakeup_watermark = BUFFER_BYTES / 2,
	.mmap = 1,
	.mmap2 = 1,
	.mmap_data = 1,
	.comm = 1,
	.comm_exec = 1,
	.task = 1,
};

static int perf_open_buffer(struct perf_buffer *buffer, int cpu)
{
	struct perf_event_attr attr = attributes;

	buffer->fd = perf_open(&attr, -1, cpu);
	if (buffer->fd == -ENODEV)
		return 0; /* not online */
	if (buffer->fd < 0)
		return buffer->fd;
	return perf_buffer_map(buffer, BUFFER_BYTES);
}

static void perf_close_buffer(struct perf_buffer *buffer)
{
	perf_buffer_unmap(buffer);
	if (buffer->fd >= 0)
		close(buffer->fd);
}

/* Edges: readable once for each filled half of a buffer. */
static int perf_add_polled(const struct perf_maps *maps, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(maps->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int perf_open_polled(struct perf_maps *maps)
{
	const struct timespec period = { .tv_nsec = READ_EVERY_MS * 1000000L };
	const struct itimerspec timer = { period, period };

	maps->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (maps->epoll < 0)
		return -errno;
	maps->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (maps->timer < 0 || timerfd_settime(maps->timer, 0, &timer, NULL))
		return -errno;
	return perf_add_polled(maps, maps->timer);
}

/* A bit for each pid that the kernel may give: 512 KiB where it gives 4 million. */
static int perf_open_watched(struct perf_maps *maps)
{
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned int most = 0;

	if (file && fscanf(file, "%u", &most) != 1)
		most = 0;
	if (file)
		fclose(file);
	maps->nr_pids = most ?: 1U << 22;
	maps->watched = calloc(maps->nr_pids / 64 + 1, sizeof(*maps->watched));
	maps->files = code_files_new();
	return maps->watched && maps->files ? 0 : -ENOMEM;
}

static int perf_open_buffers(struct perf_maps *maps)
{
	int cpu, err = 0;

	cpus_online_open(&maps->online);
	cpus_online_changed(&maps->online);
	maps->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	maps->buffers = calloc(maps->nr_cpus, sizeof(*maps->buffers));
	if (!maps->buffers || time_heap_init(&maps->heap, maps->nr_cpus)) {
		maps->nr_cpus = 0;
		return -ENOMEM;
	}
	for (cpu = 0; cpu < maps->nr_cpus; cpu++)
		maps->buffers[cpu] = PERF_BUFFER_NONE;
	for (cpu = 0; cpu < maps->nr_cpus && !err; cpu++) {
		err = perf_open_buffer(&maps->buffers[cpu], cpu);
		if (!err && maps->buffers[cpu].page)
			err = perf_add_polled(maps, maps->buffers[cpu].fd);
	}
	return err;
}

static void perf_explain(int err, struct why *why)
{
	char name[CAPABILITY_NAMES_SIZE];

	if ((err == -EPERM || err == -EACCES) && atoi(perf_paranoid()) > 2 &&
	    capabilities_lack(CAPABILITY(CAP_SYS_ADMIN), name, sizeof(name)))
		why_set(why,
			"cannot watch mappings with perf_event_open: permission denied, because "
			"kernel.perf_event_paranoid is %s; run as root with %s, or "
			"sysctl kernel.perf_event_paranoid=2",
			perf_paranoid(), name);
	else if (err == -EPERM && prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER)
		why_set(why,
			"cannot watch mappings with perf_event_open: permission denied, perhaps by "
			"the container's system call filter; run the container with "
			"--security-opt seccomp=unconfined");
	else if (err == -EPERM || err == -EACCES)
		why_set(why,
			"cannot watch mappings with perf_event_open: permission denied; run as "
			"root (with CAP_PERFMON and CAP_IPC_LOCK)");
	else if (err == -ENOENT || err == -ENOSYS || err == -EOPNOTSUPP)
		why_set(why, "cannot watch mappings: this kernel has no perf_event_open "
			     "(CONFIG_PERF_EVENTS); use another kernel");
	else
		why_set(why, "cannot watch mappings with perf_event_open: %s", strerror(-err));
}

int perf_maps_open(struct perf_maps **opened, struct why *why)
{
	struct perf_maps *maps = calloc(1, sizeof(*maps));
	int err = -ENOMEM;

	*opened = NULL;
	if (maps) {
		pthread_mutex_init(&maps->lock, NULL);
		maps->epoll = -1;
		maps->timer = -1;
		maps->online.fd = -1;
		err = perf_open_watched(maps);
		if (!err)
			err = perf_open_polled(maps);
		if (!err)
			err = perf_open_buffers(maps);
	}
	if (err) {
		perf_explain(err, why);
		perf_maps_close(maps);
		return err;
	}
	*opened = maps;
	return 0;
}

void perf_maps_close(struct perf_maps *maps)
{
	int cpu;

	if (!maps)
		return;
	for (cpu = 0; cpu < maps->nr_cpus; cpu++)
		perf_close_buffer(&maps->buffers[cpu]);
	if (maps->timer >= 0)
		close(maps->timer);
	if (maps->epoll >= 0)
		close(maps->epoll);
	proc_maps_exit(&maps->existing);
	pthread_mutex_destroy(&maps->lock);
	code_files_free(maps->files);
	free(maps->joined);
	free(maps->watched);
	time_heap_exit(&maps->heap);
	cpus_online_close(&maps->online);
	free(maps->buffers);
	free(maps);
}

static void perf_enable_all(struct perf_maps *maps, bool enable)
{
	const unsigned long request = enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	int cpu;

	pthread_mutex_lock(&maps->lock);
	maps->enabled = enable;
	for (cpu = 0; cpu < maps->nr_cpus; cpu++)
		if (maps->buffers[cpu].page)
			ioctl(maps->buffers[cpu].fd, request, 0);
	pthread_mutex_unlock(&maps->lock);
}

/* The time is taken under the lock, so the entries are in time order. */
static int perf_join_watch(struct perf_maps *maps, pid_t pid)
{
	int err;

	pthread_mutex_lock(&maps->lock);
	err = array_reserve((void **)&maps->joined, maps->nr_joined, &maps->room_joined,
			    sizeof(*maps->joined));
	if (!err)
		maps->joined[maps->nr_joined++] = (struct joined){ clock_monotonic_ns(), pid };
	pthread_mutex_unlock(&maps->lock);
	return err;
}

/* /proc is read without the lock: that may take long, and the drain would wait. */
static int perf_add_existing(struct perf_maps *maps, pid_t pid)
{
	struct proc_maps found = { 0 };
	int err = proc_maps_read(&found, pid);

	if (!err) {
		pthread_mutex_lock(&maps->lock);
		err = proc_maps_append(&maps->existing, &found);
		pthread_mutex_unlock(&maps->lock);
	}
	proc_maps_exit(&found);
	return err;
}

/* First the watch, then the existing mappings: so none is missed in between. */
int perf_maps_watch(struct perf_maps *maps, pid_t pid, bool existing)
{
	int err;

	if (!maps->enabled)
		perf_enable_all(maps, true);
	err = perf_join_watch(maps, pid);
	return err || !existing ? err : perf_add_existing(maps, pid);
}

static void perf_see_code(void *context, const struct item_map *map)
{
	code_files_see(context, map);
}

void perf_maps_see_code(struct perf_maps *maps)
{
	proc_maps_visit(&maps->existing, perf_see_code, maps->files);
}

void perf_maps_set_advice(struct perf_maps *maps, struct pfstat_mapping *states, size_t nr)
{
	pthread_mutex_lock(&maps->lock);
	proc_maps_set_advice(&maps->existing, states, nr);
	pthread_mutex_unlock(&maps->lock);
}

const struct code_files *perf_maps_code_files(const struct perf_maps *maps)
{
	return maps->files;
}

int perf_maps_fd(const struct perf_maps *maps)
{
	return maps->epoll;
}

/*
 * Reads the event counts: a buffer reports losses only before the next record that fits, and after
 * the last loss there may be none.
 */
uint64_t perf_maps_lost(const struct perf_maps *maps)
{
	uint64_t lost = maps->closed_lost;
	struct counted counted;
	int cpu;

	for (cpu = 0; cpu < maps->nr_cpus; cpu++) {
		if (!maps->buffers[cpu].page)
			continue;
		if (read(maps->buffers[cpu].fd, &counted, sizeof(counted)) != sizeof(counted))
			return COUNT_NA;
		lost += counted.lost;
	}
	return lost;
}

unsigned int perf_maps_late_cpus(const struct perf_maps *maps)
{
	return maps->late_cpus;
}

void perf_maps_stop(struct perf_maps *maps)
{
	perf_enable_all(maps, false);
}

static uint16_t perf_size_of_next(const struct perf_buffer *buffer)
{
	const struct perf_event_header *header = perf_buffer_at(buffer, buffer->next);

	return header->size;
}

/* Every record ends with the time. */
static uint64_t perf_time_of_next(const struct perf_buffer *buffer)
{
	return *(const uint64_t *)perf_buffer_at(buffer,
						 buffer->next + perf_size_of_next(buffer) - 8);
}

static int perf_pass(struct perf_maps *maps, maps_sink sink, void *context)
{
	const struct record_mmap2 *mmap2 = (const void *)maps->record;
	struct item_map *map = (void *)maps->map;

	perf_record_map(mmap2, sizeof(uint64_t), sysconf(_SC_PAGESIZE), map);
	code_files_see(maps->files, map);
	return sink(context, map);
}

/* A program is executed: the old mappings are gone before the new program is mapped. */
static int perf_pass_exec(struct perf_maps *maps, maps_sink sink, void *context)
{
	const struct record_comm *comm = (const void *)maps->record;
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
	code_files_see_process(maps->files, map->pid);
	return sink(context, map);
}

static bool perf_is_watched(const struct perf_maps *maps, uint32_t pid)
{
	return pid < maps->nr_pids && maps->watched[pid / 64] >> pid % 64 & 1;
}

static void perf_set_watched(struct perf_maps *maps, uint32_t pid, bool watched)
{
	if (pid >= maps->nr_pids)
		return;
	maps->watched[pid / 64] &= ~(1ULL << pid % 64);
	maps->watched[pid / 64] |= (uint64_t)watched << pid % 64;
}

/* Processes watched by then. */
static void perf_take_joined(struct perf_maps *maps, uint64_t ns)
{
	pthread_mutex_lock(&maps->lock);
	while (maps->next_joined < maps->nr_joined && maps->joined[maps->next_joined].ns <= ns)
		perf_set_watched(maps, maps->joined[maps->next_joined++].pid, true);
	if (maps->next_joined == maps->nr_joined) {
		maps->next_joined = 0;
		maps->nr_joined = 0;
	}
	pthread_mutex_unlock(&maps->lock);
}

/* A child of a watched process is watched. Any other child may have an exited process's pid. */
static void perf_take_fork(struct perf_maps *maps)
{
	const struct record_task *forked = (const void *)maps->record;

	if (forked->pid != forked->parent_pid)
		perf_set_watched(maps, forked->pid, perf_is_watched(maps, forked->parent_pid));
}

static struct perf_buffer *perf_oldest(const struct perf_maps *maps)
{
	return maps->heap.count ? &maps->buffers[time_heap_first(&maps->heap)] : NULL;
}

static int perf_take_next(struct perf_maps *maps, struct perf_buffer *buffer, maps_sink sink,
			  void *context)
{
	const struct perf_event_header *header = (const void *)maps->record;

	perf_take_joined(maps, perf_time_of_next(buffer));
	perf_buffer_take(buffer, maps->record, perf_size_of_next(buffer));
	if (buffer->next != buffer->end)
		time_heap_update_first(&maps->heap, perf_time_of_next(buffer));
	else
		time_heap_remove_first(&maps->heap);
	if (header->type == PERF_RECORD_FORK)
		perf_take_fork(maps);
	else if (header->type == PERF_RECORD_MMAP2 &&
		 perf_is_watched(maps, ((const struct record_mmap2 *)header)->pid))
		return perf_pass(maps, sink, context);
	else if (header->type == PERF_RECORD_COMM &&
		 perf_is_watched(maps, ((const struct record_comm *)header)->pid))
		return perf_pass_exec(maps, sink, context);
	return 0;
}

/* The event for a CPU that goes offline records nothing any more, even when the CPU comes back. */
static void perf_replace_buffer(struct perf_maps *maps, int cpu)
{
	struct perf_buffer *buffer = &maps->buffers[cpu];
	struct counted counted;

	maps->late_cpus++;
	if (buffer->page && read(buffer->fd, &counted, sizeof(counted)) == sizeof(counted))
		maps->closed_lost += counted.lost;
	perf_close_buffer(buffer);
	*buffer = PERF_BUFFER_NONE;
	if (perf_open_buffer(buffer, cpu) || !buffer->page || perf_add_polled(maps, buffer->fd)) {
		perf_close_buffer(buffer);
		*buffer = PERF_BUFFER_NONE;
	} else if (maps->enabled) {
		ioctl(buffer->fd, PERF_EVENT_IOC_ENABLE, 0);
	}
}

/* The last drain found such a CPU offline and emptied the buffer. */
static void perf_follow_cpus(struct perf_maps *maps)
{
	const struct cpus before = maps->online.cpus;
	int cpu;

	if (!cpus_online_changed(&maps->online))
		return;
	pthread_mutex_lock(&maps->lock);
	for (cpu = 0; cpu < maps->nr_cpus && cpu < CPUS_MAX; cpu++)
		if (cpus_has(&maps->online.cpus, cpu) && !cpus_has(&before, cpu))
			perf_replace_buffer(maps, cpu);
	pthread_mutex_unlock(&maps->lock);
}

static void perf_look(struct perf_maps *maps)
{
	struct epoll_event event;
	struct perf_buffer *buffer;
	uint64_t expirations;
	int cpu;

	/* Clear the edges before their causes are read. */
	while (epoll_wait(maps->epoll, &event, 1, 0) == 1)
		;
	/* A timer that is not read does not expire again. */
	while (read(maps->timer, &expirations, sizeof(expirations)) > 0)
		;
	perf_follow_cpus(maps);
	maps->heap.count = 0;
	for (cpu = 0; cpu < maps->nr_cpus; cpu++) {
		buffer = &maps->buffers[cpu];
		if (!buffer->page)
			continue;
		perf_buffer_look(buffer);
		if (buffer->next != buffer->end)
			time_heap_add(&maps->heap, perf_time_of_next(buffer), cpu);
	}
}

/* The destination for mappings existing before the watch. */
struct existing_sink {
	struct code_files *files;
	maps_sink sink;
	void *context;
	uint32_t pid; /* in the previous mapping */
};

static int perf_pass_existing(void *context, const struct item_map *map)
{
	struct existing_sink *to = context;

	if (map->pid != to->pid)
		code_files_see_process(to->files, map->pid);
	to->pid = map->pid;
	code_files_see(to->files, map);
	return to->sink(to->context, map);
}

static int perf_drain_existing(struct perf_maps *maps, maps_sink sink, void *context)
{
	struct existing_sink to = { maps->files, sink, context, 0 };
	struct proc_maps existing;

	pthread_mutex_lock(&maps->lock);
	existing = maps->existing;
	maps->existing = (struct proc_maps){ 0 };
	pthread_mutex_unlock(&maps->lock);
	return proc_maps_hand_over(&existing, perf_pass_existing, &to);
}

/*
 * A record newer than the buffer check is left for the next call. A child runs after the fork was
 * recorded, so the fork precedes the first mapping, in any pair of buffers.
 */
int perf_maps_drain(struct perf_maps *maps, maps_sink sink, void *context)
{
	const uint64_t until_ns = clock_monotonic_ns();
	struct perf_buffer *buffer;
	int err;

	perf_look(maps);
	err = perf_drain_existing(maps, sink, context);
	while (!err && (buffer = perf_oldest(maps)) && perf_time_of_next(buffer) <= until_ns)
		err = perf_take_next(maps, buffer, sink, context);
	perf_take_joined(maps, until_ns);
	return err;
}
