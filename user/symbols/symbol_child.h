/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that looks names up in ELF files, in a sandbox (rights/sandbox.h). It gets
 * descriptors of files and answers with names. It holds up to SYMBOL_CHILD_FILES of them.
 */
#ifndef PFSTAT_USER_SYMBOL_CHILD_H
#define PFSTAT_USER_SYMBOL_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#define SYMBOL_CHILD_FILES 32

struct symbol_child {
	pid_t pid;
	int socket; /* -1: it does not run */
};

#define SYMBOL_CHILD_NONE ((struct symbol_child){ .pid = -1, .socket = -1 })

/* 0 or a negative errno. */
int symbol_child_start(struct symbol_child *child);
void symbol_child_stop(struct symbol_child *child);

/* Puts a file in the place of the one that the slot had; the caller keeps the descriptor. */
int symbol_child_load(struct symbol_child *child, unsigned int slot, int fd);
/*
 * The name of the code at an offset into the slot's file, to be freed, or NULL. A negative
 * errno: the child died, took too long or answered nonsense, and can only be stopped.
 */
int symbol_child_name(struct symbol_child *child, unsigned int slot, uint64_t file_offset,
		      char **name);

#endif
