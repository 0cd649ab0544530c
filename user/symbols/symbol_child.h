/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that looks names up in ELF files, in a sandbox (privilege/sandbox.h). It receives
 * file descriptors and returns names. It holds up to SYMBOL_CHILD_FILES files.
 */
#ifndef PFSTAT_USER_SYMBOL_CHILD_H
#define PFSTAT_USER_SYMBOL_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#define SYMBOL_CHILD_FILES 32

struct symbol_child {
	pid_t pid;
	int socket; /* -1: not running */
};

#define SYMBOL_CHILD_NONE ((struct symbol_child){ .pid = -1, .socket = -1 })

/* Returns 0 or a negative errno. */
int symbol_child_start(struct symbol_child *child);
void symbol_child_stop(struct symbol_child *child);

/* Replaces a slot's file. The caller keeps the descriptor. */
int symbol_child_load(struct symbol_child *child, unsigned int slot, int fd);
/*
 * Returns in *name the code's name at an offset into the slot's file, or NULL. The caller frees it.
 * After a negative errno (the child died, timed out or sent an invalid answer) the child can only
 * be stopped.
 */
int symbol_child_name(struct symbol_child *child, unsigned int slot, uint64_t file_offset,
		      char **name);

#endif
