// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordered list of mappings in leaves with at most LEAF_MAX each. address_spaces.c has one list
 * per process. The kernel places mappings downwards, so a full leaf gets a new neighbour if the
 * next map is at either end of the leaf. Otherwise it is halved.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/address_spaces.h"

#define LEAF_MIN 16U
#define LEAF_MAX 256U

/* Index `at` is below the number of maps in the leaf, or the position is the end of the list. */
struct space_position {
	size_t leaf;
	uint32_t at;
};

struct space_maps *space_maps_new(void)
{
	struct space_maps *maps = calloc(1, sizeof(*maps));

	if (maps)
		maps->owners = 1;
	return maps;
}

size_t space_maps_put(struct space_maps *maps)
{
	size_t freed, i;

	if (!maps || --maps->owners)
		return 0;
	freed = maps->capacity;
	for (i = 0; i < maps->nr_leaves; i++)
		free(maps->leaves[i].maps);
	free(maps->leaves);
	free(maps);
	return freed;
}

static int space_maps_copy_leaves(struct space_maps *copy, const struct space_maps *maps)
{
	const struct space_leaf *from;
	struct space_leaf *to;

	copy->leaves = calloc(maps->nr_leaves, sizeof(*copy->leaves));
	if (!copy->leaves)
		return -ENOMEM;
	copy->leaves_capacity = maps->nr_leaves;
	for (from = maps->leaves; from < maps->leaves + maps->nr_leaves; from++) {
		to = &copy->leaves[copy->nr_leaves];
		to->maps = reallocarray(NULL, from->capacity, sizeof(*to->maps));
		if (!to->maps)
			return -ENOMEM;
		memcpy(to->maps, from->maps, from->nr * sizeof(*to->maps));
		to->nr = from->nr;
		to->capacity = from->capacity;
		copy->nr_leaves++;
	}
	copy->nr = maps->nr;
	copy->capacity = maps->capacity;
	return 0;
}

struct space_maps *space_maps_copy(const struct space_maps *maps)
{
	struct space_maps *copy = space_maps_new();

	if (copy && maps->nr_leaves && space_maps_copy_leaves(copy, maps)) {
		space_maps_put(copy);
		return NULL;
	}
	return copy;
}

static struct space_position space_maps_find(const struct space_maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->nr_leaves, middle;
	const struct space_leaf *leaf;
	struct space_position found;

	while (low < high) {
		middle = low + (high - low) / 2;
		leaf = &maps->leaves[middle];
		if (leaf->maps[leaf->nr - 1].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	found = (struct space_position){ .leaf = low };
	if (low == maps->nr_leaves)
		return found;
	leaf = &maps->leaves[low];
	low = 0;
	high = leaf->nr;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (leaf->maps[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	found.at = low;
	return found;
}

static struct space_map *space_maps_at(const struct space_maps *maps,
				       const struct space_position *position)
{
	return position->leaf < maps->nr_leaves ? &maps->leaves[position->leaf].maps[position->at] :
						  NULL;
}

const struct space_map *space_maps_first_after(const struct space_maps *maps, uint64_t address)
{
	const struct space_position position = space_maps_find(maps, address);

	return space_maps_at(maps, &position);
}

/* Makes room for one more map in the leaf, which is not full. */
static int space_leaf_grow(struct space_maps *maps, struct space_leaf *leaf, size_t max)
{
	const uint32_t capacity = leaf->capacity ? 2 * leaf->capacity : LEAF_MIN;
	struct space_map *grown;

	if (leaf->nr < leaf->capacity)
		return 0;
	if (maps->capacity + capacity - leaf->capacity > max)
		return -ENOSPC;
	grown = reallocarray(leaf->maps, capacity, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	maps->capacity += capacity - leaf->capacity;
	leaf->maps = grown;
	leaf->capacity = capacity;
	return 0;
}

/* Adds a leaf with nr maps of the one before it, at least room for one. */
static int space_maps_add_leaf(struct space_maps *maps, size_t index, uint32_t nr, size_t max)
{
	const size_t capacity = maps->leaves_capacity ? 2 * maps->leaves_capacity : 1;
	struct space_leaf *leaves, *before, made = { 0 };
	int err;

	if (maps->nr_leaves == maps->leaves_capacity) {
		leaves = reallocarray(maps->leaves, capacity, sizeof(*leaves));
		if (!leaves)
			return -ENOMEM;
		maps->leaves = leaves;
		maps->leaves_capacity = capacity;
	}
	do {
		made.nr = made.capacity;
		err = space_leaf_grow(maps, &made, max);
	} while (!err && made.capacity <= nr);
	if (err) {
		maps->capacity -= made.capacity;
		free(made.maps);
		return err;
	}
	made.nr = nr;
	if (nr) {
		before = &maps->leaves[index - 1];
		before->nr -= nr;
		memcpy(made.maps, &before->maps[before->nr], nr * sizeof(*made.maps));
	}
	memmove(&maps->leaves[index + 1], &maps->leaves[index],
		(maps->nr_leaves - index) * sizeof(*maps->leaves));
	maps->leaves[index] = made;
	maps->nr_leaves++;
	return 0;
}

static void space_maps_remove_leaf(struct space_maps *maps, size_t index)
{
	maps->capacity -= maps->leaves[index].capacity;
	free(maps->leaves[index].maps);
	maps->nr_leaves--;
	memmove(&maps->leaves[index], &maps->leaves[index + 1],
		(maps->nr_leaves - index) * sizeof(*maps->leaves));
}

/* Finds a leaf for a map at the position that is not full, and changes the position to it. */
static int space_maps_choose_leaf(struct space_maps *maps, struct space_position *position,
				  size_t max)
{
	struct space_leaf *leaf;
	int err;

	/* A map before a leaf's first map may also be the last one in the leaf before. */
	if (position->leaf && !position->at) {
		leaf = &maps->leaves[position->leaf - 1];
		if (leaf->nr < LEAF_MAX || position->leaf == maps->nr_leaves)
			*position = (struct space_position){ position->leaf - 1, leaf->nr };
	}
	if (!maps->nr_leaves)
		return space_maps_add_leaf(maps, 0, 0, max);
	leaf = &maps->leaves[position->leaf];
	if (leaf->nr < LEAF_MAX)
		return 0;
	if (!position->at)
		return space_maps_add_leaf(maps, position->leaf, 0, max);
	if (position->at == leaf->nr) {
		*position = (struct space_position){ position->leaf + 1, 0 };
		return space_maps_add_leaf(maps, position->leaf, 0, max);
	}
	err = space_maps_add_leaf(maps, position->leaf + 1, LEAF_MAX / 2, max);
	if (!err && position->at > LEAF_MAX / 2)
		*position =
			(struct space_position){ position->leaf + 1, position->at - LEAF_MAX / 2 };
	return err;
}

static int space_maps_insert(struct space_maps *maps, const struct space_map *map, size_t max)
{
	struct space_position position = space_maps_find(maps, map->start);
	int err = space_maps_choose_leaf(maps, &position, max);
	struct space_leaf *leaf;

	if (err)
		return err;
	leaf = &maps->leaves[position.leaf];
	err = space_leaf_grow(maps, leaf, max);
	if (err)
		return err;
	memmove(&leaf->maps[position.at + 1], &leaf->maps[position.at],
		(leaf->nr - position.at) * sizeof(*leaf->maps));
	leaf->maps[position.at] = *map;
	leaf->nr++;
	maps->nr++;
	return 0;
}

static void cut_front(struct space_map *map, uint64_t start, uint64_t page_bytes)
{
	if (map->inode)
		map->pgoff += (start - map->start) / page_bytes;
	map->start = start;
}

/* Removes the leaf's maps, from `at` on, that end by `end`. True if more may follow. */
static bool space_maps_remove_from(struct space_maps *maps, size_t index, uint32_t at, uint64_t end)
{
	struct space_leaf *leaf = &maps->leaves[index];
	uint32_t until = at;

	while (until < leaf->nr && leaf->maps[until].end <= end)
		until++;
	memmove(&leaf->maps[at], &leaf->maps[until], (leaf->nr - until) * sizeof(*leaf->maps));
	leaf->nr -= until - at;
	maps->nr -= until - at;
	if (at < leaf->nr)
		return false;
	if (!leaf->nr)
		space_maps_remove_leaf(maps, index);
	return true;
}

/*
 * Removes the mapped ranges between start and end. Cut maps keep their other ends. -ENOSPC or
 * -ENOMEM: the rest of a map cut in two is lost, rather than kept with a wrong name.
 */
static int space_maps_make_hole(struct space_maps *maps, uint64_t start, uint64_t end,
				uint64_t page_bytes, size_t max)
{
	struct space_position position = space_maps_find(maps, start);
	struct space_map *map = space_maps_at(maps, &position), rest;

	if (map && map->start < start) {
		rest = *map;
		map->end = start;
		if (rest.end > end) {
			cut_front(&rest, end, page_bytes);
			return space_maps_insert(maps, &rest, max);
		}
		position = space_maps_find(maps, start);
	}
	while (position.leaf < maps->nr_leaves &&
	       space_maps_remove_from(maps, position.leaf, position.at, end))
		position = space_maps_find(maps, start);
	map = space_maps_at(maps, &position);
	if (map && map->start < end)
		cut_front(map, end, page_bytes);
	return 0;
}

int space_maps_replace(struct space_maps *maps, const struct space_map *map, uint64_t page_bytes,
		       size_t max)
{
	const int hole = space_maps_make_hole(maps, map->start, map->end, page_bytes, max);
	const int err = space_maps_insert(maps, map, max);

	return err ?: hole;
}

int space_maps_visit(const struct space_maps *maps,
		     int (*visit)(void *context, const struct space_map *map), void *context)
{
	const struct space_leaf *leaf;
	uint32_t i;
	int err = 0;

	for (leaf = maps->leaves; leaf < maps->leaves + maps->nr_leaves; leaf++)
		for (i = 0; i < leaf->nr && !err; i++)
			err = visit(context, &leaf->maps[i]);
	return err;
}
