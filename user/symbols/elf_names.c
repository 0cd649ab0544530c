// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs libdw and the demangler on watched programs' files. Only the child in symbols.c calls
 * this: neither library is trusted with what such a file may contain.
 */
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h> /* where Fedora has it */
#endif

#include "symbols/symbols.h"
#include "util/text.h"

struct elf_names {
	Dwfl *dwfl;
	Dwfl_Module *module;
	elf_debug_opener opener;
	void *context;
	bool read, lines_read; /* at the first look-up: */
	struct elf_symbols symbols;
	struct elf_lines lines;
};

/* A debug link has no build ID, but the file's CRC-32. */
static bool elf_names_has_checksum(int fd, uint32_t expected)
{
	uint8_t bytes[1 << 14];
	uint32_t found = 0;
	off_t offset = 0;
	ssize_t got;

	while ((got = pread(fd, bytes, sizeof(bytes), offset)) > 0) {
		found = crc32(found, bytes, got);
		offset += got;
	}
	return !got && found == expected;
}

static int elf_names_open_link(const struct elf_names *names, const char *link, uint32_t checksum)
{
	const int fd = names->opener(names->context, ELF_DEBUG_LINK, link, strlen(link));

	if (fd < 0 || elf_names_has_checksum(fd, checksum))
		return fd;
	close(fd);
	return -1;
}

/* libdwfl's default callbacks open paths, and query $DEBUGINFOD_URLS. */
static int elf_names_find_debug(Dwfl_Module *module, void **userdata, const char *module_name,
				Dwarf_Addr base, const char *file_name, const char *debuglink,
				GElf_Word debuglink_crc, char **debug_file_name)
{
	const struct elf_names *names = *userdata;
	const unsigned char *build_id;
	GElf_Addr address;
	int bytes, fd = -1;

	(void)module_name, (void)base, (void)file_name;
	*debug_file_name = NULL;
	/* A link without a checksum leads to what several debug files share: names, but no lines. */
	if (!names || !names->opener || (debuglink && !debuglink_crc))
		return -1;
	bytes = dwfl_module_build_id(module, &build_id, &address);
	if (bytes > 0)
		fd = names->opener(names->context, ELF_DEBUG_BUILD_ID, build_id, bytes);
	return fd >= 0 || !debuglink ? fd : elf_names_open_link(names, debuglink, debuglink_crc);
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = elf_names_find_debug,
	.section_address = dwfl_offline_section_address,
};

struct elf_names *elf_names_open(int fd, elf_debug_opener opener, void *context)
{
	struct elf_names *names = calloc(1, sizeof(*names));
	void **userdata;

	if (names)
		names->dwfl = dwfl_begin(&callbacks);
	if (names && names->dwfl)
		names->module = dwfl_report_offline(names->dwfl, "object", "object", fd);
	if (!names || !names->module) {
		close(fd);
		elf_names_close(names);
		return NULL;
	}
	/* libdwfl owns the descriptor from here on. */
	names->opener = opener;
	names->context = context;
	dwfl_module_info(names->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = names;
	dwfl_report_end(names->dwfl, NULL, NULL);
	return names;
}

void elf_names_close(struct elf_names *names)
{
	if (!names)
		return;
	elf_symbols_exit(&names->symbols);
	elf_lines_exit(&names->lines);
	dwfl_end(names->dwfl);
	free(names);
}

/* Converts an offset in the file to the address that libdwfl uses. False: no segment loads it. */
static bool elf_names_address(Dwfl_Module *module, uint64_t file_offset, GElf_Addr *address)
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

char *elf_name_print(const char *symbol, uint64_t offset)
{
	/* Parameters would make a C++ name longer than a line. */
	char *plain = cplus_demangle(symbol, DMGL_AUTO | DMGL_ANSI);
	char *text = code_name_print(plain ?: symbol, offset);

	free(plain);
	return text;
}

char *elf_names_at(struct elf_names *names, uint64_t file_offset)
{
	const struct elf_symbol *symbol;
	GElf_Addr address;

	if (!elf_names_address(names->module, file_offset, &address))
		return NULL;
	if (!names->read && elf_symbols_read(&names->symbols, names->module))
		return NULL;
	names->read = true;
	symbol = elf_symbols_find(&names->symbols, address);
	return symbol ? elf_name_print(symbol->name, address - symbol->address) : NULL;
}

const char *elf_names_line_at(struct elf_names *names, uint64_t file_offset, uint32_t *line)
{
	GElf_Addr address;

	if (!elf_names_address(names->module, file_offset, &address))
		return NULL;
	if (!names->lines_read && elf_lines_read(&names->lines, names->module))
		return NULL;
	names->lines_read = true;
	return elf_lines_find(&names->lines, address, line);
}
