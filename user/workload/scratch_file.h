/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file to write to, without a name, so the disk space is freed however the program ends. The
 * blocks are allocated first, to detect a full disk here. They are also written once, so a cold
 * read goes to the disk (a file system fills unwritten blocks with zeros without reading).
 */
#ifndef PFSTAT_USER_SCRATCH_FILE_H
#define PFSTAT_USER_SCRATCH_FILE_H

#include <signal.h>
#include <stdint.h>

/* The file content. */
#define SCRATCH_BYTE 0x5a

/*
 * Creates the file in @folder. It is on disk on return. Returns a descriptor, -ENOSPC, -EINTR after
 * @stop, or an error from open(2), posix_fallocate(3), write(2) or fsync(2).
 */
int scratch_file_make(const char *folder, uint64_t bytes, const volatile sig_atomic_t *stop);

#endif
