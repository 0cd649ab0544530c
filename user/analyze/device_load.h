/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requests a device had at a given moment. Input: completed requests, in completion order. Only
 * the last ones are kept, in 24 KiB.
 */
#ifndef PFSTAT_USER_DEVICE_LOAD_H
#define PFSTAT_USER_DEVICE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>

#define DEVICE_LOAD_REQUESTS 1024U

struct device_load_request {
	uint64_t issue_ns, end_ns;
	uint32_t dev;
};

/* All zero is empty. */
struct device_load {
	struct device_load_request *ring;
	uint64_t count; /* number ever added */
};

void device_load_exit(struct device_load *load);
/* Returns 0 or -ENOMEM. */
int device_load_add(struct device_load *load, const struct pfstat_block *block);
/*
 * Returns the number of requests already passed to the `dev` driver at `ns` that completed later
 * and were added. 0: not known, because too many completed since.
 */
uint32_t device_load_at(const struct device_load *load, uint32_t dev, uint64_t ns);

/* Whether the device had the request at `ns`. */
static inline bool device_load_includes(uint64_t issue_ns, uint64_t end_ns, uint64_t ns)
{
	return issue_ns <= ns && end_ns > ns;
}

#endif
