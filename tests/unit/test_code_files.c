// SPDX-License-Identifier: GPL-2.0-only
/* The search for a mapped file of code: no other file is taken for it. */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"
#include "user/collect/code_files.h"
#include "user/util/time_ns.h"

static char folder[32] = "/tmp/pfstat-code-XXXXXX";
static char path[64], other[64];

static void write_file(const char *to, const char *text)
{
	FILE *file = fopen(to, "w");

	fputs(text, file);
	fclose(file);
}

static void setup(void)
{
	strcpy(folder, "/tmp/pfstat-code-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/program", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	write_file(path, "first");
}

static void teardown(void)
{
	unlink(path);
	unlink(other);
	rmdir(folder);
}

/* A process maps the file at this moment. Returns the inode. */
static uint64_t see(struct code_files *files, pid_t pid, uint32_t prot, uint32_t dev_change)
{
	struct item_map *map = calloc(1, sizeof(*map) + sizeof(path));
	struct stat status;
	uint64_t inode;

	ck_assert_int_eq(stat(path, &status), 0);
	inode = status.st_ino;
	*map = (struct item_map){
		.ns = clock_monotonic_ns(),
		.bytes = 4096,
		.inode = inode,
		.pid = pid,
		.tid = pid,
		.prot = prot,
		.dev = (major(status.st_dev) << 20 | minor(status.st_dev)) + dev_change,
		.path_bytes = strlen(path) + 1,
	};
	strcpy(map->path, path);
	code_files_see(files, map);
	free(map);
	return inode;
}

static void check_text(struct code_files *files, uint64_t inode, const char *expected)
{
	const int fd = code_files_open(files, path, inode);
	char text[16] = "";

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(pread(fd, text, sizeof(text) - 1, 0), 0);
	ck_assert_pstr_eq(text, expected);
	close(fd);
}

TEST(test_the_mapped_file_is_found_by_path_and_inode)
{
	struct code_files *files = code_files_new();
	uint64_t inode = see(files, getpid(), PROT_READ | PROT_EXEC, 0);

	check_text(files, inode, "first");
	ck_assert_int_lt(code_files_open(files, path, inode + 1), 0);
	ck_assert_int_lt(code_files_open(files, other, inode), 0);
	code_files_free(files);
}

TEST(test_a_file_that_replaces_it_is_not_taken_for_it)
{
	struct code_files *files = code_files_new();
	uint64_t inode = see(files, getpid(), PROT_READ | PROT_EXEC, 0);

	write_file(other, "later");
	ck_assert_int_eq(rename(other, path), 0);
	check_text(files, inode, "first");
	code_files_free(files);
}

/* A daemon goes on with the program that a new package has replaced. */
TEST(test_the_program_of_a_process_is_found_after_its_removal)
{
	struct code_files *files = code_files_new();
	char copy[80], deleted[96] = "", from[128];
	struct item_map *map = calloc(1, sizeof(*map) + sizeof(deleted));
	struct stat status;
	int line[2], fd;
	pid_t pid;

	snprintf(copy, sizeof(copy), "%s/sleeper", folder);
	ck_assert_int_eq(pipe(line), 0);
	snprintf(from, sizeof(from), "cp /bin/cat %s", copy);
	ck_assert_int_eq(system(from), 0);
	pid = fork();
	if (!pid) {
		dup2(line[0], 0);
		close(line[1]);
		execl(copy, copy, NULL);
		_exit(1);
	}
	snprintf(from, sizeof(from), "/proc/%d/exe", pid);
	ck_assert_int_eq(stat(copy, &status), 0);
	do
		ck_assert_int_ge(readlink(from, deleted, sizeof(deleted) - 1), 0);
	while (strncmp(deleted, copy, strlen(copy)));
	unlink(copy);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", copy);
	*map = (struct item_map){
		.bytes = 4096,
		.inode = status.st_ino,
		.pid = pid,
		.tid = pid,
		.prot = PROT_EXEC,
		.dev = major(status.st_dev) << 20 | minor(status.st_dev),
		.path_bytes = strlen(deleted) + 1,
	};
	strcpy(map->path, deleted);
	code_files_see(files, map);
	fd = code_files_open(files, deleted, status.st_ino);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	ck_assert_uint_eq(status.st_ino, map->inode);
	ck_assert_uint_eq(status.st_nlink, 0);
	close(fd);

	/* Another file with the name of none is not taken from that process. */
	map->inode++;
	code_files_see(files, map);
	ck_assert_int_lt(code_files_open(files, deleted, map->inode), 0);
	close(line[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	free(map);
	code_files_free(files);
}

TEST(test_a_file_that_was_written_since_has_no_names)
{
	struct code_files *files = code_files_new();
	uint64_t inode = see(files, getpid(), PROT_READ | PROT_EXEC, 0);

	write_file(path, "written");
	ck_assert_int_lt(code_files_open(files, path, inode), 0);
	code_files_free(files);
}

TEST(test_non_executable_file_is_not_kept_open)
{
	struct code_files *files = code_files_new();
	uint64_t inode = see(files, getpid(), PROT_READ, 0);

	ck_assert_int_lt(code_files_open(files, path, inode), 0);
	code_files_free(files);
}

/* The same path and inode number on another device is another file. */
TEST(test_another_device_is_another_file)
{
	struct code_files *files = code_files_new();
	struct statfs status;
	uint64_t inode;

	ck_assert_int_eq(statfs(path, &status), 0);
	inode = see(files, getpid(), PROT_READ | PROT_EXEC, 1);
	/* On overlayfs and btrfs the device is not known. */
	if (status.f_type == OVERLAYFS_SUPER_MAGIC || status.f_type == BTRFS_SUPER_MAGIC)
		check_text(files, inode, "first");
	else
		ck_assert_int_lt(code_files_open(files, path, inode), 0);
	code_files_free(files);
}

TEST(test_files_of_an_exited_process_are_found)
{
	struct code_files *files = code_files_new();
	uint64_t inode = see(files, 1 << 30, PROT_READ | PROT_EXEC, 0);

	check_text(files, inode, "first");
	code_files_free(files);
}

/* More files than are kept open. One is mapped again and again. */
TEST(test_files_that_were_mapped_last_are_kept)
{
	struct code_files *files = code_files_new();
	const unsigned int nr = 600;
	uint64_t inodes[nr];
	unsigned int i;
	int fd;

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/program0", folder);
		if (i)
			inodes[0] = see(files, getpid(), PROT_EXEC, 0);
		snprintf(path, sizeof(path), "%s/program%u", folder, i);
		write_file(path, "code");
		inodes[i] = see(files, getpid(), PROT_EXEC, 0);
	}
	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/program%u", folder, i);
		fd = code_files_open(files, path, inodes[i]);
		ck_assert((fd >= 0) == (!i || i > nr - 512));
		if (fd >= 0)
			close(fd);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/program", folder);
	code_files_free(files);
}

TEST(test_a_device_is_not_opened)
{
	struct code_files *files = code_files_new();
	uint64_t inode;

	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	inode = see(files, getpid(), PROT_READ | PROT_EXEC, 0);
	ck_assert_int_lt(code_files_open(files, path, inode), 0);
	code_files_free(files);
}

FIXTURE(setup, teardown);
