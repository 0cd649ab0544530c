// SPDX-License-Identifier: GPL-2.0-only
/* Output files: another user can choose neither the file that root writes nor the file mode. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "text_file.h"
#include "user/privilege/output.h"

#define NOBODY	 65534
#define ATTEMPTS 400

static char folder[40];

/* A folder owned by the test's user, with a folder like /tmp in it. */
static void make_folders(void)
{
	strcpy(folder, "/tmp/pfstat-output-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chmod(folder, 0755), 0);
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(mkdir("shared", 01777), 0);
	ck_assert_int_eq(chmod("shared", 01777), 0);
	text_file_write("victim", "precious");
	ck_assert_int_eq(chmod("victim", 0600), 0);
}

static void remove_folders(void)
{
	char command[64];

	ck_assert_int_eq(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static int write_as(const char *path, bool early, char letter)
{
	struct output *output;
	int err = output_open(&output, path);

	if (err)
		return err;
	fputc(letter, output_stream(output));
	if (early)
		output_name_now(output);
	return output_commit(output);
}

static int write_output(const char *path)
{
	return write_as(path, false, 'o');
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	ck_assert_int_eq(lstat(path, &status), 0);
	return status.st_mode;
}

static void check_victim(void)
{
	text_file_check("victim", "precious");
	ck_assert_uint_eq(mode_of("victim"), S_IFREG | 0600);
}

/* Runs @attack as another user. */
static pid_t start_attack(void (*attack)(void))
{
	const pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (chdir("shared") || setgid(NOBODY) || setuid(NOBODY))
		_exit(1);
	umask(0);
	attack();
	_exit(0);
}

static void attack_once(void (*attack)(void))
{
	int status;

	ck_assert_int_eq(waitpid(start_attack(attack), &status, 0) < 0, 0);
	ck_assert_int_eq(status, 0);
}

static void make_wide_file(void)
{
	const int fd = open("out", O_CREAT | O_EXCL | O_WRONLY, 0666);

	if (fd >= 0) {
		if (write(fd, "x", 1) != 1)
			_exit(1);
		close(fd);
	}
}

static void make_link(void)
{
	if (symlink("../victim", "out"))
		_exit(1);
}

static void make_pipe(void)
{
	if (mkfifo("out", 0666))
		_exit(1);
}

static void exchange_for_ever(void)
{
	for (;;) {
		make_wide_file();
		if (access("link", F_OK) && symlink("../victim", "link") && errno != EEXIST)
			_exit(1);
		syscall(SYS_renameat2, AT_FDCWD, "out", AT_FDCWD, "link", RENAME_EXCHANGE);
	}
}

TEST(test_another_user_cannot_exchange_the_output_for_a_link)
{
	unsigned int i, written = 0;
	struct stat status;
	pid_t pid;
	int err;

	if (geteuid())
		return; /* only root can write where the victim is */
	pid = start_attack(exchange_for_ever);
	for (i = 0; i < ATTEMPTS; i++) {
		/* The attacker cannot rename root's file, so each attempt begins without it. */
		unlink("shared/out");
		err = write_as("shared/out", i % 2, 'o');
		ck_assert_msg(!err || err == -EACCES || err == -ENOENT, "%s", strerror(-err));
		written += !err;
		check_victim();
		/* A file owned by root is not opened to all users. */
		if (!lstat("shared/out", &status) && S_ISREG(status.st_mode) && !status.st_uid)
			ck_assert_uint_eq(status.st_mode & 0777, 0600);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_uint_gt(written, 0);
}

TEST(test_a_link_of_another_user_in_a_shared_folder_is_refused)
{
	if (geteuid())
		return;
	attack_once(make_link);
	ck_assert_int_eq(write_output("shared/out"), -EACCES);
	check_victim();
}

TEST(test_a_pipe_of_another_user_in_a_shared_folder_is_refused)
{
	if (geteuid())
		return;
	attack_once(make_pipe);
	ck_assert_int_eq(write_output("shared/out"), -EACCES);
}

TEST(test_a_file_of_another_user_is_replaced_with_mode_0600)
{
	struct stat status;

	if (geteuid())
		return;
	attack_once(make_wide_file);
	ck_assert_int_eq(write_output("shared/out"), 0);
	ck_assert_int_eq(stat("shared/out", &status), 0);
	ck_assert_uint_eq(status.st_uid, 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	text_file_check("shared/out", "o");
}

/* A user may link a file that all users may write, where fs.protected_hardlinks is set, too. */
TEST(test_a_file_with_two_names_does_not_pass_on_its_mode)
{
	text_file_write("wide", "w");
	ck_assert_int_eq(chmod("wide", 0666), 0);
	ck_assert_int_eq(link("wide", "shared/out"), 0);
	ck_assert_int_eq(write_output("shared/out"), 0);
	ck_assert_uint_eq(mode_of("shared/out"), S_IFREG | 0600);
	text_file_check("wide", "w");
}

TEST(test_an_own_file_passes_on_its_mode)
{
	ck_assert_int_eq(chmod("victim", 0640), 0);
	ck_assert_int_eq(write_output("victim"), 0);
	ck_assert_uint_eq(mode_of("victim"), S_IFREG | 0640);
}

TEST(test_own_links_are_kept_and_their_target_is_replaced)
{
	ck_assert_int_eq(symlink("../second", "shared/first"), 0);
	ck_assert_int_eq(symlink("victim", "second"), 0);
	ck_assert_int_eq(write_output("shared/first"), 0);
	ck_assert(S_ISLNK(mode_of("shared/first")) && S_ISLNK(mode_of("second")));
	text_file_check("victim", "o");
	ck_assert_uint_eq(mode_of("victim"), S_IFREG | 0600);
}

TEST(test_a_link_to_another_folder_names_the_temporary_file_there)
{
	struct output *output;

	ck_assert_int_eq(symlink("shared/target", "link"), 0);
	text_file_write("shared/target", "old");
	ck_assert_int_eq(output_open(&output, "link"), 0);
	ck_assert_str_eq(output_path(output), "shared/target");
	output_close(output);
	text_file_check("shared/target", "old");
	ck_assert_int_eq(unlink("shared/target"), 0);
	ck_assert_int_eq(rmdir("shared"), 0); /* no temporary file is left */
	ck_assert_int_eq(mkdir("shared", 0700), 0);
}

TEST(test_links_without_a_target_and_loops_are_refused)
{
	ck_assert_int_eq(symlink("nothing", "dangling"), 0);
	ck_assert_int_eq(symlink("nothing/at/all", "far"), 0);
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	ck_assert_int_eq(write_output("dangling"), -ENOENT);
	ck_assert_int_eq(write_output("far"), -ENOENT);
	ck_assert_int_eq(write_output("loop"), -ELOOP);
	ck_assert(S_ISLNK(mode_of("far")));
}

TEST(test_folders_and_missing_folders_are_refused)
{
	ck_assert_int_eq(write_output("shared"), -EISDIR);
	ck_assert_int_eq(write_output("shared/"), -EISDIR);
	ck_assert_int_eq(write_output("."), -EISDIR);
	ck_assert_int_eq(write_output(""), -ENOENT);
	ck_assert_int_eq(write_output("none/out"), -ENOENT);
	ck_assert_int_eq(write_output("none/"), -ENOENT);
	ck_assert_int_eq(write_output("victim/out"), -ENOTDIR);
}

TEST(test_pipes_and_devices_are_written_directly)
{
	char letter = 0;
	int fd;

	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
	ck_assert_int_eq(symlink("pipe", "link"), 0);
	fd = open("pipe", O_RDONLY | O_NONBLOCK);
	ck_assert_int_eq(write_as("pipe", false, 'p'), 0);
	ck_assert_int_eq(read(fd, &letter, 1), 1);
	ck_assert_int_eq(letter, 'p');
	ck_assert_int_eq(write_as("link", true, 'l'), 0);
	ck_assert_int_eq(read(fd, &letter, 1), 1);
	ck_assert_int_eq(letter, 'l');
	close(fd);
	ck_assert(S_ISFIFO(mode_of("pipe")) && S_ISLNK(mode_of("link")));
	ck_assert_int_eq(write_output("/dev/null"), 0);
	ck_assert(S_ISCHR(mode_of("/dev/null")));
}

static bool keeps_mode(const char *path)
{
	struct output *output;
	bool keeps;

	ck_assert_int_eq(output_open(&output, path), 0);
	keeps = output_keeps_mode(output);
	output_close(output);
	return keeps;
}

TEST(test_only_a_new_file_has_no_mode_to_keep)
{
	ck_assert(!keeps_mode("new"));
	ck_assert(keeps_mode("victim"));
	ck_assert_int_eq(link("victim", "second"), 0);
	ck_assert(!keeps_mode("victim"));
	/* A device's mode must not change. */
	ck_assert(keeps_mode("/dev/null"));
}

/* Runs in a separate process, so the test keeps standard output. */
static int write_to_stdout(int fd)
{
	int status;

	if (!fork()) {
		dup2(fd, STDOUT_FILENO);
		_exit(-write_output("/dev/stdout"));
	}
	wait(&status);
	return -WEXITSTATUS(status);
}

TEST(test_the_standard_output_has_any_kind_of_file)
{
	int ends[2], fd;
	char letter = 0;

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write_to_stdout(ends[1]), 0);
	ck_assert_int_eq(read(ends[0], &letter, 1), 1);
	ck_assert_int_eq(letter, 'o');

	fd = open("file", O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(write_to_stdout(fd), 0);
	text_file_check("file", "o");

	/* Nothing else gets the name that the kernel prints for a deleted file. */
	fd = open("gone", O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(unlink("gone"), 0);
	ck_assert_int_eq(write_to_stdout(fd), -ENOENT);
	ck_assert_int_eq(access("gone (deleted)", F_OK), -1);
}

FIXTURE(make_folders, remove_folders);
