/* SPDX-License-Identifier: GPL-2.0-only */
/* Space limits for an analysis's tables: normal for a report, small for many analyses. */
#ifndef PFSTAT_USER_ANALYSIS_LIMITS_H
#define PFSTAT_USER_ANALYSIS_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis_limits {
	size_t groups;				 /* per dimension, an even number */
	size_t evictions_bytes, readahead_bytes; /* memory for file pages */
	uint32_t requests;			 /* completed ones, to match a wait with */
	uint32_t names;				 /* for files */
	size_t maps;				 /* mappings in all living processes */
	bool small_evidence;			 /* see evidence_make_small() */
};

extern const struct analysis_limits analysis_limits_normal;
extern const struct analysis_limits analysis_limits_small;

#endif
