/* SPDX-License-Identifier: GPL-2.0-only */
/* The counts of faults at handle_mm_fault(), of each CPU. */
#ifndef PFSTAT_MM_COUNTS_H
#define PFSTAT_MM_COUNTS_H

#include <linux/percpu.h>
#include <linux/types.h>
#include <pfstat/event.h>

struct mm_counts {
	struct pfstat_fault_value faults[PFSTAT_NR_FAULT_INDICES];
	u64 stored; /* records of op PFSTAT_OP_MM_FAULT */
	u64 lost;   /* of these, those that found no room in the ring */
};

extern struct mm_counts __percpu *pfstat_mm_counts;
/* In each fault of a watched thread, so without a pointer. */
DECLARE_PER_CPU(long, pfstat_mm_in_flight);
DECLARE_PER_CPU(u64, pfstat_mm_fast); /* faults on the fast path, which are of one kind */

int pfstat_mm_counts_start(void); /* 0 or -ENOMEM */
void pfstat_mm_counts_sum(struct mm_counts *sum);
u64 pfstat_mm_counts_stored(void); /* as in the sum */
void pfstat_mm_counts_reset(void);
/* Calls of watched threads under way; exact once no call can come here any more. */
long pfstat_mm_counts_in_flight(void);
size_t pfstat_mm_counts_bytes(void); /* of each CPU */
void pfstat_mm_counts_exit(void);

#endif
