// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raises the soft limit of RLIMIT_NOFILE to the hard limit, and restores it for children.
 * The original limit is kept in a static variable, so these functions are not thread-safe.
 */
#include <sys/resource.h>

#include "system/fd_limit.h"

#define KEPT_FREE 64

static struct rlimit before;
static bool raised;

void fd_limit_raise(void)
{
	struct rlimit limit;

	if (raised || getrlimit(RLIMIT_NOFILE, &before))
		return;
	limit = before;
	limit.rlim_cur = limit.rlim_max;
	raised = !setrlimit(RLIMIT_NOFILE, &limit);
}

void fd_limit_restore(void)
{
	if (raised)
		setrlimit(RLIMIT_NOFILE, &before);
	raised = false;
}

/* The kernel returns the lowest free number, so @fd shows how many are in use. */
bool fd_limit_is_near(int fd)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)fd + KEPT_FREE >= limit.rlim_cur;
}
