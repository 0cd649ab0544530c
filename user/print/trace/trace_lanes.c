// SPDX-License-Identifier: GPL-2.0-only
/*
 * Assigns block requests to lanes, so slices in one lane do not overlap, and keeps the last
 * requests for the faults that waited for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "print/trace/trace_lanes.h"
#include "print/trace/trace_print.h"

/*
 * The last requests in a hash table. A newer request overwrites an older one with the same hash. A
 * fault is reported soon after its request, so some thousands are enough.
 */
#define NR_RECENT 8192

struct device {
	uint32_t dev;
	unsigned int nr;
	uint64_t *ends_ns; /* when each lane's last request ended */
};

struct recent {
	struct trace_lane lane;
	uint64_t sector, issue_ns, end_ns; /* end_ns 0: the slot is empty */
};

struct trace_lanes {
	struct device devices[TRACE_MAX_DEVICES];
	unsigned int nr;
	struct recent recent[NR_RECENT];
};

struct trace_lanes *trace_lanes_new(void)
{
	return calloc(1, sizeof(struct trace_lanes));
}

void trace_lanes_free(struct trace_lanes *lanes)
{
	unsigned int i;

	for (i = 0; lanes && i < lanes->nr; i++)
		free(lanes->devices[i].ends_ns);
	free(lanes);
}

uint64_t trace_lanes_start(const struct pfstat_block *block)
{
	if (block->insert_ns && block->insert_ns < block->issue_ns)
		return block->insert_ns;
	return block->issue_ns;
}

static int find_device(struct trace_lanes *lanes, uint32_t dev)
{
	struct device *device;
	unsigned int i;

	for (i = 0; i < lanes->nr; i++)
		if (lanes->devices[i].dev == dev)
			return i;
	if (lanes->nr == TRACE_MAX_DEVICES)
		return -ENOSPC;
	device = &lanes->devices[lanes->nr];
	device->dev = dev;
	device->ends_ns = calloc(TRACE_MAX_LANES, sizeof(*device->ends_ns));
	return device->ends_ns ? (int)lanes->nr++ : -ENOMEM;
}

/*
 * Requests arrive ordered by end time, so a lane is free if its last request ended before this one
 * began.
 */
static int find_lane(struct device *device, uint64_t start_ns)
{
	unsigned int i;

	for (i = 0; i < device->nr; i++)
		if (device->ends_ns[i] <= start_ns)
			return i;
	return device->nr < TRACE_MAX_LANES ? (int)device->nr++ : -ENOSPC;
}

static size_t slot_of(const struct pfstat_block *block)
{
	uint64_t hash = (block->sector ^ ((uint64_t)block->dev << 40) ^ block->issue_ns) *
			0x9e3779b97f4a7c15;

	return hash >> 32 & (NR_RECENT - 1);
}

int trace_lanes_put(struct trace_lanes *lanes, const struct pfstat_block *block,
		    struct trace_lane *lane)
{
	int number, index = find_device(lanes, block->dev);
	struct device *device;
	unsigned int before;

	if (index < 0)
		return index;
	device = &lanes->devices[index];
	before = device->nr;
	number = find_lane(device, trace_lanes_start(block));
	if (number < 0)
		return number;
	if (device->ends_ns[number] < block->event.ns)
		device->ends_ns[number] = block->event.ns;
	*lane = (struct trace_lane){ block->dev, index, number, device->nr > before };
	lanes->recent[slot_of(block)] =
		(struct recent){ *lane, block->sector, block->issue_ns, block->event.ns };
	return 0;
}

bool trace_lanes_find(const struct trace_lanes *lanes, const struct pfstat_block *block,
		      struct trace_lane *lane)
{
	const struct recent *recent = &lanes->recent[slot_of(block)];

	*lane = recent->lane;
	return recent->lane.dev == block->dev && recent->sector == block->sector &&
	       recent->issue_ns == block->issue_ns && recent->end_ns == block->event.ns;
}
