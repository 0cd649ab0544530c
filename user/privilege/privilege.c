// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks and drops privileges: capabilities, what kernel lockdown permits, and the sandbox of a
 * child.
 */
#include <cap-ng.h>
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "privilege/invoker.h"
#include "privilege/privilege.h"
#include "util/array.h"
#include "util/kernel_release.h"
#include "util/message.h"

/*
 * Converts capability sets between bit masks and libcap-ng, which keeps one thread's state. Each
 * function first reads this state from the kernel, so no function depends on an earlier call.
 */

#define NR_CAPABILITIES (CAP_LAST_CAP + 1)

static uint64_t capabilities_effective(void)
{
	uint64_t set = 0;
	int i;

	if (capng_get_caps_process())
		return 0;
	for (i = 0; i < NR_CAPABILITIES; i++)
		if (capng_have_capability(CAPNG_EFFECTIVE, i))
			set |= CAPABILITY(i);
	return set;
}

/* Converts libcap-ng's "bpf" to "CAP_BPF". */
static void append_name(int capability, char *names, size_t size)
{
	snprintf(names, size, "CAP_%s", capng_capability_to_name(capability));
	for (; *names; names++)
		*names = toupper((unsigned char)*names);
}

void capabilities_name(uint64_t set, char *names, size_t size)
{
	const char *separator = "";
	size_t used = 0;
	int i;

	names[0] = '\0';
	for (i = 0; i < NR_CAPABILITIES && set; i++) {
		if (!(set & CAPABILITY(i)))
			continue;
		set &= ~CAPABILITY(i);
		used += snprintf(names + used, size - used, "%s", separator);
		if (used >= size)
			break;
		append_name(i, names + used, size - used);
		used += strlen(names + used);
		separator = set & (set - 1) ? ", " : " and ";
	}
}

unsigned int capabilities_lack(uint64_t wanted, char *names, size_t size)
{
	uint64_t have = capabilities_effective();

	if (have & CAPABILITY(CAP_SYS_ADMIN))
		have |= CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON);
	wanted &= ~have;
	capabilities_name(wanted, names, size);
	return __builtin_popcountll(wanted);
}

int capabilities_keep(uint64_t set)
{
	const capng_type_t all = CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_INHERITABLE;
	int i;

	if (capng_get_caps_process())
		return -EPERM;
	/* The kernel may have capabilities unknown to this build. */
	for (i = 0; i < 64; i++)
		if (!(set & CAPABILITY(i)))
			capng_update(CAPNG_DROP, all, i);
	errno = 0;
	return capng_apply(CAPNG_SELECT_CAPS) ? errno ? -errno : -EPERM : 0;
}

/*
 * Reads the lockdown level from securityfs. If the file cannot be read, the kernel counts
 * as not locked down.
 */

#define LOCKDOWN "/sys/kernel/security/lockdown"

const char *lockdown_parse(const char *text, char *word, size_t size)
{
	const char *begin = strchr(text, '['), *end = begin ? strchr(begin, ']') : NULL;
	size_t length;

	if (!end)
		return NULL;
	length = end - begin - 1;
	if (!length || length >= size)
		return NULL;
	memcpy(word, begin + 1, length);
	word[length] = '\0';
	return word;
}

const char *lockdown_level(void)
{
	static char word[32];
	char line[128] = "";
	FILE *file = fopen(LOCKDOWN, "re");
	const char *level;

	if (!file)
		return NULL;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	level = lockdown_parse(line, word, sizeof(word));
	return level && strcmp(level, "none") ? level : NULL;
}

/*
 * Drops privileges not needed after the setup, either all but a few (pfdrive itself) or all (a
 * child that parses untrusted files).
 */

#define NOBODY 65534

/*
 * Kept for: reading programs and inspecting processes joining a group; killing another user's
 * children; reading the module's counters; becoming another user in the child reading symbols, and
 * to write results as the invoker.
 */
#define ALWAYS                                                                                 \
	(CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_KILL) | CAPABILITY(CAP_SYS_PTRACE) | \
	 CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_SETGID) | CAPABILITY(CAP_SETUID))

/* Only if root works for root: writing results to any path that root may write. */
#define TO_WRITE_AS_ROOT (CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_FOWNER))

/* Before this release, bpf(2) demands it also to use a map that is open. */
#define FIRST_WITHOUT_CAP_BPF "5.19"

int privilege_reduce(void)
{
	const uint64_t for_bpf =
		kernel_release_is_before(FIRST_WITHOUT_CAP_BPF) ? CAPABILITY(CAP_BPF) : 0;
	int err = capabilities_keep(ALWAYS | for_bpf | (invoker_is_other() ? 0 : TO_WRITE_AS_ROOT));

	return err ? message(STATUS_FAILED, "cannot give up privileges: %s", strerror(-err)) :
		     STATUS_OK;
}

static int drop_user(void)
{
	if (invoker_is_other())
		return invoker_become();
	if (geteuid())
		return 0;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return -errno;
	return 0;
}

int privilege_drop(void)
{
	int err = drop_user() ?: capabilities_keep(0);

	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}

/*
 * The sandbox for the process that reads ELF files. The files belong to the watched programs and
 * the parser has had bugs. So this process may only read the descriptors it receives and answer
 * through the socket.
 */

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
