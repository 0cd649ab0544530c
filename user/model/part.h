/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a fault's time, which add up to it. All other code takes their names, colours and
 * hooks from the table below. explain.h shows how a fault is split.
 */
#ifndef PFSTAT_USER_PART_H
#define PFSTAT_USER_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "model/colour.h"
#include "model/counters.h"

enum part_trait {
	PART_ON_CPU = 0x1,	  /* on the CPU throughout */
	PART_BY_PERF = 0x2,	  /* perf faults have it; perf does not report the others */
	PART_OUTSIDE_CALLS = 0x4, /* known only if the spans in handle_mm_fault() are known */
	PART_HAS_STACK = 0x8,	  /* no request explains its sleeps; waits.h has their stacks */
	/*
	 * Without the request and reclaim hooks, this part includes time belonging to other parts.
	 */
	PART_TAKES_REQUESTS = 0x10,
	PART_TAKES_RECLAIM = 0x20,
	PART_BY_PERF_STACK = 0x40, /* perf faults have it with HOOK_WAIT_STACK */
	PART_BY_PERF_HOOK = 0x80,  /* perf faults have it with its hooks */
};

/*
 * PART(name, spelling, title, colour in figures, 1 << enum bpf_hook of each hook without which it
 * is not known, enum part_trait). Tables and formats list the parts in this order.
 */
#define PARTS(PART)                                                                                \
	/* on the CPU in file operation calls, before the first sleep or reclaim */                \
	PART(CPU_BEFORE, "cpu_before", "CPU, before any wait", COLOUR_BLUE, 0,                     \
	     PART_ON_CPU | PART_BY_PERF | PART_TAKES_RECLAIM)                                      \
	/* asleep, while the awaited request was in the queue */                                   \
	PART(QUEUE, "queue", "asleep, request in the queue", COLOUR_YELLOW,                        \
	     1U << HOOK_BLOCK | 1U << HOOK_BLOCK_INSERT, PART_TAKES_RECLAIM)                       \
	/* asleep, while this request was at the device */                                         \
	PART(DEVICE, "device", "asleep, request at the device", COLOUR_BLACK, 1U << HOOK_BLOCK,    \
	     PART_TAKES_RECLAIM)                                                                   \
	/* asleep, from the end of these requests to the wake-up: decryption, verification */      \
	PART(COMPLETION, "completion", "asleep, until woken after it", COLOUR_OLIVE,               \
	     1U << HOOK_BLOCK | 1U << HOOK_WAKEUP, PART_TAKES_RECLAIM)                             \
	/* asleep in I/O wait without a target's request: a read by others, writeback */           \
	PART(FOREIGN, "foreign", "asleep, I/O of others", COLOUR_PURPLE, 0,                        \
	     PART_HAS_STACK | PART_TAKES_REQUESTS | PART_TAKES_RECLAIM)                            \
	/* asleep, not in I/O wait: uninterruptibly, or by the stack for a lock or a server */     \
	PART(BLOCKED, "blocked", "asleep, lock or server", COLOUR_VERMILLION, 0,                   \
	     PART_HAS_STACK | PART_TAKES_RECLAIM | PART_BY_PERF_STACK)                             \
	/* asleep until a handler of userfaultfd has brought the page, by its stack */             \
	PART(HANDLER, "handler", "asleep, userfaultfd handler", COLOUR_ROSE,                       \
	     1U << HOOK_WAIT_STACK, PART_HAS_STACK | PART_TAKES_RECLAIM | PART_BY_PERF_STACK)      \
	/* on the CPU or asleep, in direct reclaim or compaction */                                \
	PART(RECLAIM, "reclaim", "freeing memory", COLOUR_GREEN, 1U << HOOK_RECLAIM,               \
	     PART_HAS_STACK | PART_BY_PERF_HOOK)                                                   \
	/* perf: asleep in I/O wait, or for an unknown reason, with the wait for a CPU after it */ \
	PART(ASLEEP, "asleep", "asleep, I/O or not known", COLOUR_BLACK, 0,                        \
	     PART_BY_PERF | PART_HAS_STACK)                                                        \
	/* woken, or preempted, and not yet running */                                             \
	PART(RUNQUEUE, "runqueue", "ready, waiting for a CPU", COLOUR_ORANGE, 1U << HOOK_WAKEUP,   \
	     PART_BY_PERF)                                                                         \
	/* on the CPU in calls, after the first sleep or reclaim */                                \
	PART(CPU_AFTER, "cpu_after", "CPU, after a wait", COLOUR_SKY, 0,                           \
	     PART_ON_CPU | PART_BY_PERF | PART_TAKES_RECLAIM)                                      \
	/* on the CPU in the memory manager, outside calls: copy, charge, page tables */           \
	PART(MM, "mm", "CPU, memory manager", COLOUR_WINE, 1U << HOOK_FAULT,                       \
	     PART_ON_CPU | PART_OUTSIDE_CALLS | PART_TAKES_RECLAIM)                                \
	/* unaccounted: any other sleep, a sleep only in the record, a lost event */               \
	PART(RESIDUE, "residue", "not explained", COLOUR_GREY, 0,                                  \
	     PART_BY_PERF | PART_HAS_STACK | PART_TAKES_RECLAIM)

#define PART_ENUM(name, spelling, title, rgb, hooks, traits) PART_##name,
enum part { PARTS(PART_ENUM) NR_PARTS };

struct part_row {
	const char *name;  /* the spelling in every format */
	const char *title; /* the part in words */
	uint32_t rgb;
	uint32_t hooks;
	uint32_t traits;
};

extern const struct part_row part_rows[NR_PARTS];

static inline const char *part_name(enum part part)
{
	return part_rows[part].name;
}

static inline const char *part_title(enum part part)
{
	return part_rows[part].title;
}

static inline bool part_has(enum part part, enum part_trait trait)
{
	return part_rows[part].traits & trait;
}

/* Returns 1 << enum part for each part with the trait. */
uint32_t parts_with(enum part_trait trait);

#endif
