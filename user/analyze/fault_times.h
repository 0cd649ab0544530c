/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When the faults of each class took their time: in parts of the run that are equally long. The
 * parts become twice as long when the run is longer than all of them. Pure. All zero is empty.
 */
#ifndef PFSTAT_USER_FAULT_TIMES_H
#define PFSTAT_USER_FAULT_TIMES_H

#include <stdint.h>

#include "analyze/fault/explain.h"

#define FAULT_TIMES_PARTS 64

struct fault_times {
	uint64_t start_ns; /* of the first part: the first fault starts, 0: there is none */
	uint64_t part_ns;
	uint64_t ns[FAULT_TIMES_PARTS][NR_FAULT_CLASSES];
};

/* Adds a whole fault to the part in which it ends. */
void fault_times_add(struct fault_times *times, const struct explained *fault);
/*
 * Returns the end of the part up to which this share of the classes' time had passed. @classes: bits
 * 1 << class. 0 without a fault.
 */
uint64_t fault_times_passed_ns(const struct fault_times *times, uint32_t classes, double share);

#endif
