/* SPDX-License-Identifier: GPL-2.0-only */
/* Fault counts at handle_mm_fault(), per CPU. */
#ifndef PFSTAT_MM_COUNTS_H
#define PFSTAT_MM_COUNTS_H

#include <linux/percpu.h>
#include <linux/types.h>
#include <pfstat/event.h>

struct mm_counts {
	struct pfstat_fault_value faults[PFSTAT_NR_FAULT_INDICES];
	u64 stored; /* records with op PFSTAT_OP_MM_FAULT */
	u64 lost;   /* those without room in the ring */
};

extern struct mm_counts __percpu *pfstat_mm_counts;
/* Used in each watched thread's fault, so without a pointer. */
DECLARE_PER_CPU(long, pfstat_mm_in_flight);
DECLARE_PER_CPU(u64, pfstat_mm_fast); /* faults on the fast path, which have one kind */

int pfstat_mm_counts_start(void); /* 0 or -ENOMEM */
void pfstat_mm_counts_sum(struct mm_counts *sum);
u64 pfstat_mm_counts_stored(void); /* as in the sum */
void pfstat_mm_counts_reset(void);
/* Calls in flight in watched threads. Exact once no call can come here any more. */
long pfstat_mm_counts_in_flight(void);
size_t pfstat_mm_counts_bytes(void); /* per CPU */
void pfstat_mm_counts_exit(void);

#endif
