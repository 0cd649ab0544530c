// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joins mapping groups for grouping.c. perf reports the whole mapping when it grows or is merged,
 * and a group has the range known at the first fault. Two groups are one mapping if the later range
 * contains the earlier one, or if they continue each other in the same file with the same
 * protection. The sums over all rows stay the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analyze/groups/joined_vmas.h"

#define COMPARE(left, right) (((left) > (right)) - ((left) < (right)))

/* Cells that can be joined are neighbours: by address, and the largest first. */
static int joined_vmas_order(const struct cell *a, const struct cell *b)
{
	return COMPARE(a->key.pid, b->key.pid)			 ?:
		       COMPARE(a->key.path, b->key.path)	 ?:
		       COMPARE(a->vma.has_file, b->vma.has_file) ?:
		       COMPARE(a->vma.base, b->vma.base)	 ?:
		       COMPARE(a->vma.flags & MAP_TYPE, b->vma.flags & MAP_TYPE);
}

static int joined_vmas_compare(const void *a, const void *b)
{
	const struct cell *left = a, *right = b;

	return joined_vmas_order(left, right)			      ?:
		       COMPARE(left->key.address, right->key.address) ?:
		       COMPARE(right->key.end, left->key.end)	      ?:
		       COMPARE(left->number, right->number);
}

/* @next starts at the start of @cell or above. */
static bool joined_vmas_is_same(const struct cell *cell, const struct cell *next)
{
	if (!cell->key.end || !next->key.end || joined_vmas_order(cell, next))
		return false;
	if (cell->vma.has_file && cell->vma.prot == next->vma.prot)
		return next->key.address <= cell->key.end;
	return next->key.end <= cell->key.end && next->vma.latest < cell->vma.latest;
}

static void joined_vmas_join(struct cell *cell, const struct cell *next)
{
	if (next->vma.latest > cell->vma.latest && next->state.known)
		cell->state = next->state;
	if (next->vma.latest > cell->vma.latest)
		cell->vma.latest = next->vma.latest;
	if (!cell->state.known)
		cell->state = next->state;
	if (next->key.end > cell->key.end)
		cell->key.end = next->key.end;
	if (next->number < cell->number)
		cell->number = next->number;
	cell->floor_ns += next->floor_ns;
	groups_sum(cell, next);
}

static int joined_vmas_copy(void *context, struct cell *cell)
{
	struct cell **next = context;

	**next = *cell;
	(*next)->vma.latest = cell->number;
	++*next;
	return 0;
}

int joined_vmas(const struct groups *groups, struct cell **cells, size_t *nr)
{
	const size_t count = groups_count(groups);
	struct cell *made = calloc(count + 1, sizeof(*made)), *next = made;
	size_t i, kept = 0;

	if (!made)
		return -ENOMEM;
	groups_visit(groups, joined_vmas_copy, &next);
	qsort(made, count, sizeof(*made), joined_vmas_compare);
	for (i = 0; i < count; i++) {
		if (kept && joined_vmas_is_same(&made[kept - 1], &made[i]))
			joined_vmas_join(&made[kept - 1], &made[i]);
		else
			made[kept++] = made[i];
	}
	*cells = made;
	*nr = kept;
	return 0;
}
