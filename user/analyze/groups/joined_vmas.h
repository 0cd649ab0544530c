/* SPDX-License-Identifier: GPL-2.0-only */
/* The mapping groups, joined if they are one mapping that grew or was merged. */
#ifndef PFSTAT_USER_JOINED_VMAS_H
#define PFSTAT_USER_JOINED_VMAS_H

#include <stddef.h>

#include "analyze/groups/groups.h"

/* Returns copies of the cells in *cells, which the caller frees. Returns 0 or -ENOMEM. */
int joined_vmas(const struct groups *groups, struct cell **cells, size_t *nr);

#endif
