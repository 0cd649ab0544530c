// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drops privileges not needed after the setup, either all but a few (pfdrive itself) or all (a
 * child that parses untrusted files).
 */
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "privilege/capabilities.h"
#include "privilege/invoker.h"
#include "privilege/privilege.h"
#include "util/kernel_release.h"
#include "util/message.h"

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
