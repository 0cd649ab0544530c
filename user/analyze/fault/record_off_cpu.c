// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "analyze/fault/record_off_cpu.h"

#define FIRST_CAPACITY 16

void offcpu_exit(struct offcpu *offcpu)
{
	free(offcpu->stays);
	*offcpu = (struct offcpu){ 0 };
}

static struct offcpu_stay *stay_at(const struct offcpu *offcpu, size_t index)
{
	return &offcpu->stays[(offcpu->first + index) & (offcpu->capacity - 1)];
}

static void forget_oldest(struct offcpu *offcpu)
{
	const struct offcpu_stay *oldest = stay_at(offcpu, 0);

	if (oldest->on_ns > offcpu->gone_ns)
		offcpu->gone_ns = oldest->on_ns;
	offcpu->first = (offcpu->first + 1) & (offcpu->capacity - 1);
	offcpu->count--;
}

static int grow(struct offcpu *offcpu)
{
	size_t capacity = offcpu->capacity ? 2 * offcpu->capacity : FIRST_CAPACITY;
	struct offcpu_stay *stays = malloc(capacity * sizeof(*stays));
	size_t i;

	if (!stays)
		return -ENOMEM;
	for (i = 0; i < offcpu->count; i++)
		stays[i] = *stay_at(offcpu, i);
	free(offcpu->stays);
	offcpu->stays = stays;
	offcpu->capacity = capacity;
	offcpu->first = 0;
	return 0;
}

int offcpu_add(struct offcpu *offcpu, uint64_t off_ns, uint64_t on_ns)
{
	int err;

	if (offcpu->count == OFFCPU_MAX_STAYS) {
		forget_oldest(offcpu);
	} else if (offcpu->count == offcpu->capacity) {
		err = grow(offcpu);
		if (err)
			return err;
	}
	*stay_at(offcpu, offcpu->count++) = (struct offcpu_stay){ off_ns, on_ns };
	return 0;
}

static uint64_t overlap(const struct offcpu_stay *stay, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from = stay->off_ns > start_ns ? stay->off_ns : start_ns;
	uint64_t to = stay->on_ns < end_ns ? stay->on_ns : end_ns;

	return to > from ? to - from : 0;
}

uint64_t offcpu_take(struct offcpu *offcpu, uint64_t start_ns, uint64_t end_ns, bool *partial)
{
	uint64_t sum = 0;
	size_t i;

	*partial = start_ns < offcpu->gone_ns;
	for (i = 0; i < offcpu->count && stay_at(offcpu, i)->off_ns < end_ns; i++)
		sum += overlap(stay_at(offcpu, i), start_ns, end_ns);
	while (offcpu->count && stay_at(offcpu, 0)->on_ns <= end_ns)
		forget_oldest(offcpu);
	return sum;
}

uint64_t offcpu_latest_ns(const struct offcpu *offcpu)
{
	return offcpu->count ? stay_at(offcpu, offcpu->count - 1)->on_ns : offcpu->gone_ns;
}
