/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of code addresses: in one ELF file, in all files by way of a sandboxed child, and for a
 * whole analysis.
 */
#ifndef PFSTAT_USER_SYMBOLS_H
#define PFSTAT_USER_SYMBOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analysis.h"

/* Code names in one ELF file, from symbols or separate debug information. */

struct elf_names;

/*
 * Opens separate debug information for reading, by the build ID, or by the file name in the ELF
 * file's debug link. Returns -1 if it is not installed.
 */
enum elf_debug_key { ELF_DEBUG_BUILD_ID, ELF_DEBUG_LINK };
typedef int (*elf_debug_opener)(void *context, enum elf_debug_key kind, const void *key,
				size_t bytes);

/* Consumes the descriptor. Returns NULL if it is not an ELF file or memory is short. */
struct elf_names *elf_names_open(int fd, elf_debug_opener opener, void *context);
void elf_names_close(struct elf_names *names);

/*
 * Returns "name+0x1f", demangled, for the instruction at an offset into the file. The caller frees
 * it. NULL if there is no symbol, or no memory.
 */
char *elf_names_at(struct elf_names *names, uint64_t file_offset);

/*
 * Returns the source file of the instruction, and its line in *line. The text belongs to @names.
 * NULL: not known.
 */
const char *elf_names_line_at(struct elf_names *names, uint64_t file_offset, uint32_t *line);

/* Returns "name+0x1f", demangled if it is a C++ or Rust name. NULL: no memory. */
char *elf_name_print(const char *symbol, uint64_t offset);

/*
 * The symbols in one ELF file, sorted by address. Among symbols containing an address, the global
 * ones come before the local ones, then the nearest start, then STB_GLOBAL before STB_WEAK, then
 * the shortest, then the first in the file. If no symbol contains the address, the nearest label (a
 * symbol without a size) before it in the same section names it, unless another symbol ends between
 * them. Among several such labels, it is the last global one in the file. Mapping symbols ($x, $d)
 * name nothing.
 */

struct Dwfl_Module;

struct elf_symbol {
	uint64_t address, bytes; /* for a label: up to the end of the section */
	const char *name;	 /* belongs to the module */
	uint32_t binding;	 /* the larger is preferred, then the shorter, then: */
	uint32_t index;		 /* the smaller; labels are counted from the end of the file */
};

/*
 * Sorted. enclosing[i]: the last one before i that ends after i, or its own index if there is none.
 */
struct elf_symbol_list {
	struct elf_symbol *symbols;
	uint32_t *enclosing;
	size_t nr, room;
};

struct elf_symbols {
	struct elf_symbol_list global, local, labels;
};

/* Reads the module's symbols. All zero is empty. -ENOMEM: nothing was read. */
int elf_symbols_read(struct elf_symbols *symbols, struct Dwfl_Module *module);
void elf_symbols_exit(struct elf_symbols *symbols);
/* NULL if no symbol names the address, which comes from libdwfl. */
const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols, uint64_t address);

/* The source lines in one ELF file, or in its separate debug information. */

struct Dwarf;
struct elf_lines_range;

struct elf_lines {
	struct Dwarf *dwarf; /* belongs to the module; NULL: none */
	uint64_t bias;	     /* an address from libdwfl less this one is DWARF's */
	struct elf_lines_range *ranges;
	size_t nr, room;
};

/* Reads where the module's compilation units lie. All zero is empty. -ENOMEM: nothing was read. */
int elf_lines_read(struct elf_lines *lines, struct Dwfl_Module *module);
void elf_lines_exit(struct elf_lines *lines);
/*
 * Returns the source file of an address, which comes from libdwfl, and its line in *number. The
 * text belongs to the module. NULL: not known.
 */
const char *elf_lines_find(const struct elf_lines *lines, uint64_t address, uint32_t *number);

/*
 * Code names, from an ELF file's symbols or installed debug information. An unprivileged child
 * reads the files, and this code opens them.
 */

struct code_files;
struct symbols;

/* Files kept open in the child. A further one replaces the least recently used. */
#define SYMBOLS_MAX_FILES 32

/* @files: NULL: open paths as pfdrive itself sees them. Returns 0 or -ENOMEM. */
int symbols_open(struct symbols **symbols, const struct code_files *files);
void symbols_close(struct symbols *symbols);

/*
 * Returns "name+0x1f" for the instruction at an offset into the file. The caller frees it. NULL if
 * there is no symbol, the file is not ELF or has another inode (0: any), the child failed, or there
 * is no memory.
 */
char *symbols_name(struct symbols *symbols, const char *path, uint64_t inode, uint64_t file_offset);

/*
 * Returns the instruction's source file, which the caller frees, and the line in *line. NULL: not
 * known, as above.
 */
char *symbols_line(struct symbols *symbols, const char *path, uint64_t inode, uint64_t file_offset,
		   uint32_t *line);

/* Returns the last failure of the child as a negative errno, or 0. Some names are then missing. */
int symbols_trouble(const struct symbols *symbols);

/* The names of the faulting code: looked up once, and stored in the recording. */

struct code_files;

/*
 * Looks up every code address in the files that were mapped, and names it in the analysis.
 * @files: NULL for this machine's files
 * @lines: also look up source lines, which takes longer than the names
 * @symbols: for the recording, an array of {path, offset, symbol}, {pid, address, symbol} and
 *	{path, offset, source, line}
 * @left_out: names not fitting there, too long, or with a non-UTF-8 path
 * Returns 0 or a negative errno.
 */
int code_names_find(struct analysis *analysis, const struct code_files *files, bool lines,
		    json_t **symbols, uint64_t *left_out);
/* Applies a recording's names to the analysis. They may come before the items. */
int code_names_take(struct analysis *analysis, const json_t *symbols);

#endif
