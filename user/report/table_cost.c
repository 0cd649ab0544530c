// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "own_cost.h"
#include "table.h"

void table_cost(FILE *out, const struct report *run)
{
	const struct own_cost cost = own_cost_of(run);

	if (isnan(cost.call_ns) || isnan(cost.total_ns)) {
		fputs("Own cost of the module: n/a\n", out);
		return;
	}
	fprintf(out, "Own cost of the module: %.3g ns a call, %.3g ms in all", cost.call_ns,
		cost.total_ns / 1e6);
	if (!isnan(cost.share))
		fprintf(out, ", %.2f%% of the run", 100 * cost.share);
	fputs(run->have_bpf ? "; eBPF's is not in it\n" : "\n", out);
	if (!isnan(cost.inside_ns))
		fprintf(out, "  %.3g ns of a call's time are its%s\n", cost.inside_ns,
			run->subtract ? ", subtracted above from those of calls" : "");
}
