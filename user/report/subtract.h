/* SPDX-License-Identifier: GPL-2.0-only */
/* Takes the module's own share out of the times of calls. Pure. */
#ifndef PFSTAT_USER_SUBTRACT_H
#define PFSTAT_USER_SUBTRACT_H

#include "analyze/summary.h"

/* inside_ps: of each call; COUNT_NA leaves all as it is. No time falls below 0. */
void subtract_inside(struct class_figures *figures, uint64_t inside_ps);

#endif
