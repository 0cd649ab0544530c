/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of one fault went. Puts the attempts of a logical fault
 * together (attempt_chain.h), and cuts the time from the start of its first to the end
 * of its last into parts, which always add up to it:
 *
 *	cpu_before	on the CPU, before the first sleep; all, when there is none
 *	queue		asleep, while the request that it waited for was in the queue
 *	device		asleep, while that request was at the device
 *	foreign		asleep in I/O wait, but no request of a target is known for it:
 *			somebody else's read, or writeback
 *	blocked		asleep uninterruptibly, but not in I/O wait: a lock, a FUSE server,
 *			memory that a cgroup may not have yet, direct reclaim
 *	runqueue	woken, or preempted, and not yet running; also the completion of
 *			the request, from its end to the wake-up
 *	cpu_after	on the CPU, after the first sleep
 *	residue		what no evidence explains: any other sleep, a sleep of which
 *			only the record knows, off-CPU time whose event was lost
 *
 * A fault waits for a request when that moves its page of its file, or was
 * handed to the device by its own thread within the fault.
 */
#ifndef PFSTAT_USER_EXPLAIN_H
#define PFSTAT_USER_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/fault_class.h"
#include "model/item.h"

enum part {
	PART_CPU_BEFORE,
	PART_QUEUE,
	PART_DEVICE,
	PART_FOREIGN,
	PART_BLOCKED,
	PART_RUNQUEUE,
	PART_CPU_AFTER,
	PART_RESIDUE,
	NR_PARTS
};

#define PART_NAMES \
	{ "cpu_before", "queue", "device", "foreign", "blocked", "runqueue", "cpu_after", \
	  "residue" }

#define EXPLAIN_MAX_SPANS 32

/* A piece of the fault's time that was not on the CPU, in time order. */
struct explain_span {
	uint64_t from_ns, to_ns;
	enum part part;
};

struct explained {
	enum fault_class class;
	uint32_t pid, tid;
	uint64_t start_ns, end_ns;
	uint64_t handler_ns;	/* of it inside wrapper calls; all of it for eBPF's faults */
	uint64_t parts_ns[NR_PARTS];	/* add up to end_ns - start_ns */
	uint64_t address;	/* as faulted first */
	uint64_t pgoff, inode;	/* inode 0: no file */
	uint64_t ip;		/* 0: unknown */
	uint32_t dev;
	uint32_t flags;		/* PFSTAT_FLAG_* of the first attempt */
	uint32_t result;	/* PFSTAT_RESULT_* of the last */
	unsigned int attempts;
	uint16_t around_before, around_pages;	/* of a map_pages that solved it */
	uint8_t order;		/* log2 of the pages mapped by ->fault: its folio's, or 0 */
	bool solved;		/* false: an error, or the next attempt never came */
	bool major;		/* as the kernel counts majflt; only of solved ones */
	bool parts_known;	/* false: no off-CPU events; all is cpu_before */
	struct pfstat_block request;	/* the last one waited for; event.size 0: none */
	/* More than EXPLAIN_MAX_SPANS are left out. 0: never off the CPU, all is cpu_before. */
	unsigned int nr_spans;
	struct explain_span spans[EXPLAIN_MAX_SPANS];
};

/* Called once for each logical fault, when it is over; 0 or a negative errno. */
typedef int (*explain_sink)(void *context, const struct explained *fault);

struct explain;

/*
 * Called when an off-CPU event reveals that others before it were lost, and faults that were
 * handed on since may have spent that time: ns of their PART_CPU_BEFORE or PART_CPU_AFTER are
 * PART_RESIDUE, at most.
 */
typedef void (*explain_correction)(void *context, enum fault_class class, enum part part,
				   uint64_t ns);

/*
 * have_bpf: stays off the CPU are told; else parts are not known. NULL: no memory.
 */
struct explain *explain_new(bool have_bpf, explain_sink sink, void *context);
void explain_free(struct explain *explain);
void explain_listen_corrections(struct explain *explain, explain_correction correction,
				void *context);

/* In time order, see item.h. The sink's error, or -ENOMEM. */
int explain_record(struct explain *explain, const struct pfstat_record *record);
int explain_event(struct explain *explain, const struct pfstat_event *event);
/* No more: faults still open are handed on, as not solved. */
int explain_finish(struct explain *explain);

#endif
