/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access methods: the system calls by which the bytes of a file are read or written, or a mapping.
 */
#ifndef PFSTAT_USER_IO_METHOD_H
#define PFSTAT_USER_IO_METHOD_H

#include <stdbool.h>
#include <stdint.h>

/* A block holds whole words. */
#define IO_WORD		8U
#define IO_BLOCK_MAX	(1ULL << 30)
#define IO_METHOD_NAMES "mmap, read:SIZE, write:SIZE"

struct io_method {
	bool write;
	bool map;	/* through a mapping, otherwise by read(2) or write(2) with: */
	uint64_t block; /* bytes */
};

/*
 * Appends "mmap" (a read and a write), "read:SIZE" or "write:SIZE" to the *nr methods. The array
 * has room for two more. -ENOENT: an unknown method. -EINVAL: a bad SIZE.
 */
int io_method_parse(const char *text, struct io_method *methods, unsigned int *nr);

/* "mmap, read", "mmap, write", "read:512", "write:64K". */
void io_method_name(const struct io_method *method, char *name, unsigned int size);

#endif
