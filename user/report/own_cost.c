// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "report/own_cost.h"

static double ns_or_nan(uint64_t picoseconds)
{
	return picoseconds == COUNT_NA ? NAN : picoseconds / 1e3;
}

/* None of a kind cost nothing, known or not. */
static double times(uint64_t count, double ns)
{
	if (count == COUNT_NA)
		return NAN;
	return count ? count * ns : 0;
}

static double share_of(double ns, uint64_t counted_ns)
{
	return counted_ns != COUNT_NA && counted_ns ? ns / counted_ns : NAN;
}

struct own_cost own_cost_of(const struct report *run)
{
	struct own_cost cost = {
		.call_ns = ns_or_nan(run->cost.call_cost_ps),
		.inside_ns = ns_or_nan(run->cost.inside_ps),
		.hooked_ns = ns_or_nan(run->cost.bpf_hooked_ps),
		.again_ns = ns_or_nan(run->cost.bpf_again_ps),
		.other_ns = ns_or_nan(run->cost.bpf_other_ps),
	};

	cost.total_ns = run->cost.calls == COUNT_NA ? NAN : run->cost.calls * cost.call_ns;
	cost.share = share_of(cost.total_ns, run->time.counted_ns);
	cost.bpf_total_ns = times(run->cost.bpf_hooked, cost.hooked_ns) +
			    times(run->cost.bpf_again, isnan(cost.again_ns) ? cost.hooked_ns :
									 cost.again_ns) +
			    times(run->cost.bpf_other, cost.other_ns);
	cost.bpf_share = share_of(cost.bpf_total_ns, run->time.counted_ns);
	return cost;
}
