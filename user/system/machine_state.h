/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the state of the machine and of a file's file system, for reports. */
#ifndef PFSTAT_USER_MACHINE_STATE_H
#define PFSTAT_USER_MACHINE_STATE_H

#include <sys/types.h>

#include "model/environment.h"

/* Reads the machine's fields and fault_around_bytes, but none for a file or a CPU. */
void machine_state_read(struct environment *environment);

/*
 * Reads the file's name, file system, device and read-ahead. A value that cannot be read
 * stays "" or n/a.
 * @fd: the open file
 * @dev: the file's device number
 */
void machine_state_read_file(struct environment *environment, const char *path, int fd, dev_t dev);

/* Reads the transparent huge page setting for anonymous memory. */
void machine_state_read_huge_pages(struct environment *environment);

#endif
