// SPDX-License-Identifier: GPL-2.0-only
/* Lines of mountinfo, the kinds of file systems, and their way through a recording's tail. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "runner.h"
#include "text_file.h"
#include "user/recording/counters_json.h"
#include "user/system/mounts.h"

#define DEV(major, minor) ((major) << 20 | (minor))

static uint32_t device_of(const char *path)
{
	struct stat status;

	ck_assert_int_eq(stat(path, &status), 0);
	return DEV(major(status.st_dev), minor(status.st_dev));
}

TEST(test_mount_line_has_type_source_and_device)
{
	static const struct {
		const char *line;
		struct mount_line mount;
	} lines[] = {
		{ "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n",
		  { 36, { DEV(98, 0), "ext3", "/dev/root", 0, false } } },
		/* No optional fields, or several. */
		{ "40 27 0:52 / /srv rw - nfs4 fs.example:/export/data rw,vers=4.2,addr=10.0.0.2",
		  { 40, { DEV(0, 52), "nfs4", "fs.example:/export/data", 0, false } } },
		{ "41 27 0:53 / /m rw shared:7 master:3 propagate_from:2 - fuse.sshfs me@host:/d rw\n",
		  { 41, { DEV(0, 53), "fuse.sshfs", "me@host:/d", 0, false } } },
		/* A blank, a backslash, and a digit after the number. */
		{ "42 27 0:54 / /a\\040b rw - cifs //nas/my\\040share\\1347 rw\n",
		  { 42, { DEV(0, 54), "cifs", "//nas/my share\\7", 0, false } } },
		/* Of a tag like this the kernel prints no more. */
		{ "43 27 0:55 / /m rw - 9p  rw\n", { 43, { DEV(0, 55), "9p", "", 0, false } } },
		/* A subvolume: the super block's number. */
		{ "44 1 0:31 /@home /home rw - btrfs /dev/sda2 rw,compress=zstd:3,space_cache=v2\n",
		  { 44, { DEV(0, 31), "btrfs", "/dev/sda2", 0, true } } },
		{ "44 1 0:31 / / rw - btrfs /dev/sda2 rw,compress-force\n",
		  { 44, { DEV(0, 31), "btrfs", "/dev/sda2", 0, true } } },
		{ "44 1 0:31 / / rw - btrfs /dev/sda2 rw,compress=no\n",
		  { 44, { DEV(0, 31), "btrfs", "/dev/sda2", 0, false } } },
		{ "44 1 253:0 / / rw - f2fs /dev/dm-0 rw,compress_algorithm=lz4\n",
		  { 44, { DEV(253, 0), "f2fs", "/dev/dm-0", 0, false } } },
	};
	struct mount_line mount;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ck_assert_msg(mount_line_parse(&mount, lines[i].line), "%s", lines[i].line);
		ck_assert_uint_eq(mount.id, lines[i].mount.id);
		ck_assert_uint_eq(mount.filesystem.dev, lines[i].mount.filesystem.dev);
		ck_assert_str_eq(mount.filesystem.type, lines[i].mount.filesystem.type);
		ck_assert_str_eq(mount.filesystem.source, lines[i].mount.filesystem.source);
		ck_assert_msg(mount.filesystem.compress == lines[i].mount.filesystem.compress, "%s",
			      lines[i].line);
	}
}

TEST(test_other_lines_are_no_mounts)
{
	static const char *const lines[] = {
		"",
		"\n",
		"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1\n",
		"36 35 98 / / rw - ext3 /dev/root rw\n",
		"36 35 98:0 / / rw - ",
		" - ext3 /dev/root rw\n",
	};
	struct mount_line mount;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(!mount_line_parse(&mount, lines[i]), "%s", lines[i]);
}

TEST(test_long_source_is_cut)
{
	char line[1024] = "1 1 0:1 / / rw - nfs ";
	struct mount_line mount;
	size_t used = strlen(line);

	memset(line + used, 'x', 600);
	strcpy(line + used + 600, " rw,compress\n");
	ck_assert(mount_line_parse(&mount, line));
	ck_assert_uint_eq(strlen(mount.filesystem.source), sizeof(mount.filesystem.source) - 1);
	ck_assert(mount.filesystem.compress); /* what follows the source is found */
}

TEST(test_first_mount_with_the_number_is_found)
{
	char path[] = "/tmp/pfstat-mounts.XXXXXX";
	struct filesystem found;

	close(mkstemp(path));
	text_file_write(path, "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
			      "21 20 0:40 / /a rw - nfs4 one:/x rw\n"
			      "22 20 0:40 / /b rw - nfs4 two:/x rw\n");
	ck_assert(mounts_find_device(path, DEV(0, 40), &found));
	ck_assert_str_eq(found.source, "one:/x");
	ck_assert(mounts_find_id(path, 22, &found));
	ck_assert_str_eq(found.source, "two:/x");
	ck_assert(!mounts_find_device(path, DEV(0, 41), &found));
	ck_assert(!mounts_find_id(path, 23, &found));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(!mounts_find_device(path, DEV(0, 40), &found));
}

TEST(test_items_name_the_file_systems)
{
	const uint32_t proc = device_of("/proc");
	struct item_map map = { .dev = proc, .pid = getpid() };
	struct pfstat_fault fault = { .event = { .type = PFSTAT_EVENT_FAULT, .pid = getpid() } };
	struct pfstat_task task = { .event = { .type = PFSTAT_EVENT_TASK, .pid = getpid() } };
	struct pfstat_record record = { .dev = proc, .pid = getpid() };
	const struct item items[] = {
		{ .type = ITEM_EVENT, .event = &task.event },
		{ .type = ITEM_EVENT, .event = &fault.event }, /* on no file */
		{ .type = ITEM_MAP, .map = &map },
		{ .type = ITEM_RECORD, .record = &record },
	};
	struct mounts mounts = { 0 };
	struct run_counters counters;
	size_t i;

	run_counters_init(&counters);
	for (i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		mounts_see_item(&mounts, &items[i]);
		ck_assert_uint_eq(mounts.nr, i >= 2);
	}
	fault.dev = device_of("/sys");
	mounts_see_item(&mounts, &items[1]);
	mounts_hand_over(&mounts, &counters);
	ck_assert_ptr_null(mounts.rows);
	ck_assert_uint_eq(counters.nr_filesystems, 2);
	ck_assert_str_eq(counters.filesystems[0].type, "proc");
	ck_assert_uint_eq(counters.filesystems[0].dev, proc);
	ck_assert_str_eq(counters.filesystems[1].type, "sysfs");
	run_counters_exit(&counters);
	ck_assert_uint_eq(counters.nr_filesystems, 0);
}

TEST(test_number_without_a_mount_stays_unknown)
{
	const uint32_t none = DEV(4095U, 1048575), proc = device_of("/proc");
	struct mounts mounts = { 0 };
	uint32_t pid;

	for (pid = 1; pid < 100; pid++)
		mounts_see(&mounts, none, pid);
	mounts_see(&mounts, 0, 1);
	ck_assert_uint_eq(mounts.nr, 0);
	/* A process that has ended: pfdrive's own mounts have it. */
	mounts_see(&mounts, proc, 0x7fffffff);
	ck_assert_uint_eq(mounts.nr, 1);
	ck_assert_str_eq(mounts.rows[0].type, "proc");
	mounts_exit(&mounts);
}

TEST(test_kind_belongs_to_the_type_and_its_subtypes)
{
	static const struct {
		const char *type;
		enum filesystem_kind kind;
	} types[] = {
		{ "ext4", FILESYSTEM_DISK },	     { "xfs", FILESYSTEM_DISK },
		{ "tmpfs", FILESYSTEM_MEMORY },	     { "squashfs", FILESYSTEM_COMPRESS },
		{ "btrfs", FILESYSTEM_COMPRESS },    { "fuse", FILESYSTEM_SERVER },
		{ "fuse.sshfs", FILESYSTEM_SERVER }, { "fuseblk", FILESYSTEM_SERVER },
		{ "nfs4", FILESYSTEM_SERVER },	     { "virtiofs", FILESYSTEM_SERVER },
		{ "overlay", FILESYSTEM_OVERLAY },   { "fusectl", FILESYSTEM_OTHER },
		{ "ext", FILESYSTEM_OTHER },	     { "ext45", FILESYSTEM_OTHER },
		{ "nfsd", FILESYSTEM_OTHER },
	};
	struct filesystem filesystem = { 0 };
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		strcpy(filesystem.type, types[i].type);
		ck_assert_msg(filesystem_kind(&filesystem) == types[i].kind, "%s", types[i].type);
	}
	ck_assert_int_eq(filesystem_kind(NULL), FILESYSTEM_OTHER);
}

TEST(test_source_is_printed_if_it_says_more_than_the_type)
{
	struct filesystem filesystem = { .type = "tmpfs", .source = "tmpfs" };
	char text[FILESYSTEM_TEXT];

	ck_assert_str_eq(filesystem_text(text, &filesystem), "tmpfs");
	strcpy(filesystem.source, "none");
	ck_assert_str_eq(filesystem_text(text, &filesystem), "tmpfs");
	filesystem.source[0] = '\0';
	ck_assert_str_eq(filesystem_text(text, &filesystem), "tmpfs");
	strcpy(filesystem.type, "nfs4");
	strcpy(filesystem.source, "host:/export");
	ck_assert_str_eq(filesystem_text(text, &filesystem), "nfs4 (host:/export)");
}

static int parse_tail(struct run_counters *counters, const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	int err;

	ck_assert_ptr_nonnull(json);
	err = counters_json_parse(counters, json);
	json_decref(json);
	return err;
}

TEST(test_tail_keeps_the_file_systems)
{
	struct filesystem rows[] = {
		{ DEV(0, 52), "nfs4", "host:/export", 131072, false },
		{ UINT32_MAX, "btrfs", "", -1, true },
	};
	struct run_counters counters, copy;
	const struct filesystem *found;
	char *text;
	json_t *json;

	run_counters_init(&counters);
	counters.filesystems = rows;
	counters.nr_filesystems = 2;
	json = counters_json(&counters);
	text = json_dumps(json, 0);
	ck_assert_int_eq(parse_tail(&copy, text), 0);
	ck_assert_uint_eq(copy.nr_filesystems, 2);
	found = filesystem_find(copy.filesystems, 2, DEV(0, 52));
	ck_assert_str_eq(found->type, "nfs4");
	ck_assert_str_eq(found->source, "host:/export");
	ck_assert_int_eq(found->readahead_bytes, 131072);
	ck_assert(!found->compress);
	found = filesystem_find(copy.filesystems, 2, UINT32_MAX);
	ck_assert_str_eq(found->type, "btrfs");
	ck_assert_str_eq(found->source, "");
	ck_assert_int_eq(found->readahead_bytes, -1);
	ck_assert(found->compress);
	ck_assert_ptr_null(filesystem_find(copy.filesystems, 2, DEV(8, 1)));
	run_counters_exit(&copy);
	json_decref(json);
	free(text);
}

TEST(test_tail_of_an_older_version_has_none)
{
	struct run_counters counters;

	ck_assert_int_eq(parse_tail(&counters, "{}"), 0);
	ck_assert_uint_eq(counters.nr_filesystems, 0);
	run_counters_exit(&counters);
}

TEST(test_malformed_file_systems_are_refused)
{
	static const char *const texts[] = {
		"{\"filesystems\": {}}",
		"{\"filesystems\": [1]}",
		"{\"filesystems\": [{\"dev\": -1, \"type\": \"ext4\"}]}",
		"{\"filesystems\": [{\"dev\": 4294967296, \"type\": \"ext4\"}]}",
		"{\"filesystems\": [{\"dev\": 1, \"type\": \"\"}]}",
		"{\"filesystems\": [{\"dev\": 1}]}",
	};
	struct run_counters counters;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(parse_tail(&counters, texts[i]) == -EINVAL, "%s", texts[i]);
}
