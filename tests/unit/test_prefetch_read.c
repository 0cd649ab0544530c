// SPDX-License-Identifier: GPL-2.0-only
/* Reading a prefetch list: only listed, unchanged files are read. Other files are skipped. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "runner.h"
#include "apps/prefetch/prefetch.h"
#include "user/util/message.h"

#define BYTES 300000

static char folder[64], path[128], other[128], errors[65536];
static struct prefetch_list list;
static struct prefetch_result result;

static void make_file(const char *name, size_t bytes)
{
	static char content[BYTES];
	FILE *out = fopen(name, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(content, 1, bytes, out), bytes);
	ck_assert_int_eq(fclose(out), 0);
}

static void list_file(const char *name)
{
	struct stat status;

	ck_assert_int_eq(stat(name, &status), 0);
	ck_assert_int_eq(prefetch_list_add_file(&list,
						&(struct prefetch_file){
							.path = (char *)name,
							.inode = status.st_ino,
							.bytes = status.st_size,
							.mtime_s = status.st_mtim.tv_sec,
							.mtime_ns = status.st_mtim.tv_nsec,
							.dev_major = major(status.st_dev),
							.dev_minor = minor(status.st_dev),
						}),
			 0);
}

static void list_read(uint32_t file, uint64_t offset, uint64_t bytes)
{
	const struct prefetch_read read = { offset, bytes, file };

	ck_assert_int_eq(prefetch_list_add_read(&list, &read), 0);
}

static void setup(void)
{
	strcpy(folder, "/tmp/pfstat-prefetch-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	make_file(path, BYTES);
	list_file(path);
	list_read(0, 0, BYTES);
}

static void teardown(void)
{
	prefetch_list_exit(&list);
	unlink(path);
	unlink(other);
	rmdir(folder);
}

/* Returns the exit status. Messages go to errors. */
static int apply(unsigned int threads)
{
	FILE *captured = tmpfile();
	const int before = dup(STDERR_FILENO);
	int status;

	ck_assert_ptr_nonnull(captured);
	dup2(fileno(captured), STDERR_FILENO);
	status = prefetch_read(&list, threads, &result);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(captured);
	errors[fread(errors, 1, sizeof(errors) - 1, captured)] = '\0';
	fclose(captured);
	return status;
}

static void check_left_out(const char *reason)
{
	ck_assert_int_eq(apply(4), STATUS_OK);
	ck_assert_uint_eq(result.bytes, 0);
	ck_assert_uint_eq(result.files, 0);
	ck_assert_uint_eq(result.left_out, 1);
	ck_assert_msg(strstr(errors, reason), "'%s' is not in: %s", reason, errors);
	ck_assert_msg(strstr(errors, path), "%s is not in: %s", path, errors);
}

TEST(test_all_extents_are_read_with_any_number_of_threads)
{
	static const unsigned int threads[] = { 1, 2, 8, 64 };
	size_t i;

	list_read(0, 4096, 100);
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(apply(threads[i]), STATUS_OK);
		ck_assert_uint_eq(result.bytes, BYTES + 100);
		ck_assert_uint_eq(result.files, 1);
		ck_assert_uint_eq(result.left_out, 0);
		ck_assert_str_eq(errors, "");
	}
}

TEST(test_a_missing_file_is_left_out)
{
	unlink(path);
	check_left_out("No such file");
}

TEST(test_a_file_of_another_inode_is_left_out)
{
	make_file(other, BYTES);
	ck_assert_int_eq(rename(other, path), 0);
	check_left_out("another file");
}

TEST(test_a_file_that_grew_is_left_out)
{
	ck_assert_int_eq(truncate(path, BYTES + 1), 0);
	check_left_out("changed");
}

TEST(test_a_file_of_another_time_is_left_out)
{
	list.files[0].mtime_ns ^= 1;
	check_left_out("changed");
}

TEST(test_a_file_of_another_device_is_left_out)
{
	list.files[0].dev_major = 77;
	check_left_out("another file");
}

TEST(test_a_symbolic_link_to_the_file_is_left_out)
{
	ck_assert_int_eq(rename(path, other), 0);
	ck_assert_int_eq(symlink(other, path), 0);
	check_left_out("symbolic link");
}

TEST(test_a_fifo_is_left_out_and_not_opened)
{
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	check_left_out("not a regular file");
}

TEST(test_other_files_are_read_if_one_is_stale)
{
	make_file(other, 5000);
	list_file(other);
	list_read(1, 0, 5000);
	ck_assert_int_eq(truncate(path, 3), 0);
	ck_assert_int_eq(apply(8), STATUS_OK);
	ck_assert_uint_eq(result.bytes, 5000);
	ck_assert_uint_eq(result.files, 1);
	ck_assert_uint_eq(result.left_out, 1);
}

TEST(test_extents_of_any_length_are_refused_before_memory_is_used)
{
	list_read(0, 0, INT64_MAX);
	ck_assert_int_eq(apply(8), STATUS_FAILED);
	ck_assert_ptr_nonnull(strstr(errors, "2 TiB"));
}

TEST(test_a_list_that_is_no_regular_file_is_refused)
{
	struct prefetch_list none;

	ck_assert_int_eq(prefetch_read_list(&none, "/dev/zero"), STATUS_FAILED);
	ck_assert_int_eq(prefetch_read_list(&none, folder), STATUS_FAILED);
	ck_assert_int_eq(prefetch_read_list(&none, path), STATUS_FAILED); /* zeros */
}

FIXTURE(setup, teardown);
