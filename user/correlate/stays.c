// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "stays.h"

#define FIRST_CAPACITY 4U

void stays_exit(struct stays *stays)
{
	free(stays->ring);
	*stays = (struct stays){ 0 };
}

static struct pfstat_off_cpu *stay_at(const struct stays *stays, size_t index)
{
	return &stays->ring[(stays->first + index) & (stays->capacity - 1)];
}

static int grow(struct stays *stays)
{
	size_t capacity = stays->capacity ? 2 * stays->capacity : FIRST_CAPACITY, i;
	struct pfstat_off_cpu *ring = calloc(capacity, sizeof(*ring));

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

int stays_add(struct stays *stays, const struct pfstat_off_cpu *stay)
{
	int err;

	if (stays->count == STAYS_MAX) {
		stays->forgotten_ns = stays_oldest(stays)->event.ns;
		stays_drop(stays);
	}
	if (stays->count == stays->capacity) {
		err = grow(stays);
		if (err)
			return err;
	}
	*stay_at(stays, stays->count++) = *stay;
	return 0;
}

const struct pfstat_off_cpu *stays_oldest(const struct stays *stays)
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
		stay = stay_at(stays, i);
		if (stay->off_ns < to_ns && stay->event.ns > from_ns &&
		    !(stay->event.flags & PFSTAT_OFF_CPU_PREEMPTED))
			return true;
	}
	return false;
}

uint64_t stays_latest_ns(const struct stays *stays)
{
	return stays->count ? stay_at(stays, stays->count - 1)->event.ns : stays->forgotten_ns;
}
