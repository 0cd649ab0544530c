/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts every handle_mm_fault() return in watched threads, by kind, origin and outcome, and stores
 * a record for each: the record of the last call to a wrapped operation or, without such a call, a
 * separate record.
 */
#ifndef PFSTAT_MM_FAULT_H
#define PFSTAT_MM_FAULT_H

#include <linux/mm.h>

struct mm_thread;

/* Called in place of handle_mm_fault() with current's slot, by mm_fault_entry.S. */
vm_fault_t pfstat_mm_fault(struct vm_area_struct *vma, unsigned long address, unsigned int flags,
			   struct pt_regs *regs, struct mm_thread *thread);

/* These functions were called for current: do_swap_page(), do_wp_page(), do_huge_pmd_wp_page(). */
void pfstat_mm_fault_note_swap(const struct vm_fault *vmf);
void pfstat_mm_fault_note_write(const struct vm_fault *vmf);
void pfstat_mm_fault_note_huge_write(const struct vm_fault *vmf);
/* current's fault met this entry: enum pfstat_note. */
void pfstat_mm_fault_note(u8 note);
/* All functions that make notes are traced, so a fault without a note has met no entry. */
extern bool pfstat_mm_fault_has_notes;
/* See mm_content.h. */
void pfstat_mm_fault_note_shared(unsigned long expected);
void pfstat_mm_fault_note_huge(const struct vm_fault *vmf);

/*
 * Mappings with the same ->fault as current's mapping at this address count as hooked. Address 0:
 * the hooked mappings do. Returns 0, -ENOENT (no mapping there, or without ->fault) or -EINTR.
 */
int pfstat_mm_fault_imitate(unsigned long address);

/*
 * While off, faults leave neither a count nor a record. After switching off, an RCU grace period
 * ends the last record store.
 */
void pfstat_mm_fault_record(bool on);
/*
 * Stores call records waiting for the end of their fault, without the fault time, or drops them.
 * Only while neither calls nor faults are recorded, after a grace period.
 */
void pfstat_mm_fault_flush(bool store);

#endif
