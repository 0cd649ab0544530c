// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the symbol table of an ELF file for 64-bit little-endian machines. libelf is not used,
 * because it is not trusted with a watched program's file (symbols/symbols.h).
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout/layout.h"
#include "util/array.h"
#include "util/input_file.h"

struct elf_bytes {
	char *bytes;
	uint64_t nr;
};

static int elf_bytes_read(struct elf_bytes *elf, const char *path, uint64_t inode, struct why *why)
{
	const int fd = open_regular(path, O_RDONLY);
	struct stat status;
	ssize_t got = 1;

	if (fd < 0)
		return why_fail(why, -EINVAL, "%s", strerror(-fd));
	if (fstat(fd, &status) || status.st_ino != inode) {
		close(fd);
		return why_fail(why, -EINVAL, "another file has this name now");
	}
	elf->bytes = malloc(status.st_size + 1);
	while (elf->bytes && got > 0 && elf->nr < (uint64_t)status.st_size) {
		got = read(fd, elf->bytes + elf->nr, status.st_size - elf->nr);
		elf->nr += got > 0 ? got : 0;
	}
	close(fd);
	if (!elf->bytes)
		return why_fail(why, -EINVAL, "out of memory");
	return got < 0 ? why_fail(why, -EINVAL, "it cannot be read") : 0;
}

/* NULL: the file does not have so many bytes there. */
static const void *elf_range(const struct elf_bytes *elf, uint64_t offset, uint64_t nr)
{
	return offset <= elf->nr && nr <= elf->nr - offset ? elf->bytes + offset : NULL;
}

static bool elf_section(const struct elf_bytes *elf, uint64_t number, Elf64_Shdr *section)
{
	const Elf64_Ehdr *header = elf_range(elf, 0, sizeof(*header));
	const void *found;

	if (!header || number >= header->e_shnum || header->e_shentsize != sizeof(*section))
		return false;
	found = elf_range(elf, header->e_shoff + number * sizeof(*section), sizeof(*section));
	if (found)
		memcpy(section, found, sizeof(*section));
	return found;
}

/* NULL: it is not there, or does not end. */
static const char *elf_string(const struct elf_bytes *elf, const Elf64_Shdr *strings, uint64_t at)
{
	const char *all = elf_range(elf, strings->sh_offset, strings->sh_size);

	if (!all || at >= strings->sh_size || !memchr(all + at, '\0', strings->sh_size - at))
		return NULL;
	return all + at;
}

static bool is_plain_name(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!isgraph((unsigned char)*c) && (unsigned char)*c < 0x80)
			return false;
	return *name && *name != '#';
}

static int elf_functions_take(struct elf_functions *read, size_t *room, const Elf64_Sym *symbol,
			      const Elf64_Shdr *text, const char *name)
{
	const uint64_t at = symbol->st_value - text->sh_addr;

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !symbol->st_size || !name ||
	    !is_plain_name(name) || at >= text->sh_size || symbol->st_size > text->sh_size - at)
		return 0;
	if (array_reserve((void **)&read->functions, read->nr, room, sizeof(*read->functions)))
		return -ENOMEM;
	read->functions[read->nr++] = (struct elf_function){ .offset = text->sh_offset + at,
							     .bytes = symbol->st_size,
							     .name = name,
							     .place = UINT64_MAX };
	return 0;
}

/* Of the same place, the longest first. */
static int elf_function_by_offset(const void *a, const void *b)
{
	const struct elf_function *left = a, *right = b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	if (left->bytes != right->bytes)
		return left->bytes > right->bytes ? -1 : 1;
	return strcmp(left->name, right->name);
}

struct elf_tables {
	Elf64_Shdr text, symbols, strings;
	uint64_t text_number;
};

static bool elf_tables_find(struct elf_tables *tables, const struct elf_bytes *elf)
{
	const Elf64_Ehdr *header = elf_range(elf, 0, sizeof(*header));
	Elf64_Shdr section, names;
	const char *name;
	uint64_t i;

	if (!header || !elf_section(elf, header->e_shstrndx, &names))
		return false;
	for (i = 0; elf_section(elf, i, &section); i++) {
		name = elf_string(elf, &names, section.sh_name);
		if (name && !strcmp(name, ".text")) {
			tables->text = section;
			tables->text_number = i;
		}
		if (section.sh_type == SHT_SYMTAB)
			tables->symbols = section;
	}
	return tables->text.sh_type == SHT_PROGBITS && tables->symbols.sh_type == SHT_SYMTAB &&
	       elf_range(elf, tables->text.sh_offset, tables->text.sh_size) &&
	       elf_section(elf, tables->symbols.sh_link, &tables->strings);
}

static int elf_functions_fill(struct elf_functions *read, const struct elf_bytes *elf,
			      const struct elf_tables *tables)
{
	const uint64_t nr = tables->symbols.sh_size / sizeof(Elf64_Sym);
	const char *symbols = elf_range(elf, tables->symbols.sh_offset, nr * sizeof(Elf64_Sym));
	Elf64_Sym symbol;
	size_t room = 0;
	uint64_t i;
	int err = 0;

	for (i = 0; symbols && i < nr && !err; i++) {
		memcpy(&symbol, symbols + i * sizeof(symbol), sizeof(symbol));
		if (symbol.st_shndx == tables->text_number)
			err = elf_functions_take(read, &room, &symbol, &tables->text,
						 elf_string(elf, &tables->strings, symbol.st_name));
	}
	if (read->nr)
		qsort(read->functions, read->nr, sizeof(*read->functions), elf_function_by_offset);
	return err;
}

/* The file does not have the alignment that the compiler requested: 16 with GCC's -O2, 2 with -O1. */
static uint64_t function_alignment(const struct elf_functions *read)
{
	uint64_t alignment = 32;
	size_t i, nr;

	do {
		alignment /= 2;
		for (i = 0, nr = 0; i < read->nr; i++)
			nr += !(read->functions[i].offset % alignment);
	} while (4 * nr < 3 * read->nr);
	return alignment;
}

int elf_functions_read(struct elf_functions *read, const char *path, uint64_t inode,
		       struct why *why)
{
	static const char ident[] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB };
	struct elf_tables tables = { 0 };
	struct elf_bytes elf = { 0 };
	int err;

	*read = (struct elf_functions){ 0 };
	err = elf_bytes_read(&elf, path, inode, why);
	read->file = elf.bytes;
	if (err)
		return err;
	if (elf.nr < sizeof(ident) || memcmp(elf.bytes, ident, sizeof(ident)))
		return why_fail(why, -EINVAL, "it is not a 64-bit little-endian ELF file");
	if (!elf_tables_find(&tables, &elf))
		return why_fail(why, -EINVAL,
				"it has no symbol table; link it without -s, and do not "
				"strip it");
	read->text = tables.text.sh_offset;
	read->text_bytes = tables.text.sh_size;
	if (elf_functions_fill(read, &elf, &tables))
		return why_fail(why, -EINVAL, "out of memory");
	read->alignment = function_alignment(read);
	return read->nr ? 0 : why_fail(why, -EINVAL, "the symbol table names no function in .text");
}

void elf_functions_exit(struct elf_functions *read)
{
	free(read->functions);
	free(read->file);
}
