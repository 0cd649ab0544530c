/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes faults from perf's records. The kernel raises three software events for a fault, in the
 * faulting thread:
 *
 *	page-faults	before the fault is handled: its start, address and instruction
 *	minor-faults	after it: the end of a fault that was solved
 *	major-faults	the same, if the kernel counts the fault as major
 *
 * A start without an end is a failed fault, or a fault with a lost end. Context switch records
 * divide the time between, kernel stacks give the reason of a sleep in a fault, and mapping, fork
 * and exec records give the fault a file and a kind.
 * Pure. The records arrive in time order.
 */
#ifndef PFSTAT_USER_PERF_STREAM_H
#define PFSTAT_USER_PERF_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>

#include "analyze/groups/address_spaces.h"
#include "analyze/pages/page_history.h"
#include "collect/perf_record.h"
#include "model/counters.h"
#include "model/item.h"
#include "system/perf.h"
#include "util/hash.h"

/* The three events, and further ones, which are recorded if they are wanted and permitted. */
enum perf_sample {
	PERF_FAULT_START,
	PERF_FAULT_MINOR,
	PERF_FAULT_MAJOR,
	PERF_NR_SAMPLES,
	PERF_SWITCH = PERF_NR_SAMPLES, /* a thread leaves its CPU: its kernel stack */
	PERF_NR_EVENTS,
	/*
	 * Tracepoints, which are recorded for all threads on each CPU: the begin and the end of each
	 * enum pfstat_reclaim_kind before PFSTAT_RECLAIM_THROTTLE.
	 */
	PERF_TRACED = PERF_NR_EVENTS,
	PERF_END_OF_TRACED = PERF_TRACED + 2 * PFSTAT_RECLAIM_THROTTLE
};

#define PERF_NR_TRACED (PERF_END_OF_TRACED - PERF_TRACED)

/* Functions of the kernel: PERF_FUNCTION(name, spelling), sorted by what a sleep in them means. */
#define PERF_FUNCTIONS(FUNCTION)                                            \
	/* the thread waits for I/O (iowait) */                             \
	FUNCTION(IO_SCHEDULE, "io_schedule")                                \
	FUNCTION(IO_SCHEDULE_TIMEOUT, "io_schedule_timeout")                \
	/* its cgroup is above memory.high; the second, since Linux 6.13 */ \
	FUNCTION(OVER_HIGH, "mem_cgroup_handle_over_high")                  \
	FUNCTION(OVER_HIGH_INNER, "__mem_cgroup_handle_over_high")

#define PERF_FUNCTION_ENUM(name, spelling) PERF_##name,
enum perf_function_name { PERF_FUNCTIONS(PERF_FUNCTION_ENUM) PERF_NR_FUNCTIONS };

struct perf_function {
	uint64_t from, to; /* [from, to) */
};

struct perf_stream_counts {
	uint64_t samples[PERF_NR_SAMPLES]; /* read */
	uint64_t traced;		   /* samples of tracepoints, also of other programs */
	uint64_t lost;			   /* records, as the kernel reported them in the buffers */
	uint64_t failed;		   /* starts without an end */
	/* Samples that could not be joined to a fault, because others were lost between them. */
	uint64_t unpaired;
	struct perf_lost_rows lost_rows;
	uint64_t
		partial; /* ends in threads forked during a watch's start, which lack start events */
	struct perf_lost_rows partial_rows;
	uint64_t at_edges; /* starts and ends of faults extending beyond the recording */
	uint64_t off_cpu;  /* intervals */
	uint64_t items;
	uint64_t forgotten; /* pages for which the history had no room */
	/*
	 * Argument pages of executed programs. execve(2) takes a fault for each in
	 * get_user_pages(), which has no event.
	 */
	uint64_t exec_pages;
	/* Executions at which the kernel removed all events from the process, and the first name */
	uint64_t ended;
	char ended_name[16];
	struct pfstat_fault_value faults[PFSTAT_NR_FAULT_INDICES];
};

struct perf_stream;

/* NULL: no memory. @nr_cpus: the records come from as many buffers */
struct perf_stream *perf_stream_new(uint64_t page_bytes, unsigned int nr_cpus);
void perf_stream_free(struct perf_stream *stream);

/*
 * A thread is watched from this time on. Others are known by their fork. Tracepoints count only for
 * known threads. 0 or -ENOMEM.
 */
int perf_stream_know(struct perf_stream *stream, uint32_t pid, uint32_t tid, uint64_t from_ns);
/*
 * A thread's name from before the watch, which is passed to the sink too: the threads it creates
 * inherit the name. 0, -ENOMEM, or the sink's error.
 */
int perf_stream_name(struct perf_stream *stream, uint32_t pid, uint32_t tid, const char name[16],
		     item_sink sink, void *context);
/* A mapping that existed before the watch. It is passed to the sink too. */
int perf_stream_add_map(struct perf_stream *stream, const struct item_map *map, item_sink sink,
			void *context);
/*
 * Adds a record from a CPU's buffer, which is complete and aligned to 8 bytes, and passes the items
 * it completes to the sink. Returns the sink's error, or -ENOMEM.
 */
int perf_stream_add(struct perf_stream *stream, unsigned int cpu,
		    const struct perf_event_header *record, item_sink sink, void *context);
/* Before the first record, by enum perf_sample from PERF_TRACED on. Without it, none is expected. */
void perf_stream_set_traced(struct perf_stream *stream,
			    const struct tracepoint points[PERF_NR_TRACED]);
/* Before the first record. Without it neither iowait nor throttling is known. */
void perf_stream_set_functions(struct perf_stream *stream,
			       const struct perf_function functions[PERF_NR_FUNCTIONS]);
/* True if the kernel has a function in which threads above memory.high sleep. */
bool perf_stream_sees_throttle(const struct perf_stream *stream);
/*
 * When the last watch was complete, or UINT64_MAX while one starts: earlier faults may have only a
 * start or only an end. And when a try to watch was last undone, or 0. Before the records are
 * added.
 */
void perf_stream_settle(struct perf_stream *stream, uint64_t undone_ns, uint64_t settled_ns);
/* After the last record: open faults have not failed. */
void perf_stream_finish(struct perf_stream *stream);
const struct perf_stream_counts *perf_stream_counts(const struct perf_stream *stream);

/*
 * The memory of processes sampled by perf: the mappings, and the pages faulted so far, by address
 * and by file. A fault's file, kind and history come from it. Pure.
 */

struct perf_memory {
	struct spaces *spaces;
	struct page_history *history;	 /* by address */
	struct page_history *file_pages; /* by page in all files, see file_numbers */
	struct hash file_numbers;	 /* of uint64_t *, by device and inode */
	uint64_t nr_files;
	uint64_t page_bytes;
};

/* 0 or -ENOMEM, like all the following. */
int perf_memory_init(struct perf_memory *memory, uint64_t page_bytes);
void perf_memory_exit(struct perf_memory *memory);

/* A new mapping, or with bytes 0 a program that is executed: the old mappings are gone. */
int perf_memory_add_map(struct perf_memory *memory, const struct item_map *map);
/* A fork, exec, exit, or a thread name. */
int perf_memory_add_task(struct perf_memory *memory, const struct pfstat_task *task);
/* Fills the file and the kind of a fault. A failed one has mapped no page. */
int perf_memory_place(struct perf_memory *memory, struct pfstat_fault *fault);

#endif
