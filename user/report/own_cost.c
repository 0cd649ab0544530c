// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "own_cost.h"

static double ns_or_nan(uint64_t picoseconds)
{
	return picoseconds == FACT_NONE ? NAN : picoseconds / 1e3;
}

struct own_cost own_cost_of(const struct report *run)
{
	struct own_cost cost = {
		.call_ns = ns_or_nan(run->call_cost_ps),
		.inside_ns = ns_or_nan(run->inside_ps),
		.total_ns = NAN,
		.share = NAN,
	};

	if (run->calls != FACT_NONE)
		cost.total_ns = run->calls * cost.call_ns;
	if (run->elapsed_ns != FACT_NONE && run->elapsed_ns)
		cost.share = cost.total_ns / run->elapsed_ns;
	return cost;
}
