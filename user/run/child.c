// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forks a command and holds it just before exec, to watch it from the first instruction on. Two
 * pipes connect the command: one releases it, the other reports errors.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privilege/invoker.h"
#include "run/watch.h"
#include "system/own_process.h"
#include "util/signals.h"

/* Restores the signals to the state a program expects. */
static void command_default_signals(void)
{
	sigset_t none;

	signals_default();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void command_send(int fd, int err)
{
	while (write(fd, &err, sizeof(err)) < 0 && errno == EINTR)
		;
}

/* 0 if the other end is closed without a message. */
static int command_receive(int fd)
{
	ssize_t got;
	int err = 0;

	do
		got = read(fd, &err, sizeof(err));
	while (got < 0 && errno == EINTR);
	return got == sizeof(err) ? err : 0;
}

/*
 * Searches PATH as execvp() does, because Linux before 6.8 writes the arguments again for each
 * folder without the program. Returns `name` if there is none: execvp() then has the error.
 */
const char *child_find_program(const char *name, char *path, size_t size)
{
	const char *folder = strchr(name, '/') ? NULL : getenv("PATH"), *end;
	struct stat found;
	size_t length;

	for (; folder; folder = *end ? end + 1 : NULL) {
		end = strchrnul(folder, ':');
		length = snprintf(path, size, "%.*s%s%s", (int)(end - folder), folder,
				  end > folder ? "/" : "./", name);
		if (length < size && !stat(path, &found) && S_ISREG(found.st_mode) &&
		    !eaccess(path, X_OK))
			return path;
	}
	return name;
}

/*
 * Reports whether it could start, waits, and reports a failed exec. Before it is held, it becomes
 * the user, with the signals and limits a program expects, and finds the program. The faults and
 * system calls for this do not belong to the program.
 */
static _Noreturn void command_be_child(int go, int failed, char *const *argv,
				       const struct exact *exact)
{
	const char *program = argv[0];
	char path[PATH_MAX], byte;
	ssize_t got;
	int err;

	command_default_signals();
	fd_limit_restore();
	err = invoker_become();
	if (!err) {
		if (exact)
			exact_set_environment(exact);
		program = child_find_program(argv[0], path, sizeof(path));
		/* Touches the pages that execvp() needs. A folder cannot be executed. */
		execvp("/", argv);
	}
	command_send(failed, err);
	if (err)
		_exit(126);
	do
		got = read(go, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(0); /* pfdrive has ended: the command is not wanted any more */
	execvp(program, argv);
	command_send(failed, -errno);
	_exit(127);
}

static int child_fork(struct child *command, const int *go, char *const *argv,
		      const struct exact *exact)
{
	int failed[2], err;

	if (pipe2(failed, O_CLOEXEC))
		return -errno;
	command->pid = fork();
	if (!command->pid) {
		close(go[1]);
		command_be_child(go[0], failed[1], argv, exact);
	}
	err = command->pid < 0 ? -errno : 0;
	close(failed[1]);
	if (err) {
		command->pid = 0;
		close(failed[0]);
		return err;
	}
	command->failed = failed[0];
	return 0;
}

int child_hold(struct child *command, char *const *argv, const struct exact *exact)
{
	int go[2], err;

	*command = CHILD_NONE;
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	err = child_fork(command, go, argv, exact);
	close(go[0]);
	if (err) {
		close(go[1]);
		return err;
	}
	command->go = go[1];
	err = command_receive(command->failed);
	if (err)
		child_close(command);
	return err;
}

int child_go(struct child *command)
{
	int err = write(command->go, "", 1) < 0 ? -errno : command_receive(command->failed);

	close(command->go);
	close(command->failed);
	command->go = -1;
	command->failed = -1;
	if (!err)
		return 0;
	waitpid(command->pid, NULL, 0);
	command->pid = 0;
	return err;
}

void child_close(struct child *command)
{
	if (command->go < 0)
		return;
	close(command->go); /* end-of-file ends it */
	close(command->failed);
	waitpid(command->pid, NULL, 0);
	*command = CHILD_NONE;
}
