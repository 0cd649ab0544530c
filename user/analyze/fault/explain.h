/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time in one fault went. All attempts for a logical fault become one. The fault lasts
 * from entering the first handle_mm_fault() to returning from the last one, and is split into
 * parts, which model/part.h describes.
 *
 *   records of the     eBPF: returns of      eBPF: off-CPU      eBPF: block requests
 *   module             handle_mm_fault()     intervals          that completed
 *        |                     |                  |                    |
 *        v                     v                  v                    v
 *   +- thread_state.h, for each thread ---------------------+  +- requests.h, for all -+
 *   | attempt_chain  is the next attempt of the same fault? |  | the last 4096         |
 *   | fault          a fault_builder, if it is in a fault   |  +-----------------------+
 *   | off_cpu        queue of intervals, for faults and     |              |
 *   |                for the summary of the records         |              |
 *   | reclaims       the same, of direct reclaim            |              |
 *   | unconfirmed    CPU time that a lost event may refute  |              |
 *   +-------------------------------------------------------+              |
 *        | an attempt ends: its intervals leave the queue (off_cpu.h)      |
 *        v                                                                 v
 *   fault_builder.h     each interval is split by the requests that its sleep waited for
 *
 *    start_ns                                  accounted_until_ns           end_ns
 *       |                                                |                     |
 *       |      |<-------------- a call --------------------------->|           |
 *       |- mm -|-- cpu_before --|- queue -|- device -|-r-|cpu_after|--- mm ----|
 *                               |                        |
 *                               |<- off-CPU interval --->|<- until the next interval,
 *                                                           or the end, it is on the CPU
 *        |
 *        v  the last attempt ends: explain_sink gets one struct explained
 *
 * A fault without a call has CPU time in cpu_before and cpu_after. So has a fault for which no item
 * reports the span of each handle_mm_fault(): the fault time is the call time, and `whole` is
 * false.
 *
 * A fault waits for a request that moves the faulting file page, or for one submitted by the thread
 * itself within the fault. A read-ahead for other pages submitted by the same thread counts in I/O
 * wait only.
 */
#ifndef PFSTAT_USER_EXPLAIN_H
#define PFSTAT_USER_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/fault_class.h"
#include "model/item.h"
#include "model/part.h"
#include "model/wait_cause.h"

/* What ran on the CPU right before the thread that waited for it. */
enum cpu_wait {
	CPU_WAIT_UNKNOWN, /* a recording from an older version */
	CPU_WAIT_TASK,	  /* another task */
	CPU_WAIT_IDLE,	  /* nothing: the thread was woken, and a CPU was idle */
	/* The thread was preempted, and nothing: it met cpu.max, or moved to an idle CPU. */
	CPU_WAIT_PREEMPTED_IDLE,
	CPU_WAIT_THROTTLED, /* any of these, but cpu.max held the thread back at the start */
	NR_CPU_WAITS
};

#define CPU_WAIT_NAMES { "unknown", "task", "idle", "preempted_idle", "throttled" }

#define EXPLAIN_MAX_SPANS    32
#define EXPLAIN_MAX_CALLS    8
#define EXPLAIN_MAX_REQUESTS 8

/* A fault's off-CPU or reclaim time that belongs to one part. In time order. */
struct explain_span {
	uint64_t from_ns, to_ns;
	enum part part;
	bool on_cpu;	      /* reclaim only, the other parts are off-CPU */
	uint32_t wait;	      /* the sleep's kernel stack, see waits.h, 0 if not known */
	uint32_t waker;	      /* the thread that ended the sleep, 0 if not known or not a thread */
	uint16_t waker_doing; /* enum pfstat_waker */
	/* PART_RUNQUEUE: the process that had the CPU, see waits.h; 0: not known */
	uint32_t task;
	uint64_t task_ran_ns; /* of this span, it ran at least so long */
};

/* A file operation call. Calls do not overlap and are in time order. */
struct explain_call {
	uint64_t from_ns, to_ns;
};

struct explained {
	enum fault_class class;
	uint32_t pid, tid;
	uint64_t start_ns, end_ns;
	uint64_t handler_ns; /* inside calls, or in all attempts for a fault without a call */
	uint64_t parts_ns[NR_PARTS];	     /* add up to end_ns - start_ns */
	uint64_t reclaim_cpu_ns;	     /* part of PART_RECLAIM, on the CPU */
	uint64_t cpu_waits_ns[NR_CPU_WAITS]; /* add up to PART_RUNQUEUE */
	uint32_t cpu_waits[NR_CPU_WAITS];    /* number of them */
	uint64_t address;		     /* from the first attempt */
	uint64_t pgoff, inode;		     /* inode 0: no file */
	uint64_t ip;			     /* 0: unknown */
	uint32_t dev;
	uint32_t flags;	 /* the first attempt's PFSTAT_FLAG_*, or USER if not known */
	uint32_t result; /* the last attempt's PFSTAT_RESULT_* */
	/* Reads submitted by the faulting thread in the fault, and complete when it ended. */
	uint64_t read_bytes;
	unsigned int attempts;
	unsigned int calls; /* of attempts; 0: a fault without a file operation, or not recorded */
	uint16_t around_before, around_pages; /* window of a map_pages that solved it */
	uint8_t order;	    /* log2 of the pages mapped by ->fault: the folio's order, or 0 */
	bool solved;	    /* false: an error, or the next attempt never came */
	bool major;	    /* as the kernel counts majflt, only if solved */
	bool parts_known;   /* false: no off-CPU events, all is cpu_before */
	bool whole;	    /* false: only the time in the calls, and between them */
	uint8_t perf;	    /* PFSTAT_PERF_*, 0 if not recorded by perf */
	uint8_t content;    /* enum pfstat_content */
	uint8_t note;	    /* enum pfstat_note */
	uint8_t huge_order; /* log2 of the mapped huge page's page count, 0 if none */
	struct pfstat_block request; /* the last one waited for, event.size 0 if none */
	unsigned int nr_requests;    /* in `requests` */
	bool more_requests;	     /* it waited for others, which are not stored */
	/* More than EXPLAIN_MAX_CALLS are not stored, nor those taking no time. */
	unsigned int nr_call_spans;
	/* More than EXPLAIN_MAX_SPANS are not stored. 0: all is cpu_before and mm. */
	unsigned int nr_spans;
	struct explain_call call_spans[EXPLAIN_MAX_CALLS];
	struct explain_span spans[EXPLAIN_MAX_SPANS];
	/* The first requests it slept for, in completion order for each sleep. */
	struct pfstat_block requests[EXPLAIN_MAX_REQUESTS];
};

/* CPU time, without CPU time in PART_RECLAIM. */
static inline uint64_t explained_cpu_ns(const struct explained *fault)
{
	return fault->parts_ns[PART_CPU_BEFORE] + fault->parts_ns[PART_CPU_AFTER] +
	       fault->parts_ns[PART_MM];
}

/* Called once for each logical fault, when it ends. Returns 0 or a negative errno. */
typedef int (*explain_sink)(void *context, const struct explained *fault);

struct explain;
struct summary;

/*
 * Called when an off-CPU event reveals earlier lost events. Faults emitted since may have spent
 * this time: up to ns in this part, a PART_ON_CPU, are PART_RESIDUE.
 */
typedef void (*explain_correction)(void *context, enum fault_class class, enum part part,
				   uint64_t ns);

/* @have_bpf: off-CPU events will be added, else the parts are not known. NULL: no memory. */
struct explain *explain_new(bool have_bpf, uint64_t page_bytes, explain_sink sink, void *context);
void explain_free(struct explain *explain);
/*
 * Each handle_mm_fault() in a watched thread is described by the last record or by an event. A
 * fault whose record does not describe it is kept until that event, or the thread's next fault.
 * Without this call such a fault is emitted at once, and HOOKED events are ignored.
 */
void explain_expect_spans(struct explain *explain);
/* Limits the completed requests that are kept, before the first item: see REQUESTS_MAX. */
void explain_limit_requests(struct explain *explain, uint32_t max);
void explain_listen_corrections(struct explain *explain, explain_correction correction,
				void *context);

/* The records' counts and times by class. Valid until explain_free(). */
const struct summary *explain_summary(const struct explain *explain);

/*
 * Adds items in time order, see item.h. Returns the sink's error, -ENOMEM, or -EINVAL for a record
 * whose class this version does not know.
 */
int explain_record(struct explain *explain, const struct pfstat_record *record);
int explain_event(struct explain *explain, const struct pfstat_event *event);
/* The thread went to sleep at off_ns with the kernel stack `wait`. The interval follows. */
int explain_wait(struct explain *explain, uint32_t tid, uint64_t off_ns, uint32_t wait,
		 enum wait_kind kind);
/* Returns the kernel stack of the next interval to be added. 0: not known. */
uint32_t explain_wait_of(struct explain *explain, const struct pfstat_off_cpu *event);
/* `task` had the CPU that the thread got after off_ns. Its interval follows. */
int explain_cpu_task(struct explain *explain, const struct pfstat_cpu_task *event, uint32_t task);
/* The thread does something else, so the fault is over unless it is to be retried. */
int explain_leave(struct explain *explain, uint32_t tid);
/* Emits the faults of a file whose inode belongs to another file from now on. */
int explain_end_file(struct explain *explain, uint32_t dev, uint64_t inode);
/* Emits the still open faults as not solved. */
int explain_finish(struct explain *explain);

#endif
