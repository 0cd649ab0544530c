// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring of the block requests eBPF saw complete last. The search starts at the latest, so a
 * look-up takes as many steps as requests were completed since the given moment.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/device_load.h"

void device_load_exit(struct device_load *load)
{
	free(load->ring);
	*load = (struct device_load){ 0 };
}

int device_load_add(struct device_load *load, const struct pfstat_block *block)
{
	if (!load->ring) {
		load->ring = calloc(DEVICE_LOAD_REQUESTS, sizeof(*load->ring));
		if (!load->ring)
			return -ENOMEM;
	}
	load->ring[load->count++ % DEVICE_LOAD_REQUESTS] = (struct device_load_request){
		.issue_ns = block->issue_ns,
		.end_ns = block->event.ns,
		.dev = block->dev,
	};
	return 0;
}

uint32_t device_load_at(const struct device_load *load, uint32_t dev, uint64_t ns)
{
	const struct device_load_request *request;
	uint32_t in_flight = 0, steps;

	for (steps = 0; steps < load->count; steps++) {
		if (steps == DEVICE_LOAD_REQUESTS)
			return 0;
		request = &load->ring[(load->count - 1 - steps) % DEVICE_LOAD_REQUESTS];
		if (request->end_ns <= ns)
			break;
		in_flight += request->dev == dev &&
			     device_load_includes(request->issue_ns, request->end_ns, ns);
	}
	return in_flight;
}
