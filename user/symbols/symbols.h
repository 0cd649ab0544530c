/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of code: from an ELF file, its symbols, and its debug information where installed. A
 * child without privileges reads the files (symbol_child.h); this opens them.
 */
#ifndef PFSTAT_USER_SYMBOLS_H
#define PFSTAT_USER_SYMBOLS_H

#include <stdint.h>

/* Kept open in the child; one more replaces the one that was used least recently. */
#define SYMBOLS_MAX_FILES 32

struct code_files;
struct symbols;

/* files: NULL: pfdrive's own view of paths is the programs'. -ENOMEM. */
int symbols_open(struct symbols **symbols, const struct code_files *files);
void symbols_close(struct symbols *symbols);

/*
 * "name+0x1f" of the instruction at an offset into the file, to be freed; NULL: no
 * symbol, no ELF file, another inode's file (0: any), the child failed, or no memory.
 */
char *symbols_name(struct symbols *symbols, const char *path, uint64_t inode, uint64_t file_offset);

/* Why code of some files has no names, a negative errno: the child failed. 0: it did not. */
int symbols_trouble(const struct symbols *symbols);

#endif
