// SPDX-License-Identifier: GPL-2.0-only
/* A command held before its exec: the user, the open files, and the failures. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "user/system/own_process.h"
#include "user/util/signals.h"
#include "user/privilege/privilege.h"
#include "user/privilege/invoker.h"
#include "user/run/watch.h"

static int status_of(struct child *command)
{
	int status;

	ck_assert_int_eq(waitpid(command->pid, &status, 0), command->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs a shell script to the end. Returns the script's exit status. */
static int run_shell(char *script)
{
	char *const argv[] = { "sh", "-c", script, NULL };
	struct child command;

	ck_assert_int_eq(child_hold(&command, argv, NULL), 0);
	ck_assert_int_eq(child_go(&command), 0);
	return status_of(&command);
}

/*
 * The owner of the process's files in /proc: root while the process is not dumpable, otherwise the
 * process's user.
 */
static uid_t owner_of_files(pid_t pid)
{
	char path[32];
	struct stat stat_buffer;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	ck_assert_int_eq(stat(path, &stat_buffer), 0);
	return stat_buffer.st_uid;
}

TEST(test_command_runs_when_released)
{
	ck_assert_int_eq(run_shell("exit 7"), 7);
}

/* A program may try all descriptors up to the soft limit. */
TEST(test_command_gets_the_original_descriptor_limit)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 300;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	fd_limit_raise();
	fd_limit_raise();
	getrlimit(RLIMIT_NOFILE, &limit);
	ck_assert_uint_eq(limit.rlim_cur, limit.rlim_max);
	ck_assert_int_eq(run_shell("test $(ulimit -Sn) = 300"), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	ck_assert_uint_eq(limit.rlim_cur, limit.rlim_max);
}

/* Prints which of SIGHUP (1) and SIGCHLD (65536) the shell ignores, as a sum. */
#define IGNORED "$((0x$(sed -n 's/^SigIgn:\t*//p' /proc/self/status) & 0x10001))"

TEST(test_command_ignores_the_signals_that_pfdrive_ignored)
{
	/* The caller of this test may have ignored SIGHUP. */
	ck_assert_ptr_ne(signal(SIGHUP, SIG_DFL), SIG_ERR);
	ck_assert_ptr_ne(signal(SIGCHLD, SIG_IGN), SIG_ERR);
	signals_init();
	ck_assert_int_eq(run_shell("test " IGNORED " = 0"), 0);
	/* as nohup(1) does */
	ck_assert_ptr_ne(signal(SIGHUP, SIG_IGN), SIG_ERR);
	signals_init();
	ck_assert_ptr_eq(signal(SIGHUP, SIG_IGN), SIG_IGN);
	ck_assert_int_eq(run_shell("test " IGNORED " = 1"), 0);
}

TEST(test_held_command_that_is_closed_never_runs)
{
	char *const argv[] = { "sh", "-c", "exit 7", NULL };
	struct child command;

	ck_assert_int_eq(child_hold(&command, argv, NULL), 0);
	child_close(&command);
	ck_assert_int_eq(command.pid, 0);
	ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
	ck_assert_int_eq(errno, ECHILD);
}

/* An ignored signal stays ignored after exec, unless pfdrive resets it. */
TEST(test_command_is_killed_by_sigpipe)
{
	signals_init();
	ck_assert_int_eq(run_shell("kill -PIPE $$; exit 7"), -1);
}

TEST(test_killed_command_cannot_be_released)
{
	char *const argv[] = { "true", NULL };
	struct child command;
	siginfo_t info;

	signals_init();
	ck_assert_int_eq(child_hold(&command, argv, NULL), 0);
	kill(command.pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, command.pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(child_go(&command), -EPIPE);
	ck_assert_int_eq(command.pid, 0);
	ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
}

TEST(test_failed_exec_returns_its_errno)
{
	char *const absent[] = { "/no/such/command", NULL }, *const folder[] = { "/", NULL };
	struct child command;

	ck_assert_int_eq(child_hold(&command, absent, NULL), 0);
	ck_assert_int_eq(child_go(&command), -ENOENT);
	ck_assert_int_eq(child_hold(&command, folder, NULL), 0);
	ck_assert_int_eq(child_go(&command), -EACCES);
}

/* In one folder the name is a folder's, in the next a file's that cannot be executed. */
TEST(test_command_is_found_in_path)
{
	static const char prepare[] =
		"cd $1 && mkdir -p a/program b c && echo exit 3 > b/program && "
		"echo exit 7 > c/program && chmod 644 b/program && chmod 755 c/program";
	char *const argv[] = { "program", NULL }, *const absent[] = { "absent", NULL };
	char folder[] = "/tmp/pfstat-child-XXXXXX", command[512], path[512];
	struct child child;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(command, sizeof(command), "set -- %s; %s", folder, prepare);
	ck_assert_int_eq(run_shell(command), 0);
	snprintf(path, sizeof(path), "%1$s/none:%1$s/a:%1$s/b:%1$s/c", folder);
	ck_assert_int_eq(setenv("PATH", path, 1), 0);
	ck_assert_int_eq(child_hold(&child, argv, NULL), 0);
	ck_assert_int_eq(child_go(&child), 0);
	ck_assert_int_eq(status_of(&child), 7);
	ck_assert_int_eq(child_hold(&child, absent, NULL), 0);
	ck_assert_int_eq(child_go(&child), -ENOENT);
	/* An empty entry is the current folder. */
	snprintf(path, sizeof(path), "%s/c", folder);
	ck_assert_int_eq(chdir(path), 0);
	ck_assert_int_eq(setenv("PATH", "", 1), 0);
	ck_assert_int_eq(child_hold(&child, argv, NULL), 0);
	ck_assert_int_eq(child_go(&child), 0);
	ck_assert_int_eq(status_of(&child), 7);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(setenv("PATH", "/usr/bin:/bin", 1), 0);
	ck_assert_int_eq(run_shell(command), 0);
}

/* Check and its caller leave some descriptors open: from the next free one on, none is open. */
TEST(test_command_inherits_no_descriptor)
{
	const int first = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char script[256];
	int status;

	ck_assert_int_ge(first, 0);
	ck_assert_int_eq(close_range(first + 1, ~0U, 0), 0);
	/* The shell reads the folder through a descriptor that is closed before the check. */
	snprintf(script, sizeof(script),
		 "for fd in /proc/$$/fd/*; do "
		 "test ${fd##*/} -lt %d -o ! -e $fd || { ls -l $fd >&2; exit 1; }; done",
		 first);
	status = run_shell(script);
	close(first);
	ck_assert_int_eq(status, 0);
}

TEST(test_held_command_already_runs_as_the_user)
{
	char *const argv[] = { "sh", "-c",
			       "test $(id -u) = 12345 -a $(id -G) = 54321 -a "
			       "\"$HOME\" = / -a -z \"$SUDO_UID\"",
			       NULL };
	struct child command;

	if (geteuid())
		return; /* only root can become another user */
	setenv("SUDO_UID", "12345", 1);
	ck_assert_int_eq(invoker_init("12345", "54321"), 0);
	ck_assert_int_eq(child_hold(&command, argv, NULL), 0);
	/* It is still a copy of pfdrive, with all open files. */
	ck_assert_uint_eq(owner_of_files(command.pid), 0);
	ck_assert_int_eq(child_go(&command), 0);
	ck_assert_int_eq(status_of(&command), 0);
	ck_assert_uint_eq(getuid(), 0);
	ck_assert_str_eq(getenv("SUDO_UID"), "12345");
}

TEST(test_command_is_not_held_without_the_privilege_to_change_user)
{
	char *const argv[] = { "true", NULL };
	struct child command;

	if (geteuid())
		return;
	ck_assert_int_eq(invoker_init("12345", "54321"), 0);
	ck_assert_int_eq(capabilities_keep(0), 0);
	ck_assert_int_eq(child_hold(&command, argv, NULL), -EPERM);
	ck_assert_int_eq(command.pid, 0);
	ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
}
