// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the names that symbols/ has found for code addresses, or that a recording holds. The key is
 * the path and the offset, so names can be added before the mappings are known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/grouping.h"

/* A path is stored once for the entries that follow each other. */
struct code_table_path {
	struct code_table_path *next;
	char text[];
};

struct code_table_entry {
	struct code_table_entry *next; /* another entry with the same hash */
	struct code_place place;
	struct code_name name;
};

static void code_table_free_entries(void *value)
{
	struct code_table_entry *entry = value, *next;

	for (; entry; entry = next) {
		next = entry->next;
		free((char *)entry->name.symbol);
		free((char *)entry->name.function);
		free((char *)entry->name.source);
		free(entry);
	}
}

void code_table_exit(struct code_table *table)
{
	struct code_table_path *path, *next;

	hash_exit(&table->entries, code_table_free_entries);
	for (path = table->paths; path; path = next) {
		next = path->next;
		free(path);
	}
	table->paths = NULL;
}

static uint64_t code_table_key(const struct code_place *place)
{
	const uint64_t numbers[] = { place->offset, place->pid };

	return hash_of(numbers, sizeof(numbers)) ^ hash_of(place->path, strlen(place->path));
}

static struct code_table_entry *code_table_entry(const struct code_table *table, uint64_t key,
						 const struct code_place *place)
{
	struct code_table_entry *entry = hash_find(&table->entries, key);

	while (entry && (entry->place.offset != place->offset || entry->place.pid != place->pid ||
			 strcmp(entry->place.path, place->path)))
		entry = entry->next;
	return entry;
}

static const char *code_table_path(struct code_table *table, const char *text)
{
	const size_t bytes = strlen(text) + 1;
	struct code_table_path *path = table->paths;

	if (path && !strcmp(path->text, text))
		return path->text;
	path = malloc(sizeof(*path) + bytes);
	if (!path)
		return NULL;
	memcpy(path->text, text, bytes);
	path->next = table->paths;
	table->paths = path;
	return path->text;
}

static int code_table_insert(struct code_table *table, uint64_t key, struct code_table_entry *entry)
{
	struct code_table_entry *first = hash_find(&table->entries, key);

	if (!first)
		return hash_add(&table->entries, key, entry);
	entry->next = first->next;
	first->next = entry;
	return 0;
}

/* Returns the place's entry, which is added if it is new. NULL: no memory. */
static struct code_name *code_table_make(struct code_table *table, const struct code_place *place)
{
	const uint64_t key = code_table_key(place);
	struct code_table_entry *entry = code_table_entry(table, key, place);

	if (entry)
		return &entry->name;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->place = *place;
	entry->place.path = code_table_path(table, place->path);
	if (!entry->place.path || code_table_insert(table, key, entry)) {
		free(entry);
		return NULL;
	}
	return &entry->name;
}

static int code_table_copy(const char **copy, const char *text, size_t length)
{
	free((char *)*copy);
	*copy = strndup(text, length);
	return *copy ? 0 : -ENOMEM;
}

int code_table_set_symbol(struct code_table *table, const struct code_place *place,
			  const char *symbol)
{
	struct code_name *name = code_table_make(table, place);
	const char *plus = strrchr(symbol, '+');
	const size_t length = strlen(symbol);

	if (!name)
		return -ENOMEM;
	return code_table_copy(&name->symbol, symbol, length) ?:
		       code_table_copy(&name->function, symbol,
				       plus ? (size_t)(plus - symbol) : length);
}

int code_table_set_line(struct code_table *table, const struct code_place *place,
			const char *source, uint32_t line)
{
	struct code_name *name = code_table_make(table, place);

	if (!name)
		return -ENOMEM;
	name->line = line;
	return code_table_copy(&name->source, source, strlen(source));
}

const struct code_name *code_table_find(const struct code_table *table,
					const struct code_place *place)
{
	static const struct code_name unknown;
	const struct code_table_entry *entry =
		code_table_entry(table, code_table_key(place), place);

	return entry ? &entry->name : &unknown;
}
