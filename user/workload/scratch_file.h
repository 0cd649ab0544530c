/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file to write to, which has no name: whatever ends the program, the disk's space is
 * free again. Its blocks are allocated before anything is stored, so that a full
 * disk shows here; and they are written once, so that a cold read of it is a read of
 * the disk (of allocated, unwritten blocks a file system makes zeros by itself).
 */
#ifndef PFSTAT_USER_SCRATCH_FILE_H
#define PFSTAT_USER_SCRATCH_FILE_H

#include <signal.h>
#include <stdint.h>

/* What they are written with. */
#define SCRATCH_BYTE 0x5a

/*
 * In that folder, on the disk when it returns. A descriptor, or a negative errno:
 * -ENOSPC, -EINTR: told to stop, or what open(2), posix_fallocate(3), write(2) and
 * fsync(2) say.
 */
int scratch_make(const char *folder, uint64_t bytes, const volatile sig_atomic_t *stop);

#endif
