// SPDX-License-Identifier: GPL-2.0-only
/* The sandbox for the child reading ELF files. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "user/privilege/privilege.h"

#define EXECUTABLE (PROT_READ | PROT_EXEC)

enum attempt {
	OPENED,
	SOCKET,
	FORKED,
	KILLED,
	EXECUTED,
	TRACED,
	MAPPED_CODE,
	WRITTEN,
	BECAME_ROOT,
	INHERITED,
	NR_ATTEMPTS,
};

static int error_of(long result)
{
	return result < 0 ? errno : 0;
}

/* The result of an operation the sandbox must deny: the errno, or 0 for success. */
static void attempt_all(int *results)
{
	char *const arguments[] = { "true", NULL };

	results[OPENED] = error_of(open("/etc/passwd", O_RDONLY));
	results[SOCKET] = error_of(socket(AF_INET, SOCK_STREAM, 0));
	results[FORKED] = error_of(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	results[KILLED] = error_of(syscall(SYS_kill, getppid(), 0));
	results[EXECUTED] = error_of(execve("/bin/true", arguments, arguments + 1));
	results[TRACED] = error_of(syscall(SYS_ptrace, 0, 0, 0, 0));
	errno = 0;
	results[MAPPED_CODE] = mmap(NULL, 4096, EXECUTABLE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
					       MAP_FAILED ?
				       errno :
				       0;
	results[WRITTEN] = error_of(write(2, "", 0));
}

static void run_child(int socket, int other)
{
	int results[NR_ATTEMPTS] = { 0 };

	if (sandbox_enter(socket))
		_exit(2);
	attempt_all(results);
	results[INHERITED] = error_of(fcntl(other, F_GETFD));
	results[BECAME_ROOT] = error_of(syscall(SYS_setuid, 0));
	if (sendto(0, results, sizeof(results), 0, NULL, 0) != sizeof(results))
		_exit(3);
	/*
	 * Waits until this process's state has been read. With _exit(), LeakSanitizer would use
	 * ptrace.
	 */
	syscall(SYS_exit_group, recvfrom(0, results, 1, 0, NULL, NULL) == 1 ? 0 : 4);
}

/* The rest of a /proc/PID/status line after the name. */
static void read_status(pid_t pid, const char *name, char *value, size_t size)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file) && strncmp(line, name, strlen(name)))
		;
	fclose(file);
	ck_assert(!strncmp(line, name, strlen(name)));
	snprintf(value, size, "%.*s", (int)strcspn(line + strlen(name), "\n"), line + strlen(name));
}

static void check_status(pid_t pid)
{
	char value[256];

	read_status(pid, "Uid:\t", value, sizeof(value));
	ck_assert_int_ne(atoi(value), 0);
	read_status(pid, "CapPrm:\t", value, sizeof(value));
	ck_assert_pstr_eq(value, "0000000000000000");
	read_status(pid, "NoNewPrivs:\t", value, sizeof(value));
	ck_assert_pstr_eq(value, "1");
	read_status(pid, "Seccomp:\t", value, sizeof(value));
	ck_assert_pstr_eq(value, "2");
}

TEST(test_the_sandbox_allows_only_reading)
{
	int pair[2], results[NR_ATTEMPTS], i, status, other;
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	other = open("/dev/null", O_RDONLY);
	pid = fork();
	if (!pid)
		run_child(pair[1], other);
	close(pair[1]);
	ck_assert_int_eq(recv(pair[0], results, sizeof(results), 0), sizeof(results));
	for (i = 0; i < INHERITED; i++)
		ck_assert_msg(results[i] == EPERM, "attempt %d: %s", i, strerror(results[i]));
	ck_assert_int_eq(results[INHERITED], EBADF);
	check_status(pid);
	ck_assert_int_eq(send(pair[0], "", 1, 0), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(pair[0]);
	close(other);
}
