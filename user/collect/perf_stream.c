// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joins the start and the end of each fault by thread. Losses may join one fault's start to a later
 * fault's end, so a pair with a loss in between is dropped and counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/perf_record.h"
#include "collect/perf_stream.h"
#include "util/hash.h"

/* setup_arg_pages() extends the stack below the arguments, unless its limit is lower. */
#define STACK_EXPAND (128U << 10)
/* schedule_timeout_killable() and what it calls are above mem_cgroup_handle_over_high(). */
#define SLEEP_FRAMES 6

struct perf_thread {
	uint32_t tid, pid;
	bool in_fault;	/* the next fields are valid */
	bool user;	/* a user mode fault */
	bool preempted; /* was runnable when it left the CPU */
	bool executing; /* nothing was mapped since the exec */
	bool no_stack;	/* nor the stack, which comes before the program's file */
	uint64_t start_ns, address, ip;
	uint64_t losses;  /* the stream's, when the thread or the fault started */
	uint64_t seen_ns; /* the fork or the last sample: a fault before it may be at the edge */
	uint64_t exec_losses;	   /* the stream's, at the exec */
	uint64_t off_ns;	   /* 0: on a CPU, or not known */
	bool in_iowait, throttled; /* when it left the CPU, as its stack showed */
	uint64_t known_ns;	   /* tracepoints count from here on */
	uint64_t reclaim_ns;	   /* the begin, 0: not in reclaim, or not known */
	enum pfstat_reclaim_kind reclaim;
	uint64_t reclaim_losses; /* the stream's, at the begin */
	/* The kernel stack when it left the CPU, until the switch itself is read. */
	uint32_t frames;
	__u64 ips[PFSTAT_WAIT_FRAMES];
};

struct perf_stream {
	struct hash threads; /* by tid */
	struct perf_thread *last;
	struct perf_memory memory;
	uint64_t losses;		/* loss records, and signs of other losses */
	uint64_t undone_ns, settled_ns; /* see perf_stream_settle() */
	struct perf_function functions[PERF_NR_FUNCTIONS];
	struct tracepoint traced[PERF_NR_TRACED];
	uint32_t *last_tids; /* from the last record on each CPU */
	unsigned int nr_cpus;
	struct perf_stream_counts counts;
	item_sink sink; /* for the record being added */
	void *context;
	uint64_t map[(sizeof(struct item_map) + PERF_RECORD_MAX) / 8];
};

struct perf_stream *perf_stream_new(uint64_t page_bytes, unsigned int nr_cpus)
{
	struct perf_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->nr_cpus = nr_cpus;
	stream->last_tids = calloc(nr_cpus, sizeof(*stream->last_tids));
	if (!perf_memory_init(&stream->memory, page_bytes) && stream->last_tids)
		return stream;
	perf_stream_free(stream);
	return NULL;
}

void perf_stream_free(struct perf_stream *stream)
{
	if (!stream)
		return;
	hash_exit(&stream->threads, free);
	perf_memory_exit(&stream->memory);
	free(stream->last_tids);
	free(stream);
}

const struct perf_stream_counts *perf_stream_counts(const struct perf_stream *stream)
{
	return &stream->counts;
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
		thread->losses = stream->losses;
		if (hash_add(&stream->threads, tid, thread)) {
			free(thread);
			return NULL;
		}
	}
	thread->pid = pid;
	stream->last = thread;
	return thread;
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
	err = perf_memory_place(&stream->memory, &fault);
	stream->counts.forgotten = page_history_dropped(stream->memory.history);
	if (err)
		return err;
	value = &stream->counts.faults[PFSTAT_FAULT_INDEX(fault.event.flags, fault.origin,
							  fault.outcome)];
	value->count++;
	if (outcome != PFSTAT_OUTCOME_ERROR)
		value->total_ns += item_elapsed(thread->start_ns, ns);
	return perf_stream_pass_event(stream, &fault.event);
}

/* No end came: the fault failed, or the end was lost. */
static int perf_stream_fail(struct perf_stream *stream, struct perf_thread *thread, uint64_t ns)
{
	if (!thread->in_fault)
		return 0;
	if (thread->losses != stream->losses || thread->start_ns <= stream->settled_ns) {
		thread->in_fault = false;
		if (thread->losses != stream->losses)
			stream->counts.unpaired++;
		else
			stream->counts.at_edges++;
		return 0;
	}
	stream->counts.failed++;
	return perf_stream_end_fault(stream, thread, ns, PFSTAT_OUTCOME_ERROR);
}

/* @sample: without the stack, which may follow it */
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
	thread->seen_ns = sample->ns;
	return err;
}

/*
 * Copies the addresses of a call chain without its marks. Address 0 ends it: the outermost function
 * has no caller, but the kernel follows what looks like frames. Returns their number, at most @max.
 */
static uint32_t perf_stream_copy_chain(__u64 *ips, uint32_t max, const uint64_t *chain, uint64_t nr,
				       uint64_t room)
{
	uint32_t frames = 0;
	uint64_t i;

	for (i = 0; i < nr && i < room && chain[i] && frames < max; i++)
		if (chain[i] < PERF_CONTEXT_MAX)
			ips[frames++] = chain[i];
	return frames;
}

static int perf_stream_add_start_chain(struct perf_stream *stream,
				       const struct sample_start_chain *sample)
{
	const struct sample_start start = {
		.header = sample->at.header,
		.ip = sample->at.ip,
		.pid = sample->at.pid,
		.tid = sample->at.tid,
		.ns = sample->at.ns,
		.address = sample->address,
	};
	struct pfstat_stack stack = {
		.event = {
			.type = PFSTAT_EVENT_STACK, .size = sizeof(stack),
			.pid = start.pid, .tid = start.tid, .ns = start.ns,
		},
		.address = start.address,
	};
	const size_t room = (start.header.size - sizeof(*sample)) / sizeof(*sample->ips);
	int err = perf_stream_add_start(stream, &start);

	stack.frames = perf_stream_copy_chain(stack.ips, PFSTAT_STACK_FRAMES, sample->ips,
					      sample->nr, room);
	return err ? err : perf_stream_pass_event(stream, &stack.event);
}

static void perf_stream_fill_comm(const struct perf_stream *stream, uint32_t tid, char comm[16])
{
	const char *known = address_spaces_comm(stream->memory.spaces, tid);

	memcpy(comm, known, strnlen(known, 15));
}

/* Keeps the threads ordered by their samples. The list is short. */
static void perf_stream_count_thread(struct perf_stream *stream, struct perf_lost_rows *rows,
				     const struct perf_thread *thread, uint64_t samples)
{
	struct perf_lost_row row = { .pid = thread->pid, .tid = thread->tid };
	unsigned int at = 0;

	while (at < rows->nr && rows->rows[at].tid != thread->tid)
		at++;
	if (at < rows->nr)
		row = rows->rows[at];
	else if (at < PERF_LOST_ROWS)
		rows->nr++;
	else
		return; /* included in the sum */
	row.samples += samples;
	if (!row.name[0])
		perf_stream_fill_comm(stream, thread->tid, row.name);
	for (; at && rows->rows[at - 1].samples < row.samples; at--)
		rows->rows[at] = rows->rows[at - 1];
	rows->rows[at] = row;
}

/* An end without a start. @seen_ns: the thread's last sample before it */
static void perf_stream_add_lone_end(struct perf_stream *stream, const struct perf_thread *thread,
				     uint64_t seen_ns)
{
	struct perf_stream_counts *counts = &stream->counts;

	if (seen_ns <= stream->settled_ns) {
		counts->at_edges++;
	} else if (thread->losses != stream->losses) {
		counts->unpaired++;
	} else {
		counts->partial++;
		perf_stream_count_thread(stream, &counts->partial_rows, thread, 1);
	}
}

static int perf_stream_add_end(struct perf_stream *stream, const struct sample_end *sample,
			       enum perf_sample which)
{
	struct perf_thread *thread = perf_stream_thread(stream, sample->pid, sample->tid);
	const uint64_t seen_ns = thread ? thread->seen_ns : 0;

	if (!thread)
		return -ENOMEM;
	stream->counts.samples[which]++;
	thread->seen_ns = sample->ns;
	if (!thread->in_fault) {
		perf_stream_add_lone_end(stream, thread, seen_ns);
		return 0;
	}
	/* The fault's end, and another's start, may have fallen between two tries to watch. */
	if (thread->start_ns <= stream->undone_ns && sample->ns > stream->undone_ns) {
		stream->counts.at_edges++;
		thread->in_fault = false;
		return 0;
	}
	if (thread->losses != stream->losses) {
		stream->counts.unpaired += 2;
		thread->in_fault = false;
		return 0;
	}
	return perf_stream_end_fault(stream, thread, sample->ns,
				     which == PERF_FAULT_MAJOR ? PFSTAT_OUTCOME_MAJOR :
								 PFSTAT_OUTCOME_MINOR);
}

static bool perf_stream_is_in(const struct perf_stream *stream, uint64_t ip,
			      enum perf_function_name name)
{
	return ip >= stream->functions[name].from && ip < stream->functions[name].to;
}

/* The kernel samples the switch before it reports the switch. */
static int perf_stream_add_chain(struct perf_stream *stream, const struct sample_chain *sample)
{
	struct perf_thread *thread = perf_stream_thread(stream, sample->at.pid, sample->at.tid);
	const size_t room = (sample->at.header.size - sizeof(*sample)) / sizeof(*sample->ips);
	uint32_t i;

	if (!thread)
		return -ENOMEM;
	thread->frames = perf_stream_copy_chain(thread->ips, PFSTAT_WAIT_FRAMES, sample->ips,
						sample->nr, room);
	thread->in_iowait = false;
	thread->throttled = false;
	for (i = 0; i < thread->frames; i++)
		thread->in_iowait |=
			perf_stream_is_in(stream, thread->ips[i], PERF_IO_SCHEDULE) ||
			perf_stream_is_in(stream, thread->ips[i], PERF_IO_SCHEDULE_TIMEOUT);
	/* The function also reclaims. A sleep in that has more frames. */
	for (i = 0; i < thread->frames && i < SLEEP_FRAMES; i++)
		thread->throttled |=
			perf_stream_is_in(stream, thread->ips[i], PERF_OVER_HIGH) ||
			perf_stream_is_in(stream, thread->ips[i], PERF_OVER_HIGH_INNER);
	return 0;
}

/* The kernel does not nest reclaims. After a loss, the end may be another reclaim's. */
static int perf_stream_add_reclaim(struct perf_stream *stream, struct perf_thread *thread,
				   const struct sample_raw *sample)
{
	const unsigned int which = sample->at.id - PERF_TRACED;
	const enum pfstat_reclaim_kind kind = which / 2;
	struct pfstat_reclaim reclaim = {
		.event = {
			.type = PFSTAT_EVENT_RECLAIM, .size = sizeof(reclaim), .flags = kind,
			.pid = thread->pid, .tid = thread->tid, .ns = sample->at.ns,
		},
		.start_ns = thread->reclaim_ns,
		.pages = tracepoint_value(&stream->traced[which], sample->data, sample->bytes),
	};
	const bool is_end = which % 2;

	thread->reclaim_ns = is_end ? 0 : sample->at.ns;
	if (!is_end) {
		thread->reclaim = kind;
		thread->reclaim_losses = stream->losses;
	}
	if (!is_end || !reclaim.start_ns || thread->reclaim != kind ||
	    thread->reclaim_losses != stream->losses)
		return 0;
	return perf_stream_pass_event(stream, &reclaim.event);
}

static int perf_stream_add_traced(struct perf_stream *stream, const struct sample_raw *sample)
{
	struct perf_thread *thread = hash_find(&stream->threads, sample->at.tid);
	const size_t data_at = offsetof(struct sample_raw, data);

	if (sample->at.header.size < data_at || sample->bytes > sample->at.header.size - data_at)
		return -EPROTO;
	stream->counts.traced++;
	if (!thread || thread->pid != sample->at.pid || sample->at.ns < thread->known_ns)
		return 0;
	return perf_stream_add_reclaim(stream, thread, sample);
}

static int perf_stream_add_by_id(struct perf_stream *stream, const struct sample_by_id *sample)
{
	switch (sample->id) {
	case PERF_FAULT_START:
		return perf_stream_add_start_chain(stream,
						   (const struct sample_start_chain *)sample);
	case PERF_SWITCH:
		return perf_stream_add_chain(stream, (const struct sample_chain *)sample);
	default:
		return sample->id >= PERF_TRACED && sample->id < PERF_END_OF_TRACED ?
			       perf_stream_add_traced(stream, (const struct sample_raw *)sample) :
			       -EPROTO;
	}
}

static int perf_stream_add_sample(struct perf_stream *stream,
				  const struct perf_event_header *record)
{
	if (perf_record_has_id(record))
		return perf_stream_add_by_id(stream, (const struct sample_by_id *)record);
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

/* The stack of a thread that goes to sleep in a fault. */
static int perf_stream_pass_wait(struct perf_stream *stream, struct perf_thread *thread)
{
	struct pfstat_wait wait = {
		.event = {
			.type = PFSTAT_EVENT_WAIT, .size = sizeof(wait),
			.flags = PFSTAT_WAIT_OWN,
			.pid = thread->pid, .tid = thread->tid, .ns = thread->off_ns,
		},
		.off_ns = thread->off_ns,
		.frames = thread->frames,
	};

	memcpy(wait.ips, thread->ips, thread->frames * sizeof(*wait.ips));
	return perf_stream_pass_event(stream, &wait.event);
}

static int perf_stream_add_switch_out(struct perf_stream *stream, struct perf_thread *thread,
				      const struct record_switch *record)
{
	int err = 0;

	thread->off_ns = record->at.ns;
	thread->preempted = record->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	if (thread->frames && thread->in_fault && !thread->preempted)
		err = perf_stream_pass_wait(stream, thread);
	thread->frames = 0;
	return err;
}

/* A sleep above memory.high, which ends now. */
static int perf_stream_pass_throttle(struct perf_stream *stream, const struct perf_thread *thread,
				     uint64_t ns)
{
	const struct pfstat_reclaim reclaim = {
		.event = {
			.type = PFSTAT_EVENT_RECLAIM, .size = sizeof(reclaim),
			.flags = PFSTAT_RECLAIM_THROTTLE,
			.pid = thread->pid, .tid = thread->tid, .ns = ns,
		},
		.start_ns = thread->off_ns,
	};

	if (!thread->throttled || thread->preempted)
		return 0;
	return perf_stream_pass_event(stream, &reclaim.event);
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
	int err;

	if (!thread)
		return -ENOMEM;
	if (record->header.misc & PERF_RECORD_MISC_SWITCH_OUT)
		return perf_stream_add_switch_out(stream, thread, record);
	if (!thread->off_ns) {
		/* The switch-out of a thread in a fault was lost, perhaps with the fault's end. */
		if (thread->in_fault)
			thread->losses = stream->losses - 1;
		return 0;
	}
	interval.off_ns = thread->off_ns;
	interval.event.flags = thread->preempted ? PFSTAT_OFF_CPU_PREEMPTED :
			       thread->in_iowait ? PFSTAT_OFF_CPU_ASLEEP | PFSTAT_OFF_CPU_IOWAIT :
						   PFSTAT_OFF_CPU_ASLEEP;
	stream->counts.off_cpu++;
	err = perf_stream_pass_event(stream, &interval.event);
	if (!err)
		err = perf_stream_pass_throttle(stream, thread, record->at.ns);
	thread->off_ns = 0;
	thread->in_iowait = false;
	thread->throttled = false;
	return err;
}

static int perf_stream_pass_task(struct perf_stream *stream, struct pfstat_task *task)
{
	int err = perf_memory_add_task(&stream->memory, task);

	task->event.type = PFSTAT_EVENT_TASK;
	task->event.size = sizeof(*task);
	return err ? err : perf_stream_pass_event(stream, &task->event);
}

/*
 * An exec maps the new stack first. If perf reports an exit instead, the kernel has removed the
 * events: the program is set-user-ID, or not readable (begin_new_exec() in fs/exec.c). The process
 * goes on without any.
 */
static void perf_stream_check_ended(struct perf_stream *stream, const struct perf_thread *thread)
{
	struct perf_stream_counts *counts = &stream->counts;

	if (!thread->executing || thread->exec_losses != stream->losses)
		return;
	if (!counts->ended++)
		perf_stream_fill_comm(stream, thread->tid, counts->ended_name);
}

/* A child's thread has the creator's name. */
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

	if (!thread)
		return -ENOMEM;
	*thread = (struct perf_thread){
		.tid = record->tid,
		.pid = record->pid,
		.losses = stream->losses,
		.seen_ns = record->ns,
	};
	perf_stream_fill_comm(stream, record->parent_tid, task.comm);
	return perf_stream_pass_task(stream, &task);
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
		perf_stream_check_ended(stream, thread);
	if (thread)
		err = perf_stream_fail(stream, thread, record->ns);
	free(thread);
	perf_stream_fill_comm(stream, record->tid, task.comm);
	return err ? err : perf_stream_pass_task(stream, &task);
}

/* A program is executed: the old mappings are gone before the new program is mapped. */
static int perf_stream_begin_program(struct perf_stream *stream, const struct record_comm *record,
				     uint64_t ns)
{
	struct perf_thread *thread = perf_stream_thread(stream, record->pid, record->tid);
	struct item_map *map = (void *)stream->map;

	if (!thread)
		return -ENOMEM;
	thread->executing = true;
	thread->no_stack = true;
	thread->exec_losses = stream->losses;
	*map = (struct item_map){
		.ns = ns,
		.pid = record->pid,
		.tid = record->tid,
		.path_bytes = 1,
	};
	map->path[0] = '\0';
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

int perf_stream_know(struct perf_stream *stream, uint32_t pid, uint32_t tid, uint64_t from_ns)
{
	struct perf_thread *thread = hash_find(&stream->threads, tid);

	if (thread)
		return 0;
	thread = perf_stream_thread(stream, pid, tid);
	if (!thread)
		return -ENOMEM;
	thread->known_ns = from_ns;
	return 0;
}

int perf_stream_name(struct perf_stream *stream, uint32_t pid, uint32_t tid, const char name[16],
		     item_sink sink, void *context)
{
	struct pfstat_task task = {
		.event = {
			.type = PFSTAT_EVENT_TASK, .size = sizeof(task),
			.pid = pid, .tid = tid,
		},
	};
	const struct item item = { .type = ITEM_EVENT, .event = &task.event };
	int err;

	memcpy(task.comm, name, sizeof(task.comm));
	err = perf_memory_add_task(&stream->memory, &task);
	stream->counts.items++;
	return err ? err : sink(context, &item);
}

int perf_stream_add_map(struct perf_stream *stream, const struct item_map *map, item_sink sink,
			void *context)
{
	const struct item item = { .type = ITEM_MAP, .ns = map->ns, .map = map };
	int err = perf_memory_add_map(&stream->memory, map);

	stream->counts.items++;
	return err ? err : sink(context, &item);
}

static void perf_stream_count_arguments(struct perf_stream *stream,
					const struct record_mmap2 *record)
{
	uint64_t bytes = record->bytes;

	if (strcmp(record->path, "[stack]"))
		return;
	if (bytes > STACK_EXPAND)
		bytes -= STACK_EXPAND;
	stream->counts.exec_pages += bytes / stream->memory.page_bytes;
}

static int perf_stream_add_mmap2(struct perf_stream *stream, const struct record_mmap2 *record)
{
	struct perf_thread *thread = hash_find(&stream->threads, record->tid);
	struct item_map *map = (void *)stream->map;

	if (thread && thread->no_stack) {
		perf_stream_count_arguments(stream, record);
		thread->no_stack = !record->inode && strcmp(record->path, "[stack]");
	}
	if (thread)
		thread->executing = false;
	perf_record_map(record, sizeof(struct record_id), stream->memory.page_bytes, map);
	return perf_stream_add_map(stream, map, stream->sink, stream->context);
}

/*
 * The record follows a gap in the CPU's buffer. If the same thread wrote before and after the gap,
 * the lost samples count as this thread's. Others may have run there in a long gap.
 */
static int perf_stream_add_loss(struct perf_stream *stream, unsigned int cpu,
				const struct record_lost *record)
{
	struct perf_thread *thread;

	stream->losses++;
	stream->counts.lost += record->lost;
	if (cpu >= stream->nr_cpus || stream->last_tids[cpu] != record->at.tid)
		return 0;
	/* A tracepoint's sample may be another program's. */
	thread = hash_find(&stream->threads, record->at.tid);
	if (thread)
		perf_stream_count_thread(stream, &stream->counts.lost_rows, thread, record->lost);
	return 0;
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

void perf_stream_set_traced(struct perf_stream *stream,
			    const struct tracepoint points[PERF_NR_TRACED])
{
	memcpy(stream->traced, points, sizeof(stream->traced));
}

void perf_stream_set_functions(struct perf_stream *stream,
			       const struct perf_function functions[PERF_NR_FUNCTIONS])
{
	memcpy(stream->functions, functions, sizeof(stream->functions));
}

bool perf_stream_sees_throttle(const struct perf_stream *stream)
{
	return stream->functions[PERF_OVER_HIGH].to || stream->functions[PERF_OVER_HIGH_INNER].to;
}

void perf_stream_settle(struct perf_stream *stream, uint64_t undone_ns, uint64_t settled_ns)
{
	stream->undone_ns = undone_ns;
	stream->settled_ns = settled_ns;
}

void perf_stream_finish(struct perf_stream *stream)
{
	hash_visit(&stream->threads, perf_thread_finish, stream);
}
