// SPDX-License-Identifier: GPL-2.0-only
/* Facts about a file system that follow from its type. The types come from mount tables. */
#include <stdio.h>
#include <string.h>

#include "model/filesystem.h"

/*
 * A type matches as a whole, or up to its subtype: "fuse" is also "fuse.sshfs". FUSE serves
 * fuseblk, too. btrfs, erofs and f2fs may hold compressed files, whatever their options are.
 */
static const struct {
	const char *type;
	enum filesystem_kind kind;
} filesystem_kinds[] = {
	{ "ext2", FILESYSTEM_DISK },	     { "ext3", FILESYSTEM_DISK },
	{ "ext4", FILESYSTEM_DISK },	     { "xfs", FILESYSTEM_DISK },
	{ "jfs", FILESYSTEM_DISK },	     { "nilfs2", FILESYSTEM_DISK },
	{ "ocfs2", FILESYSTEM_DISK },	     { "gfs2", FILESYSTEM_DISK },
	{ "vfat", FILESYSTEM_DISK },	     { "exfat", FILESYSTEM_DISK },
	{ "tmpfs", FILESYSTEM_MEMORY },	     { "devtmpfs", FILESYSTEM_MEMORY },
	{ "ramfs", FILESYSTEM_MEMORY },	     { "rootfs", FILESYSTEM_MEMORY },
	{ "hugetlbfs", FILESYSTEM_MEMORY },  { "squashfs", FILESYSTEM_COMPRESS },
	{ "erofs", FILESYSTEM_COMPRESS },    { "cramfs", FILESYSTEM_COMPRESS },
	{ "btrfs", FILESYSTEM_COMPRESS },    { "f2fs", FILESYSTEM_COMPRESS },
	{ "bcachefs", FILESYSTEM_COMPRESS }, { "zfs", FILESYSTEM_COMPRESS },
	{ "ntfs3", FILESYSTEM_COMPRESS },    { "ubifs", FILESYSTEM_COMPRESS },
	{ "jffs2", FILESYSTEM_COMPRESS },    { "iso9660", FILESYSTEM_COMPRESS },
	{ "fuse", FILESYSTEM_SERVER },	     { "fuseblk", FILESYSTEM_SERVER },
	{ "nfs", FILESYSTEM_SERVER },	     { "nfs4", FILESYSTEM_SERVER },
	{ "cifs", FILESYSTEM_SERVER },	     { "smb3", FILESYSTEM_SERVER },
	{ "9p", FILESYSTEM_SERVER },	     { "virtiofs", FILESYSTEM_SERVER },
	{ "ceph", FILESYSTEM_SERVER },	     { "afs", FILESYSTEM_SERVER },
	{ "overlay", FILESYSTEM_OVERLAY },
};

enum filesystem_kind filesystem_kind(const struct filesystem *filesystem)
{
	const size_t nr = sizeof(filesystem_kinds) / sizeof(filesystem_kinds[0]);
	size_t i, length;

	for (i = 0; filesystem && i < nr; i++) {
		length = strlen(filesystem_kinds[i].type);
		if (!strncmp(filesystem->type, filesystem_kinds[i].type, length) &&
		    (!filesystem->type[length] || filesystem->type[length] == '.'))
			return filesystem_kinds[i].kind;
	}
	return FILESYSTEM_OTHER;
}

const struct filesystem *filesystem_find(const struct filesystem *rows, size_t nr, uint32_t dev)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (rows[i].dev == dev)
			return &rows[i];
	return NULL;
}

const char *filesystem_text(char text[FILESYSTEM_TEXT], const struct filesystem *filesystem)
{
	const bool named = filesystem->source[0] && strcmp(filesystem->source, filesystem->type) &&
			   strcmp(filesystem->source, "none");

	snprintf(text, FILESYSTEM_TEXT, named ? "%s (%s)" : "%s", filesystem->type,
		 filesystem->source);
	return text;
}
