// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "../complain.h"
#include "capabilities.h"
#include "invoker.h"
#include "reduce.h"

/*
 * What stays: to read programs and look at processes that join a group, to end children
 * that run as another user, to read the module's counts; to become another user: in the child
 * that reads symbols, and to write results as the user who called sudo.
 */
#define ALWAYS \
	(CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_KILL) | CAPABILITY(CAP_SYS_PTRACE) | \
	 CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_SETGID) | CAPABILITY(CAP_SETUID))

/* To write results wherever root may, if root called. */
#define TO_WRITE_AS_ROOT (CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_FOWNER))

int rights_reduce(void)
{
	int err = capabilities_keep(ALWAYS | (invoker_is_other() ? 0 : TO_WRITE_AS_ROOT));

	return err ? complain(STATUS_FAILED, "cannot give up privileges: %s", strerror(-err)) :
		     STATUS_OK;
}
