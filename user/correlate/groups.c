// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "hash.h"

struct groups {
	struct hash cells;	/* by hash of the key */
	size_t count;
	struct cell *last;	/* found last: faults come in runs */
	struct cell others;
};

struct groups *groups_new(void)
{
	return calloc(1, sizeof(struct groups));
}

static void free_cells(void *value)
{
	struct cell *cell = value, *next;

	for (; cell; cell = next) {
		next = cell->next;
		free(cell->symbol);
		free(cell);
	}
}

void groups_free(struct groups *groups)
{
	if (!groups)
		return;
	hash_exit(&groups->cells, free_cells);
	free(groups);
}

static bool is(const struct cell *cell, const struct group_key *key)
{
	return !memcmp(&cell->key, key, sizeof(*key));
}

static struct cell *find_in(struct cell *cell, const struct group_key *key)
{
	while (cell && !is(cell, key))
		cell = cell->next;
	return cell;
}

struct cell *groups_find(const struct groups *groups, const struct group_key *key)
{
	return find_in(hash_find(&groups->cells, hash_of(key, sizeof(*key))), key);
}

static struct cell *make(struct groups *groups, const struct group_key *key)
{
	struct cell *cell = calloc(1, sizeof(*cell)), *first;

	if (!cell)
		return NULL;
	cell->key = *key;
	first = hash_find(&groups->cells, hash_of(key, sizeof(*key)));
	if (first) {
		cell->next = first->next;
		first->next = cell;
	} else if (hash_add(&groups->cells, hash_of(key, sizeof(*key)), cell)) {
		free(cell);
		return NULL;
	}
	groups->count++;
	return cell;
}

static void add(struct cell *cell, const struct explained *fault)
{
	const uint64_t whole_ns = fault->end_ns - fault->start_ns;
	const enum part end = fault->nr_spans ? NR_PARTS : PART_CPU_BEFORE + 1;
	enum part part;

	cell->faults++;
	cell->major += fault->major;
	cell->total_ns += whole_ns;
	if (whole_ns > cell->max_ns)
		cell->max_ns = whole_ns;
	cell->classes[fault->class]++;
	for (part = 0; part < end; part++)
		cell->parts_ns[part] += fault->parts_ns[part];
}

int groups_add(struct groups *groups, const struct group_key *key, const struct explained *fault,
	       struct cell **made)
{
	struct cell *cell = groups->last;

	*made = NULL;
	if (!cell || !is(cell, key))
		cell = groups_find(groups, key);
	if (!cell && groups->count == GROUPS_MAX) {
		add(&groups->others, fault);
		return 0;
	}
	if (!cell) {
		cell = *made = make(groups, key);
		if (!cell)
			return -ENOMEM;
	}
	groups->last = cell;
	add(cell, fault);
	return 0;
}

struct visit {
	int (*visit)(void *context, struct cell *cell);
	void *context;
};

static int visit_cells(void *context, void *value)
{
	const struct visit *visit = context;
	struct cell *cell = value;
	int err = 0;

	for (; cell && !err; cell = cell->next)
		err = visit->visit(visit->context, cell);
	return err;
}

int groups_visit(const struct groups *groups, int (*visit)(void *context, struct cell *cell),
		 void *context)
{
	struct visit all = { visit, context };

	return hash_visit(&groups->cells, visit_cells, &all);
}

size_t groups_count(const struct groups *groups)
{
	return groups->count;
}

const struct cell *groups_others(const struct groups *groups)
{
	return groups->others.faults ? &groups->others : NULL;
}
