/* SPDX-License-Identifier: GPL-2.0-only */
/* One stay off the CPU, cut into the parts of explain.h. Pure. */
#ifndef PFSTAT_USER_SLEEP_SPLIT_H
#define PFSTAT_USER_SLEEP_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/fault/requests.h"

/* At most: every request gives three edges, the stay three more. */
#define SLEEP_MAX_SPANS (3 * REQUESTS_MATCHES + 3)

/*
 * Cuts [stay->off_ns, stay->event.ns) by the requests that were waited for.
 * Returns the number of spans, which follow each other without a gap; neighbours
 * are of different parts.
 */
size_t sleep_cut(const struct pfstat_off_cpu *stay, const struct pfstat_block *const *requests,
		 size_t nr_requests, struct explain_span *spans);

#endif
