/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file to write to that has no name, so its disk space is freed however the program ends.
 * Its blocks are allocated first, so that a full disk is detected here. They are also
 * written once, so that a cold read goes to the disk (a file system fills unwritten blocks
 * with zeros without reading).
 */
#ifndef PFSTAT_USER_SCRATCH_FILE_H
#define PFSTAT_USER_SCRATCH_FILE_H

#include <signal.h>
#include <stdint.h>

/* The content of the file. */
#define SCRATCH_BYTE 0x5a

/*
 * Creates the file in @folder; it is on disk on return. Returns a descriptor, -ENOSPC,
 * -EINTR after @stop, or an error of open(2), posix_fallocate(3), write(2) or fsync(2).
 */
int scratch_file_make(const char *folder, uint64_t bytes, const volatile sig_atomic_t *stop);

#endif
