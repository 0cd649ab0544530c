/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file system of a file, as the mount table of the file's process names it. system/mounts.h
 * reads it while pfdrive records, because the mount may be gone later.
 */
#ifndef PFSTAT_USER_FILESYSTEM_H
#define PFSTAT_USER_FILESYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filesystem {
	uint32_t dev;		 /* the super block's: major << 20 | minor */
	char type[32];		 /* with the subtype: "ext4", "nfs4", "fuse.sshfs" */
	char source[256];	 /* "/dev/sda1", "server:/export", "" if none */
	int64_t readahead_bytes; /* -1 if not known */
	bool compress;		 /* the mount options have compress or compress-force (btrfs) */
};

/* Where the pages of a file on this file system come from. */
enum filesystem_kind {
	FILESYSTEM_DISK,     /* it never compresses, and no server is involved */
	FILESYSTEM_MEMORY,   /* without a disk: tmpfs and the like */
	FILESYSTEM_COMPRESS, /* it may hold compressed files */
	FILESYSTEM_SERVER,   /* another program or machine brings the pages */
	FILESYSTEM_OVERLAY,  /* a file system below it has the pages */
	FILESYSTEM_OTHER,
};

/* @filesystem: NULL if not known, which is FILESYSTEM_OTHER */
enum filesystem_kind filesystem_kind(const struct filesystem *filesystem);
/* NULL: none has this number. */
const struct filesystem *filesystem_find(const struct filesystem *rows, size_t nr, uint32_t dev);

/* With the final 0. */
#define FILESYSTEM_TEXT 300
/* Writes "ext4 (/dev/sda1)", or only the type if the source adds nothing. Returns @text. */
const char *filesystem_text(char text[FILESYSTEM_TEXT], const struct filesystem *filesystem);

#endif
