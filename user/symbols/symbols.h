/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of code addresses: in one ELF file, in all files by way of a sandboxed child, and for a
 * whole analysis.
 */
#ifndef PFSTAT_USER_SYMBOLS_H
#define PFSTAT_USER_SYMBOLS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analysis.h"

/* Code names in one ELF file, from symbols or separate debug information. */

struct elf_names;

/* Opens the debug information of a build ID for reading. Returns -1 if it is not installed. */
typedef int (*elf_debug_opener)(void *context, const uint8_t *build_id, size_t bytes);

/* Consumes the descriptor. Returns NULL if it is not an ELF file or memory is short. */
struct elf_names *elf_names_open(int fd, elf_debug_opener opener, void *context);
void elf_names_close(struct elf_names *names);

/*
 * Returns "name+0x1f", demangled, for the instruction at an offset into the file. The caller frees
 * it. NULL if there is no symbol, or no memory.
 */
char *elf_names_at(struct elf_names *names, uint64_t file_offset);

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

/* Returns the last failure of the child as a negative errno, or 0. Some names are then missing. */
int symbols_trouble(const struct symbols *symbols);

/* The names of the faulting code: looked up once, and stored in the recording. */

struct code_files;

/*
 * Looks up every code address in the files that were mapped, and names it in the analysis.
 * @files: NULL for this machine's files
 * @symbols: array of {path, offset, symbol} or {pid, address, symbol}, for the recording
 * @left_out: names not fitting there, too long, or with a non-UTF-8 path
 * Returns 0 or a negative errno.
 */
int code_names_find(struct analysis *analysis, const struct code_files *files, json_t **symbols,
		    uint64_t *left_out);
/* Applies a recording's names to the analysis. */
int code_names_take(struct analysis *analysis, const json_t *symbols);

#endif
