// SPDX-License-Identifier: GPL-2.0-only
/* Only regular files are opened, whatever the name refers to. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner.h"
#include "user/util/input_file.h"

static char folder[32] = "/tmp/pfstat-regular-XXXXXX";

static void begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(close(open("file", O_WRONLY | O_CREAT | O_EXCL, 0600)), 0);
	ck_assert_int_eq(symlink("file", "link"), 0);
	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
}

static void end(void)
{
	unlink("file");
	unlink("link");
	unlink("pipe");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

TEST(test_file_is_opened_with_the_requested_flags)
{
	char byte = 'x';
	int fd;

	begin();
	fd = open_regular("link", O_RDWR);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(write(fd, &byte, 1), 1);
	close(fd);
	fd = open_regular("file", O_RDONLY | O_NOFOLLOW);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, &byte, 1), -1);
	ck_assert_int_eq(read(fd, &byte, 1), 1);
	close(fd);
	end();
}

TEST(test_non_regular_files_are_refused)
{
	begin();
	ck_assert_int_eq(open_regular("pipe", O_RDONLY), -EMEDIUMTYPE);
	ck_assert_int_eq(open_regular("/dev/null", O_RDWR), -EMEDIUMTYPE);
	ck_assert_int_eq(open_regular(".", O_RDONLY), -EISDIR);
	ck_assert_int_eq(open_regular("link", O_RDONLY | O_NOFOLLOW), -ELOOP);
	ck_assert_int_eq(open_regular("missing", O_RDONLY), -ENOENT);
	end();
}
