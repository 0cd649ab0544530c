// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps a thread's direct reclaims from their events until the fault ends. Most threads never
 * reclaim, so the array is allocated with the first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/reclaims.h"

#define FIRST_ROOM 4U

void reclaims_exit(struct reclaims *reclaims)
{
	free(reclaims->all);
	*reclaims = (struct reclaims){ 0 };
}

static void reclaims_shift(struct reclaims *reclaims, size_t dropped)
{
	reclaims->nr -= dropped;
	memmove(reclaims->all, reclaims->all + dropped, reclaims->nr * sizeof(*reclaims->all));
}

int reclaims_add(struct reclaims *reclaims, uint64_t from_ns, uint64_t to_ns)
{
	const size_t room = reclaims->room ? 2 * reclaims->room : FIRST_ROOM;
	struct reclaim_interval *grown;

	if (from_ns >= to_ns)
		return 0;
	if (reclaims->nr == RECLAIMS_MAX) {
		reclaims->dropped_ns = reclaims->all[RECLAIMS_MAX / 2 - 1].to_ns;
		reclaims_shift(reclaims, RECLAIMS_MAX / 2);
	}
	if (reclaims->nr == reclaims->room) {
		grown = reallocarray(reclaims->all, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		reclaims->all = grown;
		reclaims->room = room;
	}
	reclaims->all[reclaims->nr++] = (struct reclaim_interval){ from_ns, to_ns };
	return 0;
}

const struct reclaim_interval *reclaims_next(const struct reclaims *reclaims, uint64_t from_ns,
					     uint64_t to_ns)
{
	size_t i;

	for (i = 0; i < reclaims->nr; i++)
		if (reclaims->all[i].to_ns > from_ns)
			return reclaims->all[i].from_ns < to_ns ? &reclaims->all[i] : NULL;
	return NULL;
}

void reclaims_drop(struct reclaims *reclaims, uint64_t until_ns)
{
	size_t done = 0;

	while (done < reclaims->nr && reclaims->all[done].to_ns <= until_ns)
		done++;
	if (done)
		reclaims_shift(reclaims, done);
}
