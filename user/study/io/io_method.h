/* SPDX-License-Identifier: GPL-2.0-only */
/* By which system calls, or by none, the bytes of a file are read or written. */
#ifndef PFSTAT_USER_IO_METHOD_H
#define PFSTAT_USER_IO_METHOD_H

#include <stdbool.h>
#include <stdint.h>

/* What is read and written are words: a block holds whole ones. */
#define WAY_WORD 8U
#define WAY_BLOCK_MAX (1ULL << 30)
#define WAY_NAMES "mmap, read:SIZE, write:SIZE"

struct way {
	bool write;
	bool map;		/* through a mapping; else by read(2) or write(2) of: */
	uint64_t block;		/* bytes */
};

/*
 * Appends what "mmap" (a read and a write), "read:SIZE" or "write:SIZE" means to the
 * *nr ways; there is room for two more. -ENOENT: no such way, -EINVAL: its SIZE.
 */
int way_parse(const char *text, struct way *ways, unsigned int *nr);

/* "mmap, read", "mmap, write", "read:512", "write:64K". */
void way_name(const struct way *way, char *name, unsigned int size);

#endif
