// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "analyze/fault/off_cpu_queue.h"
#include "model/item.h"

#define FIRST_CAPACITY 4U

void stays_exit(struct stays *stays)
{
	free(stays->ring);
	*stays = (struct stays){ 0 };
}

static struct stay *stay_at(const struct stays *stays, size_t index)
{
	return &stays->ring[(stays->first + index) & (stays->capacity - 1)];
}

static int grow(struct stays *stays)
{
	size_t capacity = stays->capacity ? 2 * stays->capacity : FIRST_CAPACITY, i;
	struct stay *ring = calloc(capacity, sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	for (i = 0; i < stays->count; i++)
		ring[i] = *stay_at(stays, i);
	free(stays->ring);
	stays->ring = ring;
	stays->capacity = capacity;
	stays->first = 0;
	return 0;
}

/* By how much the total grew without an event; by all of it if it began anew (a reused tid). */
static uint64_t lost_before(const struct stays *stays, const struct pfstat_off_cpu *stay)
{
	const uint64_t own_ns = item_elapsed(stay->off_ns, stay->event.ns);
	uint64_t grown_ns = stay->total_ns;

	if (!stay->total_ns || stays->total_unknown)
		return 0;
	if (stay->total_ns >= stays->total_ns && stay->total_ns - stays->total_ns >= own_ns)
		grown_ns -= stays->total_ns;
	return grown_ns > own_ns ? grown_ns - own_ns : 0;
}

/* What was lost before it is not forgotten. */
static void give_up_oldest(struct stays *stays)
{
	const struct stay *oldest = stays_oldest(stays);
	struct stay *second = stay_at(stays, 1);

	stays->forgotten_ns = oldest->event.event.ns;
	second->lost_ns += oldest->lost_ns;
	stays_drop(stays);
}

int stays_add(struct stays *stays, const struct pfstat_off_cpu *stay)
{
	int err;

	if (stays->count == STAYS_MAX)
		give_up_oldest(stays);
	if (stays->count == stays->capacity) {
		err = grow(stays);
		if (err)
			return err;
	}
	*stay_at(stays, stays->count++) = (struct stay){
		.event = *stay,
		.lost_ns = lost_before(stays, stay),
		.lost_from_ns = stays->last_ns,
	};
	stays->last_ns = stay->event.ns;
	if (stay->total_ns) {
		stays->total_ns = stay->total_ns;
		stays->total_unknown = false;
	}
	return 0;
}

const struct stay *stays_oldest(const struct stays *stays)
{
	return stays->count ? stay_at(stays, 0) : NULL;
}

void stays_drop(struct stays *stays)
{
	stays->first = (stays->first + 1) & (stays->capacity - 1);
	stays->count--;
}

bool stays_sleep_within(const struct stays *stays, uint64_t from_ns, uint64_t to_ns)
{
	const struct pfstat_off_cpu *stay;
	size_t i;

	for (i = 0; i < stays->count; i++) {
		stay = &stay_at(stays, i)->event;
		if (stay->off_ns < to_ns && stay->event.ns > from_ns &&
		    !(stay->event.flags & PFSTAT_OFF_CPU_PREEMPTED))
			return true;
	}
	return false;
}

uint64_t stays_latest_ns(const struct stays *stays)
{
	return stays->count ? stay_at(stays, stays->count - 1)->event.event.ns :
			      stays->forgotten_ns;
}
