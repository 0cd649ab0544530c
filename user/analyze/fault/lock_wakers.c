// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers the wakers by thread, name and call, and adds up their sleeps. A sleep ends at the
 * wake-up. The following wait for a CPU does not count.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fault/lock_wakers.h"
#include "util/array.h"

void lock_wakers_exit(struct lock_wakers *wakers)
{
	hash_exit(&wakers->ids, NULL);
	free(wakers->rows);
	*wakers = (struct lock_wakers){ 0 };
}

static uint64_t lock_wakers_key(const struct lock_waker_row *row)
{
	char text[sizeof(row->tid) + sizeof(row->doing) + sizeof(row->comm)] = { 0 };

	memcpy(text, &row->tid, sizeof(row->tid));
	memcpy(text + sizeof(row->tid), &row->doing, sizeof(row->doing));
	strcpy(text + sizeof(row->tid) + sizeof(row->doing), row->comm);
	return hash_of(text, sizeof(text));
}

/* Sets *found to the row, or to NULL if there are too many. */
static int lock_wakers_find(struct lock_wakers *wakers, const struct lock_waker_row *row,
			    struct lock_waker_row **found)
{
	const uint64_t key = lock_wakers_key(row);
	const size_t id = (uintptr_t)hash_find(&wakers->ids, key);
	int err;

	*found = id ? &wakers->rows[id - 1] : NULL;
	if (id || wakers->nr == LOCK_WAKERS_MAX)
		return 0;
	err = array_reserve((void **)&wakers->rows, wakers->nr, &wakers->room, sizeof(*row));
	if (!err)
		err = hash_add(&wakers->ids, key, (void *)(uintptr_t)(wakers->nr + 1));
	if (err)
		return err;
	*found = &wakers->rows[wakers->nr++];
	**found = *row;
	return 0;
}

int lock_wakers_add(struct lock_wakers *wakers, const struct pfstat_off_cpu *interval,
		    const char *comm)
{
	const bool woken = interval->event.flags & PFSTAT_OFF_CPU_WOKEN;
	const uint64_t ns =
		item_elapsed(interval->off_ns, woken ? interval->woken_ns : interval->event.ns);
	struct lock_waker_row row = {
		.tid = interval->waker,
		.doing = interval->event.flags >> PFSTAT_OFF_CPU_WAKER_SHIFT,
	};
	struct lock_waker_row *found;
	int err;

	snprintf(row.comm, sizeof(row.comm), "%s", comm);
	err = lock_wakers_find(wakers, &row, &found);
	if (err)
		return err;
	wakers->sleeps++;
	wakers->total_ns += ns;
	if (!found)
		return 0;
	found->sleeps++;
	found->total_ns += ns;
	if (ns > found->max_ns)
		found->max_ns = ns;
	return 0;
}

static int lock_wakers_compare(const void *a, const void *b)
{
	const struct lock_waker_row *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return left->doing < right->doing ? -1 : left->doing > right->doing;
}

int lock_wakers_list(const struct lock_wakers *wakers, struct lock_waker_row **rows, size_t *nr)
{
	*nr = 0;
	*rows = calloc(wakers->nr ?: 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	*nr = wakers->nr;
	if (wakers->nr)
		memcpy(*rows, wakers->rows, wakers->nr * sizeof(**rows));
	qsort(*rows, *nr, sizeof(**rows), lock_wakers_compare);
	return 0;
}
