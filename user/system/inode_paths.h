/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the paths of files with a known device and inode. The kernel keeps no path for an inode, so
 * this code reads the folders in the mounted file systems until all are found.
 */
#ifndef PFSTAT_USER_INODE_PATHS_H
#define PFSTAT_USER_INODE_PATHS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct inode_path {
	uint64_t inode;
	uint32_t dev; /* major << 20 | minor, as in pfstat_record */
	char *path;   /* NULL if not found; the caller frees it */
};

/* For qsort(3) and bsearch(3): by device and inode. */
int inode_path_compare(const void *a, const void *b);
/*
 * Sorts the entries by device and inode. Sets the path for regular files in a folder which this
 * process may read. Entries with a path already are not searched. Returns 0, -ENOMEM, -EINTR after
 * @stop, or an error from reading /proc/self/mountinfo.
 */
int inode_paths_find(struct inode_path *entries, size_t nr, const volatile sig_atomic_t *stop);

#endif
