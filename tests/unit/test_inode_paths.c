// SPDX-License-Identifier: GPL-2.0-only
/* Files are found by device and inode in the folders of their file system. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "runner.h"
#include "apps/prefetch/prefetch_sources.h"

static char folder[64], inner[128], first[192], second[192], link_path[192];
static volatile sig_atomic_t stop;

static void touch(const char *path)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fclose(file);
}

/* /dev/shm is a tmpfs, whose files have the mount's device. */
static void setup(void)
{
	strcpy(folder, "/dev/shm/pfstat-inodes-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(inner, sizeof(inner), "%s/a folder", folder);
	ck_assert_int_eq(mkdir(inner, 0700), 0);
	snprintf(first, sizeof(first), "%s/first", inner);
	snprintf(second, sizeof(second), "%s/second", folder);
	snprintf(link_path, sizeof(link_path), "%s/0", folder);
	touch(first);
	touch(second);
	ck_assert_int_eq(symlink(first, link_path), 0);
	stop = 0;
}

static void teardown(void)
{
	unlink(first);
	unlink(second);
	unlink(link_path);
	rmdir(inner);
	rmdir(folder);
}

static struct inode_path entry_of(const char *path)
{
	struct stat status;

	ck_assert_int_eq(stat(path, &status), 0);
	return (struct inode_path){
		.inode = status.st_ino,
		.dev = major(status.st_dev) << 20 | minor(status.st_dev),
	};
}

TEST(test_regular_files_are_found_and_links_are_not_followed)
{
	struct inode_path entries[] = { entry_of(second), entry_of(first) };
	struct inode_path of_first = entries[1];
	size_t i;

	ck_assert_int_eq(inode_paths_find(entries, 2, &stop), 0);
	for (i = 0; i < 2; i++) {
		ck_assert_ptr_nonnull(entries[i].path);
		ck_assert_str_eq(entries[i].path,
				 entries[i].inode == of_first.inode ? first : second);
		free(entries[i].path);
	}
}

TEST(test_folders_and_unknown_inodes_are_not_found)
{
	struct inode_path entries[] = { entry_of(inner), entry_of(first) };

	unlink(first);
	ck_assert_int_eq(inode_paths_find(entries, 2, &stop), 0);
	ck_assert_ptr_null(entries[0].path);
	ck_assert_ptr_null(entries[1].path);
}

TEST(test_a_known_path_is_kept)
{
	struct inode_path entry = entry_of(first);
	char known[] = "/known";

	entry.path = known;
	ck_assert_int_eq(inode_paths_find(&entry, 1, &stop), 0);
	ck_assert_ptr_eq(entry.path, known);
}

TEST(test_a_signal_ends_the_search)
{
	struct inode_path entry = entry_of(first);

	stop = 1;
	ck_assert_int_eq(inode_paths_find(&entry, 1, &stop), -EINTR);
	ck_assert_ptr_null(entry.path);
}

FIXTURE(setup, teardown);
