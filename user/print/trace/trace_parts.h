/* SPDX-License-Identifier: GPL-2.0-only */
/* A fault's parts as slices in the fault's slice. */
#ifndef PFSTAT_USER_TRACE_PARTS_H
#define PFSTAT_USER_TRACE_PARTS_H

#include "analyze/analysis.h"
#include "print/trace/perfetto.h"

/*
 * Call it after the arguments of the fault's slice. @analysis: has just emitted the fault, and
 * names the tasks and handlers. NULL: the slices have no names.
 */
void trace_parts_print(struct perfetto *perfetto, const struct analysis *analysis,
		       const struct explained *fault);

#endif
