// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks the bpf file system's folder. A keeper holds a shared lock until the kernel has detached
 * the measurement's programs. The next measurement waits for an exclusive lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "collect/pins_lock.h"
#include "util/signals.h"

int pins_lock(int operation)
{
	const int fd = open(BPFFS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, operation) && errno == EINTR && !signals_caught)
		;
	return fd;
}

void pins_lock_await_detached(void)
{
	const int fd = pins_lock(LOCK_EX);

	if (fd >= 0)
		close(fd);
}
