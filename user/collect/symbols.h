/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of code: from an ELF file, its symbols, and its debug information where installed. */
#ifndef PFSTAT_USER_SYMBOLS_H
#define PFSTAT_USER_SYMBOLS_H

#include <stdint.h>

/* Kept open; with one more the one that was not asked for longest is closed. */
#define SYMBOLS_MAX_FILES 32

struct symbols;

/* -ENOMEM. */
int symbols_open(struct symbols **symbols);
void symbols_close(struct symbols *symbols);

/*
 * "name+0x1f" of the instruction at an offset into the file, to be freed; NULL: no
 * symbol, no ELF file, another inode's file (0: any), or no memory.
 */
char *symbols_name(struct symbols *symbols, const char *path, uint64_t inode,
		   uint64_t file_offset);

#endif
