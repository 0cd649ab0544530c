// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sandbox for the process that reads ELF files. The files belong to the watched programs and
 * the parser has had bugs. So this process may only read the descriptors it receives and answer
 * through the socket.
 */
#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "privilege/privilege.h"
#include "privilege/sandbox.h"
#include "util/array.h"

#define MEMORY_BYTES (4ULL << 30) /* a browser has more than 1 GiB of debug information */
#define CPU_SECONDS  60

static int sandbox_keep_socket(int socket)
{
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (fd != socket && dup2(socket, fd) < 0)
			return -errno;
	return close_range(3, ~0U, 0) ? -errno : 0;
}

/* Address space in use at fork time, inherited from the recorder. */
static uint64_t sandbox_used_bytes(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (uint64_t)pages * sysconf(_SC_PAGESIZE);
}

static int sandbox_limit(int resource, uint64_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return -errno;
	if (value < limit.rlim_max)
		limit.rlim_max = value;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(resource, &limit) ? -errno : 0;
}

static int sandbox_limit_all(void)
{
	const uint64_t memory = sandbox_used_bytes() + MEMORY_BYTES;

	return sandbox_limit(RLIMIT_AS, memory)		      ?:
		       sandbox_limit(RLIMIT_CPU, CPU_SECONDS) ?:
		       sandbox_limit(RLIMIT_CORE, 0)	      ?:
		       sandbox_limit(RLIMIT_FSIZE, 0)	      ?:
								sandbox_limit(RLIMIT_NPROC, 0);
}

/* Not dumpable: a process with the same user must not trace this copy of the recorder. */
static int sandbox_drop_privileges(pid_t parent)
{
	int err = privilege_drop();

	if (!err &&
	    (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)))
		err = -errno;
	return err ?: getppid() == parent ? err : -ESRCH;
}

static int sandbox_filter(void)
{
	static const int calls[] = {
		SCMP_SYS(read),		SCMP_SYS(pread64),	  SCMP_SYS(lseek),
		SCMP_SYS(fstat),	SCMP_SYS(newfstatat),	  SCMP_SYS(fcntl),
		SCMP_SYS(close),	SCMP_SYS(sendmsg),	  SCMP_SYS(recvmsg),
		SCMP_SYS(sendto),	SCMP_SYS(recvfrom),	  SCMP_SYS(brk),
		SCMP_SYS(munmap),	SCMP_SYS(mremap),	  SCMP_SYS(madvise),
		SCMP_SYS(futex),	SCMP_SYS(getrandom),	  SCMP_SYS(clock_gettime),
		SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(exit),
		SCMP_SYS(exit_group),
	};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	size_t i;
	int err;

	if (!filter)
		return -ENOMEM;
	/* Mappings are allowed, but not executable ones. */
	err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	for (i = 0; i < ARRAY_SIZE(calls) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

int sandbox_enter(int socket)
{
	const pid_t parent = getppid();
	/* The limit depends on a size in /proc, so set it before the descriptors are closed. */
	int err = sandbox_limit_all();

	if (!err)
		err = sandbox_keep_socket(socket);
	if (!err)
		err = sandbox_drop_privileges(parent);
	return err ?: sandbox_filter();
}
