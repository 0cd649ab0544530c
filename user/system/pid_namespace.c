// SPDX-License-Identifier: GPL-2.0-only
/* Compares the inode of /proc/self/ns/pid with the initial PID namespace's constant. */
#include <sys/stat.h>

#include "system/pid_namespace.h"

/* PROC_PID_INIT_INO: the initial PID namespace's inode. */
#define INITIAL_PID_NAMESPACE 0xeffffffcU

bool pid_namespace_is_initial(void)
{
	struct stat stat_buffer;

	return !stat("/proc/self/ns/pid", &stat_buffer) &&
	       stat_buffer.st_ino == INITIAL_PID_NAMESPACE;
}
