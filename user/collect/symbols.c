// SPDX-License-Identifier: GPL-2.0-only
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../regular.h"
#include "symbols.h"

struct object {
	char *path;		/* NULL: a free place */
	uint64_t inode;
	Dwfl *dwfl;		/* NULL: it is no ELF file */
	Dwfl_Module *module;
	uint64_t used;		/* when it was asked for last */
};

struct symbols {
	struct object objects[SYMBOLS_MAX_FILES];
	uint64_t now;		/* counts what was asked */
};

int symbols_open(struct symbols **symbols)
{
	*symbols = calloc(1, sizeof(**symbols));
	return *symbols ? 0 : -ENOMEM;
}

static void object_close(struct object *object)
{
	dwfl_end(object->dwfl);
	free(object->path);
	*object = (struct object){ 0 };
}

void symbols_close(struct symbols *symbols)
{
	size_t i;

	if (!symbols)
		return;
	for (i = 0; i < SYMBOLS_MAX_FILES; i++)
		object_close(&symbols->objects[i]);
	free(symbols);
}

/* Nor a compressed one, whose size libdwfl would find out by making it as large. */
static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

/* What has the name now may be anything: a device, a pipe, another program. */
static int open_object(const struct object *object)
{
	int fd = regular_open(object->path, O_RDONLY);
	struct stat stat;

	if (fd < 0)
		return fd;
	if (!fstat(fd, &stat) && (!object->inode || stat.st_ino == object->inode) && is_elf(fd))
		return fd;
	close(fd);
	return -ENODATA;
}

/* By build ID and on this machine: libdw's standard callback asks $DEBUGINFOD_URLS, too. */
static void object_load(struct object *object)
{
	static char *debuginfo_path;	/* NULL: where debug information usually is */
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = dwfl_build_id_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debuginfo_path,
	};
	int fd = open_object(object);

	if (fd < 0)
		return;
	object->dwfl = dwfl_begin(&callbacks);
	if (object->dwfl)
		object->module = dwfl_report_offline(object->dwfl, object->path, object->path, fd);
	if (object->module) {	/* fd is libdwfl's now */
		dwfl_report_end(object->dwfl, NULL, NULL);
		return;
	}
	close(fd);
	dwfl_end(object->dwfl);
	object->dwfl = NULL;
}

/* Known, or else in the place of the one that was not asked for longest. NULL: no memory. */
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
	object_close(oldest);
	oldest->path = strdup(path);
	if (!oldest->path)
		return NULL;
	oldest->inode = inode;
	object_load(oldest);
	return oldest;
}

/* Where libdwfl has the byte of the file that a segment loads. */
static bool address_of(Dwfl_Module *module, uint64_t file_offset, GElf_Addr *address)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	GElf_Phdr segment;
	size_t nr, i;

	if (!elf || elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_LOAD ||
		    file_offset < segment.p_offset ||
		    file_offset - segment.p_offset >= segment.p_filesz)
			continue;
		*address = file_offset - segment.p_offset + segment.p_vaddr + bias;
		return true;
	}
	return false;
}

char *symbols_name(struct symbols *symbols, const char *path, uint64_t inode,
		   uint64_t file_offset)
{
	struct object *object = object_of(symbols, path, inode);
	GElf_Addr address;
	const char *name;
	GElf_Off offset;
	GElf_Sym symbol;
	char *text;

	if (!object)
		return NULL;
	object->used = ++symbols->now;
	if (!object->module || !address_of(object->module, file_offset, &address))
		return NULL;
	name = dwfl_module_addrinfo(object->module, address, &offset, &symbol, NULL, NULL, NULL);
	/* The nearest one before it may have ended long before. */
	if (!name || (symbol.st_size && offset >= symbol.st_size))
		return NULL;
	return asprintf(&text, "%s+0x%" PRIx64, name, offset) < 0 ? NULL : text;
}
