// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joins the start and the end of each fault by thread. Losses may join the start of one fault to
 * the end of a later one, so a pair with a loss in between is dropped and counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analyze/groups/address_spaces.h"
#include "analyze/pages/page_history.h"
#include "collect/perf_buffer.h"
#include "collect/perf_stream.h"
#include "util/hash.h"

/* The records; a sample's fields have the order of perf_event_open(2). */
struct sample_start {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t ns;
	uint64_t address;
};

struct sample_end {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t ns;
};

struct sample_major {
	struct sample_end end;
	uint32_t cpu, reserved;
};

/* sample_id_all: behind every other record of the first event. */
struct record_id {
	uint32_t pid, tid;
	uint64_t ns;
};

struct record_lost {
	struct perf_event_header header;
	uint64_t id, lost;
	struct record_id at;
};

struct record_switch {
	struct perf_event_header header;
	struct record_id at;
};

/* PERF_RECORD_FORK and PERF_RECORD_EXIT. */
struct record_task {
	struct perf_event_header header;
	uint32_t pid, parent_pid;
	uint32_t tid, parent_tid;
	uint64_t ns;
};

/* Up to the name. */
struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

/* Up to the path. */
struct record_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, bytes, offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char path[];
};

struct perf_thread {
	uint32_t tid, pid;
	bool known;	/* a record of a fault was seen: what comes before it may be at the edge */
	bool in_fault;	/* the next fields are valid */
	bool user;	/* a fault of user mode */
	bool preempted; /* was runnable when it left the CPU */
	uint64_t start_ns, address, ip;
	uint64_t losses; /* of the stream, when the fault started */
	uint64_t off_ns; /* 0: on a CPU, or not known */
};

struct perf_stream {
	struct hash threads; /* by tid */
	struct perf_thread *last;
	struct spaces *spaces;
	struct page_history *history;
	uint64_t page_bytes;
	uint64_t losses;     /* records of losses, and signs of others */
	uint32_t *last_tids; /* of the last record of each CPU */
	unsigned int nr_cpus;
	struct perf_stream_counts counts;
	item_sink sink; /* of the record that is being added */
	void *context;
	uint64_t map[(sizeof(struct item_map) + PERF_RECORD_MAX) / 8];
};

_Static_assert(sizeof(struct sample_start) == 40 && sizeof(struct sample_end) == 24 &&
		       sizeof(struct sample_major) == 32,
	       "each event has samples of another size");

struct perf_stream *perf_stream_new(uint64_t page_bytes, unsigned int nr_cpus)
{
	struct perf_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->page_bytes = page_bytes;
	stream->spaces = address_spaces_new(page_bytes);
	stream->history = page_history_new(page_bytes);
	stream->nr_cpus = nr_cpus;
	stream->last_tids = calloc(nr_cpus, sizeof(*stream->last_tids));
	if (stream->spaces && stream->history && stream->last_tids)
		return stream;
	perf_stream_free(stream);
	return NULL;
}

void perf_stream_free(struct perf_stream *stream)
{
	if (!stream)
		return;
	hash_exit(&stream->threads, free);
	address_spaces_free(stream->spaces);
	page_history_free(stream->history);
	free(stream->last_tids);
	free(stream);
}

const struct perf_stream_counts *perf_stream_counts(const struct perf_stream *stream)
{
	return &stream->counts;
}

uint64_t perf_record_ns(const struct perf_event_header *record)
{
	const size_t last = record->size / 8 - 1;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return record->size == sizeof(struct sample_start) ?
			       ((const struct sample_start *)record)->ns :
			       ((const struct sample_end *)record)->ns;
	case PERF_RECORD_LOST:
		return record->size >= sizeof(struct record_lost) ?
			       ((const struct record_lost *)record)->at.ns :
			       0;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_COMM:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_SWITCH:
		return ((const uint64_t *)record)[last];
	default:
		return 0;
	}
}

static int perf_stream_pass_event(struct perf_stream *stream, const struct pfstat_event *event)
{
	const struct item item = { .type = ITEM_EVENT, .ns = event->ns, .event = event };

	stream->counts.items++;
	return stream->sink(stream->context, &item);
}

static struct perf_thread *perf_stream_thread(struct perf_stream *stream, uint32_t pid,
					      uint32_t tid)
{
	struct perf_thread *thread = stream->last;

	if (!thread || thread->tid != tid)
		thread = hash_find(&stream->threads, tid);
	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return NULL;
		thread->tid = tid;
		if (hash_add(&stream->threads, tid, thread)) {
			free(thread);
			return NULL;
		}
	}
	thread->pid = pid;
	stream->last = thread;
	return thread;
}

/* Special mappings have a file operation, but no file. */
static bool map_is_special(const struct perf_stream *stream, const struct space_map *map)
{
	return !strncmp(address_spaces_path(stream->spaces, map->path), "[v", 2);
}

/* Fills the file and the kind of a fault. A failed one has mapped no page. */
static int perf_stream_place(struct perf_stream *stream, struct pfstat_fault *fault)
{
	const uint32_t pid = fault->event.pid;
	const struct space_map *map = address_spaces_find(stream->spaces, pid, fault->address);
	bool before = false;
	int err = 0;

	fault->pgoff = fault->address / stream->page_bytes;
	fault->event.flags = PFSTAT_FAULT_OTHER;
	if (map && map->inode) {
		fault->inode = map->inode;
		fault->dev = map->dev;
		fault->pgoff = map->pgoff + fault->pgoff - map->start / stream->page_bytes;
	}
	if (map && map->prot & PROT_WRITE)
		fault->perf |= PFSTAT_PERF_WRITABLE;
	if (map)
		fault->event.flags = map->inode || map_is_special(stream, map) ? PFSTAT_FAULT_FILE :
										 PFSTAT_FAULT_ANON;
	if (fault->outcome != PFSTAT_OUTCOME_ERROR)
		err = page_history_add(stream->history, pid, fault->address, &before);
	if (before)
		fault->perf |= PFSTAT_PERF_AGAIN;
	/* A page of a file that is read again says more as a major fault of the file. */
	if (before &&
	    (fault->outcome == PFSTAT_OUTCOME_MINOR || fault->event.flags != PFSTAT_FAULT_FILE))
		fault->event.flags = PFSTAT_FAULT_AGAIN;
	return err;
}

static int perf_stream_end_fault(struct perf_stream *stream, struct perf_thread *thread,
				 uint64_t ns, enum pfstat_fault_outcome outcome)
{
	struct pfstat_fault fault = {
		.event = {
			.type = PFSTAT_EVENT_FAULT, .size = sizeof(fault),
			.pid = thread->pid, .tid = thread->tid, .ns = ns,
		},
		.start_ns = thread->start_ns,
		.address = thread->address,
		.ip = thread->ip,
		.fault_flags = thread->user ? PFSTAT_FLAG_USER : 0,
		.result = outcome == PFSTAT_OUTCOME_MAJOR ? PFSTAT_RESULT_MAJOR : 0,
		.origin = thread->user ? PFSTAT_ORIGIN_USER : PFSTAT_ORIGIN_KERNEL,
		.outcome = outcome,
		.perf = PFSTAT_PERF_SAMPLED,
	};
	struct pfstat_fault_value *value;
	int err;

	thread->in_fault = false;
	if (outcome == PFSTAT_OUTCOME_ERROR)
		fault.perf |= PFSTAT_PERF_NO_END;
	err = perf_stream_place(stream, &fault);
	if (err)
		return err;
	value = &stream->counts.faults[PFSTAT_FAULT_INDEX(fault.event.flags, fault.origin,
							  fault.outcome)];
	value->count++;
	if (outcome != PFSTAT_OUTCOME_ERROR)
		value->total_ns += item_elapsed(thread->start_ns, ns);
	return perf_stream_pass_event(stream, &fault.event);
}

/* No end came: the fault failed, or its end was lost. */
static int perf_stream_fail(struct perf_stream *stream, struct perf_thread *thread, uint64_t ns)
{
	if (!thread->in_fault)
		return 0;
	if (thread->losses != stream->losses) {
		thread->in_fault = false;
		stream->counts.unpaired++;
		return 0;
	}
	stream->counts.failed++;
	return perf_stream_end_fault(stream, thread, ns, PFSTAT_OUTCOME_ERROR);
}

static int perf_stream_add_start(struct perf_stream *stream, const struct sample_start *sample)
{
	struct perf_thread *thread = perf_stream_thread(stream, sample->pid, sample->tid);
	int err;

	if (!thread)
		return -ENOMEM;
	stream->counts.samples[PERF_FAULT_START]++;
	err = perf_stream_fail(stream, thread, sample->ns);
	thread->user = (sample->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		       PERF_RECORD_MISC_USER;
	thread->start_ns = sample->ns;
	thread->address = sample->address;
	/* The kernel's own instruction is not the program's. */
	thread->ip = thread->user ? sample->ip : 0;
	thread->losses = stream->losses;
	thread->in_fault = true;
	thread->known = true;
	return err;
}

static int perf_stream_add_end(struct perf_stream *stream, const struct sample_end *sample,
			       enum perf_sample which)
{
	struct perf_thread *thread = perf_stream_thread(stream, sample->pid, sample->tid);
	const bool was_known = thread && thread->known;

	if (!thread)
		return -ENOMEM;
	stream->counts.samples[which]++;
	thread->known = true;
	if (!thread->in_fault && !was_known) {
		stream->counts.at_edges++;
		return 0;
	}
	if (!thread->in_fault || thread->losses != stream->losses) {
		stream->counts.unpaired += thread->in_fault ? 2 : 1;
		thread->in_fault = false;
		return 0;
	}
	return perf_stream_end_fault(stream, thread, sample->ns,
				     which == PERF_FAULT_MAJOR ? PFSTAT_OUTCOME_MAJOR :
								 PFSTAT_OUTCOME_MINOR);
}

static int perf_stream_add_sample(struct perf_stream *stream,
				  const struct perf_event_header *record)
{
	switch (record->size) {
	case sizeof(struct sample_start):
		return perf_stream_add_start(stream, (const struct sample_start *)record);
	case sizeof(struct sample_end):
		return perf_stream_add_end(stream, (const struct sample_end *)record,
					   PERF_FAULT_MINOR);
	case sizeof(struct sample_major):
		return perf_stream_add_end(stream, (const struct sample_end *)record,
					   PERF_FAULT_MAJOR);
	default:
		return -EPROTO;
	}
}

static int perf_stream_add_switch(struct perf_stream *stream, const struct record_switch *record)
{
	struct perf_thread *thread = perf_stream_thread(stream, record->at.pid, record->at.tid);
	struct pfstat_off_cpu interval = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(interval),
			.pid = record->at.pid, .tid = record->at.tid, .ns = record->at.ns,
		},
	};

	if (!thread)
		return -ENOMEM;
	if (record->header.misc & PERF_RECORD_MISC_SWITCH_OUT) {
		thread->off_ns = record->at.ns;
		thread->preempted = record->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		return 0;
	}
	if (!thread->off_ns) {
		/* The switch-out of a thread in a fault was lost, perhaps with the fault's end. */
		if (thread->in_fault)
			thread->losses = stream->losses - 1;
		return 0;
	}
	interval.off_ns = thread->off_ns;
	interval.event.flags = thread->preempted ? PFSTAT_OFF_CPU_PREEMPTED : PFSTAT_OFF_CPU_ASLEEP;
	thread->off_ns = 0;
	stream->counts.off_cpu++;
	return perf_stream_pass_event(stream, &interval.event);
}

static void perf_stream_fill_comm(const struct perf_stream *stream, uint32_t tid, char comm[16])
{
	const char *known = address_spaces_comm(stream->spaces, tid);

	memcpy(comm, known, strnlen(known, 15));
}

static int perf_stream_pass_task(struct perf_stream *stream, struct pfstat_task *task)
{
	int err = address_spaces_add_task(stream->spaces, task);

	task->event.type = PFSTAT_EVENT_TASK;
	task->event.size = sizeof(*task);
	return err ? err : perf_stream_pass_event(stream, &task->event);
}

/* A child's thread has its creator's name. */
static int perf_stream_add_fork(struct perf_stream *stream, const struct record_task *record)
{
	struct pfstat_task task = {
		.event = {
			.flags = PFSTAT_TASK_FORK, .pid = record->pid, .tid = record->tid,
			.ns = record->ns,
		},
		.parent = record->parent_tid,
		.parent_pid = record->parent_pid,
	};
	struct perf_thread *thread = perf_stream_thread(stream, record->pid, record->tid);
	int err;

	if (!thread)
		return -ENOMEM;
	/* All records of this thread are recorded, so none is at an edge. */
	*thread = (struct perf_thread){ .tid = record->tid, .pid = record->pid, .known = true };
	perf_stream_fill_comm(stream, record->parent_tid, task.comm);
	err = record->pid == record->parent_pid ?
		      0 :
		      page_history_fork(stream->history, record->parent_pid, record->pid);
	return err ? err : perf_stream_pass_task(stream, &task);
}

static int perf_stream_add_exit(struct perf_stream *stream, const struct record_task *record)
{
	struct pfstat_task task = {
		.event = {
			.flags = PFSTAT_TASK_EXIT, .pid = record->pid, .tid = record->tid,
			.ns = record->ns,
		},
	};
	struct perf_thread *thread = hash_take(&stream->threads, record->tid);
	int err = 0;

	stream->last = NULL;
	if (thread)
		err = perf_stream_fail(stream, thread, record->ns);
	free(thread);
	perf_stream_fill_comm(stream, record->tid, task.comm);
	if (!err)
		err = perf_stream_pass_task(stream, &task);
	/* The maps of a process go when its last thread has ended. */
	if (!err && !address_spaces_has(stream->spaces, record->pid))
		page_history_end(stream->history, record->pid);
	return err;
}

/* A program is executed: the old mappings are gone before the new program is mapped. */
static int perf_stream_begin_program(struct perf_stream *stream, const struct record_comm *record,
				     uint64_t ns)
{
	struct item_map *map = (void *)stream->map;

	*map = (struct item_map){
		.ns = ns,
		.pid = record->pid,
		.tid = record->tid,
		.path_bytes = 1,
	};
	map->path[0] = '\0';
	page_history_end(stream->history, record->pid);
	return perf_stream_add_map(stream, map, stream->sink, stream->context);
}

static int perf_stream_add_comm(struct perf_stream *stream, const struct record_comm *record)
{
	const bool executes = record->header.misc & PERF_RECORD_MISC_COMM_EXEC;
	struct pfstat_task task = {
		.event = {
			.flags = executes ? PFSTAT_TASK_EXEC : PFSTAT_TASK_RENAME,
			.pid = record->pid, .tid = record->tid,
			.ns = perf_record_ns(&record->header),
		},
		.parent = executes ? record->tid : 0,
		.parent_pid = executes ? record->pid : 0,
	};
	int err = executes ? perf_stream_begin_program(stream, record, task.event.ns) : 0;

	memcpy(task.comm, record->comm, strnlen(record->comm, sizeof(task.comm) - 1));
	return err ? err : perf_stream_pass_task(stream, &task);
}

/*
 * The range of a mapping that has new pages. perf reports the whole mapping also if it grew, was
 * merged with its neighbour, or got other rights: the pages that it had are still there. It does
 * not report munmap(2), so the same range again is new memory.
 */
static void perf_stream_new_range(struct perf_stream *stream, const struct item_map *map,
				  uint64_t *start, uint64_t *end)
{
	const struct space_map *old;

	*start = map->address;
	*end = map->address + map->bytes;
	old = address_spaces_find(stream->spaces, map->pid, *start);
	if (old && old->prot != map->prot && old->inode == map->inode && old->end >= *end)
		*end = *start; /* mprotect(2) */
	else if (old && old->start == *start && old->end < *end && old->inode == map->inode &&
		 old->prot == map->prot)
		*start = old->end;
	old = address_spaces_find(stream->spaces, map->pid, *end - 1);
	if (*start < *end && old && old->end == *end && old->start > *start &&
	    old->inode == map->inode && old->prot == map->prot)
		*end = old->start;
}

int perf_stream_add_map(struct perf_stream *stream, const struct item_map *map, item_sink sink,
			void *context)
{
	const struct item item = { .type = ITEM_MAP, .ns = map->ns, .map = map };
	uint64_t start, end;
	int err = 0;

	if (map->bytes) {
		perf_stream_new_range(stream, map, &start, &end);
		err = page_history_remove(stream->history, map->pid, start, end);
	}
	if (!err)
		err = address_spaces_add_map(stream->spaces, map);
	stream->counts.items++;
	return err ? err : sink(context, &item);
}

static int perf_stream_add_mmap2(struct perf_stream *stream, const struct record_mmap2 *record)
{
	const size_t time_at = record->header.size - sizeof(struct record_id);
	const size_t path_bytes = strnlen(record->path, time_at - sizeof(*record)) + 1;
	struct item_map *map = (void *)stream->map;

	*map = (struct item_map){
		.ns = perf_record_ns(&record->header),
		.address = record->address,
		.bytes = record->bytes,
		.pgoff = record->offset / stream->page_bytes,
		.inode = record->inode,
		.dev = record->dev_major << 20 | record->dev_minor,
		.pid = record->pid,
		.tid = record->tid,
		.prot = record->prot,
		.flags = record->flags,
		.path_bytes = path_bytes,
	};
	memcpy(map->path, record->path, path_bytes - 1);
	map->path[path_bytes - 1] = '\0';
	return perf_stream_add_map(stream, map, stream->sink, stream->context);
}

int perf_stream_name(struct perf_stream *stream, uint32_t pid, uint32_t tid, const char comm[16])
{
	struct pfstat_task task = { .event = { .pid = pid, .tid = tid } };

	memcpy(task.comm, comm, strnlen(comm, sizeof(task.comm) - 1));
	return address_spaces_add_task(stream->spaces, &task);
}

/* Keeps the threads in the order of their losses; the list is short. */
static void perf_stream_count_thread(struct perf_stream *stream, const struct perf_thread *thread,
				     uint64_t samples)
{
	struct perf_stream_counts *counts = &stream->counts;
	struct perf_lost_row row = { .pid = thread->pid, .tid = thread->tid };
	unsigned int at = 0;

	while (at < counts->nr_threads && counts->threads[at].tid != thread->tid)
		at++;
	if (at < counts->nr_threads)
		row = counts->threads[at];
	else if (at < PERF_LOST_ROWS)
		counts->nr_threads++;
	else
		return; /* the sum of all losses has it */
	row.samples += samples;
	if (!row.name[0])
		perf_stream_fill_comm(stream, thread->tid, row.name);
	for (; at && counts->threads[at - 1].samples < row.samples; at--)
		counts->threads[at] = counts->threads[at - 1];
	counts->threads[at] = row;
}

/*
 * The record follows a gap in the buffer of its CPU. If the same thread wrote before and after the
 * gap, the lost samples count as that thread's. Others may have run there in a long gap.
 */
static int perf_stream_add_loss(struct perf_stream *stream, unsigned int cpu,
				const struct record_lost *record)
{
	struct perf_thread *thread;

	stream->losses++;
	stream->counts.lost += record->lost;
	if (cpu >= stream->nr_cpus || stream->last_tids[cpu] != record->at.tid)
		return 0;
	thread = perf_stream_thread(stream, record->at.pid, record->at.tid);
	if (!thread)
		return -ENOMEM;
	perf_stream_count_thread(stream, thread, record->lost);
	return 0;
}

static uint32_t perf_record_tid(const struct perf_event_header *record)
{
	const struct record_id *last = (const void *)((const char *)record + record->size);

	if (record->type == PERF_RECORD_SAMPLE)
		return record->size == sizeof(struct sample_start) ?
			       ((const struct sample_start *)record)->tid :
			       ((const struct sample_end *)record)->tid;
	return record->type == PERF_RECORD_LOST ? ((const struct record_lost *)record)->at.tid :
						  last[-1].tid;
}

static int perf_stream_add_record(struct perf_stream *stream, unsigned int cpu,
				  const struct perf_event_header *record)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return perf_stream_add_sample(stream, record);
	case PERF_RECORD_SWITCH:
		return perf_stream_add_switch(stream, (const struct record_switch *)record);
	case PERF_RECORD_MMAP2:
		return perf_stream_add_mmap2(stream, (const struct record_mmap2 *)record);
	case PERF_RECORD_COMM:
		return perf_stream_add_comm(stream, (const struct record_comm *)record);
	case PERF_RECORD_FORK:
		return perf_stream_add_fork(stream, (const struct record_task *)record);
	case PERF_RECORD_EXIT:
		return perf_stream_add_exit(stream, (const struct record_task *)record);
	case PERF_RECORD_LOST:
		return perf_stream_add_loss(stream, cpu, (const struct record_lost *)record);
	default:
		return 0;
	}
}

int perf_stream_add(struct perf_stream *stream, unsigned int cpu,
		    const struct perf_event_header *record, item_sink sink, void *context)
{
	int err;

	stream->sink = sink;
	stream->context = context;
	err = perf_stream_add_record(stream, cpu, record);
	if (cpu < stream->nr_cpus && perf_record_ns(record))
		stream->last_tids[cpu] = perf_record_tid(record);
	return err;
}

static int perf_thread_finish(void *context, void *value)
{
	struct perf_stream *stream = context;
	struct perf_thread *thread = value;

	if (thread->in_fault)
		stream->counts.at_edges++;
	thread->in_fault = false;
	return 0;
}

void perf_stream_finish(struct perf_stream *stream)
{
	hash_visit(&stream->threads, perf_thread_finish, stream);
}
