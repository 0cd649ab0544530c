/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording can know, from the recorded events. Only what all recordings know is compared.
 * Pure.
 */
#ifndef PFSTAT_USER_COMPARABLE_H
#define PFSTAT_USER_COMPARABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "compare/compare.h"

struct comparable {
	uint32_t hooks; /* 1 << enum bpf_hook */
	bool have_bpf;	/* eBPF or perf events */
	bool has_spans; /* see recording_has_spans() */
};

/* False: for faults with calls, only call time is known. */
bool comparable_is_whole(struct comparable seen);
/* 1 << enum part for each part it can know. */
unsigned int comparable_parts(struct comparable seen);
/* 1 << enum fault_class for each class it distinguishes. */
unsigned int comparable_classes(struct comparable seen);

/*
 * The largest lost share in a run's records, or in its events. INFINITY if a recording is cut or
 * damaged, because it lacks an unknown share.
 */
double comparable_lost_share(const struct compare_side *side);

#endif
