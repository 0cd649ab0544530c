/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code names, from an ELF file's symbols or installed debug information. An unprivileged child
 * reads the files, and this code opens them.
 */
#ifndef PFSTAT_USER_SYMBOLS_H
#define PFSTAT_USER_SYMBOLS_H

#include <stdint.h>

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

#endif
