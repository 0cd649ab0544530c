// SPDX-License-Identifier: GPL-2.0-only
#include "print/json/json_cost.h"
#include "print/json/json_spread.h"
#include "report/own_cost.h"
#include "util/json_value.h"

json_t *json_cost(const struct report *run)
{
	const struct own_cost cost = own_cost_of(run);

	return json_pack("{so so so so so so so so so so so so sb}",
		"call_ns", json_real_or_null(cost.call_ns),
		"inside_ns", json_real_or_null(cost.inside_ns),
		"total_ns", json_real_or_null(cost.total_ns),
		"percent", json_real_or_null(100 * cost.share),
		"bpf_hooked_ns", json_real_or_null(cost.hooked_ns),
		"bpf_again_ns", json_real_or_null(cost.again_ns),
		"bpf_other_ns", json_real_or_null(cost.other_ns),
		"bpf_hooked", value_known(run->cost.bpf_hooked),
		"bpf_again", value_known(run->cost.bpf_again),
		"bpf_other", value_known(run->cost.bpf_other),
		"bpf_total_ns", json_real_or_null(cost.bpf_total_ns),
		"bpf_percent", json_real_or_null(100 * cost.bpf_share),
		"subtracted", run->cost.subtract && run->cost.inside_ps != COUNT_NA);
}
