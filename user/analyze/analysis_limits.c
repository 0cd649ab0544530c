// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limits for analysis_new() and analysis_new_small(). Each table's header describes the
 * behaviour beyond the limit.
 */
#include "analyze/analysis_limits.h"
#include "analyze/fault/requests.h"
#include "analyze/groups/groups.h"
#include "analyze/pages/evictions.h"
#include "analyze/pages/readahead.h"

const struct analysis_limits analysis_limits_normal = {
	.groups = GROUPS_MAX,
	.evictions_bytes = EVICTIONS_MEMORY,
	.readahead_bytes = READAHEAD_MEMORY,
	.requests = REQUESTS_MAX,
	.names = UINT32_MAX,
	.maps = SIZE_MAX,
};

const struct analysis_limits analysis_limits_small = {
	.groups = 256,
	.evictions_bytes = 256 << 10,
	.readahead_bytes = 256 << 10,
	.requests = 1024,
	.names = 1024,
	.maps = 1 << 18,
	.small_evidence = true,
};
