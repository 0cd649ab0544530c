// SPDX-License-Identifier: GPL-2.0-only
#include "model/counters.h"
#include "report/subtract.h"

static void take(uint64_t *ns, double less_ns)
{
	*ns = *ns > less_ns ? *ns - less_ns + 0.5 : 0;
}

void subtract_inside(struct class_figures *figures, uint64_t inside_ps)
{
	const double inside_ns = inside_ps / 1e3;

	if (inside_ps == COUNT_NA)
		return;
	take(&figures->total_ns, figures->count * inside_ns);
	take(&figures->max_ns, inside_ns);
	take(&figures->p50_ns, inside_ns);
	take(&figures->p99_ns, inside_ns);
}
