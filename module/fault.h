/* SPDX-License-Identifier: GPL-2.0-only */
/* Puts the wrappers of the fault operations into a VMA's operations, and takes them out. */
#ifndef PFSTAT_FAULT_H
#define PFSTAT_FAULT_H

#include "wrapping.h"

/*
 * Replaces each fault operation in the wrapping by the wrapper, and makes the templates. The caller
 * has set all other members. Without fault_around ->map_pages finds nothing, and leaves no record.
 */
void pfstat_fault_wrap(struct fault_wrapping *wrapping, bool fault_around);
/* Puts the original operations back, in place, while other CPUs may call the wrappers. */
void pfstat_fault_unwrap(struct vm_operations_struct *ops,
			 const struct vm_operations_struct *original);

/* The address of the ->fault wrapper, by which a reader can recognise a hooked VMA. */
unsigned long pfstat_fault_wrapper(void);

#endif
