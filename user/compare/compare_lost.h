/* SPDX-License-Identifier: GPL-2.0-only */
/* How much of the runs of a side was lost while they were recorded. Pure. */
#ifndef PFSTAT_USER_COMPARE_LOST_H
#define PFSTAT_USER_COMPARE_LOST_H

#include "compare/compare.h"

/*
 * The largest share of a run's records, or of its events, that is lost. INFINITY if a recording is
 * cut or damaged, because it lacks an unknown share.
 */
double compare_lost_share(const struct compare_side *side);

#endif
