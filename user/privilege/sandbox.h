/* SPDX-License-Identifier: GPL-2.0-only */
/* A child parsing watched programs' files runs in a sandbox. */
#ifndef PFSTAT_USER_SANDBOX_H
#define PFSTAT_USER_SANDBOX_H

/*
 * Call it in a child. It cannot be undone. Keeps one socket as descriptors 0 to 2 and closes all
 * others, becomes the invoker (or uid 65534 if root works for root), drops all capabilities, and
 * limits memory and CPU time. The seccomp filter allows only the system calls for reading
 * descriptors and for receiving others through the socket. Any other call fails with EPERM. Returns
 * 0 or a negative errno.
 */
int sandbox_enter(int socket);

#endif
