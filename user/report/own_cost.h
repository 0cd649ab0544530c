/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module itself took of a run, by its calibration. Pure. */
#ifndef PFSTAT_USER_OWN_COST_H
#define PFSTAT_USER_OWN_COST_H

#include "report.h"

struct own_cost {
	double call_ns;		/* that a wrapped call takes longer; NAN: n/a */
	double inside_ns;	/* of that, what lies within the call's own time */
	double total_ns;	/* of all calls */
	double share;		/* of the elapsed time */
};

struct own_cost own_cost_of(const struct report *run);

#endif
