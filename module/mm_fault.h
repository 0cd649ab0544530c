/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts every return of handle_mm_fault() of watched threads, by kind, origin and outcome, and
 * stores a record of each fault that no wrapped operation records.
 */
#ifndef PFSTAT_MM_FAULT_H
#define PFSTAT_MM_FAULT_H

#include <linux/mm.h>
#include <linux/percpu.h>
#include <pfstat/event.h>

struct mm_fault_counts {
	struct pfstat_fault_value faults[PFSTAT_NR_FAULT_INDICES];
	u64 stored; /* records */
	u64 lost;   /* records that found no room in the ring */
	long in_flight;
};

/* Called in place of handle_mm_fault(), by way of mm_fault_entry.S. */
vm_fault_t pfstat_mm_fault(struct vm_area_struct *vma, unsigned long address, unsigned int flags,
			   struct pt_regs *regs);

/* do_swap_page() and do_wp_page() were called for current. */
void pfstat_mm_fault_note_swap(const struct vm_fault *vmf);
void pfstat_mm_fault_note_write(const struct vm_fault *vmf);

/*
 * Mappings with the ->fault of current's mapping at this address count as hooked; 0: those that
 * are hooked. 0, -ENOENT (no mapping there, or without ->fault) or -EINTR.
 */
int pfstat_mm_fault_imitate(unsigned long address);

int pfstat_mm_fault_start(void); /* 0 or -ENOMEM */
void pfstat_mm_fault_sum(struct mm_fault_counts *sum);
u64 pfstat_mm_fault_stored(void); /* as in the sum */
void pfstat_mm_fault_reset(void);
/* Calls of watched threads under way; exact once no call can come here any more. */
long pfstat_mm_fault_in_flight(void);
void pfstat_mm_fault_exit(void);

/*
 * While off, faults leave neither a count nor a record. After switching it off, a grace period
 * of RCU ends the last store of a record.
 */
void pfstat_mm_fault_record(bool on);

#endif
