/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The symbols in one ELF file, sorted by address. Among symbols containing an address, the global
 * ones come before the local ones, then the nearest start, then STB_GLOBAL before STB_WEAK, then
 * the shortest, then the first in the file. If no symbol contains the address, the nearest label (a
 * symbol without a size) before it in the same section names it, unless another symbol ends between
 * them. Among several such labels, it is the last global one in the file. Mapping symbols ($x, $d)
 * name nothing.
 */
#ifndef PFSTAT_USER_ELF_SYMBOLS_H
#define PFSTAT_USER_ELF_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

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
int elf_symbols_read(struct elf_symbols *symbols, Dwfl_Module *module);
void elf_symbols_exit(struct elf_symbols *symbols);
/* NULL if no symbol names the address, which comes from libdwfl. */
const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols, uint64_t address);

#endif
