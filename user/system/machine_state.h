/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads what the kernel reports about the machine and about the file system of a file. */
#ifndef PFSTAT_USER_MACHINE_STATE_H
#define PFSTAT_USER_MACHINE_STATE_H

#include <sys/types.h>

#include "model/environment.h"

/* The machine's part, and fault_around_bytes; nothing of a file or of one CPU. */
void environment_read_machine(struct environment *environment);

/*
 * The file's name, file system, device and read-ahead. @fd: the open file; @dev: its device
 * number. A value that cannot be found out stays "" or n/a.
 */
void environment_read_file(struct environment *environment, const char *path, int fd, dev_t dev);

/* The setting of transparent huge pages, for anonymous memory. */
void environment_read_huge_pages(struct environment *environment);

#endif
