// SPDX-License-Identifier: GPL-2.0-only
/* Mappings of files, scratch files and anonymous memory, and how stores affect them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner.h"
#include "user/util/page_size.h"
#include "user/workload/mapping.h"
#include "user/workload/pattern.h"
#include "user/workload/workload.h"

#define BYTES (5 * page_size() + 100)

static const volatile sig_atomic_t go_on;

/* A file in a separate folder. */
struct place {
	char folder[32], file[40];
};

static struct place place_make(void)
{
	struct place place = { .folder = "/tmp/pfstat.XXXXXX" };
	uint8_t content[BYTES];
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(place.folder));
	snprintf(place.file, sizeof(place.file), "%s/file", place.folder);
	fd = open(place.file, O_CREAT | O_WRONLY, 0600);
	memset(content, 7, sizeof(content));
	ck_assert_int_eq(write(fd, content, BYTES), BYTES);
	close(fd);
	return place;
}

static void place_remove(const struct place *place)
{
	unlink(place->file);
	/* The folder must be empty again. */
	ck_assert_int_eq(rmdir(place->folder), 0);
}

static uint8_t first_byte_of(const char *file)
{
	int fd = open(file, O_RDONLY);
	uint8_t byte;

	ck_assert_int_eq(read(fd, &byte, 1), 1);
	close(fd);
	return byte;
}

static void fill_mapped(enum mapping_kind kind, const char *file)
{
	struct mapping mapping;
	uint64_t i;

	ck_assert_int_eq(mapping_open(&mapping, file, kind == MAPPING_SHARED), 0);
	mapping.kind = kind;
	mapping.writable = true;
	ck_assert_uint_eq(mapping.pages, 6);
	ck_assert_int_eq(mapping_map(&mapping), 0);
	ck_assert_uint_eq(mapping.data[0], 7);
	mapping_fill(&mapping, &go_on);
	ck_assert_int_eq(mapping_sync(&mapping), 0);
	for (i = 1; i < BYTES; i++)
		ck_assert_uint_eq(mapping.data[i], mapping.data[0]);
	ck_assert_uint_ne(mapping.data[0], 7);
	mapping_close(&mapping);
}

TEST(test_a_shared_mapping_writes_the_file)
{
	struct place place = place_make();

	fill_mapped(MAPPING_SHARED, place.file);
	ck_assert_uint_ne(first_byte_of(place.file), 7);
	place_remove(&place);
}

TEST(test_a_private_mapping_leaves_the_file)
{
	struct place place = place_make();

	/* Read access is sufficient. */
	chmod(place.file, 0400);
	fill_mapped(MAPPING_PRIVATE, place.file);
	ck_assert_uint_eq(first_byte_of(place.file), 7);
	place_remove(&place);
}

TEST(test_fill_stops_on_a_signal)
{
	const volatile sig_atomic_t stop = 1;
	struct mapping mapping;

	mapping_anon(&mapping, BYTES);
	ck_assert_uint_eq(mapping.pages, 6);
	ck_assert_int_eq(mapping_map(&mapping), 0);
	mapping_fill(&mapping, &stop);
	ck_assert_uint_eq(mapping.data[0], 0);
	mapping_fill(&mapping, &go_on);
	ck_assert_uint_ne(mapping.data[BYTES - 1], 0);
	mapping_close(&mapping);
}

TEST(test_warm_up_may_be_repeated)
{
	mapping_warm_up();
	mapping_warm_up();
}

TEST(test_a_scratch_file_has_content_and_no_name)
{
	struct place place = place_make();
	struct stat stat;
	uint8_t byte;
	int fd = scratch_file_make(place.folder, 3 * (1 << 20) + 5, &go_on);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &stat), 0);
	ck_assert_int_eq(stat.st_size, 3 * (1 << 20) + 5);
	ck_assert_uint_eq(stat.st_nlink, 0);
	ck_assert_int_ge(stat.st_blocks * 512, stat.st_size);
	ck_assert_int_eq(pread(fd, &byte, 1, stat.st_size - 1), 1);
	ck_assert_uint_eq(byte, SCRATCH_BYTE);
	place_remove(&place); /* while the file is open */
	close(fd);
}

TEST(test_scratch_file_fails_with_the_errno)
{
	const volatile sig_atomic_t stop = 1;
	struct place place = place_make();

	ck_assert_int_eq(scratch_file_make("/nowhere/at/all", 4096, &go_on), -ENOENT);
	ck_assert_int_eq(scratch_file_make(place.file, 4096, &go_on), -ENOTDIR);
	ck_assert_int_eq(scratch_file_make(place.folder, 4096, &stop), -EINTR);
	place_remove(&place);
}

TEST(test_sigbus_is_explained_by_disk_or_truncation)
{
	struct place place = place_make();
	struct mapping mapping;

	ck_assert_int_eq(mapping_open(&mapping, place.file, false), 0);
	ck_assert_str_eq(mapping_loss(&mapping), "the disk fails");
	ck_assert_int_eq(truncate(place.file, 10), 0);
	ck_assert_str_eq(mapping_loss(&mapping), "another process truncated the file");
	mapping_close(&mapping);
	place_remove(&place);
}
