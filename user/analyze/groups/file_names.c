// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names files for address_spaces.c, which has the maps and the paths. If two files have the same
 * hash, only the first one is known.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/groups/address_spaces.h"

static uint64_t file_names_key(uint32_t dev, uint64_t inode)
{
	const uint64_t file[] = { dev, inode };

	return hash_of(file, sizeof(file));
}

void file_names_exit(struct file_names *names)
{
	hash_exit(&names->files, free);
}

static struct file_name *file_names_get(const struct file_names *names, uint32_t dev,
					uint64_t inode)
{
	struct file_name *name = hash_find(&names->files, file_names_key(dev, inode));

	return name && name->dev == dev && name->inode == inode ? name : NULL;
}

const struct file_name *file_names_find(const struct file_names *names, uint32_t dev,
					uint64_t inode)
{
	return file_names_get(names, dev, inode);
}

bool file_names_is_reused(const struct file_names *names, const struct item_map *map)
{
	const struct file_name *name =
		map->generation ? file_names_get(names, map->dev, map->inode) : NULL;

	return name && name->generation && name->generation != map->generation;
}

int file_names_set(struct file_names *names, const struct item_map *map, uint32_t path,
		   uint32_t max)
{
	const uint64_t key = file_names_key(map->dev, map->inode);
	struct file_name *name = file_names_get(names, map->dev, map->inode);

	if (name) {
		name->was_reused |= file_names_is_reused(names, map);
		name->path = path;
		if (map->generation)
			name->generation = map->generation;
		return 0;
	}
	if (names->files.count >= max || hash_find(&names->files, key))
		return 0;
	name = malloc(sizeof(*name));
	if (!name)
		return -ENOMEM;
	*name = (struct file_name){
		.inode = map->inode,
		.dev = map->dev,
		.path = path,
		.generation = map->generation,
	};
	if (!hash_add(&names->files, key, name))
		return 0;
	free(name);
	return -ENOMEM;
}
