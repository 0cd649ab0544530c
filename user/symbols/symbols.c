// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens ELF files with code, passes them to the child that reads them (symbol_child.c), and returns
 * the names to code_names.c. The object table mirrors the child's slots: if a child is dropped,
 * every other object is forgotten. The number of children is bounded.
 */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/code_files.h"
#include "symbols/symbol_child.h"
#include "symbols/symbols.h"

_Static_assert(SYMBOLS_MAX_FILES == SYMBOL_CHILD_FILES, "a slot of the child for each file");

/* If the child dies on a file, the other open files are lost and a new child starts. */
#define CHILDREN_MAX 5

struct object {
	char *path; /* NULL: free slot */
	uint64_t inode;
	bool loaded;   /* by the child */
	uint64_t used; /* value of symbols->now at the last look-up */
};

struct symbols {
	const struct code_files *files;
	struct object objects[SYMBOLS_MAX_FILES];
	uint64_t now; /* number of look-ups */
	struct symbol_child child;
	unsigned int nr_children;
	int trouble;
};

int symbols_open(struct symbols **symbols, const struct code_files *files)
{
	*symbols = calloc(1, sizeof(**symbols));
	if (!*symbols)
		return -ENOMEM;
	(*symbols)->files = files;
	(*symbols)->child = SYMBOL_CHILD_NONE;
	return 0;
}

void symbols_close(struct symbols *symbols)
{
	size_t i;

	if (!symbols)
		return;
	symbol_child_stop(&symbols->child);
	for (i = 0; i < SYMBOLS_MAX_FILES; i++)
		free(symbols->objects[i].path);
	free(symbols);
}

int symbols_trouble(const struct symbols *symbols)
{
	return symbols->trouble;
}

/* Rejects compressed files: libdwfl would unpack them regardless of their size. */
static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

static int open_object(const struct symbols *symbols, const struct object *object)
{
	int fd = code_files_open(symbols->files, object->path, object->inode);

	if (fd < 0 || is_elf(fd))
		return fd;
	close(fd);
	return -ENODATA;
}

/* Stops the failed child and forgets the child's files. A later file may start a new child. */
static void drop_child(struct symbols *symbols, struct object *at_fault, int err)
{
	size_t i;

	symbols->trouble = err;
	symbol_child_stop(&symbols->child);
	at_fault->loaded = false;
	for (i = 0; i < SYMBOLS_MAX_FILES; i++) {
		if (&symbols->objects[i] == at_fault)
			continue;
		free(symbols->objects[i].path);
		symbols->objects[i] = (struct object){ 0 };
	}
}

static int need_child(struct symbols *symbols)
{
	if (symbols->child.socket >= 0)
		return 0;
	if (symbols->nr_children == CHILDREN_MAX)
		return symbols->trouble;
	symbols->nr_children++;
	return symbol_child_start(&symbols->child);
}

static void object_load(struct symbols *symbols, struct object *object)
{
	const int fd = open_object(symbols, object);
	int err;

	if (fd < 0)
		return;
	err = need_child(symbols);
	if (!err)
		err = symbol_child_load(&symbols->child, object - symbols->objects, fd);
	close(fd);
	object->loaded = !err;
	if (err)
		drop_child(symbols, object, err);
}

/* Returns the object of a file. A new one replaces the least recently used. NULL: no memory. */
static struct object *object_of(struct symbols *symbols, const char *path, uint64_t inode)
{
	struct object *object, *oldest = &symbols->objects[0];
	size_t i;

	for (i = 0; i < SYMBOLS_MAX_FILES; i++) {
		object = &symbols->objects[i];
		if (object->path && object->inode == inode && !strcmp(object->path, path))
			return object;
		if (object->used < oldest->used)
			oldest = object;
	}
	free(oldest->path);
	*oldest = (struct object){ .path = strdup(path), .inode = inode };
	if (!oldest->path)
		return NULL;
	object_load(symbols, oldest);
	return oldest;
}

char *symbols_name(struct symbols *symbols, const char *path, uint64_t inode, uint64_t file_offset)
{
	struct object *object = object_of(symbols, path, inode);
	char *name;
	int err;

	if (!object)
		return NULL;
	object->used = ++symbols->now;
	if (!object->loaded)
		return NULL;
	err = symbol_child_name(&symbols->child, object - symbols->objects, file_offset, &name);
	if (err)
		drop_child(symbols, object, err);
	return name;
}
