/* SPDX-License-Identifier: GPL-2.0-only */
/* What pfstat itself took of a run, by what it measured before it. Pure. */
#ifndef PFSTAT_USER_OWN_COST_H
#define PFSTAT_USER_OWN_COST_H

#include "report/report.h"

struct own_cost {
	double call_ns;		/* that a wrapped call takes longer; NAN: n/a */
	double inside_ns;	/* of that, what lies within the call's own time */
	double total_ns;	/* of all calls */
	double share;		/* of the elapsed time */
	/* The same of eBPF, with perf's counters of faults. */
	double hooked_ns;	/* a fault of which the module wraps a call takes longer */
	double again_ns;	/* that, each time that the kernel begins it again; NAN: n/a */
	double other_ns;	/* another, of which an event is sent */
	/* Of all faults that eBPF counted; one begun again is a whole one where again_ns is n/a. */
	double bpf_total_ns;
	double bpf_share;
};

struct own_cost own_cost_of(const struct report *run);

#endif
